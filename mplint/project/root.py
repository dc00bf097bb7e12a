"""Where a project begins."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from mplint.settings import OWN_CONFIGS
from mplint.source.file import absolute

_TABLE = re.compile(r"^\s*\[\s*tool\s*\.\s*(?:mplint|\"mplint\"|'mplint')\s*[\].]", re.MULTILINE)


def find_root(paths: Sequence[Path]) -> Path:
    """The project's root for the files and directories named on the command line.

    The search goes from the common parent of `paths` upward, and not beyond the top of a repository (`.git`). The
    nearest directory with mplint's configuration (`.mplint.toml`, `mplint.toml`, or `[tool.mplint]` in
    `pyproject.toml`) is the root; else the nearest with a `pyproject.toml`; else the repository's top; else the common
    parent. Without paths, the search starts at the current directory.
    """
    start = _common_parent(paths)
    candidates: list[Path] = []
    for directory in (start, *start.parents):
        candidates.append(directory)
        if _has_git(directory):
            break
    for marks in (_has_configuration, _has_pyproject, _has_git):
        for directory in candidates:
            if marks(directory):
                return directory
    return start


def _common_parent(paths: Sequence[Path]) -> Path:
    directories = [path if path.is_dir() else path.parent for path in map(absolute, paths)]
    if not directories:
        return Path.cwd()
    try:
        return Path(os.path.commonpath(directories))
    except ValueError:  # several drives
        return directories[0]


def _has_configuration(directory: Path) -> bool:
    if any(_is_file(directory / name) for name in OWN_CONFIGS):
        return True
    pyproject = directory / "pyproject.toml"
    if not _is_file(pyproject):
        return False
    try:
        return _TABLE.search(pyproject.read_text(encoding="utf-8", errors="replace")) is not None
    except OSError:
        return False


def _has_pyproject(directory: Path) -> bool:
    return _is_file(directory / "pyproject.toml")


def _has_git(directory: Path) -> bool:
    try:
        return (directory / ".git").exists()  # a file in worktrees and submodules
    except OSError:
        return False


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False
