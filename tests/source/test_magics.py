"""What IPython adds to Python becomes Python, line by line."""

from __future__ import annotations

import pytest

from mplint.source.magics import masked

LINES = {
    "%matplotlib inline\n": "pass\n",
    "!pip install keras": "pass",
    "    !ls\n": "pass\n",
    "?Dense\n": "pass\n",
    "Dense?\n": "pass\n",
    "keras.layers.Dense??\r\n": "pass\r\n",
    "files = !ls *.py\n": "files = get_ipython()\n",
    "a, b = %sx ls\n": "a, b = get_ipython()\n",
    "%run precision.py\n": "from precision import *\n",
    "%run -i 'precision.py' --half\n": "from precision import *\n",
    "%time model.fit(x)\n": "model.fit(x)\n",
    "x = a % b\n": "x = a % b\n",
    "x != y\n": "x != y\n",
    "# what is this?\n": "# what is this?\n",
}


@pytest.mark.parametrize("line", LINES)
def test_a_line(line: str) -> None:
    assert masked([line]) == [LINES[line]]


@pytest.mark.parametrize(
    "cell",
    [
        "x = (7\n%2\n)\n",
        "s = '''\n!ls\n%time\nwhat?\n'''\n",
        "x = 7 \\\n% 2\n",
        "f(\n    a,\n    # why?\n)\n",
    ],
)
def test_inside_a_statement_nothing_is_a_magic(cell: str) -> None:
    assert "".join(masked(cell.splitlines(keepends=True))) == cell


def test_a_command_goes_on_behind_a_backslash() -> None:
    assert masked(["!pip install \\\n", "    keras \\\n", "    numpy\n", "x = 1\n"]) == [
        "pass\n",
        "#\n",
        "#\n",
        "x = 1\n",
    ]


def test_magics_in_blocks() -> None:
    cell = "if colab:\n    %cd /content\n    !ls\nelse:\n    %pwd\n"
    assert "".join(masked(cell.splitlines(keepends=True))) == "if colab:\n    pass\n    pass\nelse:\n    pass\n"


def test_behind_a_quote_in_a_command_python_goes_on() -> None:
    assert masked(["!echo don't\n", "%pwd\n", "x = 'a'\n"]) == ["pass\n", "pass\n", "x = 'a'\n"]


@pytest.mark.parametrize("magic", ["%%time", "%%capture out", "%%timeit -n 1"])
def test_cells_that_are_python(magic: str) -> None:
    assert masked([f"{magic}\n", "x = 1\n"]) == ["#\n", "x = 1\n"]


@pytest.mark.parametrize("magic", ["%%bash", "%%writefile train.py", "%%html", "%%javascript"])
def test_cells_of_other_languages(magic: str) -> None:
    assert masked(["\n", f"{magic}\n", "echo (\n", "x = 1"]) == ["\n", "#\n", "#\n", "#"]


@pytest.mark.parametrize(
    "line", ["ls ./data/train/", "ls -l -t /global/results", "cd ..", "pip install keras==3.1", "rm -r out/*"]
)
def test_commands_without_a_sign(line: str) -> None:
    assert masked([f"{line}\n", "x = 1\n"]) == ["pass\n", "x = 1\n"]


@pytest.mark.parametrize("line", ["ls = 3", "ls == cd", "rm - 1", "cat (1)", "mv in cp"])
def test_variables_with_the_names_of_commands(line: str) -> None:
    assert masked([f"{line}\n"]) == [f"{line}\n"]


def test_a_title_may_stand_before_a_cell_magic() -> None:
    assert masked(["# Install it\n", "%%bash\n", "cd models && ls\n"]) == ["# Install it\n", "#\n", "#\n"]
