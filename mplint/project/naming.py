"""What files and places are called in everything that is told to people: one way for all of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import libcst as cst

    from mplint.source.file import SourceFile

_MOST: Final = 3
"""Files that are told by name."""


@dataclass(frozen=True)
class Naming:
    """Files are called as one would open them from `folder`; those of another project than the folder's in full."""

    root: Path
    folder: Path

    def file(self, path: Path) -> str:
        """The way to a file from the folder; where that leads upward, only within the project."""
        if path.is_relative_to(self.folder):
            return str(path.relative_to(self.folder))
        if self.folder.is_relative_to(self.root) and path.is_relative_to(self.root):
            return os.path.relpath(path, self.folder)
        return str(path)

    def files(self, paths: Sequence[Path]) -> str:
        """Several files; of many only the first ones by name."""
        names = [self.file(path) for path in paths]
        if len(names) > _MOST:
            names[_MOST:] = [f"{len(names) - _MOST} more"]
        return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)

    def row(self, source: SourceFile, node: cst.CSTNode) -> str:
        """The file and the row in which a node starts."""
        return f"{self.file(source.path)}:{source.location(source.span(node).start).where}"
