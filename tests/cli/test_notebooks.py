"""Notebooks on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mplint.cli.main import main

PRECISION = "from tensorflow import keras\nkeras.mixed_precision.set_global_policy('mixed_float16')"
SETTER = f"!pip install keras\n{PRECISION}"
MODEL = "%time\ninputs = keras.Input((8,))\nmodel = keras.Model(inputs, keras.layers.Dense(3)(inputs))\nmodel.summary?"


def write(path: Path, *cells: str) -> bytes:
    code: dict[str, object] = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    found = [{**code, "source": cell.splitlines(keepends=True)} for cell in cells]
    found.insert(1, {"cell_type": "markdown", "metadata": {}, "source": ["# Model"]})
    content = {"cells": found, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    data = (json.dumps(content, indent=1) + "\n").encode()
    path.write_bytes(data)
    return data


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text('[tool.mplint]\nkeras = "3"\n')
    return tmp_path


def mplint(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, prog_name="mplint")


@pytest.mark.parametrize("named", [".", "book.ipynb"])
def test_findings_are_placed_in_cells(here: Path, named: str) -> None:
    write(here / "book.ipynb", SETTER, MODEL)
    result = mplint("--output-format", "concise", named)
    assert result.stdout.splitlines()[0] == (
        "book.ipynb:cell 3:3:29: MP102 [*] this is the model's output and is float16 "
        "(mixed_float16 is set at book.ipynb:cell 1:3)"
    )


def test_the_excerpt_is_the_cell_as_it_is_written(here: Path) -> None:
    write(here / "book.ipynb", SETTER, MODEL)
    shown = mplint("book.ipynb").stdout
    assert "\n1 | %time\n2 | inputs = keras.Input((8,))\n3 | model = " in shown
    assert "\n4 | model.summary?\n" in shown
    assert "   3 + model = " in shown


def test_json(here: Path) -> None:
    write(here / "book.ipynb", SETTER, MODEL)
    (found,) = json.loads(mplint("--output-format", "json", "book.ipynb").stdout)
    assert (found["cell"], found["location"], found["noqa_row"]) == (3, {"row": 3, "column": 29}, 3)
    assert found["fix"]["edits"][0]["location"]["row"] == 3


def test_fix(here: Path) -> None:
    data = write(here / "book.ipynb", SETTER, MODEL)
    result = mplint("--fix", ".")
    assert result.exit_code == 0
    assert (here / "book.ipynb").read_bytes() == data.replace(b"Dense(3)", b"Dense(3, dtype='float32')")
    assert mplint("--fix", ".").stdout == "All checks passed.\n"


def test_a_notebook_imports_the_project(here: Path) -> None:
    (here / "precision.py").write_text(f"{PRECISION}\n")
    write(here / "book.ipynb", "from tensorflow import keras\nimport precision", MODEL)
    write(here / "run.ipynb", "from tensorflow import keras\n%run precision.py", MODEL)
    found = json.loads(mplint("--output-format", "json", ".").stdout)
    assert [Path(each["filename"]).name for each in found] == ["book.ipynb", "run.ipynb"]
    assert "precision.py:2" in found[0]["message"]


def test_a_comment_in_a_cell_silences(here: Path) -> None:
    write(here / "book.ipynb", SETTER, MODEL.replace("(inputs))\n", "(inputs))  # noqa: MP102\n"))
    assert mplint(".").exit_code == 0


def test_what_is_no_notebook_is_a_finding(here: Path) -> None:
    (here / "book.ipynb").write_text("{")
    write(here / "broken.ipynb", SETTER, "x = (\n")
    found = json.loads(mplint("--output-format", "json", ".").stdout)
    assert [(each["code"], each["cell"]) for each in found] == [("MP001", None), ("MP001", 3)]
