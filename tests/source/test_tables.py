"""Large tables of plain data are left out of the tree."""

from __future__ import annotations

from pathlib import Path

import libcst as cst
import pytest

from mplint.source.file import SourceFile
from mplint.source.tables import tables, without_tables

NUMBERS = "1, -2.5e-3, 0x1F,\n" * 5000
WORDS = "'a, b', \"it's\", b'(',  # [\n" * 4000
ROWS = "('x', [1, 2], {'k': None}), " * 3000
PAIRS = "'k[': (1, 'f()'),\n" * 5000


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"DATA = [{NUMBERS}]\nx = 1\n", "DATA = [*...,]\nx = 1\n"),
        (f"DATA = {{{PAIRS}}}\n", "DATA = {**...,}\n"),
        (f"DATA = {{(1, 2): 3, {PAIRS}}}\n", "DATA = {**...,}\n"),
        (f"DATA = {{{WORDS}}}\n", "DATA = {*...,}\n"),
        (f"def f():\n    return ({ROWS})\n", "def f():\n    return (*...,)\n"),
        (f"x = np.array([{NUMBERS}], dtype='float16')\n", "x = np.array([*...,], dtype='float16')\n"),
        (f"x = f(a, [{NUMBERS}], b) + [g({WORDS})]\n", f"x = f(a, [*...,], b) + [g({WORDS})]\n"),
    ],
)
def test_tables(text: str, left: str) -> None:
    masked = without_tables(text)
    assert len(masked) == len(text)
    assert "".join(masked.split()) == "".join(left.split())


@pytest.mark.parametrize(
    "text",
    [
        "DATA = [1, 2, 3]\n",
        f"DATA = [{NUMBERS}, f(3)]\n",
        f"DATA = [{NUMBERS}\n",
        f"DATA = [{NUMBERS} 'never closed,\n 1]\n",
        f"text = '''[{NUMBERS}]'''\n",
        f"# [{NUMBERS}".replace("\n", ""),
        f"f({NUMBERS})\nx[{NUMBERS}]\n",
    ],
)
def test_what_is_none(text: str) -> None:
    assert without_tables(text) == text


def test_a_long_text_in_brackets_is_no_tuple() -> None:
    text = "TEXT = (\n" + "    'a line that goes on\\n'\n" * 4000 + ")\n"
    assert list(tables(text))
    assert without_tables(text) == text


def test_what_stands_behind_a_table_is_where_it_was() -> None:
    source = SourceFile(Path("data.py"), f"DATA = [\n{NUMBERS}]\nmodel = make()\n")
    last = source.module.body[1]
    assert isinstance(last, cst.SimpleStatementLine)
    span = source.span(last.body[0])
    assert source.text[span.start : span.end] == "model = make()"
    assert source.position(span.start) == (5003, 1)
