"""Single calls and assignments of a text as syntax, without parsing the rest of it."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Final

from mplint.source.lexer import Piece, is_code

_MAX_LENGTH: Final = 2000
_MAX_CLOSINGS: Final = 30
_MAX_ASSIGNMENTS: Final = 8
_CLOSINGS: Final = {"[": "]", "(": ")", "{": "}"}


def calls(text: str, pieces: list[Piece], function: re.Pattern[str]) -> Iterator[ast.Call]:
    """The calls whose text begins as `function` matches, up to and with the bracket; `pieces` are the strings."""
    for match in function.finditer(text):
        if is_code(pieces, match.start()):
            found = _call(text, match.start(), match.end())
            if found is not None:
                yield found


def _call(text: str, start: int, end: int) -> ast.Call | None:
    limit = min(len(text), start + _MAX_LENGTH)
    found = _bracketed(text, start, end, ")", limit)
    return found if isinstance(found, ast.Call) else None


def _bracketed(text: str, start: int, end: int, closing: str, limit: int) -> ast.expr | None:
    """The expression that begins at `start` and ends with one of the brackets `closing` behind `end`."""
    for _ in range(_MAX_CLOSINGS):
        end = text.find(closing, end, limit) + 1
        if not end:
            return None
        found = _expression(text[start:end])
        if found is not None:
            return found
    return None


@lru_cache(maxsize=64)  # what it is asked for while one text is read
def assigned(text: str, name: str) -> tuple[ast.expr, ...]:
    """What is assigned to the variable `name` anywhere in `text`, where it stands on one line."""
    pattern = re.compile(
        rf"^[ \t]*{re.escape(name)}[ \t]*(?::[^=\r\n]*)?=[ \t]*(?P<value>[^=\s][^\r\n]*)", re.MULTILINE
    )
    found = (_expression(match["value"].strip()) for match in islice(pattern.finditer(text), _MAX_ASSIGNMENTS))
    return tuple(value for value in found if value is not None)


@lru_cache(maxsize=64)
def display(text: str, name: str) -> ast.expr | None:
    """The list, tuple, set or dict that the variable `name` is at the top of `text`; None where anything changes it."""
    own = re.escape(name)
    first = re.search(rf"^{own}[ \t]*(?::[^=\r\n]*)?=[ \t]*(?P<opening>[\[({{])", text, re.MULTILINE)
    if first is None or re.search(rf"\b{own}\s*(?:[-+|&]?=(?!=)|\.|\[)", text[: first.start()] + text[first.end() :]):
        return None
    start = first.start("opening")
    limit = min(len(text), start + _MAX_LENGTH)
    return _bracketed(text, start, start + 1, _CLOSINGS[first["opening"]], limit)


def _expression(text: str) -> ast.expr | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
