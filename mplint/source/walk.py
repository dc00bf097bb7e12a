"""Walking LibCST trees without its visitors: only the fields that hold code, not whitespace or punctuation."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import libcst as cst

_LAYOUT = (
    "whitespace", "lpar", "rpar", "lbracket", "rbracket", "lbrace", "rbrace", "leading_lines", "trailing", "comma"
)  # fmt: skip
_PUNCTUATION = frozenset(
    {"semicolon", "equal", "dot", "operator", "indent", "header", "footer", "encoding", "newline", "star", "colon",
     "lines_after_decorators", "async_", "first_colon", "second_colon", "asynchronous", "lines_after_header"}
)  # fmt: skip
_PLAIN = (str, bool, int, cst.MaybeSentinel)
_FIELDS: dict[type[cst.CSTNode], tuple[str, ...]] = {}


def children(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The nodes directly below `node` that stand for code, in source order."""
    kind = type(node)
    fields = _FIELDS.get(kind)
    if fields is None:
        fields = _FIELDS[kind] = tuple(
            field.name
            for field in dataclasses.fields(kind)
            if not field.name.startswith(_LAYOUT) and field.name not in _PUNCTUATION
        )
    found: list[cst.CSTNode] = []
    for name in fields:
        value = getattr(node, name)
        if isinstance(value, (list, tuple)):
            found.extend(value)  # of nodes alone
        elif value is not None and not isinstance(value, _PLAIN):
            found.append(value)
    return found


def names_in(node: cst.CSTNode) -> set[str]:
    """Every name in a piece of the program, be it that of a variable, an attribute or a keyword."""
    return {part.value for part in walk(node) if isinstance(part, cst.Name)}


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """`node` and every node of code below it, outermost first."""
    stack = [node]
    while stack:
        here = stack.pop()
        yield here
        stack.extend(reversed(children(here)))
