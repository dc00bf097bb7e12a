from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mplint.errors import MplintError
from mplint.fixer import Outcome, disk, fix, fixpoint, write
from mplint.project.modules import Project
from mplint.settings import Settings
from tests import stand_in

Fixed = Callable[..., tuple[Outcome, Project]]


@pytest.fixture
def fixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fixed:
    """Fix the given files (by stem) in memory."""
    monkeypatch.setattr(fixpoint, "analyze", stand_in.analyze)

    def run(**texts: bytes) -> tuple[Outcome, Project]:
        files = [tmp_path / f"{stem}.py" for stem in texts]
        for file, text in zip(files, texts.values(), strict=True):
            file.write_bytes(text)
        project = Project(tmp_path, files)
        return fix(project, files, Settings(root=tmp_path), unsafe=False), project

    return run


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"bad()\r\nx\r\n", b"good()\r\nx\r\n"),
        (b"\xef\xbb\xbfbad()", b"\xef\xbb\xbfgood()"),
        (b"# coding: latin-1\nx = '\xe9'; bad()\n", b"# coding: latin-1\nx = '\xe9'; good()\n"),
        (b"bad()\rx\n\x0c", b"good()\rx\n\x0c"),
    ],
)
def test_only_the_edit_changes(fixed: Fixed, tmp_path: Path, before: bytes, after: bytes) -> None:
    assert write(*fixed(a=before)) == {}
    assert contents(tmp_path) == {"a.py": after}


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX modes and links")
def test_mode_and_link_stay(fixed: Fixed, tmp_path: Path) -> None:
    outcome, project = fixed(a=b"bad()\n")
    (tmp_path / "a.py").chmod(0o755)
    (tmp_path / "a.py").rename(tmp_path / "real.py")
    (tmp_path / "a.py").symlink_to("real.py")
    assert write(outcome, project) == {}
    assert (tmp_path / "a.py").is_symlink()
    assert (tmp_path / "real.py").read_bytes() == b"good()\n"
    assert (tmp_path / "real.py").stat().st_mode & 0o777 == 0o755


def test_a_file_that_has_changed_meanwhile_is_left_alone(fixed: Fixed, tmp_path: Path) -> None:
    outcome, project = fixed(a=b"bad()\n", b=b"bad()\n")
    (tmp_path / "a.py").write_bytes(b"mine\n")
    assert list(write(outcome, project)) == [tmp_path / "a.py"]
    assert contents(tmp_path) == {"a.py": b"mine\n", "b.py": b"good()\n"}


@pytest.mark.parametrize("lost", ["a.py", "other.py"])
def test_files_of_one_fix_are_written_together_or_not_at_all(fixed: Fixed, tmp_path: Path, lost: str) -> None:
    outcome, project = fixed(a=b"pair()\n", b=b"bad()\n", other=b"partner\n")
    (tmp_path / lost).write_bytes(b"mine\n")
    failures = write(outcome, project)
    assert set(failures) == {tmp_path / "a.py", tmp_path / "other.py"}
    assert contents(tmp_path) == {"a.py": b"pair()\n", "b.py": b"good()\n", "other.py": b"partner\n", lost: b"mine\n"}


def test_what_cannot_be_put_back_is_told(fixed: Fixed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome, project = fixed(a=b"pair()\n", other=b"partner\n")

    def failing(path: Path, data: bytes, *, expected: bytes) -> None:
        if data != b"good()\n":
            raise MplintError(f"{path.name}: the disk is gone")
        path.write_bytes(data)

    monkeypatch.setattr(disk, "replace_atomically", failing)
    failures = write(outcome, project)
    assert str(failures[tmp_path / "a.py"]) == (
        "other.py: the disk is gone; and these could not be put back: a.py: the disk is gone"
    )
