"""Text edits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mplint.findings import Span
from mplint.source.edits import apply_edits


def test_replacing_inserting_and_deleting() -> None:
    edits = [(Span(4, 5), "Y"), (Span(0, 0), ">"), (Span(1, 3), ""), (Span(6, 6), "<")]
    assert apply_edits("abcdef", edits) == ">adYf<"


def test_no_edits() -> None:
    assert apply_edits("abc", []) == "abc"


def test_insertions_at_one_place_keep_their_order_and_precede_a_replacement() -> None:
    assert apply_edits("abc", [(Span(1, 2), "B"), (Span(1, 1), "1"), (Span(1, 1), "2")]) == "a12Bc"


def test_edits_may_touch() -> None:
    assert apply_edits("abcd", [(Span(2, 3), "C"), (Span(1, 2), "B"), (Span(3, 3), "-")]) == "aBC-d"


@pytest.mark.parametrize(
    "edits",
    [
        [(Span(0, 2), "x"), (Span(1, 3), "y")],
        [(Span(0, 3), "x"), (Span(1, 1), "y")],
        [(Span(1, 2), "x"), (Span(1, 2), "x")],
        [(Span(0, 3), "x"), (Span(1, 2), "y")],
    ],
)
def test_edits_may_not_overlap(edits: list[tuple[Span, str]]) -> None:
    with pytest.raises(ValueError, match="overlaps"):
        apply_edits("abc", edits)


@pytest.mark.parametrize("span", [Span(-1, 0), Span(2, 1), Span(0, 4), Span(4, 4)])
def test_edits_lie_in_the_text(span: Span) -> None:
    with pytest.raises(ValueError, match="outside the text"):
        apply_edits("abc", [(span, "x")])


@given(st.text(), st.data())
def test_what_is_not_edited_stays(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    spans = [Span(start, end) for start, end in zip(cuts[::2], cuts[1::2], strict=False)]
    contents = data.draw(st.lists(st.text(), min_size=len(spans), max_size=len(spans)))
    expected = text
    for span, content in reversed(list(zip(spans, contents, strict=True))):
        expected = expected[: span.start] + content + expected[span.end :]
    assert apply_edits(text, zip(spans, contents, strict=True)) == expected
