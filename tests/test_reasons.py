"""Where a policy comes from, under which condition, and how it reaches what is reported."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest

from mplint.analysis import analyze
from mplint.findings import Finding
from mplint.project.modules import Project
from mplint.settings import Settings

NET = """
from tensorflow import keras
from tensorflow.keras import layers


def head(x, classes):
    return layers.Dense(classes, activation="softmax")(x)


def build_model(classes):
    inputs = keras.Input((8,))
    return keras.Model(inputs, head(inputs, classes))
"""
TRAIN = """
import argparse
from tensorflow import keras
from models.net import build_model

parser = argparse.ArgumentParser()
parser.add_argument("--amp", action="store_true")
parser.add_argument("--fp32", action="store_true")
parser.add_argument("--policy", default="mixed_float16")
args = parser.parse_args()


def half():
    keras.mixed_precision.set_global_policy("mixed_float16")


def unless_asked():
    if args.fp32:
        return
    keras.mixed_precision.set_global_policy("mixed_float16")


def main():
    SETTING
    model = build_model(10)
    model.compile("adam", "mse")


def asked():
    keras.mixed_precision.set_global_policy("mixed_float16")
    return args.amp


if __name__ == "__main__":
    main()
"""
HERE = "reaches here through build_model (train.py:{row})"


def found(root: Path, files: dict[str, str]) -> list[Finding]:
    contents = {root / name: text.encode() for name, text in files.items()}
    settings = Settings(root=root, keras="3")
    return list(analyze(Project(root, list(contents), contents), list(contents), settings).findings)


def trained(root: Path, setting: str) -> Finding:
    """What is found where the program sets its policy by the statements `setting`."""
    text = TRAIN.replace("    SETTING\n", textwrap.indent(setting, "    "))
    (finding,) = found(root, {"train.py": text, "models/net.py": NET, "models/__init__.py": ""})
    return finding


def reason(finding: Finding) -> str:
    """What stands in brackets at the end of the message."""
    return finding.message.partition(" (")[2].removesuffix(")")


SET = 'keras.mixed_precision.set_global_policy("mixed_float16")\n'


@pytest.mark.parametrize(
    ("setting", "origin"),
    [
        (SET, "mixed_float16 is set at train.py:24"),
        (f"if args.amp:\n    {SET}", "mixed_float16 is set at train.py:25 under `if args.amp`"),
        (f"if not args.fp32:\n    {SET}", "mixed_float16 is set at train.py:25 unless `args.fp32`"),
        (f"if args.fp32:\n    pass\nelse:\n    {SET}", "mixed_float16 is set at train.py:27 unless `args.fp32`"),
        (f"if not args.amp:\n    pass\nelse:\n    {SET}", "mixed_float16 is set at train.py:27 under `if args.amp`"),
        (
            f"if args.fp32:\n    pass\nelif args.amp:\n    {SET}",
            "mixed_float16 is set at train.py:27 under `if args.amp`",
        ),
        (
            f"if args.policy != 'x':\n    if args.amp:\n        {SET}",
            "mixed_float16 is set at train.py:26 under `if args.amp`",
        ),
        (f"if 1 < 2:\n    {SET}", "mixed_float16 is set at train.py:25"),
        (f"if args.amp:\n    if True:\n        {SET}", "mixed_float16 is set at train.py:26 under `if args.amp`"),
        ("half()\n", "mixed_float16 is set at train.py:14"),
        ("if args.amp:\n    half()\n", "mixed_float16 is set at train.py:14 under `if args.amp` (train.py:24)"),
        ("unless_asked()\n", "mixed_float16 is set at train.py:20 unless `args.fp32`"),
        ("if args.amp:\n    unless_asked()\n", "mixed_float16 is set at train.py:20 unless `args.fp32`"),
        (
            SET.replace('"mixed_float16"', '"mixed_float16" if args.amp else "float32"'),
            "mixed_float16 is set at train.py:24 under `if args.amp`",
        ),
        (
            'name = "float32"\nif args.amp:\n    name = "mixed_float16"\n'
            "keras.mixed_precision.set_global_policy(name)\n",
            "mixed_float16 is set at train.py:27 under `if args.amp`",
        ),
        (
            SET.replace('"mixed_float16"', '"float32" if args.fp32 else "mixed_bfloat16"')
            + 'name = "float32"\nif args.amp:\n    name = "mixed_float16"\n'
            + SET.replace('"mixed_float16"', "name"),
            "mixed_float16 is set at train.py:28 under `if args.amp`",
        ),
        (
            "names = ['mixed_float16', 'float32']\n" + SET.replace('"mixed_float16"', "names[unseen()]"),
            "mixed_float16 is set at train.py:25 if `names[unseen()]` says so",
        ),
        (f"match args.policy:\n    case 'half':\n        {SET}", "mixed_float16 is set at train.py:26"),
        ("if asked():\n    pass\n", "mixed_float16 is set at train.py:31"),
        (SET.replace('"mixed_float16"', "args.policy"), "mixed_float16 is set at train.py:24 if `args.policy` says so"),
        (
            "parser.add_argument('--kind', choices=['half', 'full'], default='full')\n"
            "name = {'half': 'mixed_float16', 'full': 'float32'}[parser.parse_args().kind]\n"
            "keras.mixed_precision.set_global_policy(name)\n",
            "mixed_float16 is set at train.py:26 if `name` says so",
        ),
        (
            f"if args.policy.startswith('mixed') and args.amp and len(args.policy) > 12:\n    {SET}",
            "mixed_float16 is set at train.py:25 under `if args.policy.startswith('mixed') and args.amp …`",
        ),
    ],
)
def test_the_condition(tmp_path: Path, setting: str, origin: str) -> None:
    row = 24 + setting.count("\n")
    finding = trained(tmp_path, setting)
    assert reason(finding) == f"{origin}, {HERE.format(row=row)}"
    assert finding.condition == (None if origin[-1].isdigit() else origin)


def test_the_whole_way_is_in_the_trace(tmp_path: Path) -> None:
    finding = trained(tmp_path, "if args.amp:\n    unless_asked()\n")
    assert finding.trace == (
        "train.py:36 calls main",
        "train.py:25 calls unless_asked under `if args.amp`",
        "train.py:20 sets mixed_float16 unless `args.fp32`",
        "train.py:26 calls build_model",
        "models/net.py:12 calls head",
    )


def test_a_condition_is_told_where_it_is_asked(tmp_path: Path) -> None:
    finding = trained(tmp_path, "if args.amp:\n    half()\n")
    assert finding.trace[1:3] == ("train.py:25 calls half under `if args.amp`", "train.py:14 sets mixed_float16")


def test_nothing_is_said_of_the_way_where_there_is_none(tmp_path: Path) -> None:
    text = f"""
