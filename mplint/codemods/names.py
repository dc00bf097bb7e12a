"""How a file writes the names of a library, and how one more of them is written there."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from mplint.codemods import calls, layout
from mplint.findings import Edit, Span
from mplint.interpreter.code import dotted
from mplint.interpreter.values import Api
from mplint.interpreter.world import World
from mplint.keras_api import Kind, canonical, kind
from mplint.source.file import SourceFile
from mplint.source.walk import names_in


def sibling(source: SourceFile, func: cst.BaseExpression, wanted: str) -> tuple[str, tuple[Edit, ...]] | None:
    """How to write the name `wanted` from the module that `func` comes from.

    `layers.Dense` gives `layers.Activation`; for a bare `Dense` the import that brings it is extended.  None where that
    cannot be done.
    """
    if isinstance(func, cst.Attribute):
        prefix = dotted(func.value)
        return (f"{prefix}.{wanted}", ()) if prefix else None
    if not isinstance(func, cst.Name):
        return None
    found = import_of(source, func.value)
    if found is None:
        return None
    statement, alias = found
    for other in statement.names if not isinstance(statement.names, cst.ImportStar) else ():
        if dotted(other.name) == wanted:
            return (dotted(other.asname.name) if other.asname is not None else wanted), ()
    if wanted in names_in(source.module):
        return None
    return wanted, (_extended(source, statement, alias, wanted),)


def imported_beside(source: SourceFile, func: cst.BaseExpression, wanted: Sequence[str]) -> Edit | None:
    """One more import behind the one that brings `func`: `wanted` from the same copy of Keras, named as they are there.

    None where `func` comes otherwise than from a submodule of Keras, or a name is taken.
    """
    found = import_of(source, dotted(func).partition(".")[0])
    if found is None or names_in(source.module) & set(wanted):
        return None
    statement, _ = found
    package, dot, _ = f"{dotted(statement.module)}.".partition("keras.")
    if not dot:
        return None
    end = source.span(statement).end
    stop = layout.line_end(source, end)
    text = f"{layout.newline(source, end)}from {package}keras import {', '.join(wanted)}"
    return Edit(source.path, Span(stop, stop), text)


def import_of(source: SourceFile, name: str) -> tuple[cst.ImportFrom, cst.ImportAlias] | None:
    """The import at the file's top level that binds `name`."""
    for line in source.module.body:
        if not isinstance(line, cst.SimpleStatementLine):
            continue
        for statement in line.body:
            if isinstance(statement, cst.ImportFrom) and not isinstance(statement.names, cst.ImportStar):
                if not dotted(statement.module).startswith(("keras", "tensorflow", "tf_keras")):
                    continue  # a module of the program need not have the other name
                for alias in statement.names:
                    bound = dotted(alias.asname.name) if alias.asname is not None else dotted(alias.name)
                    if bound == name:
                        return statement, alias
    return None


def _extended(source: SourceFile, statement: cst.ImportFrom, alias: cst.ImportAlias, wanted: str) -> Edit:
    """Put `wanted` into the import, at its place in the alphabet where the names are in order, else behind `alias`."""
    assert not isinstance(statement.names, cst.ImportStar)
    names = list(statement.names)
    words = [dotted(other.name) for other in names]
    position = names.index(alias) + 1
    if words == sorted(words):
        position = sum(1 for word in words if word < wanted)
    spans = [source.span(name) for name in names]
    if position == len(spans) and statement.lpar is None:  # a line of its own would need a backslash
        return Edit(source.path, Span(spans[-1].end, spans[-1].end), f", {wanted}")
    if position == len(spans):
        opening = source.text.rindex("(", 0, spans[0].start) + 1
        return calls.appended(source, spans, opening, [wanted])
    at = spans[position].start
    between = layout.separator(source, at) if statement.lpar is not None else ", "
    return Edit(source.path, Span(at, at), wanted + between)


def imported_from(source: SourceFile, package: str, wanted: str) -> Edit | None:
    """The edit that adds `wanted` to the import of names from `package`; None where there is none, or it is taken."""
    if wanted in names_in(source.module):
        return None
    for line in source.module.body:
        for statement in line.body if isinstance(line, cst.SimpleStatementLine) else ():
            if not isinstance(statement, cst.ImportFrom) or isinstance(statement.names, cst.ImportStar):
                continue
            if not statement.relative and dotted(statement.module) == package:
                return _extended(source, statement, statement.names[-1], wanted)
    return None


def bound(world: World, source: SourceFile) -> dict[str, Api]:
    """The module-level names of a file that stand for something of a library, without private ones."""
    return {
        name: value
        for name, value in world.module_bindings(source.path).items()
        if isinstance(value, Api) and not name.startswith(("_", "@"))
    }


def spelled(world: World, source: SourceFile, expression: cst.BaseExpression) -> str | None:
    """What `expression`, a name with dots, stands for in the library, as the file's imports bring it."""
    head, _, rest = dotted(expression).partition(".")
    value = world.module_bindings(source.path).get(head)
    if not isinstance(value, Api):
        return None
    start = value.spelled or value.path
    return f"{start}.{rest}" if rest else start


def written(world: World, source: SourceFile, path: str) -> str | None:
    """How a file writes the library's `path`: the shortest way that its imports offer."""
    ways: list[str] = []
    for name, value in bound(world, source).items():
        if value.path == path:
            ways.append(name)
        if kind(value.path) is not Kind.MODULE:
            continue
        for base in (value.path, value.spelled):
            rest = _rest(base, path)
            if rest is not None:
                ways.append(f"{name}.{rest}")
    return min(ways, key=lambda way: (way.count("."), way), default=None)


def _rest(base: str, path: str) -> str | None:
    """What must follow the module `base` to reach `path`."""
    if not base:
        return None
    parts = path.split(".")
    for start in reversed(range(len(parts))):  # the shortest way first
        rest = ".".join(parts[start:])
        if canonical(f"{base}.{rest}") == path and (start > 0 or base == ""):
            return rest
    if base == "tensorflow" and path.startswith("keras."):
        return path
    return None
