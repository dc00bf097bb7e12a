"""Replacing a file so that, whatever happens, it is the old one or the new one."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

from mplint.errors import MplintError
from mplint.source.file import read_bytes


class ChangedOnDisk(MplintError):
    """The file is no longer what was read; it was left alone."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path}: was changed by something else meanwhile and is left as it is; run mplint again")
        self.path = path


class WriteError(MplintError):
    """The file cannot be replaced; it is as it was."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{path}: cannot be written ({problem}) and is left as it is")
        self.path = path


def replace_atomically(path: Path, data: bytes, *, expected: bytes) -> None:
    """Make `data` the content of the file at `path`, which now holds `expected`.

    A link is followed to the file that it names. The mode is kept, and the owner where that is permitted. Raises
    ChangedOnDisk where the file holds anything else, SourceError where it cannot be read, and WriteError where it, or
    its directory, cannot be written. Meanwhile a file `.NAME.….mplint` lies beside it; only a kill leaves it there.
    """
    target = Path(os.path.realpath(path))
    if read_bytes(target) != expected:
        raise ChangedOnDisk(path)
    temporary: str | None = None
    try:
        if not os.access(target, os.W_OK):
            raise WriteError(path, "it is read-only")
        status = target.stat()
        descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name[:100]}.", suffix=".mplint", dir=target.parent)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            _keep_owner_and_mode(Path(temporary), status)
            os.fsync(file.fileno())
        if read_bytes(target) != expected:
            raise ChangedOnDisk(path)
        Path(temporary).replace(target)
        temporary = None
        _sync_directory(target.parent)
    except OSError as error:
        raise WriteError(path, error.strerror or str(error)) from error
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()


def write_new(path: Path, data: bytes) -> None:
    """Make `data` the content of the file at `path`, whether there is one or not.

    Raises WriteError where that cannot be; then the file is as it was.
    """
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name[:100]}.", suffix=".mplint", dir=path.parent)
    except OSError as error:
        raise WriteError(path, error.strerror or str(error)) from error
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~_umask())
        temporary.replace(path)
        _sync_directory(path.parent)
    except OSError as error:
        raise WriteError(path, error.strerror or str(error)) from error
    finally:
        temporary.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _keep_owner_and_mode(path: Path, status: os.stat_result) -> None:
    if hasattr(os, "chown"):
        with contextlib.suppress(OSError):  # only root may give files away; a group may be one that the user has left
            os.chown(path, status.st_uid, status.st_gid)
    path.chmod(stat.S_IMODE(status.st_mode))  # last, for a change of owner clears bits


def _sync_directory(directory: Path) -> None:
    """Make the new name outlast a power cut, where directories can be opened (not on Windows)."""
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
