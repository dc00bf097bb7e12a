"""Where programs start, what they reach, and under which policy a model is made that nothing was seen to make."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from mplint.interpreter.exploration import MAX_SILENT_STEPS
from mplint.interpreter.world import outputs_of
from tests.interpreter.programs import found_in, policies
from tests.project.trees import write

HALF = "from tensorflow import keras\n\n\ndef half():\n    keras.mixed_precision.set_global_policy('mixed_float16')\n"
NET = """
from tensorflow import keras


def net(units):
    row = keras.Input((4,))
    return keras.Model(row, keras.layers.Dense(units)(row))
"""


def made(root: Path, files: Mapping[str, str]) -> dict[str, set[str | None]]:
    """The policies under which models are made, by the file."""
    write(root, {"half.py": HALF, "net.py": NET, **files})
    policies: dict[str, set[str | None]] = {}
    for world in found_in(root).worlds:
        for model in world.models:
            name = model.place.source.path.relative_to(root).as_posix()
            policies.setdefault(name, set()).add(model.policy.name)
    return policies


@pytest.mark.parametrize(
    "main",
    {
        "typer": "import typer\napp = typer.Typer()\n\n@app.command()\ndef train(units: int = 3, on: bool = False):\n"
        "    if on:\n        half()\n    net(units)\n\napp()\n",
        "typer callback": "import typer\napp = typer.Typer()\n\n@app.callback()\ndef first(on: bool = True):\n"
        "    half() if on else None\n\n@app.command()\ndef train():\n    net(3)\n\napp()\n",
        "typer run": "import typer\n\ndef main(on: bool = False):\n    if on:\n        half()\n"
        "    net(2)\n\ntyper.run(main)\n",
        "click group": "import click\n\n@click.group()\ndef cli():\n    half()\n\n@cli.command()\n"
        "def train():\n    net(2)\n\ncli()\n",
        "click without brackets": "import click\n\n@click.group\ndef cli():\n    half()\n\n@cli.command\ndef train():\n"
        "    net(2)\n\ncli()\n",
        "click groups in groups": "import click\n\n@click.group()\ndef cli():\n    half()\n\n@click.group()\n"
        "def inner():\n    pass\n\n@inner.command()\ndef train():\n    net(2)\n\ncli.add_command(inner)\ncli()\n",
        "fire function": "import fire\n\ndef main(on=False):\n    if on:\n        half()\n"
        "    net(2)\n\nfire.Fire(main)\n",
        "fire class": "import fire\n\nclass Tool:\n    def __init__(self, on=False):\n        if on:\n"
        "            half()\n\n    def train(self):\n        net(2)\n\nfire.Fire(Tool)\n",
        "fire dict": "import fire\n\ndef main(on=False):\n    if on:\n        half()\n    net(2)\n\n"
        "fire.Fire({'train': main, 'more': [main]})\n",
        "fire module": "import fire\n\ndef main(on=False):\n    if on:\n        half()\n    net(2)\n\nfire.Fire()\n",
        "abseil": "from absl import app\n\ndef main(_):\n    half()\n    net(2)\n\napp.run(main)\n",
        "TensorFlow 1": "import tensorflow as tf\n\ndef main(_):\n    half()\n    net(2)\n\ntf.compat.v1.app.run()\n",
        "nothing": "def job():\n    half()\n    net(2)\n",
        "module by name": "from importlib import import_module\nimport sys\nhalf()\n"
        "import_module('n' + sys.argv[1]).net(2)\n",
        "file by path": "half()\nexec(open('net.py').read())\nnet(2)\n",
    }.items(),
    ids=lambda pair: pair[0],
)
def test_what_a_program_starts_with_is_called(tmp_path: Path, main: tuple[str, str]) -> None:
    policies = made(tmp_path, {"main.py": f"from half import half\nfrom net import net\n{main[1]}"})
    assert "mixed_float16" in policies["net.py"]


@pytest.mark.parametrize(
    "main",
    {
        "click": "import click\n\n@click.group()\ndef cli():\n    pass\n\n@cli.command()\ndef bench():\n    half()\n\n"
        "@cli.command()\ndef train():\n    net(2)\n\ncli()\n",
        "fire": "import fire\n\nclass Tool:\n    def bench(self):\n        half()\n\n    def train(self):\n"
        "        net(2)\n\nfire.Fire(Tool)\n",
        "typer": "import typer\napp = typer.Typer()\n\n@app.command()\ndef bench():\n    half()\n\n@app.command()\n"
        "def train():\n    net(2)\n\napp()\n",
    }.items(),
    ids=lambda pair: pair[0],
)
def test_each_command_is_a_program_of_its_own(tmp_path: Path, main: tuple[str, str]) -> None:
    policies = made(tmp_path, {"main.py": f"from half import half\nfrom net import net\n{main[1]}"})
    assert policies["net.py"] == {"float32"}


def test_a_console_script_is_an_entry_point(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project.scripts]\nkit = "kit:main"\nother = "gone:main"\n')
    kit = "import half, net\n\ndef main(units=2):\n    half.half()\n    net.net(units)\n"
    assert made(tmp_path, {"kit.py": kit})["net.py"] == {"mixed_float16"}


def test_a_program_that_is_not_mixed_says_whose_a_function_is(tmp_path: Path) -> None:
    mixed = "import half, net\nhalf.half()\n"
    assert made(tmp_path / "alone", {"mixed.py": mixed})["net.py"] == {"mixed_float16"}
    assert made(tmp_path / "both", {"mixed.py": mixed, "plain.py": "import net\nnet.net(2)\n"})["net.py"] == {"float32"}


def test_what_is_looked_up_by_name_is_that_programs(tmp_path: Path) -> None:
    mixed = "import half, net\nhalf.half()\n"
    plain = "import sys\nimport net\ngetattr(net, sys.argv[1])(2)\n"
    assert made(tmp_path, {"mixed.py": mixed, "plain.py": plain})["net.py"] == {"float32"}


def test_what_a_test_enters_is_not_entered_by_the_program(tmp_path: Path) -> None:
    mixed = "import half, net, other\nhalf.half()\nother.build(net)\n"
    test = "import net\n\ndef test_net():\n    net.net(2)\n\nnet.net(3)\n"
    assert "mixed_float16" in made(tmp_path, {"mixed.py": mixed, "tests/test_net.py": test})["net.py"]


def test_packages_are_imported_before_a_module_that_is_run_with_m(tmp_path: Path) -> None:
    fit = "from .net import net\nnet(2)\n"
    files = {"lab/__init__.py": "from half import half\nhalf()\n", "lab/net.py": NET, "lab/fit.py": fit}
    assert made(tmp_path, files)["lab/net.py"] == {"mixed_float16"}


def test_a_module_that_sets_a_policy_is_not_taken_for_one_of_several(tmp_path: Path) -> None:
    main = "import importlib, sys\nimport net\nimportlib.import_module('job_' + sys.argv[1])\nnet.net(2)\n"
    files = {"main.py": main, "job_a.py": "import half\nhalf.half()\n", "job_b.py": ""}
    assert made(tmp_path / "calls", files)["net.py"] == {"mixed_float16"}
    files["job_a.py"] = HALF + "\nhalf()\n"
    assert made(tmp_path / "sets", files)["net.py"] == {"float32"}


def test_a_method_that_decorates_registers(tmp_path: Path) -> None:
    registry = "class Registry(dict):\n    def register(self, cls):\n        KNOWN['x'] = cls\n        return cls\n\n"
    registry += "KNOWN = {}\nREGISTRY = Registry()\n"
    nets = "from tensorflow import keras\nfrom registry import REGISTRY\n\n"
    nets += "@REGISTRY.register\nclass Net(keras.Sequential):\n"
    nets += "    def __init__(self):\n        super().__init__([keras.Input((4,)), keras.layers.Dense(2)])\n"
    main = "import half, nets\nfrom registry import KNOWN\nhalf.half()\nKNOWN['x']()\n"
    files = {"registry.py": registry, "nets.py": nets, "main.py": main}
    assert made(tmp_path, files)["main.py"] == {"mixed_float16"}


def test_a_class_that_nobody_makes_is_made_once(tmp_path: Path) -> None:
    nets = "from tensorflow import keras\n\nclass Net(keras.Sequential):\n    def __init__(self):\n"
    nets += "        super().__init__([keras.Input((4,)), keras.layers.Dense(2)])\n"
    files = {"nets.py": nets, "main.py": "import half, nets, other\nhalf.half()\nother.make(nets, 'Net')\n"}
    assert made(tmp_path, files)["nets.py"] == {"mixed_float16"}


def test_methods_of_an_object_that_takes_too_long_to_make(tmp_path: Path) -> None:
    """They are run on the object as far as it was made, and the constructor is not run again."""
    body = "".join(f"        self.row{i} = [(i, j, k, n) for i in range(9) for j in range(9)]\n" for i in range(90))
    job = f"class Job:\n    def __init__(self, k, n):\n        self.units = 3\n{body}        self.last = 1\n\n"
    net = "    def build(self):\n        half()\n        return net(self.units)\n"
    text = f"from half import half\nfrom net import net\n\n{job}{net}"
    assert made(tmp_path, {"job.py": text}) == {"net.py": {"mixed_float16"}}
    build = next(world for world in found_in(tmp_path).worlds if world.entry == "job.py:Job.build")
    assert build.machine.steps < 100


@pytest.mark.parametrize(("between", "ends"), [("", True), ("half()\n", False)])
def test_a_program_that_comes_to_no_policy_ends_earlier(tmp_path: Path, between: str, ends: bool) -> None:
    rows = [f"row{i} = [(i, j, k, {i}) for i in range(9) for j in range(9) for k in range(9)]\n" for i in range(20)]
    main = "".join(("from half import half\n", *rows[:10], between, *rows[10:]))
    write(tmp_path, {"half.py": HALF, "main.py": main})
    (world,) = (world for world in found_in(tmp_path).worlds if world.entry == "main.py")
    assert (world.machine.steps <= MAX_SILENT_STEPS + 1) is ends
    assert world.trace.cut is ends


def test_a_module_out_of_a_package_without_a_file() -> None:
    main = (
        "from configs import base\nfrom tensorflow import keras\nkeras.mixed_precision.set_global_policy(base.POLICY)"
    )
    assert policies(main, **{"configs/base": "POLICY = 'mixed_float16'"}) == {"mixed_float16"}


FLAG = "from half import half\nfrom net import net\n\ndef train({0}):\n{1}    return net(2)\n"


@pytest.mark.parametrize(
    ("parameters", "body"),
    [
        ("mixed=False", "    if mixed:\n        half()\n"),
        ("*, mixed=False", "    if not mixed:\n        pass\n    else:\n        half()\n"),
        ("mixed=False", "    half() if mixed else None\n"),
        ("mixed=False, fast=True", "    if fast and mixed:\n        half()\n"),
        ("plain=True", "    if plain:\n        return net(1)\n    half()\n"),
        ("mixed=False", "    choose(mixed)\n"),
    ],
)
def test_a_flag_of_a_function_that_nobody_calls_may_be_on(tmp_path: Path, parameters: str, body: str) -> None:
    text = "def choose(on):\n    if on:\n        half()\n\n" + FLAG.format(parameters, body)
    assert made(tmp_path, {"main.py": text})["net.py"] == {"float32", "mixed_float16"}


def test_a_flag_of_an_object_that_nobody_makes_may_be_on(tmp_path: Path) -> None:
    text = "from half import half\nfrom net import net\n\nclass Trainer:\n    def __init__(self, mixed=False):\n"
    text += "        if mixed:\n            half()\n        self.net = net(2)\n"
    assert made(tmp_path, {"main.py": text})["net.py"] == {"float32", "mixed_float16"}


@pytest.mark.parametrize(
    ("parameters", "body"),
    [
        ("mixed=False, loud=False", "    if loud:\n        print('half')\n"),
        ("mixed=False", "    if mixed:\n        half()\n    if not mixed:\n        return None\n    half()\n"),
    ],
)
def test_a_flag_decides_on_one_thing_in_a_run(tmp_path: Path, parameters: str, body: str) -> None:
    policies = made(tmp_path, {"main.py": FLAG.format(parameters, body)})["net.py"]
    assert len(policies) == 1


@pytest.mark.parametrize("call", ["train(False)", "train(mixed=False)", "train(*[False])", "train(**{'mixed': False})"])
def test_a_flag_of_a_function_that_is_called_is_what_it_is_given(tmp_path: Path, call: str) -> None:
    text = FLAG.format("mixed=False", "    if mixed:\n        half()\n") + f"\n{call}\n"
    assert made(tmp_path, {"main.py": text})["net.py"] == {"float32"}


HANDED_ON = """\
def outer(mixed=False, loud=False):
    chosen = inner
    if loud:
        chosen = other
    return chosen(width=2, mixed=mixed)

