"""Where the places of a text are after edits."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import accumulate

from mplint.findings import Edit, Span


class Shift:
    """Moves the spans of a file's old text into its new text; `edits` are of that file and do not overlap."""

    def __init__(self, edits: Iterable[Edit] = ()) -> None:
        self._edits = sorted(set(edits))
        self._growth = [0, *accumulate(len(e.content) - (e.span.end - e.span.start) for e in self._edits)]
        self._starts = [edit.span.start for edit in self._edits]
        self._ends = [edit.span.end for edit in self._edits]

    def span(self, old: Span) -> Span:
        """The same thing in the new text: insertions at its borders are outside, a replaced border moves with it."""
        start = self._start(old.start)
        return Span(start, max(start, self._end(old.end)))

    def written(self, edit: Edit) -> Span:
        """Where the content of one of the edits stands."""
        start = edit.span.start + self._growth[self._edits.index(edit)]
        return Span(start, start + len(edit.content))

    def _start(self, offset: int) -> int:
        done = bisect_right(self._ends, offset)  # edits that end at or before the offset
        if done < len(self._edits) and self._starts[done] < offset:
            offset = self._starts[done]
        return offset + self._growth[done]

    def _end(self, offset: int) -> int:
        begun = bisect_left(self._starts, offset)  # edits that start before the offset
        if begun and self._ends[begun - 1] > offset:
            offset = self._ends[begun - 1]
        return offset + self._growth[begun]


def overlap(one: Span, other: Span) -> bool:
    """Whether two spans share a character, or an empty one lies inside or at the border of the other."""
    if one.start == one.end or other.start == other.end:
        return one.start <= other.end and other.start <= one.end
    return one.start < other.end and other.start < one.end
