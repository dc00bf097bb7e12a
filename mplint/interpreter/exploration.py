"""Running a whole project: the entry points of its programs first, then what none of them entered."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from mplint.interpreter.activations import Patience
from mplint.interpreter.machine import MAX_STEPS
from mplint.interpreter.mentioned import policies_by_name
from mplint.interpreter.program import Program
from mplint.interpreter.reach import Reach
from mplint.interpreter.roots import Wanted, own_policies, run_unentered
from mplint.interpreter.setters import Setters
from mplint.interpreter.spoken import Spoken
from mplint.interpreter.trace import PolicySet
from mplint.interpreter.values import HALF_POLICIES, Policy
from mplint.interpreter.world import World
from mplint.interpreter.worlds import Entry, Exploration, Run, call_of, finish, run_entry, script
from mplint.project.modules import Project

MAX_TEST_STEPS: Final = 30_000
"""Expressions evaluated for the top level of a test module, in all its worlds."""
MAX_SILENT_STEPS: Final = 40_000
"""Those that a program may take without coming to a policy or a layer.

Of all programs that were looked at, the last to come to one does so after 19,000.
"""
_FLOAT32: Final = Policy("float32")
_PATIENCE: Final = Patience(
    MAX_SILENT_STEPS, lambda machine: MAX_STEPS if machine.unsettled else machine.heard + MAX_SILENT_STEPS
)


def explore(
    program: Program,
    targets: Collection[Path],
    generations_of: Callable[[Path], tuple[str, ...]],
    assumed: Callable[[Path], str | None] = lambda path: None,
) -> Exploration:
    """Run every entry point that has to do with the files `targets`, then every function that none of them entered.

    `generations_of` gives the generations in which a file may run; `assumed` a policy to treat as set from the start
    of what is run in a file.
    """
    found = Exploration()
    project = program.project
    files = related(project, targets)
    explorer = _Explorer(program, found, files, generations_of, assumed)
    explorer.explore([path for path in files if not project.is_test(path)])
    # what a test enters is not for that reason known to be entered by the program
    explorer.explore([path for path in files if project.is_test(path)])
    for path, machine in program.imports:
        finish(found, machine, Entry(path, path.name, machine.generation, machine.shelf.policy), {})
    return found


def _start(assumed: str | None) -> Policy:
    """The policy at the start of what is run in a file in which `assumed` is to be treated as set."""
    return _FLOAT32 if assumed is None else Policy(assumed)


@dataclass(frozen=True)
class _EntryPoint:
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
        files: Collection[Path],
        generations_of: Callable[[Path], tuple[str, ...]],
        assumed: Callable[[Path], str | None],
    ) -> None:
        self._program = program
        self._project = program.project
        self._found = found
        self._generations_of = generations_of
        self._starts = {path: _start(assumed(path)) for path in files}
        self._reach = Reach(self._project)
        self._setters = Setters(self._project, self._reach.programs_in_play)
        self._timed: dict[tuple[Path, str, Policy], set[str]] = {}
        """What is in a program that nothing imports, by the generation and the policy when it is spoken of last."""
        self._untimed: set[Path] = set()
        self._spoken = Spoken(self._project)
        self._policies: dict[Path, dict[tuple[str, Policy], set[Path]]] = {}
        """The generations and policies under which files are run, and the programs that do so."""

    def explore(self, paths: Collection[Path]) -> None:
        """Run the entry points in `paths`, then the functions there that none of them entered."""
        left: list[_EntryPoint] = []
        for one in self._programs(frozenset(paths)):
            if self._reach.is_in_play(one.path, self._is_assumed(one.path)):
                self._run(one)
            else:
                left.append(one)
        for one in left:  # whose functions would be taken for ones that a mixed program calls, had it not been run
            if any(self._is_mixed(path) for path in self._reached(one)) and self._reach.reaches_keras(one.path):
                self._run(one)
        for path in paths:
            if not self._reach.reaches_keras(path):
                continue
            start, generations = self._starts[path], self._generations_of(path)
            known = self._policies.get(path) or {(each, start): {path} for each in generations}
            possible = self._possible(path, known)
            # a file that is for one generation is so in a program that may be in both
            possible = [one for one in possible if one[0] in generations] or possible
            for generation in sorted({each for each, _ in possible}):
                self._run_unentered(
                    path, generation, {policy: known[one, policy] for one, policy in possible if one == generation}
                )

    def _run_unentered(self, path: Path, generation: str, programs: Mapping[Policy, Collection[Path]]) -> None:
        """Run what nothing entered in a module, each function under the worst policy of the programs that speak of it.

        `programs` are those that import the module, by policy.  What none of them speaks of has that of its module.
        """
        start = self._starts[path]
        entry = Entry(path, path.name, generation, start)
        done: list[Collection[str]] = []
        for policy in sorted(programs, key=_rank):
            words = None if policy == start else self._words(path, entry, policy, programs[policy])
            self._run_under(policy, entry, Wanted(words, tuple(done)))
            if words is None:
                return
            done.extend(words)
        self._run_under(start, entry, Wanted(None, tuple(done)))

    def _run_under(self, policy: Policy, entry: Entry, wanted: Wanted) -> None:
        assumed = self._is_assumed(entry.path)
        if policy.name in HALF_POLICIES or assumed or self._setters.speaks(entry.path):
            again = assumed and self._varies and policy == self._starts[entry.path]
            run_unentered(self._program, self._found, entry, policy, self._setters, wanted, again=again)

    def _words(
        self, path: Path, entry: Entry, policy: Policy, programs: Collection[Path]
    ) -> tuple[Collection[str], ...] | None:
        """Of what some programs speak that import a module; None where they set its policy, whatever they speak of.

        So does the module itself, and a package for all that is in it.
        """
        if policy.name not in HALF_POLICIES:
            return None
        if set(programs) == {path} and path not in self._untimed:
            return (self._timed.get((path, entry.generation, policy), frozenset()),)
        if any(one == path or one.stem == "__init__" for one in programs):
            return None
        if self._reach.meets_half(path):
            own = own_policies(self._program, entry)
            if any(one.name is None or one.name in HALF_POLICIES for one in own):
                return None
        under = (entry.generation, policy.name)
        looked_up = frozenset(module for module, seen in self._program.looked_up.items() if under in seen)
        return tuple(words for one in programs for words in self._spoken.of(path, one, looked_up))

    def _is_assumed(self, path: Path) -> bool:
        """Whether another policy than the default is treated as set from the start of what is run in a file."""
        return self._starts[path] != _FLOAT32

    @property
    def _varies(self) -> bool:
        """Whether it is not the same for all files."""
        return len(set(self._starts.values())) > 1

    def _programs(self, paths: Collection[Path]) -> Iterator[_EntryPoint]:
        """The entry points in `paths`: scripts, and what the commands call that installing the project makes."""
        for path in sorted(paths):
            if is_script(self._project, path):
                yield _EntryPoint(path, path.name, script(path))
        for one in self._project.console_scripts():
            home = self._project.path_of(one.module)
            if home is not None and home in paths:
                yield _EntryPoint(home, f"{home.name}:{one.attribute}", call_of(home, one.attribute))

    def _reached(self, point: _EntryPoint) -> Collection[Path]:
        """The modules that run under the policy of a program."""
        path = point.path
        return {path} if self._project.is_test(path) else {path, *self._project.closure(path)}

    def _run(self, point: _EntryPoint) -> None:
        for generation in self._generations_of(point.path):
            before = self._starts[point.path]
            patience = None if self._is_assumed(point.path) else _PATIENCE
            entry = Entry(point.path, point.name, generation, before, patience=patience)
            if self._project.is_test(point.path):  # a test runner imports it: there is no program to run
                entry = replace(entry, budget=MAX_TEST_STEPS)
            for world in run_entry(self._program, self._found, entry, point.run):
                by_name = policies_by_name(self._project, world, before)
                if by_name is None:
                    self._untimed.add(point.path)
                else:
                    for name, policy in by_name.items():
                        key = (generation, policy)
                        self._policies.setdefault(point.path, {}).setdefault(key, set()).add(point.path)
                        self._timed.setdefault((point.path, *key), set()).add(name)
                for path in self._reached(point):
                    for policy in _policies(world):
                        # what is assumed in a file holds there, not in what it imports
                        unset = policy == before and path != point.path
                        held = self._starts.get(path, _FLOAT32) if unset else policy
                        known = self._policies.setdefault(path, {})
                        known.setdefault((generation, held), set()).add(point.path)

    def _is_mixed(self, path: Path) -> bool:
        return any(policy.name in HALF_POLICIES for _, policy in self._policies.get(path, ()))

    def _possible(self, path: Path, known: Collection[tuple[str, Policy]]) -> Collection[tuple[str, Policy]]:
        """Of the policies under which a module is run, those under which what nothing has entered may be called.

        Where a program takes something out of the module by a name that is not known, it is that program.
        """
        looked_up = self._program.looked_up.get(path)
        if looked_up is None:
            return known
        return {(generation, policy) for generation, policy in known if (generation, policy.name) in looked_up} or known


def _policies(world: World) -> Iterator[Policy]:
    """The policies of which that at the end of a run is one; where it is not known, all that the run has set."""
    yield from world.policies
    if any(policy.name is None for policy in world.policies):
        events = (event for event in world.trace.events if isinstance(event, PolicySet))
        yield from (event.policy for event in events if event.policy.name is not None)


def related(project: Project, targets: Collection[Path]) -> list[Path]:
    """The files whose running may say something about `targets`: themselves, and those that import them."""
    found = set(targets)
    for path in targets if not found.issuperset(project.files) else ():
        found |= project.importers(path)
    return sorted(found)


def is_script(project: Project, path: Path) -> bool:
    """Whether a program may start at `path`: it guards on `__main__`, or at most tests import it."""
    if project.mentions(path, b"__main__"):
        return True
    importers = project.importers(path)
    return not importers or (not project.is_test(path) and all(project.is_test(one) for one in importers))


def _rank(policy: Policy) -> int:
    """The worst policy first: float16 has every fault of bfloat16, and more."""
    return {"mixed_float16": 0, "float16": 1, "mixed_bfloat16": 2, "bfloat16": 3}.get(policy.name or "", 9)
