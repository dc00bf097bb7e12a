"""Calls around expressions, also around some that stand in each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

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
    """The edits, one for each outermost expression; parentheses around an expression become those of the call.

    Each replaces the whole expression, so that no other edit is made inside of it.
    """
    marks: list[tuple[int, bool, int, str]] = []
    wholes: list[Span] = []
    for wrap in wraps:
        outer, inner = source.span(wrap.node, parentheses=True), source.span(wrap.node)
        before, after, end = wrap.before, wrap.after, outer.end
        if len(wrap.node.lpar) == 1 and before.endswith("("):
            before, after, end = before[:-1], after[:-1], inner.end
        marks.append((outer.start, True, -end, before))  # the outermost one begins first
        marks.append((end, False, -outer.start, after))  # and ends last
        wholes.append(outer)
    marks.sort()
    edits: list[Edit] = []
    for whole in _outermost(wholes):
        text, at = "", whole.start
        for offset, _, _, content in marks:
            if whole.start <= offset <= whole.end:
                text, at = text + source.text[at:offset] + content, offset
        edits.append(Edit(source.path, whole, text + source.text[at : whole.end]))
    return edits


def _outermost(spans: Iterable[Span]) -> list[Span]:
    found: list[Span] = []
    for span in sorted(set(spans), key=lambda span: (span.start, -span.end)):
        if not found or span.start >= found[-1].end:
            found.append(span)
    return found
