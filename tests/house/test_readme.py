"""What README shows is what mplint says."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.house.repository import ROOT, python


def test_the_first_example_is_real(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    example = shutil.copytree(ROOT / "examples" / "guide", tmp_path / "guide")

    found = python(
        *("-m", "mplint", "--output-format", "concise", "guide.py"), cwd=example, status=1, PYTHONPATH=ROOT
    ).partition("note:")[0]
    assert f"$ mplint --output-format concise guide.py\n{found}```" in readme

    diff = python("-m", "mplint", "--diff", "guide.py", cwd=example, status=1, PYTHONPATH=ROOT).splitlines()
    shown = readme.partition("```diff\n")[2].partition("```")[0].splitlines()
    assert not [line for line in shown if line != "@@" and line not in diff]


def test_what_it_says_of_several_files_is_real(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    example = shutil.copytree(ROOT / "examples" / "digits", tmp_path / "digits")
    found = python(*("-m", "mplint", "--output-format", "concise", "."), cwd=example, status=1, PYTHONPATH=ROOT)
    assert f"```text\n{found.partition('Found')[0]}```" in readme
