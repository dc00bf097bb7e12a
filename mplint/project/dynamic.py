"""Imports of modules whose names are put together at run time: as much of the name as the text tells."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from mplint.project.calls import assigned, calls, display
from mplint.source.lexer import Kind, Piece

_IMPORTERS: Final = re.compile(r"\b(?:importlib\.)?(?:import_module|__import__|import_string|locate)\(")
_WORDS: Final = ("import_module", "__import__", "import_string", "locate(")
_TABLE: Final = ("'_target_'", '"_target_"')
"""What stands in a text whose strings name the modules that Hydra imports."""
_DOTTED: Final = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?::[A-Za-z_]\w*)?")
_RUNS: Final = re.compile(
    r"""\b(?:(?P<magic>magic\(\s*u?(?=['"]%?run\s)|run_line_magic\(\s*(['"])run\2\s*,)"""
    r"""|runpy\.run_path\(|run_path\(|exec\(\s*(?:compile\(\s*)?open\()\s*"""
    r"""(?P<quote>['"])(?P<file>[^'"\r\n]+)(?P=quote)"""
)
_OWN: Final = frozenset({"__name__", "__package__", "__spec__"})
_PLACEHOLDER: Final = re.compile(r"%|(?<!\{)\{(?!\{)")
_MAX_DEPTH: Final = 4


@dataclass(frozen=True)
class Named:
    """A module that is named at run time; where `open`, the name goes on behind `name`, and nobody can tell how."""

    name: str
    level: int = 0
    open: bool = False


def named_at_run_time(text: str, pieces: list[Piece]) -> Iterator[Named]:
    """The modules that calls such as `import_module(f"models.{name}")` may import."""
    unclear = any(word in text for word in _TABLE)
    if any(word in text for word in _WORDS):
        for call in calls(text, pieces, _IMPORTERS):
            found = list(_called(text, call))
            unclear = unclear or not found
            yield from found
    if unclear:  # the name comes from a table, or from afar
        yield from _dotted_strings(text, pieces)


def _called(text: str, call: ast.Call) -> Iterator[Named]:
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    name = call.args[0] if call.args else keywords.get("name")
    package = call.args[1] if len(call.args) > 1 else keywords.get("package")
    if name is None:
        return
    choices = _choices(text, name)
    for named in _named(text, name, 0) if choices is None else _chosen(text, name, choices):
        if named.level and isinstance(package, ast.Constant) and isinstance(package.value, str):
            yield replace(named, name=f"{package.value}.{named.name}", level=0)
        else:
            yield named


def _chosen(text: str, node: ast.expr, choices: list[str]) -> Iterator[Named]:
    """The names that an expression gives, each end of which is one of `choices`."""
    for named in _named(text, node, 0):
        for choice in choices if named.open else ():
            yield replace(named, name=named.name + choice, open=False)


def _choices(text: str, node: ast.expr) -> list[str] | None:
    """What a variable at the end of a name may be, where `if name in __all__:` or the like asks for it.

    None where nothing does, or where something else in the name is not known either.
    """
    match node:
        case ast.JoinedStr(values=[*before, ast.FormattedValue(value=ast.Name(id=end))]):
            known = all(isinstance(one, ast.Constant) or _is_own_part(one) for one in before)
        case ast.BinOp(left=left, op=ast.Add(), right=ast.Name(id=end)):
            known = all(isinstance(one, ast.Constant) or _is_own(one) for one in _summands(left))
        case _:
            return None
    asked = re.findall(rf"\bif[ \t]+{end}[ \t]+(?:not[ \t]+)?in[ \t]+(\w+)[ \t]*:", text) if known else []
    found: list[str] = []
    for table in asked:
        match display(text, table):
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts) | ast.Dict(keys=parts):
                names = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
            case _:
                return None
        if len(names) < len(parts):
            return None
        found += names
    return found or None


def _is_own_part(node: ast.expr) -> bool:
    return isinstance(node, ast.FormattedValue) and _is_own(node.value)


def _summands(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp):
        yield from _summands(node.left)
        yield from _summands(node.right)
    else:
        yield node


def _named(text: str, node: ast.expr, depth: int) -> Iterator[Named]:
    """The names that an expression may give, as far as they begin with something that is known."""
    match node:
        case ast.Constant(value=str(name)):
            yield from _read(name, is_open=False)
        case ast.JoinedStr(values=[first, *others]):
            if isinstance(first, ast.Constant):
                yield from _read(str(first.value), is_open=bool(others))
            elif isinstance(first, ast.FormattedValue) and others and isinstance(others[0], ast.Constant):
                yield from _own(first.value, str(others[0].value), is_open=len(others) > 1)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            if isinstance(right, ast.Constant) and isinstance(right.value, str) and _is_own(left):
                yield from _own(left, right.value, is_open=False)
            elif isinstance(left, ast.BinOp) and isinstance(left.right, ast.Constant) and _is_own(left.left):
                yield from _own(left.left, str(left.right.value), is_open=True)
            else:
                for named in _named(text, left, depth):
                    tail = right.value if isinstance(right, ast.Constant) and isinstance(right.value, str) else None
                    yield replace(named, open=True) if tail is None else replace(named, name=named.name + tail)
        case ast.BinOp(left=ast.Constant(value=str(pattern)), op=ast.Mod()):
            yield from _pattern(pattern)
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(pattern)), attr="format")):
            yield from _pattern(pattern)
        case ast.Call(func=ast.Attribute(value=ast.Constant(value="."), attr="join"), args=[ast.List(elts=parts)]):
            known: list[str] = []
            for part in parts:
                if not (isinstance(part, ast.Constant) and isinstance(part.value, str)):
                    break
                known.append(part.value)
            if known:
                yield from _read(".".join(known) + "." * (len(known) < len(parts)), is_open=len(known) < len(parts))
        case ast.Name(id=name) if depth < _MAX_DEPTH:
            for value in assigned(text, name):
                yield from _named(text, value, depth + 1)
        case ast.IfExp(body=body, orelse=orelse):
            yield from _named(text, body, depth + 1)
            yield from _named(text, orelse, depth + 1)
        case _:
            pass


