"""What README shows is what mplint says."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.house.repository import ROOT, python


def test_the_first_example_is_real(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    example = shutil.copytree(ROOT / "examples" / "digits", tmp_path / "digits")

    found = python(
        *("-m", "mplint", "--output-format", "concise", "."), cwd=example, status=1, PYTHONPATH=ROOT
    ).partition("note:")[0]
    assert f"$ mplint --output-format concise .\n{found}```" in readme

    hunk = python("-m", "mplint", "--diff", ".", cwd=example, status=1, PYTHONPATH=ROOT).partition("@@")[2]
    assert f"```diff\n@@{hunk.partition('Would fix')[0]}```" in readme
