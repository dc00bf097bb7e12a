"""Strings and comments of a text, whether or not it parses.

Suppressions must be found in files with syntax errors and must not be found inside strings; `tokenize` gives up on the
first, and what it makes of f-strings depends on the Python that runs mplint. Every expression here is linear in its
input.
"""

from __future__ import annotations

import enum
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final


class Kind(enum.Enum):
    """What a piece of text is that is not code."""

    COMMENT = "comment"
    STRING = "string"
    FORMATTED = "formatted"
    """An f-string or t-string, with everything in its replacement fields."""


_REST: Final = {
    '"': r'[^"\\\r\n]*(?:\\(?:\r\n|[\s\S])[^"\\\r\n]*)*"?',
    "'": r"[^'\\\r\n]*(?:\\(?:\r\n|[\s\S])[^'\\\r\n]*)*'?",
    '"""': r'[^"\\]*(?:(?:\\[\s\S]|"(?!""))[^"\\]*)*(?:""")?',
    "'''": r"[^'\\]*(?:(?:\\[\s\S]|'(?!''))[^'\\]*)*(?:''')?",
}
"""From behind the opening quote to behind the closing one; to the end of the line, or text, where it is missing."""

# The alternatives begin with three characters only, so that searching skips everything else at the speed of memchr.
PLAIN_STRING: Final = "|".join(quote + _REST[quote] for quote in ('"""', "'''", '"', "'"))
"""A string that is not formatted, without its prefix."""
_PIECE = re.compile(f"#[^\\r\\n]*|{PLAIN_STRING}")
_END = {quote: re.compile(rest) for quote, rest in _REST.items()}

_PREFIXES = frozenset(["", "b", "u", "r", "br", "rb", "f", "fr", "rf", "t", "tr", "rt"])

_LITERAL_PART = re.compile(r"\\N\{[^{}\r\n]*\}|\\(?:\r\n|[^{}])|\{\{|\}\}|[{}\"'\r\n]")
_FIELD_PART = re.compile(r"#[^\r\n]*|[A-Za-z]{0,3}(?:\"{3}|'{3}|\"|')|[()\[\]{}:]|!=")

CONTINUATION: Final = re.compile(r"\\(?:\r\n?|\n)")
"""Between two lines of code that are one."""

_MAX_NESTING = 100
"""F-strings inside f-strings; Python stops at 150."""


Piece = tuple[Kind, int, int]
"""Kind, start and end. A string goes from quote to quote, without its prefix."""


def strings_and_comments(text: str) -> Iterator[Piece]:
    """All comments and strings, in order."""
    pieces = _PIECE.finditer(text)
    while (piece := next(pieces, None)) is not None:
        start, end = piece.span()
        if text[start] == "#":
            yield Kind.COMMENT, start, end
            continue
        prefix = _prefix(text, start)
        if "f" not in prefix and "t" not in prefix:
            yield Kind.STRING, start, end
            continue
        quote = text[start] * 3 if text.startswith(text[start] * 3, start) else text[start]
        end = _end_of_formatted(text, start + len(quote), quote, raw="r" in prefix, nesting=0)
        yield Kind.FORMATTED, start, end
        pieces = _PIECE.finditer(text, end)


def is_code(pieces: Sequence[Piece], offset: int) -> bool:
    """Whether the character at `offset` lies in none of `pieces`: all strings and comments of its text."""
    before = bisect_right(pieces, offset, key=_start)
    return before == 0 or pieces[before - 1][2] <= offset


def with_pieces(text: str, pieces: Iterable[Piece], instead: Callable[[Kind, str], str]) -> str:
    """`text` with something `instead` of each of `pieces`, in order; it is given their kind and text."""
    parts: list[str] = []
    position = 0
    for kind, start, end in pieces:
        parts += (text[position:start], instead(kind, text[start:end]))
        position = end
    return "".join((*parts, text[position:]))


def _start(piece: Piece) -> int:
    return piece[1]


def _prefix(text: str, quote: int) -> str:
    """The letters before the quote at this offset, where they are a string prefix."""
    start = quote
    while start > 0 and quote - start < 3 and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    prefix = text[start:quote].lower()
    return prefix if prefix in _PREFIXES else ""


def end_of_string(text: str, position: int, quote: str) -> int:
    """The end of a string whose opening quote ends at `position`: of its line, or the text, where it is not closed."""
    match = _END[quote].match(text, position)
    return position if match is None else match.end()


def _end_of_formatted(text: str, position: int, quote: str, *, raw: bool, nesting: int) -> int:
    """The end of an f-string whose opening quote ends at `position`."""
    if nesting > _MAX_NESTING:
        return end_of_string(text, position, quote)
    fields = 0  # how many replacement fields are open: a format specification may hold further ones
    while (match := _LITERAL_PART.search(text, position)) is not None:
        part = match[0]
        position = match.end()
        if part[0] in "\"'":
            if text.startswith(quote, match.start()):
                return match.start() + len(quote)
        elif part[0] in "\r\n":
            if len(quote) == 1:
                return match.start()
        elif part[0] == "\\":
            if raw and part[1] == "N":
                position = match.start() + 2
        elif part == "{" or (part == "{{" and fields):
            position, in_specification = _end_of_field(text, match.start() + 1, nesting)
            fields += in_specification
        elif part[0] == "}" and fields:
            position = match.start() + 1
            fields -= 1
    return len(text)


def _end_of_field(text: str, position: int, nesting: int) -> tuple[int, bool]:
    """Behind the expression of a replacement field, and whether a format specification follows there."""
    depth = 0
    while (match := _FIELD_PART.search(text, position)) is not None:
        part = match[0]
        position = match.end()
        if part[-1] in "\"'" and part[0] != "#":
            prefix = part.rstrip("\"'").lower()
            quote = part[len(prefix) :]
            if "f" in prefix or "t" in prefix:
                position = _end_of_formatted(text, position, quote, raw="r" in prefix, nesting=nesting + 1)
            else:
                position = end_of_string(text, position, quote)
        elif part in "([{":
            depth += 1
        elif part == "}" and depth == 0:
            return position, False
        elif part in ")]}":
            depth = max(depth - 1, 0)
        elif part == ":" and depth == 0:
            return position, True
    return len(text), False
