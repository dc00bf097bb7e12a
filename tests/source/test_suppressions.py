"""Suppressing comments."""

from __future__ import annotations

import pytest

from mplint.findings import Span
from mplint.source.suppressions import Suppressions


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa",
        "#noqa",
        "# NOQA",
        "#  NoQa",
        "# noqa: MP101",
        "# noqa:MP101",
        "# noqa : MP101",
        "# noqa: E501, MP101",
        "# noqa: E501 MP101",
        "# noqa: E501,MP101,F401",
        "# noqa: mp101",
        "# noqa: MP1",
        "# noqa: MP101 because the head is tiny",
        "# noqa: MP101; see the paper",
        "# noqa (MP101 is fine here)",
        "# type: ignore # noqa: MP101",
        "# noqa: E501 # noqa: MP101",
        "# pylint: disable=all  noqa is a word # mplint: ignore[MP101]",
        "# mplint: ignore",
        "#mplint:ignore",
        "# MPLINT: Ignore",
        "# mplint: ignore[MP101]",
        "# mplint: ignore[MP999, MP101]",
        "# mplint: ignore [ MP101 ]",
        "# mplint: ignore[mp101] the head is tiny",
        "# mplint: ignore[MP101",
    ],
)
def test_comments_that_silence(comment: str) -> None:
    assert Suppressions(f"x = 1\ny = 2  {comment}\n").silencing("MP101", 2, 2)
    assert not Suppressions(f"x = 1\ny = 2  {comment}\n").silencing("MP101", 1, 1)


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa: E501",
        "# noqa: MP102",
        "# noqa: MP1011",
        "# noqa:",
        "# noqa: because",
        "# noqa: MP",
        "# noqa-ish",
        "# noqabout",
        "# nonoqa",
        "# flake8: noqa",
        "# mplint: ignore[]",
        "# mplint: ignore[MP102]",
        "# mplint: ignored",
        "# mplint: ignore-fil",
        "# mplint ignore",
        "# mplint: disable",
        "noqa",
    ],
)
def test_comments_that_do_not(comment: str) -> None:
    found = Suppressions(f"x = 1  {comment}\n")
    assert not found.silencing("MP101", 1, 1)
    assert not found.for_file


@pytest.mark.parametrize(
    "text",
    [
        "x = '# noqa'\n",
        'x = """\n# noqa\n"""\n',
        "x = '''# mplint: ignore-file'''\n",
        "x = f'{y:# noqa}'\n",
        "x = 'a\\\n# noqa'\n",
    ],
)
def test_strings_do_not_silence(text: str) -> None:
    found = Suppressions(text)
    assert not found.for_file
    assert not found.comments


@pytest.mark.parametrize(
    "text", ["# mplint: ignore-file\n", "x = 1\n\ndef f(): pass  # MPlint: ignore-FILE, generated\n"]
)
def test_a_file_can_be_ignored(text: str) -> None:
    found = Suppressions(text)
    assert found.silencing("MP101", 99, 99)
    assert found.silencing("MP501", 1, 1)


def test_any_row_of_the_statement_counts() -> None:
    found = Suppressions("f(\n    1,  # noqa: MP1, MP201\n    '''\n    ''')  # mplint: ignore[MP5]\n")
    assert found.silencing("MP101", 1, 4)
    assert found.silencing("MP201", 2, 2)
    assert found.silencing("MP501", 1, 4)
    assert not found.silencing("MP501", 1, 3)
    assert not found.silencing("MP202", 1, 4)


def test_each_comment_is_known_by_its_place() -> None:
    text = "a = 1\r\nb = 2  # why # noqa: MP101, E501 and more\rc = 3  # mplint: ignore[ MP2 ] so\n"
    first, second = Suppressions(text).comments
    assert (first.row, first.codes) == (2, ("MP101", "E501"))
    assert (second.row, second.codes) == (3, ("MP2",))
    assert text[first.span.start : first.span.end] == "# noqa: MP101, E501"
    assert text[second.span.start : second.span.end] == "# mplint: ignore[ MP2 ]"
    assert Suppressions(text).on(3, 9) == (second,)


def test_a_bare_comment_ends_where_its_words_end() -> None:
    (comment,) = Suppressions("x = 1  # noqa  and\n").comments
    assert comment.span == Span(7, 13)
    assert comment.codes is None


def test_a_file_can_be_ignored_for_some_codes() -> None:
    found = Suppressions("# mplint: ignore-file[MP102]\nx = 1\n")
    assert found.silencing("MP102", 2, 2)
    assert not found.silencing("MP101", 2, 2)
    assert not Suppressions("# mplint: ignore-file[]\n").for_file
