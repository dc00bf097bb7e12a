"""What programs put on `sys.path` by themselves: directories, as their text names them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from mplint.project.calls import assigned, calls
from mplint.source.file import absolute
from mplint.source.lexer import strings_and_comments

HERE: Final = "<file>"
"""Stands in a path for the file that names it."""

_ADDS: Final = re.compile(r"\b(?:sys\.path\.(?:append|insert|extend)|site\.addsitedir|sys\.path\.__iadd__)\(")
_JOINS: Final = frozenset({"join", "joinpath"})
_KEEP: Final = frozenset(
    {"abspath", "realpath", "normpath", "expanduser", "resolve", "absolute", "as_posix", "str", "fspath"}
    | {"Path", "PurePath", "PosixPath", "__str__"}
)
"""Functions and methods that name the same place in another way."""
_MAX_DEPTH: Final = 12


def added_directories(text: str) -> tuple[str, ...]:
    """The directories that a text puts on `sys.path`: relative to where it is run, or to the file as `<file>/..`."""
    if "sys.path" not in text and "addsitedir" not in text:
        return ()
    found: list[str] = []
    for call in calls(text, list(strings_and_comments(text)), _ADDS):
        for argument in call.args:
            items = argument.elts if isinstance(argument, (ast.List, ast.Tuple)) else [argument]
            for item in items:
                found.extend(_paths(text, item, 0))
    return tuple(dict.fromkeys(found))


def _paths(text: str, node: ast.expr, depth: int) -> Iterator[str]:
    """The paths that an expression may mean, as far as its text tells."""
    if depth > _MAX_DEPTH:
        return
    match node:
        case ast.Constant(value=str(path)) if path:
            yield path
        case ast.Name(id="__file__"):
            yield HERE
        case ast.Name(id=name):
            for value in assigned(text, name):
                if not (isinstance(value, ast.Name) and value.id == name):
                    yield from _paths(text, value, depth + 4)
        case ast.Attribute(value=of, attr="parent"):
            yield from (f"{path}/.." for path in _paths(text, of, depth + 1))
        case ast.Attribute(value=ast.Name(id="os" | "path"), attr="pardir"):
            yield ".."
        case ast.Attribute(value=ast.Name(id="os" | "path"), attr="curdir"):
            yield "."
        case ast.Subscript(value=ast.Attribute(value=of, attr="parents"), slice=ast.Constant(value=int(count))):
            yield from (f"{path}/.." + "/.." * min(count, 20) for path in _paths(text, of, depth + 1))
        case ast.Subscript(value=ast.Call(func=ast.Attribute(attr="split"), args=[of]), slice=ast.Constant(value=0)):
            yield from (f"{path}/.." for path in _paths(text, of, depth + 1))
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            yield from _joined(text, [left, right], depth)
        case ast.BinOp(left=left, op=ast.Add(), right=ast.Constant(value=str(end))):
            yield from (path + end for path in _paths(text, left, depth + 1))
        case ast.JoinedStr(values=parts):
            yield from _formatted(text, parts, depth)
        case ast.Call():
            yield from _called(text, node, depth)
        case _:
            pass


def _called(text: str, call: ast.Call, depth: int) -> Iterator[str]:
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    method = isinstance(function, ast.Attribute) and not _is_module(function.value)
    given = [function.value, *call.args] if method and isinstance(function, ast.Attribute) else list(call.args)
    if name in ("getcwd", "cwd"):
        yield "."
    elif name == "dirname" and given:
        yield from (f"{path}/.." for path in _paths(text, given[0], depth + 1))
    elif name in _JOINS or (name == "Path" and len(given) > 1):
        yield from _joined(text, given, depth)
    elif name in _KEEP and given:
        yield from _paths(text, given[0], depth + 1)


def _is_module(node: ast.expr) -> bool:
    """Whether an expression is `os.path`, `os` or `pathlib`, whose functions take the path as an argument."""
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name in ("os", "path", "osp", "pathlib", "op")


def _joined(text: str, parts: list[ast.expr], depth: int) -> Iterator[str]:
    known = [list(_paths(text, part, depth + 1)) for part in parts]
    if all(known):
        yield "/".join(options[0] for options in known)


def _formatted(text: str, parts: list[ast.expr], depth: int) -> Iterator[str]:
    known: list[str] = []
    for part in parts:
        inner = part.value if isinstance(part, ast.FormattedValue) else part
        options = list(_paths(text, inner, depth + 1))
        if not options:
            return
        known.append(options[0])
    yield "".join(known)


def located(directory: str, path: Path, root: Path) -> tuple[Path, ...]:
    """Where a directory of `added_directories` is, in the text of the file `path`, likeliest first.

    What does not start from the file itself starts from where the program is run: in its own directory, or at `root`.
    """
    if directory.startswith(HERE):
        return (absolute(path / directory[len(HERE) :].lstrip("/")),)
    return (absolute(path.parent / directory), absolute(root / directory))
