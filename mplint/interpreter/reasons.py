"""Why a policy holds at a place: where it is set, under which condition, and how it gets there."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import libcst as cst

from mplint.interpreter.code import dotted
from mplint.interpreter.frames import Context
from mplint.interpreter.trace import LayerMade, ModelMade, PolicySet
from mplint.interpreter.values import Place, Policy, Symbol
from mplint.interpreter.world import World
from mplint.project.dynamic import files_run_by
from mplint.project.imports import imports_of
from mplint.project.modules import Project
from mplint.source.file import SourceFile
from mplint.source.walk import walk

_EXITS: Final = (cst.Return, cst.Raise, cst.Continue, cst.Break)


@dataclass(frozen=True)
class Condition:
    """What is not known beforehand, and decides whether something is done: a test, and whether it must hold.

    `chosen` says that the test is the value itself: the name of the policy.
    """

    test: Place
    holds: bool
    chosen: bool = False


@dataclass(frozen=True)
class Step:
    """A step on the way of a policy, and the condition under which it is taken."""

    place: Place
    what: Place | Path | Policy
    """What is called there, the file that is imported, or the policy that is set."""
    condition: Condition | None = None


@dataclass(frozen=True)
class Reason:
    """Why a policy holds at a place: the steps to where it is set, the setting, and the steps from there."""

    to_setter: tuple[Step, ...]
    setting: Step
    to_place: tuple[Step, ...]
    through: Step | None
    """The most telling of the steps to the place: the last out of another file, else the last.

    Where there are none, the import in the program's file that brings the setting; None without need.
    """

    @property
    def steps(self) -> tuple[Step, ...]:
        """All of them in the order in which they are taken: what is imported above the setting is there before it."""
        first = (*self.to_setter, self.setting)
        imports = tuple(itertools.takewhile(lambda step: isinstance(step.what, Path), self.to_place))
        behind = self.to_place[len(imports) :]
        if imports and _stands_before(imports[0].place, first[0].place):
            return (*imports, *first, *behind)
        return (*first, *self.to_place)

    @property
    def condition(self) -> Condition | None:
        """The innermost unknown condition under which the policy is set."""
        found = (step.condition for step in (self.setting, *reversed(self.to_setter)))
        return next((condition for condition in found if condition is not None), None)


class Reasons:
    """Why policies hold, as the finished worlds of a program show it."""

    def __init__(self, worlds: Sequence[World], project: Project) -> None:
        self._worlds = worlds
        self._project = project
        self._rows: dict[tuple[Path, Path], Place | None] = {}

    @cached_property
    def _settings(self) -> dict[tuple[Place, str | None], dict[World, Context]]:
        """For each place that sets a policy, and its name, the worlds that do it, and the first context in each."""
        found: dict[tuple[Place, str | None], dict[World, Context]] = {}
        for world in self._worlds:
            for event in world.trace.events:
                if isinstance(event, PolicySet):
                    found.setdefault((event.place, event.policy.name), {}).setdefault(world, event.context)
        return found

    def distance(self, world: World, policy: Policy, at: Place) -> int:
        """How many calls lead to where the policy is set, and to the place."""
        if not policy.set_by:
            return 0
        contexts = (self._setting(world, policy, policy.set_by[0])[1], self._way(world, policy, at))
        return sum(context.depth for context in contexts if context is not None)

    def reason(self, world: World, policy: Policy, at: Place) -> Reason | None:
        """Why `policy` holds at `at` in `world`; None where nothing sets it."""
        if not policy.set_by:
            return None
        setter = policy.set_by[0]
        home, context = self._setting(world, policy, setter)
        calls = _calls(context.sites() if context is not None else [])
        ways = _calls(way.sites() if (way := self._way(world, policy, at)) is not None else [])
        shared = 0
        while shared < min(len(calls), len(ways)) and calls[shared] is ways[shared]:
            shared += 1
        first = (calls or [setter])[0].source.path
        within = (ways or [at])[0].source.path
        into = tuple(self._imports(home.path, first))
        towards = self._imports(home.path if into else first, within)
        to_setter = (*into, *(_call(home, site) for site in calls))
        to_place = (*(step for step in towards if step not in into), *(_call(world, site) for site in ways[shared:]))
        condition = next(_around(home, setter), None)
        if condition is None and not any(step.condition for step in to_setter):
            condition = self._choice(home, policy, setter)
        same = function_around(setter) is function_around(at) and setter.source is at.source
        away = [step for step in to_place if step.place.source is not at.source]
        telling = () if same else (away or to_place)[-1:] or into[:1]
        return Reason(to_setter, Step(setter, policy, condition), to_place, next(iter(telling), None))

    def home(self, world: World, policy: Policy) -> World:
        """The world in which `policy` was set: `world`, or another one from which it is borrowed."""
        return self._setting(world, policy, policy.set_by[0])[0]

    def _setting(self, world: World, policy: Policy, setter: Place) -> tuple[World, Context | None]:
        """The world in which the policy was set, and the context: another one where this one only borrows it.

        That of a program which imports what is run here, where one does.
        """
        found = self._settings.get((setter, policy.name), {})
        home = world if world in found else min(found, key=lambda one: not self._brings(one, world), default=world)
        return home, found.get(home)

    def _brings(self, program: World, world: World) -> bool:
        """Whether the run of a program imports the file that another run begins in."""
        return world.path == program.path or world.path in self._project.closure(program.path)

    def _way(self, world: World, policy: Policy, at: Place) -> Context | None:
        """The shortest way into the function around `at`: of those, where any is known, on which `policy` holds."""
        function = function_around(at)
        if function is None:
            return None
        return world.once(_ways_under_policies).get((function, policy)) or world.machine.ways.get(function)

    # -- the condition

    def _choice(self, world: World, policy: Policy, setter: Place) -> Condition | None:
        """The one condition without which something else would be set there."""
        for other in self._worlds:
            if (other.path, other.entry, other.generation) != (world.path, world.entry, world.generation):
                continue
            differing = [symbol for symbol, held in world.decisions.items() if other.decisions.get(symbol) is not held]
            if len(differing) == 1 and other not in self._settings.get((setter, policy.name), {}):
                symbol = differing[0]
                asked = world.machine.program.tests.get(symbol)
                if asked is not None:
                    test, holds = asked
                    return Condition(test, world.decisions[symbol] is holds)
                if _is_of_value(symbol, world.decisions[symbol]) and isinstance(setter.node, cst.Call):
                    argument = next((arg.value for arg in setter.node.args), None)
                    if argument is None or isinstance(argument, cst.BaseString):
                        return None
                    return Condition(Place(setter.source, argument), True, True)
        return None

    # -- imports

    def _imports(self, start: Path, end: Path) -> Iterator[Step]:
        """The imports that lead from one file to another; none where there is no such way."""
        before: dict[Path, Path] = {}
        waiting = deque([start])
        while waiting and end not in before and start != end:
            here = waiting.popleft()
            for path in sorted(self._project.imports(here)):
                if path not in before and path != start:
                    before[path] = here
                    waiting.append(path)
        chain = [end]
        while chain[-1] in before:
            chain.append(before[chain[-1]])
        for importer, imported in zip(chain[:0:-1], chain[-2::-1], strict=True):
            if (importer, imported) not in self._rows:
                self._rows[importer, imported] = _import_of(self._project, importer, imported)
            place = self._rows[importer, imported]
            if place is not None:
                yield Step(place, imported)


def _stands_before(one: Place, other: Place) -> bool:
    """Whether both stand at the top level of one file, and the first is run first."""
    if one.source is not other.source or function_around(one) is not None or function_around(other) is not None:
        return False
    return one.source.span(one.node).start < other.source.span(other.node).start


def unknown_settings(worlds: Iterable[World]) -> list[Place]:
    """The places at which a policy is set of which nothing is known in any of `worlds`."""
    known: dict[Place, bool] = {}
    for world in worlds:
        for event in world.trace.events:
            if isinstance(event, PolicySet):
                known[event.place] = known.get(event.place, False) or event.policy.name is not None
    return [place for place, is_known in known.items() if not is_known]


def _ways_under_policies(world: World) -> dict[tuple[cst.CSTNode, Policy], Context]:
    """The shortest ways on which functions make layers or models, under each policy."""
    found: dict[tuple[cst.CSTNode, Policy], Context] = {}
    for event in world.trace.events:
        if isinstance(event, (LayerMade, ModelMade)) and event.policy.set_by:
            function = function_around(event.place)
            known = found.get((function, event.policy)) if function is not None else None
            if function is not None and (known is None or event.context.depth < known.depth):
                found[function, event.policy] = event.context
    return found


def _calls(sites: Sequence[Place]) -> list[Place]:
    """The calls among the sites of a context; the others are passes of loops."""
    return [site for site in sites if isinstance(site.node, cst.Call)]


def _call(world: World, site: Place) -> Step:
    assert isinstance(site.node, cst.Call)
    return Step(site, Place(site.source, site.node.func), next(_around(world, site), None))


def function_around(place: Place) -> cst.CSTNode | None:
    """The function around a place, whatever its class; None at the top level."""
    current = place.source.parent(place.node)
    while current is not None and not isinstance(current, (cst.FunctionDef, cst.Lambda)):
        current = place.source.parent(current)
    return current


def _around(world: World, place: Place) -> Iterator[Condition]:
    """The unknown conditions in its function under which `place` is run, innermost first."""
    unknown = world.machine.unknown_tests
    node: cst.CSTNode = place.node
    parent = place.source.parent(node)
    while parent is not None and not isinstance(parent, (cst.FunctionDef, cst.Lambda)):
        if isinstance(parent, (cst.IndentedBlock, cst.Module)):
            for statement in _before(parent, node):
                if isinstance(statement, cst.If) and statement.test in unknown and _leaves(statement):
                    yield _condition(place.source, statement.test, holds=False)
        elif isinstance(parent, (cst.If, cst.IfExp)) and node is not parent.test and parent.test in unknown:
            yield _condition(place.source, parent.test, holds=node is parent.body)
        node, parent = parent, place.source.parent(parent)


def _before(parent: cst.IndentedBlock | cst.Module, node: cst.CSTNode) -> Sequence[cst.CSTNode]:
    """The statements before `node` in its block, the nearest first."""
    return list(itertools.takewhile(lambda other: other is not node, parent.body))[::-1]


def _condition(source: SourceFile, test: cst.BaseExpression, *, holds: bool) -> Condition:
    while isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        test, holds = test.expression, not holds
    return Condition(Place(source, test), holds)


def _leaves(statement: cst.If) -> bool:
    """Whether an `if` leaves the function or the loop, and does nothing otherwise."""
    last = statement.body.body[-1] if statement.body.body and statement.orelse is None else None
    if isinstance(last, cst.SimpleStatementLine):
        last = last.body[-1]
    return isinstance(last, _EXITS)


def _is_of_value(symbol: Symbol, outcome: bool) -> bool:
    """Whether a condition that no test of the program asks says which of its likely values something has."""
    match symbol.parts:
        case ("Equal", *_):
            return outcome
        case ("option", Place(), int()):
            return True
        case _:
            return False


def _import_of(project: Project, importer: Path, imported: Path) -> Place | None:
    """The first statement in one file that imports another; else the smallest call that does, or that runs it."""
    source = project.source(importer)
    calls: list[cst.Call] = []
    for node in walk(source.module):
        if isinstance(node, (cst.Import, cst.ImportFrom)) and imported in _brought(project, importer, node):
            return Place(source, node)
        if isinstance(node, cst.Call) and imported in _asked_for(project, source, node):
            calls.append(node)
    smallest = min(calls, key=lambda call: _length(source, call), default=None)
    return None if smallest is None else Place(source, smallest)


def _length(source: SourceFile, node: cst.CSTNode) -> int:
    span = source.span(node)
    return span.end - span.start


def _asked_for(project: Project, source: SourceFile, call: cst.Call) -> Iterator[object]:
    """The files that a call imports or runs by a name that it is given: `import_module("a")`, `%run a.py`."""
    span = source.span(call)
    text = source.text[span.start : span.end]
    for one in imports_of(text):
        yield project.resolve(one.module, one.level, source.path)
    for name in files_run_by(text):
        yield project.file_at(name, source.path)


def _brought(project: Project, importer: Path, node: cst.Import | cst.ImportFrom) -> Iterator[object]:
    level = len(node.relative) if isinstance(node, cst.ImportFrom) else 0
    base = dotted(node.module) if isinstance(node, cst.ImportFrom) and node.module is not None else ""
    names = [base] if base or level else []
    if not isinstance(node.names, cst.ImportStar):
        names += [".".join(part for part in (base, dotted(alias.name)) if part) for alias in node.names]
    for name in names:
        parts = name.split(".")
        for count in range(1 if name else 0, len(parts) + 1) if not level else (len(parts),):
            yield project.resolve(".".join(parts[:count]), level, importer)
