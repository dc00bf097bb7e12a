"""Which texts differ between a program and its original."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from mplint.errors import MplintError
from mplint.source.file import SourceError, SourceFile
from mplint.verify.target import Target


def changed_texts(target: Target, original: Path, *, root: Path, roots: Sequence[Path]) -> dict[Path, tuple[str, str]]:
    """The original and the present text of each file that differs.

    `original` is the earlier form of the target's file, or an earlier tree: of the whole project `root`, or of a folder
    in it that the target's file lies in.
    """
    if original.is_dir():
        base = _counterpart(original, file_of(target, roots), root)
        pairs = list(_same_files(original.resolve(), base))
        beside = f", file by file beside {base}"
    else:
        pairs, beside = [(original, file_of(target, roots))], ""
    texts = {present: (SourceFile.read(old).text, SourceFile.read(present).text) for old, present in pairs}
    changed = {path: pair for path, pair in texts.items() if pair[0] != pair[1]}
    if not changed:
        raise MplintError(f"--against {original}: nothing differs from it{beside}")
    return changed


def file_of(target: Target, roots: Sequence[Path]) -> Path:
    """The file that a target names, or that its module lies in."""
    if target.file is not None:
        return target.file
    assert target.module is not None
    for root in roots:
        stem = root.joinpath(*target.module.split("."))
        for file in (stem.with_name(f"{stem.name}.py"), stem / "__init__.py"):
            if file.is_file():
                return file.resolve()
    raise MplintError(f"{target.module} lies in no file of this project")


def _counterpart(original: Path, file: Path, root: Path) -> Path:
    """The folder that `original` is an earlier form of: of those around `file`, the outermost that has it alike."""
    around = [folder for folder in reversed(file.parents) if folder == root or root in folder.parents]
    return next((folder for folder in around if (original / file.relative_to(folder)).is_file()), root)


def _same_files(original: Path, root: Path) -> Iterator[tuple[Path, Path]]:
    for folder, folders, names in os.walk(original):
        folders[:] = [name for name in folders if not name.startswith(".") and name != "__pycache__"]
        for name in sorted(names):
            old = Path(folder, name)
            present = root / old.relative_to(original)
            if name.endswith(".py") and present.is_file() and old.read_bytes() != present.read_bytes():
                try:
                    SourceFile.read(old), SourceFile.read(present)
                except SourceError:
                    continue
                yield old, present
