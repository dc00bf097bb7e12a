from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mplint.fixer import fixpoint
from mplint.review import checking
from mplint.review.checking import Asked
from mplint.review.reviewing import Change, Review, Taste, review
from tests import stand_in
from tests.review.repositories import Repository

Reviewed = Callable[..., Review]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository")


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The toy analysis in place of the real one."""
    monkeypatch.setattr(checking, "analyze", stand_in.analyze)
    monkeypatch.setattr(fixpoint, "analyze", stand_in.analyze)


@pytest.fixture
def reviewed(repository: Repository) -> Reviewed:
    """The review of the change from one commit to another."""

    def run(base: str, head: str, *, asked: Asked | None = None, **taste: Any) -> Review:
        return review(Change(repository.top, base, head), asked or Asked(), Taste(**taste))

    return run
