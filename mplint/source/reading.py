"""The file that some bytes are: a Python file, or a notebook."""

from __future__ import annotations

from pathlib import Path

from mplint.source.file import SourceFile
from mplint.source.notebook import SUFFIX, Notebook


def source_of(path: Path, data: bytes) -> SourceFile:
    """The file at `path` with this content. Raises SourceError where it cannot be decoded."""
    return Notebook.from_bytes(path, data) if path.suffix == SUFFIX else SourceFile.from_bytes(path, data)
