"""Loops, names and options, as the generation of Keras that runs them has them."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from mplint.analysis import Report, analyze
from mplint.findings import Applicability
from mplint.fixer import fix
from mplint.project.modules import Project
from mplint.settings import Settings

HEAD = """\
import tensorflow as tf
from tensorflow import keras

keras.mixed_precision.set_global_policy("mixed_float16")
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1, dtype="float32")])
optimizer = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.SGD(0.1))
variables = model.trainable_variables


def step(x, y):
    with tf.GradientTape() as tape:
        scaled = optimizer.{scale}(tf.reduce_mean(model(x)))
    grads = tape.gradient(scaled, variables)
"""
MODULE = """\
from tensorflow import keras
{}
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1, dtype="float32")])
"""


def rewritten(folder: Path, text: str, keras: Literal["2", "3"], *, unsafe: bool = False) -> str:
    path = folder / "train.py"
    path.write_text(text)
    settings = Settings(root=folder, keras=keras)
    return fix(Project(folder, [path]), [path], settings, unsafe=unsafe).files.get(path, text)


def report(folder: Path, text: str, keras: Literal["2", "3"]) -> Report:
    path = folder / "train.py"
    path.write_text(text)
    return analyze(Project(folder, [path]), [path], Settings(root=folder, keras=keras))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "    unscaled = optimizer.get_unscaled_gradients(grads)\n"
            "    optimizer.apply_gradients(zip(unscaled, variables))\n",
            "    optimizer.apply_gradients(zip(grads, variables))\n",
        ),
        (
            "    grads = optimizer.get_unscaled_gradients(grads)\n"
            "    grads = [tf.clip_by_norm(g, 2.0) for g in grads]\n"
            "    optimizer.apply_gradients(zip(grads, variables))\n",
            "    grads = [tf.clip_by_norm(g, 2.0 * optimizer.scale_loss(1.0)) for g in grads]\n"
            "    optimizer.apply_gradients(zip(grads, variables))\n",
        ),
        (
            "    if isinstance(optimizer, keras.mixed_precision.LossScaleOptimizer):\n"
            "        grads = optimizer.get_unscaled_gradients(grads)\n"
            "    optimizer.apply_gradients(list(zip(grads, variables)))\n",
            "    optimizer.apply_gradients(list(zip(grads, variables)))\n",
        ),
        (
            "    grads = optimizer.get_unscaled_gradients(\n        tape.gradient(scaled, variables)\n    )\n"
            "    optimizer.apply_gradients(zip(grads, variables))\n",
            "    grads = tape.gradient(scaled, variables)\n    optimizer.apply_gradients(zip(grads, variables))\n",
        ),
    ],
)
def test_left_to_keras_3(before: str, after: str, tmp_path: Path) -> None:
    head = HEAD.format(scale="get_scaled_loss")
    end = "\n\nstep(tf.ones((2, 8)), tf.ones((2, 1)))\n"
    assert rewritten(tmp_path, head + before + end, "3") == HEAD.format(scale="scale_loss") + after + end


@pytest.mark.parametrize(
    "behind",
    [
        "    print(tf.linalg.global_norm(grads))\n    optimizer.apply_gradients(zip(grads, variables))\n",
        "    grads, norm = tf.clip_by_global_norm(grads, 1.0)\n    tf.print(norm)\n"
        "    optimizer.apply_gradients(zip(grads, variables))\n",
        "    return grads\n",
    ],
)
def test_only_shown_where_gradients_go_elsewhere(behind: str, tmp_path: Path) -> None:
    text = HEAD.format(scale="scale_loss") + "    grads = optimizer.get_unscaled_gradients(grads)\n" + behind
    found = report(tmp_path, f"{text}\n\nstep(tf.ones((2, 8)), tf.ones((2, 1)))\n", "3").findings
    (finding,) = (finding for finding in found if finding.code == "MP302")
    assert finding.fix is not None
    assert finding.fix.applicability is Applicability.DISPLAY


def test_a_comment_stays(tmp_path: Path) -> None:
    text = HEAD.format(scale="scale_loss") + (
        "    grads = optimizer.get_unscaled_gradients(grads)  # back to their size\n"
        "    optimizer.apply_gradients(zip(grads, variables))\n\n\nstep(tf.ones((2, 8)), tf.ones((2, 1)))\n"
    )
    assert rewritten(tmp_path, text, "3") == text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "from tensorflow.keras.mixed_precision import experimental\nexperimental.set_policy('mixed_bfloat16')",
            "from tensorflow.keras import mixed_precision\nmixed_precision.set_global_policy('mixed_bfloat16')",
        ),
        (
            "import tensorflow.keras.mixed_precision.experimental as mp\nmp.set_policy('mixed_bfloat16')",
            "import tensorflow.keras.mixed_precision as mp\nmp.set_global_policy('mixed_bfloat16')",
        ),
        (  # another thing has the name
            "from tensorflow.keras.mixed_precision.experimental import set_policy\n"
            "def run(set_policy=set_policy):\n    set_policy('mixed_bfloat16')\nrun()",
            "from tensorflow.keras.mixed_precision import set_global_policy as set_policy\n"
            "def run(set_policy=set_policy):\n    set_policy('mixed_bfloat16')\nrun()",
        ),
        (
            "from tensorflow.keras.mixed_precision.experimental import set_policy as use\nuse('mixed_bfloat16')",
            "from tensorflow.keras.mixed_precision import set_global_policy as use\nuse('mixed_bfloat16')",
        ),
    ],
)
@pytest.mark.parametrize("keras", ["2", "3"])
def test_names_of_today(before: str, after: str, keras: Literal["2", "3"], tmp_path: Path) -> None:
    assert rewritten(tmp_path, MODULE.format(before), keras) == MODULE.format(after)


def test_a_name_that_another_file_takes_is_kept(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("from train import set_policy\nset_policy('mixed_bfloat16')\n")
    path = tmp_path / "train.py"
    path.write_text(MODULE.format("from tensorflow.keras.mixed_precision.experimental import set_policy"))
    project = Project(tmp_path, [path, tmp_path / "other.py"])
    text = fix(project, [path], Settings(root=tmp_path, keras="2"), unsafe=False).files[path]
    assert "import set_global_policy as set_policy\n" in text


SCALED = """\
import tensorflow as tf
from tensorflow import keras
inner = keras.optimizers.SGD(0.1)
optimizer = keras.mixed_precision.LossScaleOptimizer({})
"""


@pytest.mark.parametrize(
    ("keras", "before", "after"),
    [
        ("2", "inner, loss_scale=512", "inner, dynamic=False, initial_scale=512"),
        ("2", "optimizer=inner, loss_scale='dynamic'", "inner_optimizer=inner"),
        (
            "2",
            "inner, tf.mixed_precision.experimental.FixedLossScale(64)",
            "inner, dynamic=False, initial_scale=64",
        ),
        (
            "2",
            "inner, loss_scale=tf.train.experimental.DynamicLossScale(1024, increment_period=10)",
            "inner, initial_scale=1024, dynamic_growth_steps=10",
        ),
        ("3", "inner, loss_scale=512", "inner, loss_scale=512"),  # it has no fixed scale
        ("3", "inner, dynamic=True", "inner"),
        ("3", "inner, dynamic=False, initial_scale=512", "inner, dynamic=False, initial_scale=512"),
        ("3", "inner, 1024", "inner, 1024"),
        ("2", "inner, True", "inner, True"),
    ],
)
def test_scales(keras: Literal["2", "3"], before: str, after: str, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(SCALED.format(before))
    settings = Settings(root=tmp_path, keras=keras, select=("MP3",))
    outcome = fix(Project(tmp_path, [path]), [path], settings, unsafe=False)
    assert outcome.files.get(path, path.read_text()) == SCALED.format(after)


OPTIONS = """\
import os

import tensorflow as tf
from tensorflow import keras

{}
print(keras.__version__)
"""
_SET = "tf.config.optimizer.set_experimental_options"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"{_SET}({{'remapping': True, 'auto_mixed_precision': True}})", f"{_SET}({{'remapping': True}})"),
        (
            f"options = {{}}\noptions['auto_mixed_precision'] = True\n{_SET}(options)",
            f"options = {{}}\n{_SET}(options)",
        ),
        (
            "if keras:\n    os.environ['TF_ENABLE_AUTO_MIXED_PRECISION_GRAPH_REWRITE'] = '1'",
            "if keras:\n    pass",
        ),
    ],
)
def test_options_gone(before: str, after: str, tmp_path: Path) -> None:
    assert rewritten(tmp_path, OPTIONS.format(before), "2", unsafe=True) == OPTIONS.format(after)
