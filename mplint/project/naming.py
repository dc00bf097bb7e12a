"""How messages call files and places: from the root of the project."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import libcst as cst

    from mplint.source.file import SourceFile


def name_of(path: Path, root: Path) -> str:
    """A file, by its way from `root` where it lies in there."""
    return str(path.relative_to(root) if path.is_relative_to(root) else path)


def row_of(source: SourceFile, node: cst.CSTNode, root: Path) -> str:
    """The file and the row in which a node starts."""
    return f"{name_of(source.path, root)}:{source.location(source.span(node).start).where}"
