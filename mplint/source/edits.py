"""Text edits."""

from __future__ import annotations

from collections.abc import Iterable

from mplint.findings import Span


def apply_edits(text: str, edits: Iterable[tuple[Span, str]]) -> str:
    """`text` with each span replaced by its content; all spans count in the old text.

    An empty span inserts. Insertions at one place keep their order and come before a replacement that starts there.
    Edits that overlap, and spans outside the text, raise ValueError.
    """
    pieces: list[str] = []
    done = 0
    for span, content in sorted(edits, key=lambda edit: edit[0]):
        if not 0 <= span.start <= span.end <= len(text):
            raise ValueError(f"the edit at {span.start}..{span.end} lies outside the text of {len(text)} characters")
        if span.start < done:
            raise ValueError(f"the edit at {span.start}..{span.end} overlaps one that ends at {done}")
        pieces += (text[done : span.start], content)
        done = span.end
    pieces.append(text[done:])
    return "".join(pieces)
