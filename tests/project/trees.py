"""Projects written out for a test."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mplint.project.modules import Project


def write(root: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def project(root: Path, files: Mapping[str, str]) -> Project:
    write(root, files)
    return Project.at(root)


def shown(root: Path, result: Path | str | None) -> str | None:
    """A path as its name below the root, with a slash in front to tell it from a module."""
    return f"/{result.relative_to(root).as_posix()}" if isinstance(result, Path) else result
