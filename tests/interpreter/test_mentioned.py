"""A function that a script hands on, and the policy that holds where the script speaks of it last."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interpreter.programs import found_in
from tests.project.trees import write

NET = """from tensorflow import keras
from somewhere import run, jobs

def half():
    keras.mixed_precision.set_global_policy('mixed_float16')

def net(units=2):
    row = keras.Input((4,))
    return keras.Model(row, keras.layers.Dense(units)(row))

"""


def policies(root: Path, text: str, **files: str) -> set[str | None]:
    """The policies under which the script that ends in `text` makes its model."""
    write(root, {"main.py": NET + text, **{f"{name}.py": text for name, text in files.items()}})
    return {model.policy.name for world in found_in(root).worlds for model in world.models}


@pytest.mark.parametrize(
    "text",
    [
        "half()\nrun(net)\n",
        "if True:\n    half()\n    run(net)\n",
        "task = [net]\nhalf()\nrun(task)\n",
        "jobs.add(net)\nhalf()\njobs.run()\n",
        "def later():\n    return [net]\n\nhalf()\nrun(later)\n",
        "half()\nrun('main.net')\n",
        "half()\nrun(globals()['n' + 'et'])\n",
        "@jobs.add\ndef job():\n    return net()\n\nhalf()\n",
        "half()\n\ndef other():\n    return net()\n",
        "if run:\n    half()\nrun(net)\n",
    ],
)
def test_what_is_spoken_of_behind_the_policy_has_it(tmp_path: Path, text: str) -> None:
    assert "mixed_float16" in policies(tmp_path, text)


@pytest.mark.parametrize(
    "text",
    [
        "run(net)\nhalf()\n",
        "half\nrun(net)\n\ndef other():\n    half()\n\nother()\n",
        "x = run(net)\nprint(x)\nhalf()\n",
        "half()\n",
    ],
)
def test_what_is_spoken_of_before_the_policy_has_none(tmp_path: Path, text: str) -> None:
    assert policies(tmp_path, text) <= {"float32"}


def test_what_others_import_has_the_policy_at_the_end(tmp_path: Path) -> None:
    assert policies(tmp_path, "run(net)\nhalf()\n", other="import main\n") == {"mixed_float16"}