from tensorflow import keras
{SET}
outputs = keras.layers.Dense(3, activation="softmax")(keras.Input((8,)))
model = keras.Model(keras.Input((8,)), outputs)
"""
    (finding,) = found(tmp_path, {"main.py": text})
    assert reason(finding) == "mixed_float16 is set at main.py:3"
    assert finding.trace == ("main.py:3 sets mixed_float16",)


def test_a_call_in_the_same_file_is_told(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, {"main.py": f"{NET}\n{SET}\nmodel = build_model(3)\n"})
    assert reason(finding) == "mixed_float16 is set at main.py:14, reaches here through head (main.py:12)"
    assert finding.trace == ("main.py:14 sets mixed_float16", "main.py:16 calls build_model", "main.py:12 calls head")


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("Net()(inputs)", "Net"),
        ("Net().head(inputs)", "head"),
        ("[Net().head][0](inputs)", "[Net().head][0]"),
        ("(lambda x: Net().head(x))(inputs)", "head"),
    ],
)
def test_what_is_called_has_a_short_name(tmp_path: Path, call: str, name: str) -> None:
    text = f"""
from tensorflow import keras


class Net:
    def head(self, x):
        return keras.layers.Dense(3, activation="softmax")(x)

    __call__ = head


keras.mixed_precision.set_global_policy("mixed_float16")
inputs = keras.Input((8,))
model = keras.Model(inputs, {call})
"""
    (finding,) = found(tmp_path, {"main.py": text})
    assert reason(finding) == f"mixed_float16 is set at main.py:12, reaches here through {name} (main.py:14)"


def test_a_policy_that_comes_with_an_import(tmp_path: Path) -> None:
    model = f"{NET}\nmodel = build_model(3)\n"
    train = f"from tensorflow import keras\n\n{SET}\nfrom models import net\n\nnet.model.compile('adam', 'mse')\n"
    (finding,) = found(tmp_path, {"train.py": train, "models/net.py": model, "models/__init__.py": ""})
    assert finding.path.name == "net.py"
    assert finding.trace == (
        "train.py:3 sets mixed_float16",
        "train.py:5 imports models/net.py",
        "models/net.py:14 calls build_model",
        "models/net.py:12 calls head",
    )
    assert reason(finding) == (
        "mixed_float16 is set at train.py:3, reaches here through the import of models/net.py (train.py:5)"
    )


@pytest.mark.parametrize("imported", ["package", "package.other"])
def test_a_function_that_nobody_calls_runs_under_the_policy_of_those_that_name_it(
    tmp_path: Path, imported: str
) -> None:
    train = f"from tensorflow import keras\nimport {imported}\n\n{SET}\nmake = [package.net.build_model]\n"
    package = {"package/__init__.py": "from . import net\n", "package/net.py": NET, "package/other.py": ""}
    files = {"train.py": train, **package}
    (finding,) = found(tmp_path, files)
    assert finding.trace[:3] == (
        "train.py:2 imports package/__init__.py",
        "package/__init__.py:1 imports package/net.py",
        "train.py:4 sets mixed_float16",
    )


def test_an_assumed_policy_has_no_way(tmp_path: Path) -> None:
    contents = {tmp_path / "net.py": NET.encode()}
    settings = Settings(root=tmp_path, keras="3", assume_policy="mixed_float16")
    (finding,) = analyze(Project(tmp_path, list(contents), contents), list(contents), settings).findings
    assert reason(finding) == "mixed_float16 is assumed"
    assert finding.trace == ()


def test_the_generation_is_told_where_only_one_is_meant(tmp_path: Path) -> None:
    text = """