def inner(width, **more):
    return train(**more)

def other(width, mixed):
    return net(width)

outer()
"""


@pytest.mark.parametrize(
    ("parameters", "body", "more"),
    [
        ("mixed=False", "    if mixed:\n        half()\n", "train()\n"),
        ("mixed=False", "    policy('mixed_float16' if mixed else 'float32')\n", "train()\n"),
        ("mixed=False", "    choose(mixed)\n", "train()\n"),
        ("mixed=False", "    choose(on=mixed)\n", "train()\n"),
        ("*, mixed=False", "    if mixed:\n        half()\n", HANDED_ON),
        ("mixed=False", "    if mixed:\n        half()\n", "def main():\n    train()\n\nmain()\n"),
    ],
)
def test_a_flag_that_no_call_passes_may_be_on(tmp_path: Path, parameters: str, body: str, more: str) -> None:
    text = "from tensorflow import keras\n\ndef choose(on):\n    if on:\n        half()\n\n"
    text += "def policy(name):\n    keras.mixed_precision.set_global_policy(name)\n\n"
    text += FLAG.format(parameters, body) + "\n" + more
    assert made(tmp_path, {"main.py": text})["net.py"] == {"float32", "mixed_float16"}


@pytest.mark.parametrize(
    ("parameters", "body"),
    [
        ("loud=False", "    if loud:\n        print('on')\n"),
        ("early=False", "    if early:\n        return None\n    half() if net is None else None\n"),
        ("mixed=0", "    if mixed:\n        half()\n"),
    ],
)
def test_a_flag_that_no_call_passes_must_be_one_for_the_policy(tmp_path: Path, parameters: str, body: str) -> None:
    text = FLAG.format(parameters, body) + "\ntrain()\n"
    assert made(tmp_path, {"main.py": text})["net.py"] == {"float32"}


def test_a_model_of_an_import_may_end_in_several_ways(tmp_path: Path) -> None:
    net = """
import os
from tensorflow import keras

half = "mixed_float16"
last = keras.layers.Dense(4, dtype=half) if os.environ.get("DENSE") else keras.layers.Activation("tanh", dtype=half)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(4), last])
"""
    main = "from net import model\nimport half\n\nhalf.half()\n"
    write(tmp_path, {"half.py": HALF, "net.py": net, "main.py": main})
    found = [(world, model) for world in found_in(tmp_path).worlds for model in world.models]
    assert {tensor.dtype for world, model in found for tensor in outputs_of(world, model)} == {"float16"}
