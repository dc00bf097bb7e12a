"""Running a whole program: its entry points first, then what none of them entered."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import Final

from mplint.interpreter.program import Program
from mplint.interpreter.reach import Reach
from mplint.interpreter.roots import run_unentered
from mplint.interpreter.values import HALF_POLICIES, Policy
from mplint.interpreter.worlds import Entry, Exploration, finish, run_entry, script
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
    start = Policy(assumed or "float32")
    policies: dict[Path, set[tuple[str, Policy]]] = {}
    reach = Reach(project)
    related = _related(project, targets)
    for path in related:
        if not (_is_script(project, path) and reach.is_in_play(path, assumed is not None)):
            continue
        reached = {path} if project.is_test(path) else {path, *project.closure(path)}
        for generation in generations_of(path):
            entry = Entry(path, path.name, generation, start)
            if project.is_test(path):  # a test runner imports it: there is no program to run, only definitions
                entry = replace(entry, budget=MAX_TEST_STEPS)
            for world in run_entry(program, found, entry, script(path)):
                for module in reached:
                    policies.setdefault(module, set()).update((generation, policy) for policy in world.policies)
    for path in related:
        known = policies.get(path) or {(generation, start) for generation in generations_of(path)}
        for generation, policy in _worst(known):
            half = policy.name in HALF_POLICIES or assumed or reach.speaks_of_half(path)
            if half and reach.reaches_keras(path):
                run_unentered(program, found, Entry(path, path.name, generation, start), policy)
    for path, machine in program.imports:
        finish(found, machine, Entry(path, path.name, machine.generation, machine.shelf.policy), {})
    return found


def _related(project: Project, targets: Collection[Path]) -> list[Path]:
    """The files whose running may say something about `targets`: themselves, and those that import them."""
    related: set[Path] = set()
    for path in targets:
        if project.mentions(path, b"keras", b"tensorflow", b"import"):
            related |= {path, *project.importers(path)}
    return sorted(related)


def _is_script(project: Project, path: Path) -> bool:
    """Whether a program may start at `path`: it guards on `__main__`, or nothing in the project imports it."""
    return project.mentions(path, b"__main__") or not project.importers(path)


def _worst(known: set[tuple[str, Policy]]) -> list[tuple[str, Policy]]:
    """One policy a generation: float16 has every fault of bfloat16, and more."""
    rank = {"mixed_float16": 0, "float16": 1, "mixed_bfloat16": 2, "bfloat16": 3}
    chosen: dict[str, Policy] = {}
    for generation, policy in sorted(known, key=lambda pair: (pair[0], rank.get(pair[1].name or "", 9))):
        chosen.setdefault(generation, policy)
    return list(chosen.items())
