"""The lines that a fix changes in one file, as they are and as they would be."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from mplint.findings import Edit, Span
from mplint.source.edits import apply_edits
from mplint.source.file import SourceFile

_NEWLINE: Final = re.compile(r"\r\n?|\n")


@dataclass(frozen=True)
class Change:
    """One line that goes or comes; `row` counts as the file is now, in a notebook inside the cell."""

    row: int
    sign: Literal["-", "+"]
    text: str


def changes(source: SourceFile, edits: Iterable[Edit]) -> Iterator[Change]:
    """The lines that the edits of one file, in their order, take away and bring."""
    for hunk in hunks(source, edits):
        yield from _changes(source, hunk)


def hunks(source: SourceFile, edits: Iterable[Edit]) -> Iterator[list[Edit]]:
    """The edits, those together that touch the same lines or neighbours."""
    hunk: list[Edit] = []
    for edit in edits:
        if hunk and source.position(edit.span.start)[0] > source.position(hunk[-1].span.end)[0] + 1:
            yield hunk
            hunk = []
        hunk.append(edit)
    if hunk:
        yield hunk


def _changes(source: SourceFile, edits: list[Edit]) -> Iterator[Change]:
    first, column = source.position(edits[0].span.start)
    start = edits[0].span.start - column + 1
    last, column = source.position(edits[-1].span.end)
    stop = edits[-1].span.end - column + 1 + len(source.line(last))
    before = source.text[start:stop]
    after = apply_edits(before, [(Span(e.span.start - start, e.span.end - start), e.content) for e in edits])
    old, new = _NEWLINE.split(before), _NEWLINE.split(after)
    number = first - source.rows_together(first)[0] + 1
    for kind, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            yield from (Change(number + i + n, "-", line) for n, line in enumerate(old[i:j]))
            yield from (Change(number + i + n, "+", line) for n, line in enumerate(new[k:m]))
