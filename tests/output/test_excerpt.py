from __future__ import annotations

from pathlib import Path

import pytest

from mplint.findings import Span
from mplint.output.excerpt import WIDEST, excerpt
from mplint.output.terminal import Ink, printable, width
from mplint.source.file import SourceFile


def shown(text: str, marked: str, *, color: bool = False) -> str:
    start = text.index(marked)
    source = SourceFile(Path("a.py"), text)
    lines = excerpt(source, Span(start, start + len(marked)), Ink.ERROR, color=color)
    return "\n".join(lines)


def test_one_line_with_two_around_it() -> None:
    assert shown("a\nb\nc\nx = call(1)\nd\ne\nf\n", "call(1)") == (
        "  |\n2 | b\n3 | c\n4 | x = call(1)\n  |     ^^^^^^^\n5 | d\n6 | e\n  |"
    )


def test_the_edges_of_the_file() -> None:
    assert shown("call()", "call()") == "  |\n1 | call()\n  | ^^^^^^\n  |"
    assert shown("call()\n", "call()") == "  |\n1 | call()\n  | ^^^^^^\n  |"


def test_numbers_are_aligned() -> None:
    assert shown("\n" * 8 + "x()\ny\n", "x()") == "   |\n 7 |\n 8 |\n 9 | x()\n   | ^^^\n10 | y\n   |"


def test_several_lines_from_the_start_of_one() -> None:
    assert shown("    call(\n        1,\n    )\nx\n", "call(\n        1,\n    )") == (
        "  |\n1 | /     call(\n2 | |         1,\n3 | |     )\n  | |_____^\n4 |   x\n  |"
    )


def test_several_lines_from_the_middle_of_one() -> None:
    assert shown("x = call(\n    1,\n)\n", "call(\n    1,\n)") == (
        "  |\n1 |   x = call(\n  |  _____^\n2 | |     1,\n3 | | )\n  | |_^\n  |"
    )


def test_many_lines_are_shortened() -> None:
    text = "call(\n" + "".join(f"  {number},\n" for number in range(50)) + ")\n"
    lines = shown(text, text.rstrip("\n")).splitlines()
    assert lines == ["   |", " 1 | / call(", " 2 | |   0,", " 3 | |   1,", "...  |", "52 | | )", "   | |_^", "   |"]


def test_a_span_that_ends_with_its_line_break_ends_on_that_line() -> None:
    assert "2 |" not in shown("call()\n", "call()\n").replace("2 | b", "")


@pytest.mark.parametrize(
    ("line", "marked", "under"),
    [
        ("\tcall()", "call()", "    ^^^^^^"),
        ("x\tcall()", "call()", "    ^^^^^^"),
        ("'日本', call()", "call()", "        ^^^^^^"),
        ("'日本'", "日本", " ^^^^"),
        ("'e\u0301', call()", "call()", "     ^^^^^^"),
    ],
)
def test_marks_stand_under_what_they_mark(line: str, marked: str, under: str) -> None:
    assert shown(line, marked).splitlines()[2] == f"  | {under}"


def test_an_empty_span_still_has_a_mark() -> None:
    source = SourceFile(Path("a.py"), "x = (\n")
    assert excerpt(source, Span(5, 5), Ink.ERROR, color=False)[2] == "  |      ^"


@pytest.mark.parametrize("before", [0, 50, 500])
def test_long_lines_are_cropped_around_the_mark(before: int) -> None:
    text = "a" * before + "call()" + "b" * 500
    code, marks = shown(text, "call()").splitlines()[1:3]
    assert width(code) <= WIDEST + len("1 | ")
    start = marks.index("^")
    assert code[start : start + 6] == "call()"
    assert code.endswith("…")


def test_windows_and_old_mac_line_ends_count() -> None:
    assert shown("a\r\nb\rcall()\r\n", "call()").splitlines()[1:4] == ["1 | a", "2 | b", "3 | call()"]


def test_a_file_cannot_drive_the_terminal() -> None:
    text = "x = '\x1b[2J\u202e' + call()"
    assert "\x1b" not in shown(text, "call()")
    assert "\u202e" not in shown(text, "call()")
    assert printable("a\x07b") == "a\ufffdb"


def test_colour_is_only_paint() -> None:
    import re

    text = "x = call(\n    1,\n)\n"
    painted = shown(text, "call(\n    1,\n)", color=True)
    assert re.sub(r"\x1b\[[\d;]*m", "", painted) == shown(text, "call(\n    1,\n)")
