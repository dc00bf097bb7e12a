"""Running a whole project: the entry points of its programs first, then what none of them entered."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from mplint.interpreter.program import Program
from mplint.interpreter.reach import Reach
from mplint.interpreter.roots import run_unentered
from mplint.interpreter.setters import Setters
from mplint.interpreter.trace import PolicySet
from mplint.interpreter.values import HALF_POLICIES, Policy
from mplint.interpreter.world import World
from mplint.interpreter.worlds import Entry, Exploration, Run, call_of, finish, run_entry, script
from mplint.project.modules import Project

MAX_TEST_STEPS: Final = 30_000
"""Expressions evaluated for the top level of a test module, in all its worlds."""


def explore(
    program: Program,
    targets: Collection[Path],
    generations_of: Callable[[Path], tuple[str, ...]],
    assumed: str | None = None,
) -> Exploration:
    """Run every entry point that has to do with the files `targets`, then every function that none of them entered.

    `generations_of` gives the generations in which a file may run; `assumed` is a policy to treat as set from the
    start.
    """
    found = Exploration()
    project = program.project
    explorer = _Explorer(program, found, generations_of, assumed)
    related = _related(project, targets)
    explorer.explore([path for path in related if not project.is_test(path)])
    # what a test enters is not for that reason known to be entered by the program
    explorer.explore([path for path in related if project.is_test(path)])
    for path, machine in program.imports:
        finish(found, machine, Entry(path, path.name, machine.generation, machine.shelf.policy), {})
    return found


@dataclass(frozen=True)
class _Start:
    """An entry point."""

    path: Path
    name: str
    run: Run


class _Explorer:
    """Runs the programs of a project, and remembers the policies under which they run what they import."""

    def __init__(
        self,
        program: Program,
        found: Exploration,
        generations_of: Callable[[Path], tuple[str, ...]],
        assumed: str | None,
    ) -> None:
        self._program = program
        self._project = program.project
        self._found = found
        self._generations_of = generations_of
        self._assumed = assumed is not None
        self._start = Policy(assumed or "float32")
        self._reach = Reach(self._project)
        self._setters = Setters(self._project, self._reach.programs_in_play)
        self._policies: dict[Path, set[tuple[str, Policy]]] = {}

    def explore(self, paths: Collection[Path]) -> None:
        """Run the entry points in `paths`, then the functions there that none of them entered."""
        programs = list(self._programs(frozenset(paths)))
        left = [one for one in programs if not self._reach.is_in_play(one.path, self._assumed)]
        for one in programs:
            if one not in left:
                self._run(one)
        for one in left:  # whose functions would be taken for ones that a mixed program calls, had it not been run
            if any(self._is_mixed(path) for path in self._reached(one)) and self._reach.reaches_keras(one.path):
                self._run(one)
        for path in paths:
            known = self._policies.get(path) or {(each, self._start) for each in self._generations_of(path)}
            for generation, policy in _worst(self._possible(path, known)):
                half = policy.name in HALF_POLICIES or self._assumed or self._setters.speaks(path)
                if half and self._reach.reaches_keras(path):
                    entry = Entry(path, path.name, generation, self._start)
                    run_unentered(self._program, self._found, entry, policy, self._setters)

    def _programs(self, paths: Collection[Path]) -> Iterator[_Start]:
        """The entry points in `paths`: scripts, and what the commands call that installing the project makes."""
        for path in sorted(paths):
            if _is_script(self._project, path):
                yield _Start(path, path.name, script(path))
        for one in self._project.console_scripts():
            home = self._project.path_of(one.module)
            if home is not None and home in paths:
                yield _Start(home, f"{home.name}:{one.attribute}", call_of(home, one.attribute))

    def _reached(self, start: _Start) -> Collection[Path]:
        """The modules that run under the policy of a program."""
        path = start.path
        return {path} if self._project.is_test(path) else {path, *self._project.closure(path)}

    def _run(self, start: _Start) -> None:
        for generation in self._generations_of(start.path):
            entry = Entry(start.path, start.name, generation, self._start)
            if self._project.is_test(start.path):  # a test runner imports it: there is no program to run
                entry = replace(entry, budget=MAX_TEST_STEPS)
            for world in run_entry(self._program, self._found, entry, start.run):
                policies = {(generation, policy) for policy in _policies(world)}
                for path in self._reached(start):
                    self._policies.setdefault(path, set()).update(policies)

    def _is_mixed(self, path: Path) -> bool:
        return any(policy.name in HALF_POLICIES for _, policy in self._policies.get(path, ()))

    def _possible(self, path: Path, known: set[tuple[str, Policy]]) -> set[tuple[str, Policy]]:
        """Of the policies under which a module is run, those under which what nothing has entered may be called.

        Where a program takes something out of the module by a name that is not known, it is that program.
        """
        looked_up = self._program.looked_up.get(path)
        if looked_up is None:
            return known
        return {(generation, policy) for generation, policy in known if (generation, policy.name) in looked_up} or known


def _policies(world: World) -> Iterator[Policy]:
    """The policy at the end of a run; where several may be, all that it has set."""
    if world.policy.name is None:
        events = (event for event in world.trace.events if isinstance(event, PolicySet))
        yield from (event.policy for event in events if event.policy.name is not None)
    yield world.policy


def _related(project: Project, targets: Collection[Path]) -> list[Path]:
    """The files whose running may say something about `targets`: themselves, and those that import them."""
    related: set[Path] = set()
    for path in targets:
        if project.mentions(path, b"keras", b"tensorflow", b"import"):
            related |= {path, *project.importers(path)}
    return sorted(related)


def _is_script(project: Project, path: Path) -> bool:
    """Whether a program may start at `path`: it guards on `__main__`, or at most tests import it."""
    if project.mentions(path, b"__main__"):
        return True
    importers = project.importers(path)
    return not importers or (not project.is_test(path) and all(project.is_test(one) for one in importers))


def _worst(known: set[tuple[str, Policy]]) -> list[tuple[str, Policy]]:
    """One policy a generation: float16 has every fault of bfloat16, and more."""
    rank = {"mixed_float16": 0, "float16": 1, "mixed_bfloat16": 2, "bfloat16": 3}
    chosen: dict[str, Policy] = {}
    for generation, policy in sorted(known, key=lambda pair: (pair[0], rank.get(pair[1].name or "", 9))):
        chosen.setdefault(generation, policy)
    return list(chosen.items())
