"""The project's root."""

from __future__ import annotations

from pathlib import Path

import pytest

from mplint.project.root import find_root
from tests.project.trees import write


@pytest.mark.parametrize(
    ("files", "named", "root"),
    [
        ({}, ["a/b/x.py"], "a/b"),
        ({}, ["a/b/x.py", "a/c/y.py"], "a"),
        ({}, ["a/b", "a/b/x.py"], "a/b"),
        ({"pyproject.toml": ""}, ["a/b/x.py"], "."),
        ({"pyproject.toml": "", "a/pyproject.toml": ""}, ["a/b/x.py"], "a"),
        ({"pyproject.toml": "", "a/pyproject.toml": ""}, ["a/b/x.py", "y.py"], "."),
        ({"mplint.toml": "", "a/pyproject.toml": ""}, ["a/b/x.py"], "."),
        ({".mplint.toml": "", "a/pyproject.toml": ""}, ["a/b/x.py"], "."),
        ({"pyproject.toml": "[tool.mplint]\n", "a/pyproject.toml": "[tool.ruff]"}, ["a/b/x.py"], "."),
        ({"pyproject.toml": "[tool.mplint.per-file-ignores]\n", "a/pyproject.toml": ""}, ["a/b/x.py"], "."),
        ({"pyproject.toml": "[tool.mplinter]\n", "a/pyproject.toml": ""}, ["a/b/x.py"], "a"),
        ({"pyproject.toml": "[tool.mplint]\n", "a/.git/HEAD": ""}, ["a/b/x.py"], "a"),
        ({"pyproject.toml": "", "a/.git/HEAD": "", "a/b/pyproject.toml": ""}, ["a/b/x.py"], "a/b"),
        ({"pyproject.toml": "", "a/.git": "gitdir: elsewhere"}, ["a/b/x.py"], "a"),
    ],
)
def test_root(tmp_path: Path, files: dict[str, str], named: list[str], root: str) -> None:
    write(tmp_path, {".git/HEAD": "", "a/b/x.py": "", "a/c/y.py": "", "y.py": "", **files})
    if not files:
        (tmp_path / ".git" / "HEAD").unlink()
        (tmp_path / ".git").rmdir()
    assert find_root([tmp_path / name for name in named]) == tmp_path / root


def test_without_paths_the_search_starts_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"pyproject.toml": "[tool.mplint]", "a/x.py": ""})
    monkeypatch.chdir(tmp_path / "a")
    assert find_root([]) == tmp_path
    assert find_root([Path("x.py")]) == tmp_path


def test_a_path_that_does_not_exist_counts_as_a_file(tmp_path: Path) -> None:
    write(tmp_path, {".git/HEAD": ""})
    assert find_root([tmp_path / "a" / "new.py"]) == tmp_path
