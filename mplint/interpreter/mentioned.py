"""Where a program speaks of a function last: behind that, nothing is left to call it that was not there before.

Only for a program that nothing imports, a script or a notebook: what it sets later is not what the function runs under.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import libcst as cst

from mplint.interpreter.trace import PolicyReset, PolicySet
from mplint.interpreter.values import Policy
from mplint.interpreter.world import World
from mplint.project.modules import Project
from mplint.source.file import ParseFault, SourceFile
from mplint.source.walk import walk

_BY_ANY_NAME: Final = frozenset(
    {"globals", "locals", "vars", "eval", "exec", "modules", "getmembers", "dir", "__dict__", "get_ipython", "Fire"}
)
"""A program that says one of these may speak of anything, without its name."""


def policies_by_name(project: Project, world: World, start: Policy) -> dict[str, Policy] | None:
    """The policies under which the functions and classes of a program may be called last.

    `world` is one of its runs, which began under `start`.  None where one cannot tell: where something else may call
    them, too.
    """
    path = world.path
    if len(world.policies) != 1 or project.importers(path) or project.is_test(path) or path.stem == "__init__":
        return None
    source = project.source(path)
    try:
        statements = source.module.body
    except ParseFault:
        return None
    last = _last_mentions(statements)
    if last is None:
        return None
    if any(isinstance(event, PolicyReset) for event in world.trace.events):
        return None
    sets = [event for event in world.trace.events if isinstance(event, PolicySet)]
    # where statements begin takes generating the file anew: only where something is set
    starts = [source.span(statement).start for statement in statements] if sets else []
    changes = [(_statement(source, starts, event), event.policy) for event in sets]
    found: dict[str, Policy] = {}
    for name, index in last.items():
        if all(at <= index for at, _ in changes):
            found[name] = world.policies[0]
        else:
            found[name] = next((policy for at, policy in reversed(changes) if at <= index), start)
    return found


def _statement(source: SourceFile, starts: list[int], event: PolicySet) -> int:
    """The statement at the top level of the program in which something happens; before the first one in imports."""
    sites = [*event.context.sites(), event.place]
    site = next((site for site in sites if site.source.path == source.path), None)
    return -1 if site is None else bisect_right(starts, source.span(site.node).start) - 1


def _last_mentions(statements: Sequence[cst.CSTNode]) -> Mapping[str, int] | None:
    """The functions and classes of a program, and the statements at its top level that speak of them last."""
    users: dict[str, list[tuple[int, frozenset[str]]]] = {}
    defined: dict[str, int] = {}
    for index, statement in enumerate(statements):
        names = frozenset(_names(statement))
        if not names.isdisjoint(_BY_ANY_NAME):
            return None
        through = frozenset(_binds(statement))
        for name in names:
            users.setdefault(name, []).append((index, through - {name}))
        for node in walk(statement):
            if isinstance(node, cst.FunctionDef | cst.ClassDef):
                known = defined.get(node.name.value, -1)
                defined[node.name.value] = len(statements) if node.decorators else max(index, known)

    def last(name: str) -> int:
        seen, waiting, found = {name}, [name], -1
        while waiting:
            for index, through in users.get(waiting.pop(), ()):
                found = max(found, index)
                waiting.extend(through - seen)
                seen |= through
        return found

    return {name: max(index, last(name)) for name, index in defined.items()}


def _names(statement: cst.CSTNode) -> Iterator[str]:
    for node in walk(statement):
        match node:
            case cst.Name(value=name):
                yield name
            case cst.SimpleString(raw_value=text):
                yield text.rpartition(".")[2]
            case _:
                pass


def _binds(statement: cst.CSTNode) -> Iterator[str]:
    """The names that may hold what a statement speaks of: those that it defines or assigns, and objects it calls."""
    if isinstance(statement, cst.FunctionDef | cst.ClassDef):
        yield statement.name.value
        return
    for node in walk(statement):
        match node:
            case cst.AssignTarget(target=target) | cst.AnnAssign(target=target) | cst.AugAssign(target=target):
                yield from _roots(target)
            case cst.NamedExpr(target=target) | cst.For(target=target) | cst.AsName(name=target):
                yield from _roots(target)
            case cst.Call(func=cst.Attribute(value=value), args=[_, *_]):
                yield from _roots(value)
            case _:
                pass


def _roots(target: cst.CSTNode) -> Iterator[str]:
    """The names in a target or receiver, without attributes."""
    match target:
        case cst.Name(value=name):
            yield name
        case cst.Attribute(value=value) | cst.Subscript(value=value):
            yield from _roots(value)
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for element in elements:
                yield from _roots(element.value)
        case _:
            pass
