"""Calls around expressions, also around some that stand in each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

import libcst as cst

from mplint.findings import Edit, Span
from mplint.source.file import SourceFile


@dataclass(frozen=True)
class Wrap:
    """The text `before` and `after` an expression: that of a call, so that `after` ends it."""

    node: cst.BaseExpression
    before: str
    after: str


def wrapped(source: SourceFile, wraps: Iterable[Wrap]) -> list[Edit]:
    """The edits, one for each place; parentheses around an expression become those of the call."""
    marks: list[tuple[int, bool, int, str]] = []
    for wrap in wraps:
        outer, inner = source.span(wrap.node, parentheses=True), source.span(wrap.node)
        before, after, end = wrap.before, wrap.after, outer.end
        if len(wrap.node.lpar) == 1 and before.endswith("("):
            before, after, end = before[:-1], after[:-1], inner.end
        marks.append((outer.start, True, -end, before))  # the outermost one begins first
        marks.append((end, False, -outer.start, after))  # and ends last
    edits: list[Edit] = []
    for offset, group in groupby(sorted(marks), key=lambda mark: mark[0]):
        edits.append(Edit(source.path, Span(offset, offset), "".join(mark[3] for mark in group)))
    return edits
