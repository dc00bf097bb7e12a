"""Atomic replacement."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from mplint.source.file import SourceError
from mplint.source.write import ChangedOnDisk, WriteError, replace_atomically

OLD, NEW = b"x = 1\r\n", b"x = 2\r\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "model.py"
    path.write_bytes(OLD)
    return path


def alone(file: Path) -> bool:
    return [entry.name for entry in file.parent.iterdir()] == [file.name]


def test_the_content_is_replaced_byte_by_byte(file: Path) -> None:
    replace_atomically(file, NEW, expected=OLD)
    assert file.read_bytes() == NEW
    assert alone(file)


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o2755])
def test_the_mode_is_kept(file: Path, mode: int) -> None:
    file.chmod(mode)
    kept = stat.S_IMODE(file.stat().st_mode)
    replace_atomically(file, NEW, expected=OLD)
    assert stat.S_IMODE(file.stat().st_mode) == kept


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="only root may give files away")
def test_the_owner_is_kept(file: Path) -> None:
    os.chown(file, 12345, 54321)
    replace_atomically(file, NEW, expected=OLD)
    assert (file.stat().st_uid, file.stat().st_gid) == (12345, 54321)


def test_a_link_stays_a_link(file: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link.py"
    link.symlink_to(Path("..") / file.name)
    replace_atomically(link, NEW, expected=OLD)
    assert link.is_symlink()
    assert file.read_bytes() == NEW
    assert [entry.name for entry in link.parent.iterdir()] == ["link.py"]


def test_a_file_that_changed_is_left_alone(file: Path) -> None:
    file.write_bytes(b"x = 3\n")
    with pytest.raises(ChangedOnDisk, match=r"model\.py: was changed"):
        replace_atomically(file, NEW, expected=OLD)
    assert file.read_bytes() == b"x = 3\n"
    assert alone(file)


def test_a_file_that_changes_while_the_new_one_is_written_is_left_alone(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: file.write_bytes(b"x = 3\n"))
    with pytest.raises(ChangedOnDisk):
        replace_atomically(file, NEW, expected=OLD)
    assert file.read_bytes() == b"x = 3\n"
    assert alone(file)


def test_a_file_that_went_is_not_made_again(file: Path) -> None:
    file.unlink()
    with pytest.raises(SourceError, match="does not exist"):
        replace_atomically(file, NEW, expected=OLD)
    assert not file.exists()


def test_a_read_only_file_is_left_alone(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # root, who may run the tests, may write everything
    with pytest.raises(WriteError, match=r"read-only\) and is left as it is"):
        replace_atomically(file, NEW, expected=OLD)
    assert file.read_bytes() == OLD


@pytest.mark.parametrize("step", ["os.fsync", "pathlib.Path.replace"])
def test_a_failure_leaves_the_old_file_and_nothing_else(file: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(step, fail)
    with pytest.raises(WriteError, match="No space left on device"):
        replace_atomically(file, NEW, expected=OLD)
    assert file.read_bytes() == OLD
    assert alone(file)


def test_an_interruption_leaves_the_old_file_and_nothing_else(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        replace_atomically(file, NEW, expected=OLD)
    assert file.read_bytes() == OLD
    assert alone(file)


def test_a_long_name_is_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / ("m" * 250 + ".py")
    path.write_bytes(OLD)
    replace_atomically(path, NEW, expected=OLD)
    assert path.read_bytes() == NEW
