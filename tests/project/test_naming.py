"""What files are called, depending on where the user stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from mplint.project.naming import Naming

ROOT = Path("/repo/mine")


@pytest.mark.parametrize(
    ("folder", "file", "name"),
    [
        ("/repo/mine", "/repo/mine/nets/net.py", "nets/net.py"),
        ("/repo/mine/nets", "/repo/mine/nets/net.py", "net.py"),
        ("/repo/mine/nets", "/repo/mine/train.py", "../train.py"),
        ("/repo/mine/nets", "/repo/else.py", "/repo/else.py"),
        ("/repo", "/repo/mine/train.py", "mine/train.py"),
        ("/home", "/repo/mine/train.py", "/repo/mine/train.py"),
    ],
)
def test_a_file_is_called_as_one_would_open_it(folder: str, file: str, name: str) -> None:
    assert Naming(ROOT, Path(folder)).file(Path(file)) == name
