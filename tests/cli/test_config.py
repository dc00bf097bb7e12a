"""`mplint config`: of a file, which Keras it is for and which policies reach it, and why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mplint.cli.main import main
from mplint.settings import Settings

NET = """
from tensorflow import keras


def build(classes):
    inputs = keras.Input((8,))
    return keras.Model(inputs, keras.layers.Dense(classes)(inputs))
"""
TRAIN = """
import sys
from tensorflow import keras
from models.net import build


def main(arguments):
    if "--amp" in arguments:
        keras.mixed_precision.set_global_policy("mixed_float16")
    build(10)


if __name__ == "__main__":
    main(sys.argv)
"""
SHOW = "from models import net\n\nif __name__ == '__main__':\n    net.build(3)\n"
FILES = {
    "mplint.toml": '[per-file-keras]\n"models/*" = "2"\n[per-file-assume-policy]\n"lib/" = "mixed_bfloat16"\n',
    "requirements.txt": "tensorflow==2.18.0\n",
    "models/__init__.py": "",
    "models/net.py": NET,
    "train.py": TRAIN,
    "show.py": SHOW,
    "lib/parts.py": NET,
    "alone.py": NET,
    "other.py": "x = 1\n",
    "tests/test_net.py": "from models.net import build\nbuild(2)\n",
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def mplint(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["config", *arguments], prog_name="mplint")


def said(*arguments: str) -> list[str]:
    """What is said beside the settings."""
    result = mplint(*arguments)
    assert result.exit_code == 0, result.output
    return [line.removeprefix("# ") for line in result.stdout.splitlines() if line.startswith("# ")][1:]


def test_a_file_of_a_program(here: Path) -> None:
    assert said("models/net.py") == [
        "file: models/net.py",
        "keras: 2 (per-file-keras says 2 for models/*)",
        "policy: mixed_float16 in the program train.py",
        "  train.py:14 calls main",
        '  train.py:9 sets mixed_float16 under `if "--amp" in arguments`',
        "  train.py:10 calls build",
        "policy: none in the program show.py",
    ]


def test_the_program_itself(here: Path) -> None:
    """Where the policy is set the way of it ends."""
    about = said("train.py")
    assert about[:2] == ["file: train.py", "keras: 3 (requirements.txt asks for TensorFlow 2.16 or later)"]
    assert about[2:] == said("models/net.py")[2:5]


@pytest.mark.parametrize(
    ("name", "last"),
    [
        (
            "alone.py",
            "policy: none: it sets none, and no program imports it; --assume-policy checks it as if one were set",
        ),
        ("lib/parts.py", "policy: mixed_bfloat16 is assumed (per-file-assume-policy says so for lib/)"),
        ("other.py", "keras: not used, neither in it nor in what it imports"),
    ],
)
def test_a_file_that_no_policy_reaches(here: Path, name: str, last: str) -> None:
    assert said(name)[-1] == last


def test_what_was_looked_at_is_told(here: Path) -> None:
    (here / "train.py").write_text(SHOW)
    assert said("models/net.py")[-1] == (
        "policy: none: it sets none, nor does any program that imports it (show.py, train.py); "
        "--assume-policy checks it as if one were set"
    )


def test_a_folder_has_a_line_for_each_file(here: Path) -> None:
    assert said(".") == [
        "alone.py           keras 3  no policy",
        "show.py            keras 3  no policy",
        'train.py           keras 3  mixed_float16 (train.py:9 under `if "--amp" in arguments`)',
        "lib/parts.py       keras 3  mixed_bfloat16 (assumed)",
        'models/net.py      keras 2  mixed_float16 (train.py:9 under `if "--amp" in arguments`)',
        "tests/test_net.py  keras 3  no policy",
    ]
    assert said() == []


BARE = "def build(layers):\n    return layers.Dense(3)\n"


@pytest.mark.parametrize(
    ("net", "train"),
    [
        (NET.replace("(classes)(", "(classes, dtype='float32')("), TRAIN),  # layers with a dtype of their own
        (NET, TRAIN.replace("build(10)", "make = [build]")),  # nobody calls it
        (BARE, TRAIN.replace("build(10)", "build(keras.layers)")),  # it does not name Keras
    ],
)
def test_the_policy_of_the_program_around(here: Path, net: str, train: str) -> None:
    (here / "models/net.py").write_text(net)
    (here / "train.py").write_text(train)
    assert "policy: mixed_float16 in the program train.py" in said("models/net.py")


def test_a_policy_that_nobody_knows(here: Path) -> None:
    (here / "train.py").write_text(TRAIN.replace('"mixed_float16"', "arguments[1]"))
    assert said("models/net.py")[-1] == "policy: not known, set at train.py:9"
    assert "models/net.py      keras 2  not known (train.py:9)" in said(".")


def test_json(here: Path) -> None:
    found = json.loads(mplint("models/net.py", "--output-format", "json").stdout)
    assert found["file"] == "models/net.py"
    assert found["keras"] == {"generation": "2", "why": "per-file-keras says 2 for models/*"}
    assert found["programs"] == ["show.py", "train.py"]
    assert found["policies"] == [
        {
            "policy": "mixed_float16",
            "program": "train.py",
            "set_at": "train.py:9",
            "condition": 'under `if "--amp" in arguments`',
            "trace": [
                "train.py:14 calls main",
                'train.py:9 sets mixed_float16 under `if "--amp" in arguments`',
                "train.py:10 calls build",
            ],
        }
    ]
    assert found["settings"]["per-file-keras"]["value"] == {"models/*": "2"}
    files = json.loads(mplint(".", "--output-format", "json").stdout)["files"]
    assert {file["file"]: file["assumed"] for file in files}["lib/parts.py"] == {
        "policy": "mixed_bfloat16",
        "why": "per-file-assume-policy says so for lib/",
    }


def test_the_settings_are_toml(here: Path) -> None:
    (here / "mplint.toml").write_text(
        'ignore = ["MP102"]\nper-file-ignores = { "a \\"b\\" é\\u007f" = ["MP1"], "c*" = ["MP4", "MP1"] }\n'
        'per-file-keras = { "models/*" = "2" }\nfail-on = "error"\nfix = true\n'
    )
    text = mplint().stdout
    assert "\n#assume-policy =  # default: not set\n" in text
    assert '\nper-file-keras = { "models/*" = "2" }  # ' in text
    (here / "again.toml").write_text(text)
    again = Settings.load(here, ["again.toml"])
    assert again == Settings.load(here)
    assert len(again.origins) == len(list(again.items())) - 3


@pytest.mark.parametrize("arguments", [(), ("alone.py",), ("--output-format", "json")])
def test_a_rule_that_does_not_exist_is_refused(here: Path, arguments: tuple[str, ...]) -> None:
    (here / "mplint.toml").write_text('ignore = ["MP7"]\n')
    result = mplint(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "`ignore`: there is no rule `MP7`" in result.stderr


def test_mistakes(here: Path) -> None:
    result = mplint("requirements.txt")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "error: requirements.txt: is no Python: name a file (.py, .pyw, .ipynb) or a folder\n"
    for absent in ("absent.py", "absent"):
        result = mplint(absent)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr == f"error: {here / absent}: does not exist; check the path\n"
    (here / "broken.py").write_text("import keras\nx = (\n")
    assert any(line.startswith("cannot be read: ") for line in said("broken.py"))


@pytest.mark.parametrize("key", [r"\n::set-output name=x::y", r"\r\n##[error]y", r"\u2028::x", r"\u001b[2J"])
def test_a_mistake_is_told_on_one_line_that_nothing_obeys(here: Path, key: str) -> None:
    (here / "mplint.toml").write_text(f'"{key}" = 1\n')
    result = mplint(".")
    assert result.exit_code == 2
    [line] = result.stderr.splitlines()
    assert line.startswith("error: ")
    assert "\x1b" not in line
