"""What to run: `FILE`, `FILE:factory` or `package.module:factory`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from mplint.errors import MplintError
from mplint.source.notebook import SUFFIX as NOTEBOOK

_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


@dataclass(frozen=True)
class Target:
    """A program, or what makes a model.

    Just one of `file` and `module` is set. A file without a factory runs as `__main__`, unless it is to be `imported`.
    """

    file: Path | None = None
    module: str | None = None
    factory: str | None = None
    imported: bool = False

    def __str__(self) -> str:
        start = self.module if self.file is None else str(self.file)
        return f"{start}:{self.factory}" if self.factory else str(start)

    @classmethod
    def parse(cls, text: str, folder: Path) -> Target:
        """Read the argument of `mplint verify`; paths are seen from `folder`."""
        whole = folder / text
        if whole.is_file():
            return cls(file=_python_file(whole.resolve()))
        start, colon, factory = text.rpartition(":")
        if not colon or not start or re.search(r"[/\\]", factory):
            reason = "is a folder" if whole.is_dir() else "does not exist"
            raise MplintError(f"{text} {reason}: name a Python file, FILE:factory or package.module:factory")
        if not _DOTTED.fullmatch(factory):
            raise MplintError(f"{factory!r} in {text} is no name of a function that makes a model")
        if (folder / start).is_file():
            return cls(file=_python_file((folder / start).resolve()), factory=factory)
        if not _DOTTED.fullmatch(start):
            raise MplintError(f"{start} does not exist: name a Python file, FILE:factory or package.module:factory")
        return cls(module=start, factory=factory)


def _python_file(path: Path) -> Path:
    if path.suffix == NOTEBOOK:
        raise MplintError(f"{path} is a notebook: they cannot be verified yet, a Python file can")
    return path
