"""Comments without the codes that silence nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from mplint.codemods.comments import without_unused
from mplint.source.edits import apply_edits
from mplint.source.file import SourceFile
from mplint.source.silence import Silence

KNOWN = ("MP001", "MP002", "MP101", "MP102")


def cleaned(text: str) -> str:
    """One after the other, as the fixer does with edits that touch."""
    source = SourceFile(Path("a.py"), text)
    for found in Silence(source.suppressions).unused("MP002", KNOWN, KNOWN):
        edit = without_unused(source, found)
        return cleaned(apply_edits(text, [(edit.span, edit.content)]))
    return text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1  # noqa: MP101\ny = 2\n", "x = 1\ny = 2\n"),
        ("x = 1\t# noqa: MP101 \r\ny = 2\r\n", "x = 1\r\ny = 2\r\n"),
        ("x = 1  # noqa: MP101", "x = 1"),
        ("x = 1\n# noqa: MP101\ny = 2\n", "x = 1\ny = 2\n"),
        ("f(\n    # noqa: MP101\r\n    1,\n)\n", "f(\n    1,\n)\n"),
        ("# noqa: MP101\n\nx = 1\n", "\nx = 1\n"),
        ("x = 1\n# noqa: MP101", "x = 1\n"),
        ("x = 1  # noqa: MP101,F401\n", "x = 1  # noqa: F401\n"),
        ("x = 1  # noqa: F401, MP101\n", "x = 1  # noqa: F401\n"),
        ("x = 1  # noqa: F401,MP101, E501 why\n", "x = 1  # noqa: F401, E501 why\n"),
        ("x = 1  # noqa:MP101 F401 MP102\n", "x = 1  # noqa:F401\n"),
        ("x = 1  # noqa: MP101 because it is small\n", "x = 1  # because it is small\n"),
        ("x = 1  # noqa: MP101; see the paper\n", "x = 1  # see the paper\n"),
        ("x = 1  # noqa: MP101 # type: ignore\n", "x = 1  # type: ignore\n"),
        ("x = 1  # type: ignore # noqa: MP101\n", "x = 1  # type: ignore\n"),
        ("x = 1  # type: ignore # noqa: MP101 so\n", "x = 1  # type: ignore # so\n"),
        ("x = 1  # mplint: ignore[MP101]\n", "x = 1\n"),
        ("x = 1  # mplint: ignore[ MP101 ] so\n", "x = 1  # so\n"),
        ("x = 1  # mplint: ignore\n", "x = 1\n"),
        ("# mplint: ignore-file[MP101]\nx = 1\n", "x = 1\n"),
        ("x = 1  # noqa: MP101 # mplint: ignore[MP102]\n", "x = 1\n"),
        ("x = 'ä'  # noqa: MP101 größer\n", "x = 'ä'  # größer\n"),
    ],
)
def test_only_what_is_unused_goes(before: str, after: str) -> None:
    assert cleaned(before) == after
    assert cleaned(after) == after
