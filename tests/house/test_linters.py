"""ruff, mypy and import-linter are content; and import-linter would not be with an import against the direction."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.house.repository import ROOT, SCRIPTS, python, run


def test_ruff() -> None:
    run(SCRIPTS / "ruff", "check", "--no-cache", ".")


@pytest.mark.slow
def test_mypy() -> None:
    python("-m", "mypy")


def test_imports_go_one_way() -> None:
    run(SCRIPTS / "lint-imports", "--no-cache", PYTHONPATH=ROOT)


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("mplint/source/__init__.py", "import mplint.interpreter", "Data flows one way"),
        ("rules/__init__.py", "import ast", "A rule imports mplint.api only"),
        ("rules/__init__.py", "import libcst", "A rule imports mplint.api only"),
        ("rules/__init__.py", "import mplint.source", "A rule imports mplint.api only"),
        ("mplint/fixer/__init__.py", "def f() -> None:\n    import tensorflow", "Nothing but the harness"),
        ("mplint/verify/harness.py", "import mplint.findings", "The harness runs without mplint"),
        ("mplint/review/diff.py", "import mplint.review.session", "A review goes one way"),
        ("mplint/review/session.py", "import httpx", "Only the forges and the server speak HTTP"),
        ("mplint/review/session.py", "import mplint.serve.queue", "Data flows one way"),
        ("mplint/serve/queue.py", "import mplint.serve.server", "A server goes one way"),
    ],
)
def test_an_import_against_the_direction_is_noticed(clone: Path, module: str, line: str, contract: str) -> None:
    with (clone / module).open("a", encoding="utf-8") as file:
        file.write(f"\n{line}\n")
    told = run(SCRIPTS / "lint-imports", "--no-cache", cwd=clone, status=1, PYTHONPATH=clone)
    assert [row for row in told.splitlines() if row.startswith(contract) and " BROKEN" in row], told