from tensorflow import keras
keras.mixed_precision.set_global_policy("mixed_float16")
dtype = "mixed_float16" if keras.__version__.startswith("3") else "float32"
inputs = keras.Input((8,))
model = keras.Model(inputs, keras.layers.Dense(3, activation="softmax", dtype=dtype)(inputs))
"""
    contents = {tmp_path / "main.py": text.encode()}
    (finding,) = analyze(Project(tmp_path, list(contents), contents), list(contents), Settings(root=tmp_path)).findings
    assert finding.message.endswith(" (in Keras 3, mixed_float16)")


def test_a_function_that_sets_the_policy_and_builds_needs_no_way(tmp_path: Path) -> None:
    """The first call that set it is not the shortest one that leads there."""
    body = NET.replace("def build_model(classes):\n", f"def build_model(classes):\n    {SET}").replace(
        "head(inputs, classes)", 'layers.Dense(classes, activation="softmax")(inputs)'
    )
    text = f"{body}\n\ndef first():\n    return build_model(3)\n\n\nfirst()\nbuild_model(4)\n"
    (finding,) = found(tmp_path, {"main.py": text})
    assert reason(finding) == "mixed_float16 is set at main.py:11"


def test_the_way_is_one_on_which_the_policy_holds(tmp_path: Path) -> None:
    """What was made on another way, before the policy was set, has nothing to do with it."""
    text = f"{NET}\n\nbuild_model(3)\n{SET}def main():\n    return build_model(4)\n\n\nmain()\n"
    (finding,) = found(tmp_path, {"main.py": text})
    assert finding.trace == (
        "main.py:16 sets mixed_float16",
        "main.py:21 calls main",
        "main.py:18 calls build_model",
        "main.py:12 calls head",
    )


def test_another_program_says_nothing_of_the_condition(tmp_path: Path) -> None:
    """In each run of this one the policy is set there, and only one of them keeps it."""
    text = TRAIN.replace(
        "    SETTING\n", f"    {SET}    if args.fp32:\n        {SET.replace('mixed_float16', 'float32')}"
    )
    files = {"train.py": text, "models/net.py": NET, "models/__init__.py": "", "another.py": "from models import net\n"}
    (finding,) = found(tmp_path, files)
    assert reason(finding) == f"mixed_float16 is set at train.py:24, {HERE.format(row=27)}"


SETS = f"from tensorflow import keras\n{SET}"
BUILDS = """from tensorflow import keras
inputs = keras.Input((8,))
model = keras.Model(inputs, keras.layers.Dense(3, activation="softmax")(inputs))
"""


@pytest.mark.parametrize(
    "brings",
    [
        "import half",
        "from half import keras as other",
        "import importlib; importlib.import_module('half')",
        "import runpy; print(runpy.run_path('half.py'))",
        "exec(open('half.py').read())",
    ],
)
def test_an_import_that_brings_the_setting_is_told(tmp_path: Path, brings: str) -> None:
    (finding,) = found(tmp_path, {"half.py": SETS, "train.py": f"{brings}\n{BUILDS}"})
    assert finding.trace == ("train.py:1 imports half.py", "half.py:2 sets mixed_float16")
    assert reason(finding) == (
        "mixed_float16 is set at half.py:2, reaches here through the import of half.py (train.py:1)"
    )


def test_a_notebook_that_runs_the_file_with_the_setting_tells_the_cell(tmp_path: Path) -> None:
    cells = [{"cell_type": "code", "source": text, "metadata": {}, "outputs": []} for text in ("%run half.py", BUILDS)]
    notebook = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    (finding,) = found(tmp_path, {"half.py": SETS, "train.ipynb": notebook})
    assert finding.trace[0] == "train.ipynb:cell 1:1 imports half.py"


def test_all_imports_up_to_the_setting_are_told_and_none_twice(tmp_path: Path) -> None:
    files = {
        "train.py": "import setup\nfrom net import build_model\n\n\ndef main():\n    build_model(3)\n\n\nmain()\n",
        "setup.py": "import half\n",
        "half.py": SETS,
        "net.py": NET,
    }
    (finding,) = found(tmp_path, files)
    steps = ("train.py:1 imports setup.py", "setup.py:1 imports half.py", "half.py:2 sets mixed_float16")
    assert finding.trace == (*steps, "train.py:9 calls main", "train.py:6 calls build_model", "net.py:12 calls head")
    files["train.py"] = "import setup\nmake = [setup.net.build_model]\n"
    files["setup.py"] = "import half\nimport net\n"
    (finding,) = found(tmp_path, files)
    assert finding.trace[:4] == (*steps, "setup.py:2 imports net.py")


def test_the_condition_of_an_import_is_that_of_the_setting(tmp_path: Path) -> None:
    asked = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--amp', action='store_true')\n"
    train = f"{asked}if p.parse_args().amp:\n    import half\n{BUILDS}"
    (finding,) = found(tmp_path, {"half.py": SETS, "train.py": train})
    assert finding.trace[0] == "train.py:5 imports half.py"
    assert "is set at half.py:2 under `if p.parse_args().amp`" in finding.message


def test_the_way_begins_in_a_program_that_imports_what_is_wrong(tmp_path: Path) -> None:
    precision = (
        "from tensorflow import keras\n\n\ndef use_half():\n"
        '    keras.mixed_precision.set_global_policy("mixed_float16")\n'
    )
    program = "import nets\nfrom precision import use_half\n\nuse_half()\n"
    files = {
        "precision.py": precision,
        "a_first.py": program.replace("import nets", "import json"),
        "train.py": program + "print(nets.build_model)\n",
        "nets.py": NET,
    }
    (finding,) = found(tmp_path, files)
    assert finding.trace[0] == "train.py:1 imports nets.py"
