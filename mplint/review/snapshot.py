"""A commit's files on disk, as far as mplint reads them: exact bytes, no links, nothing of git's is run."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Final

from mplint.errors import MplintError
from mplint.git import command, environment, git
from mplint.project.data import SUFFIXES as DATA
from mplint.project.discovery import SUFFIXES as PYTHON

_ENDINGS: Final = (*PYTHON, *DATA, ".txt", ".in", ".lock", ".gitignore", "Pipfile", "Dockerfile")
_LARGEST: Final = 16 << 20
"""A larger file is no source, and is left out."""
_MOST: Final = 1 << 30
_MOST_FILES: Final = 500_000
_DEEPEST: Final = 100
"""Folders in each other: what takes them away again, a call a folder, is not to run out of calls."""
_LONGEST: Final = 2048
_LONGEST_NAME: Final = 255
"""Bytes of a path, and of one name in it, that systems take."""
_REGULAR: Final = (b"100644", b"100755", b"100664")


@dataclass(frozen=True)
class _Blob:
    name: bytes
    path: PurePosixPath
    size: int


def write_snapshot(repository: Path, commit: str, folder: Path) -> None:
    """Write the files of a commit that mplint may read into the empty `folder`, which becomes the top of a repository.

    What lies outside of the repository is out of reach: links and submodules are left out, and so is a path that leads
    out, or that is deeper or longer than any system has it. Raises MplintError where the commit is larger than any
    program.
    """
    blobs = list(_blobs(git(repository, "ls-tree", "-r", "-z", "--long", "--full-tree", commit)))
    if len(blobs) > _MOST_FILES or sum(blob.size for blob in blobs) > _MOST:
        raise MplintError(f"{commit}: holds more than can be checked ({len(blobs)} files)")
    (folder / ".git").mkdir()  # so that nothing above it is looked at
    for blob, content in zip(blobs, _contents(repository, blobs), strict=True):
        target = folder / blob.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def is_read(path: str) -> bool:
    """Whether mplint may read a file, by its name: code, settings, requirements."""
    return path.endswith(_ENDINGS)


def _blobs(listing: bytes) -> Iterator[_Blob]:
    for entry in listing.split(b"\0"):
        about, tab, name = entry.partition(b"\t")
        if not tab:
            continue
        mode, kind, identity, size = about.split()
        if kind != b"blob" or mode not in _REGULAR or int(size) > _LARGEST:
            continue
        path = PurePosixPath(name.decode(errors="surrogateescape"))
        if is_read(path.name) and _is_inside(path) and len(name) <= _LONGEST and _is_usual(path):
            yield _Blob(identity, path, int(size))


def _is_inside(path: PurePosixPath) -> bool:
    return not path.is_absolute() and not any(part == ".." or part.lower() == ".git" for part in path.parts)


def _is_usual(path: PurePosixPath) -> bool:
    return len(path.parts) <= _DEEPEST and all(len(os.fsencode(part)) <= _LONGEST_NAME for part in path.parts)


def _contents(repository: Path, blobs: Sequence[_Blob]) -> Iterator[bytes]:
    """The bytes of each, in order, by one process."""
    with tempfile.TemporaryFile() as names:
        names.write(b"".join(blob.name + b"\n" for blob in blobs))
        names.seek(0)
        with subprocess.Popen(
            command(repository, "cat-file", "--batch"),
            env=environment(),
            stdin=names,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as process:
            assert process.stdout is not None
            for blob in blobs:
                yield _content(process.stdout, blob, repository)


def _content(stream: IO[bytes], blob: _Blob, repository: Path) -> bytes:
    head = stream.readline().split()
    if len(head) != 3 or head[1] != b"blob":
        raise MplintError(f"{repository}: git cannot read {blob.path}; fetch it")
    size = int(head[2])
    content = stream.read(size)
    if len(content) != size or stream.read(1) != b"\n":
        raise MplintError(f"{repository}: git broke off while it read {blob.path}")
    return content
