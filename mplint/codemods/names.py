"""How a file writes the names of a library, and how one more of them is written there."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from mplint.findings import Edit, Span
from mplint.interpreter.code import dotted
from mplint.interpreter.values import Api, Value
from mplint.keras_api import canonical
from mplint.source.file import SourceFile
from mplint.source.walk import walk


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
    found = _import_of(source, func.value)
    if found is None:
        return None
    statement, alias = found
    for other in statement.names if not isinstance(statement.names, cst.ImportStar) else ():
        if dotted(other.name) == wanted:
            return (dotted(other.asname.name) if other.asname is not None else wanted), ()
    if wanted in _bound(source):
        return None
    return wanted, (_extended(source, statement, alias, wanted),)


def _import_of(source: SourceFile, name: str) -> tuple[cst.ImportFrom, cst.ImportAlias] | None:
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


def _bound(source: SourceFile) -> set[str]:
    """Every name that the file binds or uses anywhere: a new one must not meet any of them."""
    return {node.value for node in walk(source.module) if isinstance(node, cst.Name)}


def _extended(source: SourceFile, statement: cst.ImportFrom, alias: cst.ImportAlias, wanted: str) -> Edit:
    """Put `wanted` into the import, at its place in the alphabet where the names are in order, else behind `alias`."""
    assert not isinstance(statement.names, cst.ImportStar)
    names = list(statement.names)
    words = [dotted(other.name) for other in names]
    position = names.index(alias) + 1
    if words == sorted(words):
        position = sum(1 for word in words if word < wanted)
    if position == 0:
        first = source.span(names[0])
        text = wanted + source_between(source, names, 0)
        return Edit(source.path, Span(first.start, first.start), text)
    before = source.span(names[position - 1])
    return Edit(source.path, Span(before.end, before.end), source_between(source, names, position - 1) + wanted)


def source_between(source: SourceFile, names: list[cst.ImportAlias], index: int) -> str:
    """The comma and white space that separate the imported names."""
    if len(names) < 2:
        return ", "
    left, right = (index, index + 1) if index + 1 < len(names) else (index - 1, index)
    text = source.text[source.span(names[left]).end : source.span(names[right]).start]
    return text if "#" not in text else ", "


def written(bindings: Mapping[str, Value], path: str) -> str | None:
    """How a file with these module-level names writes the library's `path`: the shortest way it offers."""
    ways: list[str] = []
    for name, value in bindings.items():
        if not isinstance(value, Api) or name.startswith(("_", "@")):
            continue
        if value.path == path:
            ways.append(name)
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
