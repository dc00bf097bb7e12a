"""Which programs of a project show what a rewritten file does."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from mplint.source.notebook import SUFFIX as NOTEBOOK
from mplint.verify.target import Target

MOST_PROGRAMS: Final = 3
"""That are tried for one file."""


def targets_for(path: Path, importers: Callable[[Path], Iterable[Path]]) -> Iterator[Target]:
    """What to run for a file, the most telling first; a notebook is not run."""
    if path.suffix == NOTEBOOK:
        return
    programs = [path] if is_program(path) else []
    others = (other for other in importers(path) if other != path and not _is_test(other) and is_program(other))
    programs += sorted(others, key=lambda other: (not _trains(other), _distance(path, other), other))
    for program in programs[:MOST_PROGRAMS]:
        yield Target(file=program)
    if path not in programs:
        yield Target(file=path, imported=True)


def is_program(path: Path) -> bool:
    """Whether a file does something when it is run: it has a `__main__` part, or calls at its top level stand alone."""
    tree = None if path.suffix == NOTEBOOK else _tree(path)
    return tree is not None and any(_guards_main(node) or _acts(node) for node in tree.body)


def _tree(path: Path) -> ast.Module | None:
    try:
        return ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return None


def _guards_main(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and any(
        isinstance(part, ast.Constant) and part.value == "__main__" for part in ast.walk(node.test)
    )


def _acts(node: ast.stmt) -> bool:
    """A call at the top level that does more than set something up: `main()`, `model.fit(...)`, `model = build()`."""
    if isinstance(node, (ast.For, ast.While, ast.With)):
        return any(_acts(inner) for inner in node.body)
    value = node.value if isinstance(node, (ast.Expr, ast.Assign)) else None
    if not isinstance(value, ast.Call):
        return False
    name = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
    return not name.startswith(("set_", "enable_", "disable_", "getLogger", "basicConfig", "filterwarnings", "Policy"))


def _trains(path: Path) -> bool:
    tree = _tree(path)
    names = {"fit", "train_on_batch", "apply_gradients"}
    return tree is not None and any(isinstance(node, ast.Attribute) and node.attr in names for node in ast.walk(tree))


def _is_test(path: Path) -> bool:
    return path.name.startswith("test_") or path.name.endswith("_test.py") or path.name in ("conftest.py", "setup.py")


def _distance(one: Path, other: Path) -> int:
    """How many folders lie between two files."""
    return len(Path(os.path.relpath(other.parent, one.parent)).parts)