def _pattern(pattern: str) -> Iterator[Named]:
    hole = _PLACEHOLDER.search(pattern)
    yield from _read(pattern[: hole.start()] if hole else pattern, is_open=hole is not None)


def _is_own(node: ast.expr) -> bool:
    name = node.value if isinstance(node, ast.Attribute) else node  # `__spec__.name`
    return isinstance(name, ast.Name) and name.id in _OWN


def _own(first: ast.expr, rest: str, is_open: bool) -> Iterator[Named]:
    """A name below the package that the text stands in: `__name__ + "." + name`."""
    if _is_own(first) and rest.startswith("."):
        yield from _read(rest, is_open)


def _read(name: str, is_open: bool) -> Iterator[Named]:
    bare = name.lstrip(".")
    if bare or len(name) > len(bare):
        yield Named(bare, len(name) - len(bare), is_open)


def _dotted_strings(text: str, pieces: list[Piece]) -> Iterator[Named]:
    for kind, start, end in pieces:
        if kind is not Kind.COMMENT and end - start < 200:
            inner = text[start:end].strip("rbuRBU").strip("'\"")
            if _DOTTED.fullmatch(inner):
                yield Named(inner.partition(":")[0])


def files_run_by(text: str) -> tuple[str, ...]:
    """The files that a text runs by their path: `%run file.py`, `runpy.run_path("file.py")`, `exec(open(…).read())`."""
    if "run" not in text and "exec(" not in text:
        return ()
    found = ((match["file"], match["magic"] is not None) for match in _RUNS.finditer(text))
    return tuple(dict.fromkeys(file_of_magic(file) if magic else file for file, magic in found))


def file_of_magic(line: str) -> str:
    """The file in what `%run` is given, behind its options; the empty text where there is none."""
    words = (word for word in line.removeprefix("%").removeprefix("run ").split() if not word.startswith("-"))
    return next(words, "").strip("'\"")
