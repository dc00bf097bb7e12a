from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from mplint.findings import Edit, Span
from mplint.fixer.shift import Shift, overlap
from mplint.source.edits import apply_edits

TEXT = "abcdefghij"
FILE = Path("a.py")


def edit(start: int, end: int, content: str) -> Edit:
    return Edit(FILE, Span(start, end), content)


def image(span: tuple[int, int], *edits: Edit) -> str:
    moved = Shift(edits).span(Span(*span))
    return apply_edits(TEXT, [(one.span, one.content) for one in edits])[moved.start : moved.end]


def test_what_is_inserted_at_the_border_stays_outside() -> None:
    assert image((2, 5), edit(2, 2, "<<"), edit(5, 5, ">>")) == "cde"


def test_what_is_inserted_inside_belongs_to_it() -> None:
    assert image((2, 5), edit(3, 3, "--")) == "c--de"


def test_a_replaced_border_belongs_to_it() -> None:
    assert image((2, 5), edit(1, 3, "XY"), edit(4, 7, "Z")) == "XYdZ"


def test_a_neighbour_does_not() -> None:
    assert image((2, 5), edit(0, 2, "XY"), edit(5, 7, "Z")) == "cde"


def test_an_empty_span_never_turns_around() -> None:
    moved = Shift([edit(3, 3, "xx")]).span(Span(3, 3))
    assert moved.start <= moved.end


@st.composite
def edits(draw: st.DrawFn) -> list[Edit]:
    cuts = sorted(draw(st.lists(st.integers(0, len(TEXT)), unique=True, max_size=6)))
    pairs = zip(cuts[::2], cuts[1::2], strict=False)
    return [edit(start, end, draw(st.text("XYZ", max_size=3))) for start, end in pairs]


@given(edits(), st.integers(0, len(TEXT)), st.integers(0, len(TEXT)))
def test_untouched_text_is_found_again(made: list[Edit], start: int, end: int) -> None:
    span = Span(min(start, end), max(start, end))
    if not any(overlap(one.span, span) for one in made):
        assert image((span.start, span.end), *made) == TEXT[span.start : span.end]


@given(edits())
def test_what_was_written_is_found(made: list[Edit]) -> None:
    shift = Shift(made)
    text = apply_edits(TEXT, [(one.span, one.content) for one in made])
    for one in made:
        span = shift.written(one)
        assert text[span.start : span.end] == one.content
