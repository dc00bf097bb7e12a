"""The command line over the toy analysis, in a folder of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mplint.cli.main import main
from mplint.fixer import fixpoint
from tests import stand_in

Run = Callable[..., Result]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def mplint(here: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command; files are given by keyword, `input` is standard input."""
    monkeypatch.setattr(fixpoint, "analyze", stand_in.analyze)

    def run(*arguments: str, input: str | bytes | None = None, **texts: str) -> Result:  # noqa: A002 - click's word
        for stem, text in texts.items():
            (here / f"{stem}.py").write_text(text, newline="")
        return CliRunner().invoke(main, arguments, input=input, prog_name="mplint")

    return run
