"""Programs to run, each in a folder of its own."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from mplint.project.naming import Naming
from mplint.verify.prove import Options, Proof, verify
from mplint.verify.target import Target

FIXTURES = Path(__file__).parent / "fixtures"

RunsProgram = Callable[..., Proof]


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A copy of all programs."""
    folder = tmp_path / "programs"
    shutil.copytree(FIXTURES, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture
def proof_of(here: Path) -> RunsProgram:
    """Runs a program as it is: its name, its arguments, and options."""

    def run(target: str, *arguments: str, timeout: float = 120, **options: object) -> Proof:
        chosen = Options(arguments=arguments, timeout=timeout, **options)  # type: ignore[arg-type]
        return verify(Target.parse(target, here), chosen, root=here, folder=here, naming=Naming(here, here))

    return run
