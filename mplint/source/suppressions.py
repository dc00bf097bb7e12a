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

_NOQA = re.compile(r"#\s*noqa(?![\w-])(?:\s*(?P<codes>:))?", re.IGNORECASE)
_MPLINT = re.compile(r"#\s*mplint\s*:\s*ignore(?P<file>-file)?(?![\w-])(?:\s*(?P<codes>\[))?", re.IGNORECASE)
_CODE = re.compile(r"[A-Za-z]+[0-9]+")
_WORD = re.compile(r"[^\s,\[\]]+")
_SEPARATOR = re.compile(r"[\s,]*")


@dataclass(frozen=True)
class Suppression:
    """One comment. `codes` is None where it names none and so silences everything.

    `span` is what silences, inside the `comment`, and `places` are those of the codes. `own` tells `mplint:` from
    `noqa`, which other linters read as well.
    """

    span: Span
    row: int
    codes: tuple[str, ...] | None
    places: tuple[Span, ...]
    comment: Span
    own: bool

    def names(self, code: str) -> bool:
        """Whether it silences `code`. As in flake8, `MP1` stands for all codes that begin so."""
        return self.codes is None or code.upper().startswith(self.codes)


class Suppressions:
    """All suppressing comments of a text.

    As in ruff, codes after `# noqa:` are read up to the first word that is none, so that a reason may follow, and a
    colon without any code silences nothing. `# mplint: ignore[...]` takes its codes in brackets; what stands there and
    is no code silences nothing, and is told.
    """

    for_file: tuple[Suppression, ...]
    """Those that hold for the whole file."""
    comments: tuple[Suppression, ...]
    """The others, in order of appearance."""

    def __init__(self, text: str) -> None:
        found, self.for_file = _read(text) if _MAY_SUPPRESS.search(text) else ([], ())
        self.comments = tuple(sorted(found, key=lambda one: one.span))
        self._rows = [one.row for one in self.comments]

    def silencing(self, code: str, first_row: int, last_row: int) -> tuple[Suppression, ...]:
        """The comments that silence `code` on these rows (1-based, inclusive)."""
        return tuple(one for one in (*self.for_file, *self.on(first_row, last_row)) if one.names(code))

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
        for match in (*_NOQA.finditer(text, start, end), *_MPLINT.finditer(text, start, end)):
            own = match.re is _MPLINT
            places = _codes(text, match.end(), end) if match["codes"] else None
            if places == () and own:
                places = _words(text, match.end(), end)
            if places == ():
                continue
            stop = places[-1].end if places else match.end()
            if own and places and (bracket := text.find("]", stop, end)) >= 0:
                stop = bracket + 1
            codes = tuple(text[place.start : place.end].upper() for place in places) if places else None
            at, row = Span(match.start(), stop), bisect_right(line_starts, match.start())
            whole = own and match["file"]
            (for_file if whole else found).append(Suppression(at, row, codes, places or (), Span(start, end), own))
    return found, tuple(for_file)


def _codes(text: str, position: int, end: int) -> tuple[Span, ...]:
    """Where the codes stand from `position` on, up to the first word that is none."""
    places: list[Span] = []
    while True:
        separator = _SEPARATOR.match(text, position, end)
        match = _CODE.match(text, position if separator is None else separator.end(), end)
        if match is None:
            return tuple(places)
        places.append(Span(match.start(), match.end()))
        position = match.end()


def _words(text: str, position: int, end: int) -> tuple[Span, ...]:
    """Where the words stand from `position` up to the closing bracket."""
    bracket = text.find("]", position, end)
    stop = bracket if bracket >= 0 else end
    return tuple(Span(match.start(), match.end()) for match in _WORD.finditer(text, position, stop))
