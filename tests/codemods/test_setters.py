"""Where the setter of a policy may go, and where its name may change."""

from __future__ import annotations

from pathlib import Path

import pytest

from mplint.fixer import fix
from mplint.project.modules import Project
from mplint.settings import Settings

HEAD = """\
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

"""
EARLY = """\
inputs = keras.Input((4,))
{here}x = layers.Dense(4)(inputs)
{there}outputs = layers.Dense(3, dtype="float32")(x)
model = keras.Model(inputs, outputs)
"""
SETTER = "keras.mixed_precision.set_global_policy('mixed_float16')\n"


def rewritten(folder: Path, text: str) -> str:
    path = folder / "train.py"
    path.write_text(text)
    settings = Settings(root=folder, keras="3")
    return fix(Project(folder, [path]), [path], settings, unsafe=True).files.get(path, text)


@pytest.mark.parametrize(
    ("setter", "around", "left"),
    [
        (SETTER, "{}", ""),
        (f"# faster\n# by far\n{SETTER}", "{}", ""),
        (f"if keras:\n    {SETTER}", "{}", ""),
        (SETTER, "\n{}\n", "\n"),
        (SETTER, "print(x)\n{}\n", "print(x)\n\n"),
    ],
)
def test_moved_in_front_of_the_layers(setter: str, around: str, left: str, tmp_path: Path) -> None:
    before = HEAD + EARLY.format(here="", there=around.format(setter))
    assert rewritten(tmp_path, before) == HEAD + EARLY.format(here=setter, there=left)


@pytest.mark.parametrize(
    "binding", ["name = 'mixed_float16'", "if (name := 'mixed_float16'):\n    pass", "from names import name"]
)
def test_not_moved_in_front_of_what_it_reads(binding: str, tmp_path: Path) -> None:
    (tmp_path / "names.py").write_text("name = 'mixed_float16'\n")
    text = HEAD + EARLY.format(here="", there=f"{binding}\nkeras.mixed_precision.set_global_policy(name)\n")
    assert rewritten(tmp_path, text) == text


HALF = """\
{}
inputs = keras.Input((4,))
x = layers.Dense(3, dtype={})(inputs)
model = keras.Model(inputs, layers.Dense(3, dtype="float32")(x))
"""


@pytest.mark.parametrize(
    ("bound", "dtype", "now", "then"),
    [
        ("DTYPE = 'float16'", "DTYPE", "DTYPE = 'mixed_float16'", "DTYPE"),
        ("half = tf.float16", "half", "half = tf.float16", '"mixed_float16"'),
    ],
)
def test_another_name(bound: str, dtype: str, now: str, then: str, tmp_path: Path) -> None:
    assert rewritten(tmp_path, HEAD + HALF.format(bound, dtype)) == HEAD + HALF.format(now, then)


@pytest.mark.parametrize(
    ("bound", "dtype"),
    [
        ("DTYPE = 'float16'\nsamples = tf.zeros((2, 4), DTYPE)", "DTYPE"),
        ("class Config:\n    half = tf.float16\n", "Config.half"),
    ],
)
def test_a_name_that_others_may_read_stays(bound: str, dtype: str, tmp_path: Path) -> None:
    text = HEAD + HALF.format(bound, dtype)
    assert rewritten(tmp_path, text) == text


def test_an_import_of_several_names_stays(tmp_path: Path) -> None:
    before = """\
import tf_keras
from keras.mixed_precision import dtype_policy, set_global_policy

set_global_policy("mixed_float16")
print(dtype_policy())
model = tf_keras.Sequential([tf_keras.Input((4,)), tf_keras.layers.Dense(3)])
"""
    after = before.replace("\nset_global", "\ntf_keras.mixed_precision.set_global").replace(
        "Dense(3)", 'Dense(3, dtype="float32")'
    )
    assert rewritten(tmp_path, before) == after
