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


IMPORT = "from tensorflow import keras"
BUILD = "inputs = keras.Input((8,))\nmodel = keras.Model(inputs, keras.layers.Dense(3)(inputs))\n"


def test_a_policy_that_a_notebook_sets_reaches_what_it_imports(here: Path) -> None:
    (here / "models").mkdir()
    (here / "models" / "net.py").write_text(
        f"{IMPORT}\n\n\ndef build():\n    {BUILD.replace(chr(10), chr(10) + '    ')}"
    )
    write(here / "book.ipynb", SETTER, "from models.net import build\nbuild()")
    (found,) = json.loads(mplint("--output-format", "json", ".").stdout)
    assert (Path(found["filename"]).name, found["cell"], found["location"]["row"]) == ("net.py", None, 6)
    assert "set at book.ipynb:cell 1:3" in found["message"]


GUARDED = f"""\
{IMPORT}

def main():
    keras.mixed_precision.set_global_policy("mixed_float16")

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    "named", ["setup.py", "setup", "./setup.py", "'setup.py' --half", "-i setup.py", "lib/../setup"]
)
def test_a_file_that_is_run_runs_as_a_program(here: Path, named: str) -> None:
    """Unlike an import, `%run` runs what stands under `if __name__ == "__main__":`."""
    (here / "setup.py").write_text(GUARDED)
    write(here / "book.ipynb", f"%run {named}\n{IMPORT}", BUILD)
    (found,) = json.loads(mplint("--output-format", "json", ".").stdout)
    assert (Path(found["filename"]).name, found["cell"]) == ("book.ipynb", 3)
    assert "set at setup.py:4" in found["message"]
    for otherwise in ("import setup", "%run -n setup.py"):
        write(here / "book.ipynb", f"{otherwise}\n{IMPORT}", BUILD)
        assert mplint(".").exit_code == 0


def test_what_a_run_file_binds_and_is_given(here: Path) -> None:
    """Private names, too; with `-i` it sees what the notebook has bound."""
    (here / "steps").mkdir()
    (here / "steps" / "build.py").write_text("_outputs = keras.layers.Dense(3)(inputs)\n")
    write(
        here / "book.ipynb",
        f"{SETTER}\ninputs = keras.Input((8,))",
        "%run -i steps/build\nkeras.Model(inputs, _outputs)",
    )
    (found,) = json.loads(mplint("--output-format", "json", ".").stdout)
    assert Path(found["filename"]).name == "build.py"
    write(
        here / "book.ipynb", f"{SETTER}\ninputs = keras.Input((8,))", "%run steps/build\nkeras.Model(inputs, _outputs)"
    )
    assert mplint(".").exit_code == 0


def test_a_notebook_that_runs_another(here: Path) -> None:
    write(here / "setup.ipynb", SETTER, "size = 3")
    write(here / "book.ipynb", f"%run ./setup.ipynb\n{BUILD.replace('3', 'size')}", "%run book.ipynb")
    (found,) = json.loads(mplint("--output-format", "json", ".").stdout)
    assert (Path(found["filename"]).name, found["cell"]) == ("book.ipynb", 1)
    assert "set at setup.ipynb:cell 1:3" in found["message"]


def test_a_script_that_was_made_of_a_notebook(here: Path) -> None:
    (here / "setup.py").write_text(GUARDED)
    (here / "book.py").write_text(f"get_ipython().run_line_magic('run', 'setup.py')\n{IMPORT}\n{BUILD}")
    (here / "old.py").write_text(f"get_ipython().magic(u'run setup.py')\n{IMPORT}\n{BUILD}")
    found = json.loads(mplint("--output-format", "json", ".").stdout)
    assert [Path(each["filename"]).name for each in found] == ["book.py", "old.py"]


def test_a_module_that_only_a_cell_would_write_is_unknown(here: Path) -> None:
    write(here / "book.ipynb", f"%%writefile precision.py\n{PRECISION}", f"{IMPORT}\nimport precision\n{BUILD}")
    assert mplint(".").exit_code == 0


def test_a_comment_in_a_cell_silences(here: Path) -> None:
    write(here / "book.ipynb", SETTER, MODEL.replace("(inputs))\n", "(inputs))  # noqa: MP102\n"))
    assert mplint(".").exit_code == 0


def test_a_notebook_for_another_language_is_passed_over(here: Path) -> None:
    content = {"cells": [], "metadata": {"kernelspec": {"language": "R"}}, "nbformat": 4, "nbformat_minor": 5}
    (here / "book.ipynb").write_text(json.dumps(content))
    assert mplint(".").output == "All checks passed.\n"
    assert "book.ipynb is a notebook for R: nothing in it was checked\n" in mplint("-v", ".").output


def test_what_is_no_notebook_is_a_finding(here: Path) -> None:
    (here / "book.ipynb").write_text("{")
    write(here / "broken.ipynb", SETTER, "x = (\n")
    found = json.loads(mplint("--output-format", "json", ".").stdout)
    assert [(each["code"], each["cell"]) for each in found] == [("MP001", None), ("MP001", 3)]
