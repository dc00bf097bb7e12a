"""Running one entry of a program in every world that matters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from mplint.interpreter import modules
from mplint.interpreter.activations import Activation, OutOfBudget, Patience, Split
from mplint.interpreter.calls import Arguments
from mplint.interpreter.keras import training
from mplint.interpreter.machine import MAX_STEPS, Machine
from mplint.interpreter.program import Program
from mplint.interpreter.values import Module, Policy, Symbol, Value
from mplint.interpreter.world import World
from mplint.project.imports import imports_of
from mplint.source.file import ParseFault, SourceError

MAX_SYMBOLS: Final = 3
"""Unknown conditions that one entry is split on; further ones are joined."""
MAX_WORLDS: Final = 8
"""Worlds of one entry."""

Run = Callable[[Machine], None]


@dataclass(frozen=True)
class Entry:
    """Where a run starts: the file, what is run in it, the generation and the policy at the start.

    `start` is a run to go on from; `borrowed` says that the policy comes from a program that was not seen to call the
    entry.
    """

    path: Path
    name: str
    generation: str
    policy: Policy
    start: Machine | None = None
    borrowed: bool = False
    budget: int = MAX_STEPS
    """Steps that all runs of the entry may take together."""
    patience: Patience | None = None


@dataclass
class Failure:
    """mplint itself failed while it ran `path`."""

    path: Path
    error: Exception


@dataclass
class Exploration:
    """Everything that was run."""

    worlds: list[World] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)


def new_machine(program: Program, entry: Entry, decisions: dict[Symbol, bool], may_split: bool) -> Machine:
    """A machine about to run `entry`."""
    shelf = program.shelf(entry.generation, entry.policy)
    machine = Machine(program, shelf, dict(decisions), may_split, entry.start, entry.budget, entry.patience)
    machine.stack.append(Activation(program.module_frame(entry.path)))
    return machine


def run_entry(program: Program, found: Exploration, entry: Entry, run: Run) -> Iterator[World]:
    """Run one entry in every world: again for each outcome of an unknown condition on which the precision depends."""
    pending: list[dict[Symbol, bool]] = [{}]
    count = steps = 0
    while pending and steps < entry.budget:
        decisions = pending.pop()
        may_split = len(decisions) < MAX_SYMBOLS and count + len(pending) < MAX_WORLDS - 1
        try:
            machine = new_machine(program, replace(entry, budget=entry.budget - steps), decisions, may_split)
            try:
                try:
                    run(machine)
                    training.run_left(machine)
                finally:
                    steps += machine.steps
            except Split as wanted:
                pending += [{**decisions, wanted.symbol: False}, {**decisions, wanted.symbol: True}]
                continue
            except OutOfBudget:
                machine.trace.cut = True
        except (SourceError, ParseFault):  # MP001 tells it
            return
        except Exception as error:  # noqa: BLE001  (our own defect: told with the file's name, and the rest goes on)
            found.failures.append(Failure(entry.path, error))
            return
        if not machine.trace.cut and any(map(machine.likely, machine.unsettled)):
            pending.append(decisions)  # what such a value may be has been said behind the place where it is used
            continue
        count += 1
        world = finish(found, machine, entry, decisions)
        if world is not None:
            yield world


def finish(found: Exploration, machine: Machine, entry: Entry, decisions: dict[Symbol, bool]) -> World | None:
    """The world of a run that has ended; None where looking at its ends took too long, or failed."""
    try:
        world = World(machine, decisions, entry.name, entry.path, entry.borrowed)
    except OutOfBudget:
        return None
    except Exception as error:  # noqa: BLE001  (our own defect, as above)
        found.failures.append(Failure(entry.path, error))
        return None
    found.worlds.append(world)
    return world


def script(path: Path) -> Run:
    """Run the file `path` as a program; as `python -m` does where it is written to be a part of its package."""

    def run(m: Machine) -> None:
        m.is_program = True
        if any(one.level for one in m.program.project.glance(path, imports_of)):
            _import_packages(m, path)
        modules.load(m, path, "__main__")

    return run


def call_of(path: Path, attribute: str) -> Run:
    """Call `attribute` (it may have dots) of the module in the file `path`, as a console script does."""

    def run(m: Machine) -> None:
        m.is_program = True
        _import_packages(m, path)
        frame = modules.load(m, path)
        value: Value = Module(frame)
        place = m.program.place(frame.source, frame.source.module)
        for name in attribute.split("."):
            value = m.attribute(value, name, place)
        m.call(value, Arguments(), place)

    return run


def _import_packages(m: Machine, path: Path) -> None:
    for package in m.program.project.packages_of(path):
        modules.load(m, package)


def run_script(program: Program, path: Path, generation: str, policy: str = "float32") -> list[World]:
    """The worlds of running one file as a program."""
    found = Exploration()
    worlds = list(run_entry(program, found, Entry(path, path.name, generation, Policy(policy)), script(path)))
    for failure in found.failures:
        raise failure.error
    return worlds
