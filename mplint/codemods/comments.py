"""Comments without what is not needed in them."""

from __future__ import annotations

from mplint.codemods.layout import NEWLINE
from mplint.findings import Edit, Span
from mplint.source.file import SourceFile
from mplint.source.silence import Unused

_PUNCTUATION = " \t\f,;:-"


def without_unused(source: SourceFile, unused: Unused) -> Edit:
    """The edit that takes the codes out of the comment; with the last of them the comment goes, but no other words."""
    comment = unused.comment
    kept = [place for place, code in zip(comment.places, comment.codes or (), strict=True) if code not in unused.codes]
    if not kept:
        return _removed(source, comment.span, comment.comment)
    written = source.text[kept[0].start : kept[0].end]
    for before, place in zip(comment.places, comment.places[1:], strict=False):
        if place in kept[1:]:
            written += source.text[before.end : place.end]
    return Edit(source.path, Span(comment.places[0].start, comment.places[-1].end), written)


def _removed(source: SourceFile, span: Span, comment: Span) -> Edit:
    text = source.text
    behind = text[span.end : comment.end].lstrip(_PUNCTUATION)
    if behind.startswith("#"):  # a comment of its own: it moves up
        return Edit(source.path, Span(span.start, comment.end - len(behind)), "")
    if behind:
        return Edit(source.path, Span(span.start, comment.end - len(behind)), "# ")
    start = len(text[: span.start].rstrip(" \t\f"))
    alone = start == 0 or text[start - 1] in "\r\n"
    newline = NEWLINE.match(text, comment.end) if alone else None
    return Edit(source.path, Span(start, newline.end() if newline is not None else comment.end), "")
