"""The program of TensorFlow's guide: what today's Keras makes of it, before and after `mplint --fix`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mplint.cli.main import main

REPOSITORY = Path(__file__).resolve().parent.parent.parent
GUIDE = REPOSITORY / "examples" / "guide"
CODES = ["MP101", "MP302", "MP302", "MP302", "MP302", "MP302"]


@pytest.fixture(params=["guide.py", "guide.ipynb"])
def guide(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return Path(shutil.copy(GUIDE / request.param, tmp_path))


def test_it_is_found_rewritten_and_clean(guide: Path) -> None:
    asked = ["check", "--isolated", "--keras", "3", "--output-format", "json", str(guide)]
    found = CliRunner().invoke(main, asked)
    assert sorted(each["code"] for each in json.loads(found.output)) == CODES
    assert CliRunner().invoke(main, [*asked, "--fix"]).exit_code == 0
    assert json.loads(CliRunner().invoke(main, asked).output) == []


def test_both_forms_of_the_guide_are_one_program() -> None:
    script = (GUIDE / "guide.py").read_text(encoding="utf-8").partition('"""\n\n')[2]
    assert _code(GUIDE / "guide.ipynb").split() == script.split()


def _code(path: Path) -> str:
    """The Python of a script or a notebook."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        return text
    cells = json.loads(text)["cells"]
    return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


def _run(path: Path) -> tuple[int, str, str]:
    program = path.with_suffix(".run.py")
    program.write_text(_code(path), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "tests.guide.digits", str(program)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.verify
@pytest.mark.slow
def test_it_fails_before_and_trains_after(guide: Path) -> None:
    status, _, errors = _run(guide)
    assert status == 1
    assert "AttributeError" in errors
    CliRunner().invoke(main, ["check", "--isolated", "--keras", "3", "--fix", str(guide)])
    status, output, errors = _run(guide)
    assert status == 0, errors
    came: dict[str, Any] = json.loads(output)
    assert came["outputs"] == "float32"
    assert came["finite"]
    assert came["by_fit"] > 0.9
    assert came["by_loop"] > 0.9
    assert came["scale"] > 1.0
