"""What mplint knows of a file before any rule is asked: which Keras it is for, which policies reach it, and why."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mplint.analysis import without_collector
from mplint.interpreter.definitions import functions
from mplint.interpreter.exploration import explore, is_script, related
from mplint.interpreter.program import Program
from mplint.interpreter.reach import Reach
from mplint.interpreter.reasons import Reason, Reasons, unknown_settings
from mplint.interpreter.trace import LayerMade, PolicySet
from mplint.interpreter.values import HALF_POLICIES, Place, Policy
from mplint.interpreter.world import World
from mplint.per_file import PerFile
from mplint.project.generation import Evidence
from mplint.project.modules import Project
from mplint.settings import Settings
from mplint.source.file import ParseFault, SourceError
from mplint.source.stack import on_deep_stack
from mplint.wording import Wording, worded


@dataclass(frozen=True)
class Reached:
    """A half-precision policy that holds in a file: the program that sets it, where, and the way from there."""

    policy: str
    program: str
    set_at: str
    condition: str | None
    trace: tuple[str, ...]


@dataclass(frozen=True)
class Explanation:
    """What is known of one file."""

    name: str
    keras: Evidence
    assumed: str | None
    """The policy that is taken as set in it."""
    assumed_why: str
    policies: tuple[Reached, ...]
    programs: tuple[str, ...]
    """The programs that it is part of."""
    uses_keras: bool
    unknown: tuple[str, ...] = ()
    """Where these programs set a policy of which nothing is known."""
    problem: str = ""
    """Why it cannot be read, where that is so."""


def explain(project: Project, targets: Sequence[Path], settings: Settings) -> list[Explanation]:
    """What is known of each of the files `targets`."""
    with without_collector():
        return on_deep_stack(lambda: list(_Explainer(project, targets, settings).run()))


class _Explainer:
    def __init__(self, project: Project, targets: Sequence[Path], settings: Settings) -> None:
        self._project = project
        self._targets = targets
        self._settings = settings
        self._program = Program(project)
        self._per_file = PerFile(project, settings)
        found = explore(self._program, targets, self._per_file.generations, self._per_file.assumed)
        self._worlds = found.worlds
        self._reasons = Reasons(found.worlds, project)
        self._wording = Wording(project.naming)
        self._reach = Reach(project)

    def run(self) -> Iterator[Explanation]:
        for path in self._targets:
            policy, pattern = self._settings.assumed_for(path)
            by = "assume-policy says so" if pattern is None else f"per-file-assume-policy says so for {pattern}"
            yield Explanation(
                self._name(path),
                self._per_file.evidence(path),
                policy,
                by if policy is not None or pattern is not None else "",
                tuple(self._reached(path)),
                tuple(map(self._name, self._programs(path))),
                self._reach.reaches_keras(path) or path in self._made,
                tuple(self._unknown(path)),
                self._problem(path),
            )

    def _name(self, path: Path) -> str:
        return self._project.naming.file(path)

    def _programs(self, path: Path) -> list[Path]:
        project = self._project
        return [
            entry
            for entry in related(project, [path])
            if is_script(project, entry) and (entry == path or not project.is_test(entry))
        ]

    def _problem(self, path: Path) -> str:
        try:
            self._project.source(path).module  # noqa: B018 - raises what is wrong
        except SourceError as error:
            return error.problem
        except ParseFault as fault:
            return str(fault)
        return ""

    # -- policies

    def _reached(self, path: Path) -> Iterator[Reached]:
        """The policies that hold where the file makes layers, and those of programs that import it and make none."""
        best: dict[tuple[Path, Place, str], tuple[int, World, Policy, Place]] = {}
        made = self._made.get(path, [])
        programs = {world.path for world, _, _ in made}
        for world, policy, at in [*made, *self._around(path, programs)]:
            if policy.name in HALF_POLICIES and policy.name is not None and policy.set_by:
                key = self._reasons.home(world, policy).path, policy.set_by[0], policy.name
                distance = self._reasons.distance(world, policy, at)
                if key not in best or distance < best[key][0]:
                    best[key] = distance, world, policy, at
        for home, setter, name in sorted(best, key=lambda key: (key[0], self._wording.row_of(key[1]), key[2])):
            _, world, policy, at = best[home, setter, name]
            reason = self._reasons.reason(world, policy, at)
            if reason is not None:
                yield self._as_reached(name, home, reason)

    def _as_reached(self, name: str, program: Path, reason: Reason) -> Reached:
        condition = reason.condition
        return Reached(
            name,
            self._name(program),
            self._wording.row_of(reason.setting.place),
            None if condition is None else worded(condition),
            tuple(self._wording.steps(reason)),
        )

    def _unknown(self, path: Path) -> list[str]:
        """Where a policy of which nothing is known is set in the programs that the file is part of."""
        programs = frozenset(self._programs(path))
        worlds = (world for world in self._worlds if world.path in programs)
        return self._wording.rows_of(unknown_settings(worlds))

    @cached_property
    def _made(self) -> dict[Path, list[tuple[World, Policy, Place]]]:
        """The policies under which each file makes layers that ask for none."""
        found: dict[Path, dict[tuple[World, Policy], Place]] = {}
        for world in self._worlds:
            for event in world.trace.events:
                if isinstance(event, LayerMade) and not event.asked:
                    found.setdefault(event.place.source.path, {}).setdefault((world, event.policy), event.place)
        return {path: [(*key, at) for key, at in made.items()] for path, made in found.items()}

    def _around(self, path: Path, others: Collection[Path]) -> Iterator[tuple[World, Policy, Place]]:
        """The policies that the programs set which the file is part of, but for some `others`."""
        for world in self._worlds:
            if world.path in others:
                continue
            set_here = dict.fromkeys(event.policy for event in world.trace.events if isinstance(event, PolicySet))
            if set_here and (path == world.path or path in self._project.closure(world.path)):
                at = self._entered(world, path)
                if at is not None:
                    yield from ((world, policy, at) for policy in set_here)

    def _entered(self, world: World, path: Path) -> Place | None:
        """A place in the function of the file that the shortest way leads to; else the file as a whole."""
        try:
            source = self._project.source(path)
            nodes = [node for _, node in functions(source.module) if node in world.machine.ways]
        except (SourceError, ParseFault):
            return None
        nearest = min(nodes, key=lambda node: world.machine.ways[node].depth, default=None)
        return Place(source, source.module if nearest is None else nearest.body)
