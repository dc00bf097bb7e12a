"""Comments that silence findings.

`# noqa`, `# noqa: MP101, E501`, `# mplint: ignore`, `# mplint: ignore[MP101]`, `# mplint: ignore-file` and
`# mplint: ignore-file[MP101]`.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from mplint.findings import Span
from mplint.source.lexer import Kind, strings_and_comments

_MAY_SUPPRESS = re.compile(r"noqa|mplint\s*:", re.IGNORECASE)
_NEWLINE = re.compile(r"\r\n?|\n")

_NOQA = re.compile(r"#\s*noqa(?![\w-])(?:\s*(?P<colon>:))?", re.IGNORECASE)
_MPLINT = re.compile(r"#\s*mplint\s*:\s*ignore(?P<file>-file)?(?![\w-])(?:\s*(?P<bracket>\[))?", re.IGNORECASE)
_CODE = re.compile(r"[A-Za-z]+[0-9]+")
_SEPARATOR = re.compile(r"[\s,]*")


@dataclass(frozen=True)
class Suppression:
    """One comment. `codes` is None where it names none and so silences everything."""

    span: Span
    row: int
    codes: tuple[str, ...] | None

    def names(self, code: str) -> bool:
        """Whether it silences `code`. As in flake8, `MP1` stands for all codes that begin so."""
        return self.codes is None or code.upper().startswith(self.codes)


class Suppressions:
    """All suppressing comments of a text.

    As in ruff, codes after `# noqa:` are read up to the first word that is none, so that a reason may follow, and a
    colon without any code silences nothing. `# mplint: ignore[...]` takes its codes in brackets.
    """

    for_file: tuple[Suppression, ...]
    """Those that hold for the whole file."""
    comments: tuple[Suppression, ...]
    """The others, in order of appearance."""

    def __init__(self, text: str) -> None:
        found, self.for_file = _read(text) if _MAY_SUPPRESS.search(text) else ([], ())
        self.comments = tuple(sorted(found, key=lambda one: one.span))
        self._rows = [one.row for one in self.comments]

    def covers(self, code: str, first_row: int, last_row: int) -> bool:
        """Whether a comment on one of the rows (1-based, inclusive) silences `code`."""
        return any(one.names(code) for one in (*self.for_file, *self.on(first_row, last_row)))

    def on(self, first_row: int, last_row: int) -> tuple[Suppression, ...]:
        """The comments on these rows (1-based, inclusive)."""
        return self.comments[bisect_left(self._rows, first_row) : bisect_right(self._rows, last_row)]


def _read(text: str) -> tuple[list[Suppression], tuple[Suppression, ...]]:
    """The comments that hold for their line, and those that hold for the file."""
    line_starts = [0, *(match.end() for match in _NEWLINE.finditer(text))]
    found: list[Suppression] = []
    for_file: list[Suppression] = []
    for kind, start, end in strings_and_comments(text):
        comment = text[start:end]
        if kind is not Kind.COMMENT or not _MAY_SUPPRESS.search(comment):
            continue
        for span, codes, whole in _codes_in(comment):
            if codes != ():
                at = Span(start + span.start, start + span.end)
                (for_file if whole else found).append(Suppression(at, bisect_right(line_starts, at.start), codes))
    return found, tuple(for_file)


def _codes_in(comment: str) -> list[tuple[Span, tuple[str, ...] | None, bool]]:
    """Where each starts and ends, its codes, and whether it is for the whole file."""
    found: list[tuple[Span, tuple[str, ...] | None, bool]] = []
    for match in _NOQA.finditer(comment):
        end = match.end()
        codes: tuple[str, ...] | None = None
        if match["colon"]:
            codes, end = _codes(comment, end)
        found.append((Span(match.start(), end), codes, False))
    for match in _MPLINT.finditer(comment):
        end = match.end()
        codes = None
        if match["bracket"]:
            codes, end = _codes(comment, end)
            if (bracket := comment.find("]", end)) >= 0:
                end = bracket + 1
        found.append((Span(match.start(), end), codes, bool(match["file"])))
    return found


def _codes(comment: str, position: int) -> tuple[tuple[str, ...], int]:
    codes: list[str] = []
    end = position
    while True:
        separator = _SEPARATOR.match(comment, end)
        match = _CODE.match(comment, end if separator is None else separator.end())
        if match is None:
            return tuple(codes), end
        codes.append(match[0].upper())
        end = match.end()
