"""A clean copy of the repository, for the tests that build and break things."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.house.repository import ROOT, files


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The repository's files, links as links."""
    copy = tmp_path / "clone"
    for file in files():
        target = copy / file.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, target, follow_symlinks=False)
    return copy
