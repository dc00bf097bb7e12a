"""Large tables of plain data in a source text, which are left out of its tree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from keyword import iskeyword
from typing import Final

from mplint.source.lexer import PLAIN_STRING, is_code, strings_and_comments

_LONG: Final = 1 << 16
"""A display of fewer characters is read."""
_CLOSED: Final = (
    r"[bBrRuU]{0,2}(?:'''(?s:.*?)'''|\"\"\"(?s:.*?)\"\"\""
    r"|'(?:[^'\\\r\n]|\\(?s:.))*'|\"(?:[^\"\\\r\n]|\\(?s:.))*\")"
)
"""A string that ends: with any other there is a mistake in a display, which must be found."""
_DATA: Final = re.compile(rf"(?:[\s,:+\-]+|\.?\d[\w.]*|{_CLOSED}|#[^\r\n]*|(?:None|True|False)\b){{1,256}}")
_ITEM: Final = re.compile(rf"\s+|#[^\r\n]*|{_CLOSED}|[+\-\d][\w.]*|None|True|False")
_OTHER: Final = re.compile(rf"(?:[^\[({{'\"#]+|{PLAIN_STRING}|#[^\r\n]*){{1,256}}")
_CLOSES: Final = {"[": "]", "(": ")", "{": "}"}
_BEFORE: Final = re.compile(r"(?:(?P<name>\w+)|[\])}'\"])[ \t]*$")


def tables(text: str) -> Iterator[tuple[int, int]]:
    """Where the long displays of plain data stand: from behind the opening bracket to the closing one."""
    if len(text) < _LONG:
        return
    found = sorted(display for display in _displays(text) if display[1] - display[0] >= _LONG)
    pieces = list(strings_and_comments(text)) if found else []
    behind = 0
    for start, end in found:
        if start > behind and is_code(pieces, start - 1):
            yield start, end
            behind = end


def _displays(text: str) -> Iterator[tuple[int, int]]:
    """All displays with nothing but data in them, found in one pass."""
    open_at: list[int] = []
    position, length = 0, len(text)
    while position < length:
        skipped = (_DATA if open_at else _OTHER).match(text, position)
        if skipped is not None:
            position = skipped.end()
            continue
        character = text[position]
        if character in _CLOSES:
            if open_at or _begins(text, position):
                open_at.append(position)
        elif open_at and character == _CLOSES[text[open_at[-1]]]:
            yield open_at.pop() + 1, position
        elif open_at:  # no data
            open_at.clear()
            continue
        position += 1


def _begins(text: str, bracket: int) -> bool:
    """Whether a bracket opens a display: there are no arguments or an index in it."""
    before = _BEFORE.search(text, max(0, bracket - 40), bracket)
    return before is None or iskeyword(before["name"] or "")


def without_tables(text: str) -> str:
    """`text` with something unknown, of the same length, in place of the long displays of plain data."""
    parts: list[str] = []
    position = 0
    for start, end in tables(text):
        behind = _behind_first(text, start)
        if text[start - 1] == "(" and behind != ",":  # one value in brackets
            continue
        unknown = "**...," if behind == ":" else "*...,"
        parts += (text[position:start], unknown.ljust(end - start))
        position = end
    return "".join((*parts, text[position:])) if parts else text


def _behind_first(text: str, start: int) -> str:
    """What stands behind the first item of a display: a comma, or the colon of a dict."""
    position, depth = start, 0
    while position < len(text):
        item = _ITEM.match(text, position)
        if item is not None:
            position = item.end()
            continue
        if not depth and text[position] in ",:":
            break
        depth += (text[position] in _CLOSES) - (text[position] in "])}")
        position += 1
    return text[position : position + 1]
