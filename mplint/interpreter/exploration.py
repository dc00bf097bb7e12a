"""Running a whole project: the entry points of its programs first, then what none of them entered."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import Final

from mplint.interpreter.program import Program
from mplint.interpreter.reach import Reach
from mplint.interpreter.roots import run_unentered
from mplint.interpreter.setters import Setters
from mplint.interpreter.values import HALF_POLICIES, Policy
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
        for path in paths:
            if _is_script(self._project, path):
                self._run(path, path.name, script(path))
        for one in self._project.console_scripts():
            home = self._project.path_of(one.module)
            if home is not None and home in paths:
                self._run(home, f"{home.name}:{one.attribute}", call_of(home, one.attribute))
        for path in paths:
            known = self._policies.get(path) or {(each, self._start) for each in self._generations_of(path)}
            for generation, policy in _worst(known):
                half = policy.name in HALF_POLICIES or self._assumed or self._setters.speaks(path)
                if half and self._reach.reaches_keras(path):
                    entry = Entry(path, path.name, generation, self._start)
                    run_unentered(self._program, self._found, entry, policy, self._setters)

    def _run(self, path: Path, name: str, run: Run) -> None:
        """Run a program that starts in `path`, if half precision can be in play there."""
        if not self._reach.is_in_play(path, self._assumed):
            return
        is_test = self._project.is_test(path)
        reached = {path} if is_test else {path, *self._project.closure(path)}
        for generation in self._generations_of(path):
            entry = Entry(path, name, generation, self._start)
            if is_test:  # a test runner imports it: there is no program to run, only definitions
                entry = replace(entry, budget=MAX_TEST_STEPS)
            for world in run_entry(self._program, self._found, entry, run):
                for module in reached:
                    self._policies.setdefault(module, set()).add((generation, world.policy))


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
