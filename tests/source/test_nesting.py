"""The depth of a text, estimated before it is parsed."""

from __future__ import annotations

import pytest

from mplint.source.nesting import MAX_BRACKETS, MAX_CHAIN, MAX_ELIF, MAX_PATTERN, too_deep
from tests.source.corpus import keras_sources


@pytest.mark.parametrize("quotes", ["{}", "f'{{{}}}'"], ids=["code", "formatted"])
def test_brackets(quotes: str) -> None:
    inside = MAX_BRACKETS - (quotes != "{}")

    def nested(depth: int) -> str:
        return "x = " + quotes.format("[" * depth + "]" * depth)

    assert too_deep(nested(inside)).at is None
    assert too_deep(nested(inside + 1)).at is not None
    assert too_deep(nested(inside) + "\ny = " + quotes.format("[" * inside + "]" * inside)).at is None


@pytest.mark.parametrize("link", ["not ", "-", "x + ", "lambda: ", "'a' ", "a if b else ", "await "])
def test_chains(link: str) -> None:
    short = f"x = ({link * (MAX_CHAIN // 8)}y)"
    assert too_deep(short).at is None
    assert too_deep(f"x = ({link * MAX_CHAIN}\n{link * 3}y)").at is not None
    assert too_deep(f"x = ({link * 1600}y)").needs_stack


@pytest.mark.parametrize("link", [".a", "()", "[0]", " + 1", " or y", " \\\n + 1", "\n  + 1"])
def test_chains_that_grow_to_the_right(link: str) -> None:
    assert too_deep(f"x = (y{link * (MAX_CHAIN // 8)})").at is None
    assert too_deep(f"x = (y{link * (MAX_CHAIN + 9)})").at is not None


def test_elif() -> None:
    def clauses(count: int) -> str:
        return "    if x: pass\n" + "    elif x: pass\n" * count

    assert too_deep(clauses(MAX_ELIF)).at is None
    assert too_deep(clauses(MAX_ELIF) * 2).at is None
    assert too_deep(clauses(MAX_ELIF + 1)).at is not None


def test_patterns() -> None:
    def pattern(depth: int) -> str:
        return "match x:\n    case " + "A(" * depth + ")" * depth + " if f(g(h(i(j(k(l(m(n(o())))))))))): pass\n"

    assert too_deep(pattern(MAX_PATTERN).split(" if ")[0] + ": pass\n").at is None
    assert too_deep(pattern(MAX_PATTERN + 1)).at is not None
    assert too_deep("case = [[[[[[[[[[1]]]]]]]]]]\n").at is None


@pytest.mark.parametrize(
    "text",
    [
        "x = [" + "1, " * 50_000 + "]",
        "x = [" + "(1, 2),\n" * 20_000 + "]",
        "x = {" + "'a': [1, {2: 3}],\n" * 10_000 + "}",
        "x = f(a, b)\n" * 20_000,
        "x = '" + "not " * 20_000 + "'",
        "# " + "( " * 20_000 + "\nx = 1\n",
        "'''" + "(\n" * 20_000 + "'''\nx = 1\n",
        "x = f(1); " * 10_000,
    ],
    ids=range(8),
)
def test_what_is_long_is_not_deep(text: str) -> None:
    depth = too_deep(text)
    assert depth.at is None
    assert not depth.needs_stack


def test_real_programs_are_not_deep() -> None:
    for path in keras_sources(5):
        depth = too_deep(path.read_text(encoding="utf-8"))
        assert depth.at is None
        assert not depth.needs_stack
