"""What files are called, depending on where the user stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from mplint.project.naming import Naming

ROOT = Path("/work/mine")


@pytest.mark.parametrize(
    ("folder", "file", "name"),
    [
        ("/work/mine", "/work/mine/nets/net.py", "nets/net.py"),
        ("/work/mine/nets", "/work/mine/nets/net.py", "net.py"),
        ("/work/mine/nets", "/work/mine/train.py", "../train.py"),
        ("/work/mine/nets", "/work/else.py", "/work/else.py"),
        ("/work", "/work/mine/train.py", "mine/train.py"),
        ("/home", "/work/mine/train.py", "/work/mine/train.py"),
    ],
)
def test_a_file_is_called_as_one_would_open_it(folder: str, file: str, name: str) -> None:
    assert Naming(ROOT, Path(folder)).file(Path(file)) == name
