from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from mplint.output import diff

PAIRS = {
    "plain": (b"a\nb\nc\n", b"a\nB\nc\n"),
    "no newline at the end": (b"a\nb", b"a\nB"),
    "newline added": (b"a\nb", b"a\nb\n"),
    "newline lost": (b"a\nb\n", b"a\nb"),
    "crlf": (b"a\r\nb\r\nc\r\n", b"a\r\nB\r\nc\r\n"),
    "mixed ends": (b"a\nb\r\nc\rd\n", b"a\nB\r\nc\rd\n"),
    "bom and utf-8": (b"\xef\xbb\xbfa = '\xc3\xa9'\n", b"\xef\xbb\xbfb = '\xc3\xa9'\n"),
    "latin-1": (b"# coding: latin-1\nx = '\xe9'\n", b"# coding: latin-1\ny = '\xe9'\n"),
    "form feed": (b"a\n\x0cb\nc\n", b"a\n\x0cB\nc\n"),
    "to empty": (b"a\n", b""),
    "from empty": (b"", b"a\n"),
    "far apart": (b"x\n" + b"y\n" * 30 + b"z\n", b"X\n" + b"y\n" * 30 + b"Z\n"),
}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("tool", [["patch", "-p0", "--binary", "-s"], ["git", "apply", "-p0"]], ids=["patch", "git"])
def test_what_is_shown_can_be_applied(name: str, tool: list[str], tmp_path: Path) -> None:
    if shutil.which(tool[0]) is None:
        pytest.skip(f"{tool[0]} is not installed")
    before, after = PAIRS[name]
    (tmp_path / "a.py").write_bytes(before)
    (tmp_path / "a.diff").write_bytes(diff.render("a.py", before, after))
    subprocess.run([*tool, *([] if tool[0] == "git" else ["-i"]), "a.diff"], cwd=tmp_path, check=True)
    present = (tmp_path / "a.py").read_bytes() if (tmp_path / "a.py").exists() else b""
    assert present == after


def test_no_difference_is_no_text() -> None:
    assert diff.render("a.py", b"a\n", b"a\n") == b""


def test_the_missing_newline_is_marked() -> None:
    assert diff.render("a.py", b"a", b"b") == (
        b"--- a.py\n+++ a.py\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n"
    )


def test_colour_is_only_paint() -> None:
    import re

    for before, after in PAIRS.values():
        painted = diff.render("a.py", before, after, color=True)
        assert re.sub(rb"\x1b\[[\d;]*m", b"", painted) == diff.render("a.py", before, after)
