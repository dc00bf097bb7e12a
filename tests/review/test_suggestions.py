"""Suggestions of a file, applied together, give its new text, or there are none."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from mplint.findings import Span
from mplint.review.suggestions import Suggestion, _Change, _lines, _of_file
from mplint.source.file import SourceFile
from tests import stand_in

LINE = st.sampled_from(["a\n", "b\n", "c\n", "\n", "    d\n", "```\n"])


def applied(text: str, made: list[Suggestion]) -> str:
    lines = _lines(text)
    for one in sorted(made, key=lambda one: -one.first):
        lines[one.first - 1 : one.last] = [one.text]
    return "".join(lines)


@given(
    before=st.lists(LINE, min_size=1, max_size=12),
    replaced=st.lists(st.tuples(st.integers(0, 11), st.integers(1, 3), st.lists(LINE, max_size=3)), max_size=3),
)
def test_all_of_them_give_the_new_text_or_there_are_none(
    before: list[str], replaced: list[tuple[int, int, list[str]]]
) -> None:
    after, changes, free = list(before), [], len(before)
    for number, (start, height, lines) in enumerate(sorted(replaced, key=lambda one: -one[0])):
        end = min(start + height, free)
        if start >= end:
            continue
        after[start:end], free = lines, start
        source = SourceFile(Path("a.py"), "".join(before))
        changes.append(_Change(stand_in.finding(source, Span(0, 0), fingerprint=str(number)), start, end))
    source = SourceFile(Path("a.py"), "".join(before))
    made = list(_of_file(changes, source, "".join(after)))
    rows = [row for one in made for row in range(one.first, one.last + 1)]
    assert len(rows) == len(set(rows)), "no two are for one line"
    if made:  # of lines that are alike, it may look as if others were gone: then it suggests nothing
        assert applied("".join(before), made) == "".join(after)


def test_lines_that_belong_to_no_change_leave_none() -> None:
    source = SourceFile(Path("a.py"), "a\nb\nc\n")
    change = _Change(stand_in.finding(source, Span(0, 1)), 0, 1)
    assert not list(_of_file([change], source, "x\nb\ny\n"))


def test_what_is_taken_away_and_put_in() -> None:
    source = SourceFile(Path("a.py"), "a\nb\nc\n")
    one = _Change(stand_in.finding(source, Span(0, 1)), 0, 1)
    other = _Change(stand_in.finding(source, Span(4, 5)), 2, 3)
    made = list(_of_file([one, other], source, "b\nc\nd\n"))
    assert [(each.first, each.last, each.text) for each in made] == [(1, 1, ""), (3, 3, "c\nd\n")]
