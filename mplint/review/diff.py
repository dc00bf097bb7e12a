"""What a change does to the lines of each file, as git tells it and as the forges show it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mplint.git import git

_COMMAND: Final = (
    *("diff", "--patch-with-raw", "-z", "--unified=3", "--inter-hunk-context=0", "--diff-algorithm=myers"),
    *("--find-renames", "--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/"),
    *("--ignore-submodules=all", "--full-index"),
)
"""The forges' own way, whatever the user has configured."""
_HUNK: Final = re.compile(rb"@@ -(\d{1,18})(?:,(\d{1,18}))? \+(\d{1,18})(?:,(\d{1,18}))? @@")


@dataclass(frozen=True)
class Hunk:
    """Rows that are shown together. `rows` holds each row of the new file, with its row in the old one, None if new.

    `changed` are the rows that are new, and those next to a gap where rows are gone.
    """

    rows: Mapping[int, int | None]
    changed: frozenset[int]

    def holds(self, first: int, last: int) -> bool:
        """Whether it shows all of these rows."""
        return first in self.rows and last in self.rows


@dataclass(frozen=True)
class FileDiff:
    """One file; `was` is its path before, None for a new one."""

    path: str
    was: str | None
    hunks: tuple[Hunk, ...] = ()

    def hunk_at(self, first: int, last: int) -> Hunk | None:
        """The hunk that shows all of these rows."""
        return next((hunk for hunk in self.hunks if hunk.holds(first, last)), None)

    def changed_in(self, first: int, last: int) -> int | None:
        """The first of these rows that is changed."""
        return min((row for hunk in self.hunks for row in hunk.changed if first <= row <= last), default=None)


@dataclass(frozen=True)
class Diff:
    """The files that are not as they were, by their paths now, and the paths of those that are gone."""

    files: Mapping[str, FileDiff]
    gone: frozenset[str] = frozenset()

    @classmethod
    def between(cls, folder: Path, base: str, head: str) -> Diff:
        """What is different in the commit `head` from the commit `base`."""
        return cls.parsed(git(folder, *_COMMAND, base, head, "--"))

    @classmethod
    def parsed(cls, text: bytes) -> Diff:
        """What `git diff --patch-with-raw -z` says.

        The patch quotes odd names, the list in front of it does not; both are in one order.
        """
        raw, _, patch = text.partition(b"\0\0")
        sections = _sections(patch)
        files: dict[str, FileDiff] = {}
        gone: set[str] = set()
        for status, was, now in _files(raw):
            if status == b"T":  # a link that became a file, or the reverse: one goes, another comes
                next(sections, None)
            hunks = next(sections, [])
            if status == b"D":
                gone.add(was)
            else:
                files[now] = FileDiff(now, None if status == b"A" else was, tuple(hunks))
        return cls(files, frozenset(gone))

    def was(self, path: str) -> str | None:
        """What the file was called before; None where there was none."""
        return self.files[path].was if path in self.files else path


def _files(raw: bytes) -> Iterator[tuple[bytes, str, str]]:
    """What became of each file, its path before, and now."""
    parts = iter(raw.split(b"\0"))
    for about in parts:
        if not about.startswith(b":"):
            return
        status = about.rsplit(b" ", 1)[-1][:1]
        name = _text(next(parts, b""))
        yield status, name, _text(next(parts, b"")) if status in b"RC" else name


def _sections(patch: bytes) -> Iterator[list[Hunk]]:
    """The hunks of each file."""
    lines = iter(patch.split(b"\n"))
    found: list[Hunk] | None = None
    for line in lines:
        if line.startswith(b"diff --git "):
            if found is not None:
                yield found
            found = []
        elif found is not None and (match := _HUNK.match(line)):
            old, old_count, new, new_count = (int(group) if group is not None else 1 for group in match.groups())
            found.append(_hunk(lines, old, old_count, new, new_count))
    if found is not None:
        yield found


def _hunk(lines: Iterator[bytes], old: int, old_count: int, new: int, new_count: int) -> Hunk:
    """One hunk; as many lines are taken as its head announces, whatever they hold."""
    rows: dict[int, int | None] = {}
    changed: set[int] = set()
    old_end, new_end = old + old_count, new + new_count
    if not new_count:  # git names the row in front of the gap
        changed |= {new, new + 1}
    gone = came = False
    while old < old_end or new < new_end:
        line = next(lines, None)
        if line is None:
            break
        sign = line[:1]
        if sign == b"-":
            old, gone = old + 1, True
        elif sign == b"+":
            rows[new] = None
            changed.add(new)
            new, came = new + 1, True
        elif sign != b"\\":
            if gone and not came:
                changed |= {new - 1, new}
            gone = came = False
            rows[new] = old
            old, new = old + 1, new + 1
    if gone and not came:
        changed |= {new - 1, new}
    return Hunk(rows, frozenset(row for row in changed if row in rows))


def _text(name: bytes) -> str:
    return name.decode(errors="surrogateescape")
