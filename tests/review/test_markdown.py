"""Texts in Markdown, as a reader of CommonMark and GitHub's extensions has them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from mplint.review.markdown import code, escaped, fenced

READER = MarkdownIt("gfm-like", {"linkify": False})
JOINER = "\u2060"
ODD = st.text(alphabet="ab1 `*_~[]()<>!#@$%&|\\:/.-+=\"'\n\t", max_size=40)


def inline(text: str) -> list[Token]:
    """What is in a paragraph."""
    tokens = READER.parse(f"Said: {text}")
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    children = tokens[1].children
    assert children is not None
    return children


@given(ODD)
def test_a_text_is_only_text(text: str) -> None:
    tokens = inline(escaped(text))
    assert {token.type for token in tokens} <= {"text", "text_special", "code_inline"}
    if "`" not in text:
        told = "".join(token.content for token in tokens).replace(JOINER, "")
        assert told == f"Said: {' '.join(text.split())}".rstrip()


def test_code_spans_stay() -> None:
    tokens = inline(escaped("`x_1 *y*` is `float16`, not `"))
    assert [token.content for token in tokens if token.type == "code_inline"] == ["x_1 *y*", "float16"]


@pytest.mark.parametrize("text", ["@team", "see #12", "a@b", "!7", "https://example.org", "$x$", "~label", "%v1"])
def test_nobody_is_called_and_nothing_is_linked(text: str) -> None:
    sign = next(character for character in text if not character.isalnum() and character != " ")
    assert f"{sign}{JOINER}" in escaped(text)


@pytest.mark.parametrize("text", ["www.example.org/a.py:3", "(WWW.example.org)"])
def test_a_name_is_no_address(text: str) -> None:
    assert f"w{JOINER}." in escaped(text).lower()


@given(ODD)
def test_code_is_code_whatever_is_in_it(text: str) -> None:
    if not text.strip():
        return
    [_, token] = inline(code(text))[:2]
    assert token.type == "code_inline"
    assert token.content == " ".join(text.split())


@given(st.text(alphabet="a`~\n ", max_size=60))
def test_a_block_holds_its_text(text: str) -> None:
    [token] = READER.parse(fenced(text, "suggestion"))
    assert (token.type, token.info) == ("fence", "suggestion")
    assert token.content == (text if text.endswith("\n") or not text else text + "\n")
