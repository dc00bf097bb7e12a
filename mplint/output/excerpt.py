"""The lines around a finding, with a mark under what is meant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mplint.findings import Span
from mplint.output.terminal import Ink, paint, printable, width
from mplint.source.file import SourceFile

AROUND: Final = 2
"""Lines shown before and after."""
TALLEST: Final = 6
"""A span of more lines than this is shortened in the middle."""
WIDEST: Final = 160
"""A line of more columns than this is cropped around its mark."""


def excerpt(source: SourceFile, span: Span, ink: Ink, *, color: bool) -> list[str]:
    """The lines of `span` and a few around it, numbered, the span marked in `ink`."""
    return list(_Excerpt(source, span, ink, color).lines())


class _Excerpt:
    def __init__(self, source: SourceFile, span: Span, ink: Ink, color: bool) -> None:
        self._source, self._ink, self._color = source, ink, color
        self._first, self._start = source.position(span.start)[0], source.location(span.start).column
        self._last, column = source.position(span.end)
        self._end = source.location(span.end).column
        if self._last > self._first and column == 1:  # the span holds the line break: it ends on the line before
            self._last -= 1
            self._end = len(source.shown(self._last)) + 1
        self._top, self._total = source.rows_together(self._first)
        self._numbers = len(str(min(self._last + AROUND, self._total) - self._top + 1))

    def lines(self) -> Iterator[str]:
        tall = self._last > self._first
        indent = "  " if tall else ""
        yield self._row(None, "")
        yield from self._context(range(max(self._top, self._first - AROUND), self._first), indent)
        yield from self._tall() if tall else self._flat()
        yield from self._context(range(self._last + 1, min(self._last + AROUND, self._total) + 1), indent)
        yield self._row(None, "")

    def _context(self, rows: range, indent: str) -> Iterator[str]:
        for row in rows:
            yield self._row(row, indent + _crop(self._shown(row)))

    def _flat(self) -> Iterator[str]:
        line = self._shown(self._first)
        start = self._column(self._first, self._start)
        end = max(self._column(self._first, self._end), start + 1)
        cut = max(0, min(start - WIDEST // 4, width(line) - WIDEST))
        yield self._row(self._first, _crop(line, cut))
        carets = min(end - cut, WIDEST) - (start - cut)
        yield self._row(None, " " * (start - cut) + self._mark("^" * carets))

    def _tall(self) -> Iterator[str]:
        rows = list(range(self._first, self._last + 1))
        hidden = len(rows) > TALLEST
        if hidden:
            rows[TALLEST // 2 : -1] = []
        start = self._column(self._first, self._start)
        whole_line = not self._source.shown(self._first)[: self._start - 1].strip()
        for row in rows:
            if hidden and row == self._last:
                yield self._gap()
            edge = "|" if row > self._first else "/" if whole_line else " "
            yield self._row(row, f"{self._mark(edge)} {_crop(self._shown(row))}")
            if row == self._first and not whole_line:
                yield self._row(None, " " + self._mark("_" * min(start + 1, WIDEST) + "^"))
        end = self._column(self._last, self._end)
        yield self._row(None, self._mark("|" + "_" * min(end, WIDEST) + "^"))

    def _row(self, row: int | None, content: str) -> str:
        number = "" if row is None else row - self._top + 1
        gutter = f"{number!s:>{self._numbers}} |"
        return f"{paint(gutter, Ink.GUTTER, color=self._color)} {content}".rstrip()

    def _gap(self) -> str:
        gutter = f"{'...':<{self._numbers + 2}}"
        return f"{paint(gutter, Ink.GUTTER, color=self._color)} {self._mark('|')}"

    def _mark(self, text: str) -> str:
        return paint(text, self._ink, color=self._color) if text.strip() else text

    def _shown(self, row: int) -> str:
        return printable(self._source.shown(row))

    def _column(self, row: int, column: int) -> int:
        """Where (from 0) the 1-based column of the source is shown."""
        return width(printable(self._source.shown(row)[: column - 1]))


def _crop(line: str, cut: int = 0) -> str:
    """At most `WIDEST` columns of the line from column `cut` on, with an ellipsis where something is missing."""
    if not cut and width(line) <= WIDEST:
        return line
    kept: list[str] = []
    column = 0
    for character in line:
        if cut <= column < cut + WIDEST:
            kept.append(character)
        column += width(character)
    if cut:
        kept[0] = "…"
    if column > cut + WIDEST:
        kept[-1] = "…"
    return "".join(kept)
