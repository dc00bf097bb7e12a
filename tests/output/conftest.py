from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mplint.analysis import Report
from mplint.output.context import Context
from mplint.project.modules import Project
from mplint.settings import Settings
from tests import stand_in

Reported = Callable[..., tuple[Report, Context]]


@pytest.fixture
def reported(tmp_path: Path) -> Reported:
    """What the toy analysis finds in some files (named by their stems or, in `files`, in full), and how to show it."""

    def make(*, unsafe: bool = False, files: dict[str, str] | None = None, **texts: str) -> tuple[Report, Context]:
        named = {f"{stem}.py": text for stem, text in texts.items()} | (files or {})
        paths = [tmp_path / name for name in named]
        for path, text in zip(paths, named.values(), strict=True):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, newline="", encoding="utf-8")
        project = Project(tmp_path, paths)
        report = stand_in.analyze(project, paths, Settings(root=tmp_path))
        return report, Context(project, tmp_path, unsafe=unsafe)

    return make
