"""How loss scaling is written into training loops."""

from __future__ import annotations

from difflib import unified_diff
from pathlib import Path

import pytest

from mplint.fixer import fix
from mplint.project.modules import Project
from mplint.settings import Settings

HEAD = """\
import tensorflow as tf
from tensorflow import keras

keras.mixed_precision.set_global_policy("mixed_float16")
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16), keras.layers.Dense(4, dtype="float32")])
weights = model.trainable_variables
x = tf.ones((4, 8))
"""
SCALING = "optimizer = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.SGD(0.1))\n"
PLAIN = "optimizer = keras.optimizers.SGD(0.1)\n"
APPLY = "optimizer.apply_gradients(zip(gradients, weights))\n"


def rewritten(folder: Path, generation: str, *, unsafe: bool = False, **texts: str) -> dict[str, str]:
    paths = {folder / f"{name}.py": text for name, text in texts.items()}
    for path, text in paths.items():
        path.write_text(text)
    settings = Settings(root=folder, keras="2" if generation == "2" else "3")
    found = fix(Project(folder, list(paths)), list(paths), settings, unsafe=unsafe).files
    return {path.stem: found.get(path, text) for path, text in paths.items()}


def changes(before: str, after: str) -> list[str]:
    """The lines that go and come, in order."""
    lines = unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return [line for line in lines if line[:2] not in ("@@", "--", "++")]


def change(folder: Path, generation: str, text: str) -> list[str]:
    return changes(text, rewritten(folder, generation, train=text)["train"])


@pytest.mark.parametrize(
    ("loop", "written"),
    [
        (  # the comment stays with its statement, and what is done to the loss afterwards is scaled, too
            "with tf.GradientTape() as tape:\n"
            "  loss = tf.reduce_mean(model(x))  # mean\n"
            "  loss *= 0.5\n"
            "  print(loss)\n"
            "gradients = tape.gradient(loss, weights)  # all\n",
            [
                "+  scaled_loss = optimizer.scale_loss(loss)",
                "-gradients = tape.gradient(loss, weights)  # all",
                "+gradients = tape.gradient(scaled_loss, weights)  # all",
            ],
        ),
        (  # bound in a block inside the block
            "with tf.GradientTape() as tape:\n"
            "    if weights:\n"
            "        loss = tf.reduce_mean(model(x))\n"
            "    else:\n"
            "        loss = tf.reduce_sum(model(x))\n"
            "gradients = tape.gradient(target=loss, sources=weights)\n",
            [
                "-gradients = tape.gradient(target=loss, sources=weights)",
                "+    scaled_loss = optimizer.scale_loss(loss)",
                "+gradients = tape.gradient(target=scaled_loss, sources=weights)",
            ],
        ),
        (  # an expression inside the block
            "with tf.GradientTape() as tape:\n    gradients = tape.gradient(tf.reduce_mean(model(x)), weights)\n",
            [
                "-    gradients = tape.gradient(tf.reduce_mean(model(x)), weights)",
                "+    gradients = tape.gradient(optimizer.scale_loss(tf.reduce_mean(model(x))), weights)",
            ],
        ),
        (  # the name is taken
            "scaled_loss = 0\n"
            "with tf.GradientTape() as tape:\n"
            "    loss = tf.reduce_mean(model(x))\n"
            "gradients = tape.gradient(loss, weights)\n",
            [
                "-gradients = tape.gradient(loss, weights)",
                "+    scaled_loss_2 = optimizer.scale_loss(loss)",
                "+gradients = tape.gradient(scaled_loss_2, weights)",
            ],
        ),
        (  # scaled, but the gradient is taken of the other one
            "with tf.GradientTape() as tape:\n"
            "    loss = tf.reduce_mean(model(x))\n"
            "    target = optimizer.scale_loss(loss)\n"
            "gradients = tape.gradient(loss, weights)\n",
            ["-gradients = tape.gradient(loss, weights)", "+gradients = tape.gradient(target, weights)"],
        ),
        (  # scaled before a term was added
            "with tf.GradientTape() as tape:\n"
            "    loss = tf.reduce_mean(model(x))\n"
            "    target = optimizer.scale_loss(loss)\n"
            "    loss += tf.nn.l2_loss(weights[0])\n"
            "gradients = tape.gradient(loss, weights)\n",
            [
                "-gradients = tape.gradient(loss, weights)",
                "+    scaled_loss = optimizer.scale_loss(loss)",
                "+gradients = tape.gradient(scaled_loss, weights)",
            ],
        ),
        (  # what gradients are clipped to is scaled as they are
            "with tf.GradientTape() as tape:\n"
            "    loss = tf.reduce_mean(model(x))\n"
            "gradients = tape.gradient(loss, weights)\n"
            "gradients = [tf.clip_by_norm(gradient, 2.0) for gradient in gradients]\n",
            [
                "-gradients = tape.gradient(loss, weights)",
                "-gradients = [tf.clip_by_norm(gradient, 2.0) for gradient in gradients]",
                "+    scaled_loss = optimizer.scale_loss(loss)",
                "+gradients = tape.gradient(scaled_loss, weights)",
                "+gradients = [tf.clip_by_norm(gradient, optimizer.scale_loss(2.0)) for gradient in gradients]",
            ],
        ),
        (  # and their norm is told as it is
            "with tf.GradientTape() as tape:\n"
            "    loss = tf.reduce_mean(model(x))\n"
            "gradients = tape.gradient(loss, weights)\n"
            "print(loss)\n"
            "gradients, norm = tf.clip_by_global_norm(gradients, clip_norm=2.0)  # rarely\n"
            "print(norm)\n",
            [
                "-gradients = tape.gradient(loss, weights)",
                "+    scaled_loss = optimizer.scale_loss(loss)",
                "+gradients = tape.gradient(scaled_loss, weights)",
                "-gradients, norm = tf.clip_by_global_norm(gradients, clip_norm=2.0)  # rarely",
                "+gradients, norm = tf.clip_by_global_norm(gradients, clip_norm=optimizer.scale_loss(2.0))  # rarely",
                "+norm /= optimizer.scale_loss(1.0)",
            ],
        ),
    ],
)
def test_keras_3_scales_inside_the_tape(loop: str, written: list[str], tmp_path: Path) -> None:
    assert change(tmp_path, "3", HEAD + SCALING + loop + APPLY) == written


@pytest.mark.parametrize(
    ("loop", "written"),
    [
        (  # two names
            "with tf.GradientTape() as tape:\n"
            "    loss = tf.reduce_mean(model(x))\n"
            "one, two = tape.gradient(loss, [weights[0], weights[1]])\n"
            "optimizer.apply_gradients([(one, weights[0]), (two, weights[1])])\n",
            [
                "-one, two = tape.gradient(loss, [weights[0], weights[1]])",
                "+    scaled_loss = optimizer.get_scaled_loss(loss)",
                "+one, two = optimizer.get_unscaled_gradients(tape.gradient(scaled_loss, [weights[0], weights[1]]))",
            ],
        ),
        (  # lists in a list are no list of gradients
            "with tf.GradientTape() as tape:\n"
            "    loss = tf.reduce_mean(model(x))\n"
            "first, second = tape.gradient(loss, [model.trainable_variables, model.trainable_weights])\n"
            "optimizer.apply_gradients(zip(first, weights))\n",
            [],
        ),
    ],
)
def test_keras_2_also_unscales(loop: str, written: list[str], tmp_path: Path) -> None:
    assert change(tmp_path, "2", HEAD + SCALING + loop) == written


STEP = """\
class Net(keras.Model):
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compiled_loss(y, self(x, training=True))
{then}        return {{"loss": loss}}


inputs = keras.Input((8,))
net = Net(inputs, keras.layers.Dense(1, dtype="float32")(keras.layers.Dense(16)(inputs)))
net.compile("sgd", "mse")
"""
MINIMIZED = "+        self.optimizer.minimize(loss, self.trainable_variables, tape=tape)"
GUARD = "+        if isinstance(self.optimizer, keras.mixed_precision.LossScaleOptimizer):"


@pytest.mark.parametrize(
    ("then", "written"),
    [
        (
            "        grads = tape.gradient(loss, self.trainable_variables)\n"
            "        # update\n"
            "        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))  # here\n",
            [
                "-        grads = tape.gradient(loss, self.trainable_variables)",
                "-        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))  # here",
                f"{MINIMIZED}  # here",
            ],
        ),
        (
            "        grads = tape.gradient(loss, self.trainable_variables)\n"
            "        grads = [2 * grad for grad in grads]\n"
            "        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))\n",
            [
                "-        grads = tape.gradient(loss, self.trainable_variables)",
                f"{GUARD[0]}    {GUARD[1:]}",
                "+                scaled_loss = self.optimizer.get_scaled_loss(loss)",
                "+            else:",
                "+                scaled_loss = loss",
                "+        grads = tape.gradient(scaled_loss, self.trainable_variables)",
                GUARD,
                "+            grads = self.optimizer.get_unscaled_gradients(grads)",
            ],
        ),
    ],
)
def test_keras_2_asks_what_compile_has_made(then: str, written: list[str], tmp_path: Path) -> None:
    assert change(tmp_path, "2", HEAD + STEP.format(then=then)) == written


@pytest.mark.parametrize(
    ("imported", "optimizer", "written"),
    [
        ("from keras import optimizers", "optimizers.SGD(0.1)", "optimizers.LossScaleOptimizer(optimizers.SGD(0.1))"),
        (
            "from keras.optimizers import SGD\nfrom keras.optimizers import LossScaleOptimizer as Scaling",
            "SGD(0.1)",
            "Scaling(SGD(0.1))",
        ),
        ("from keras.mixed_precision import LossScaleOptimizer", "keras.optimizers.SGD(0.1)",
         "LossScaleOptimizer(keras.optimizers.SGD(0.1))"),
        ("", "keras.optimizers.get('sgd')", "keras.optimizers.LossScaleOptimizer(keras.optimizers.get('sgd'))"),
    ],
)  # fmt: skip
def test_wrapped_in_the_file_s_own_spelling(imported: str, optimizer: str, written: str, tmp_path: Path) -> None:
    head = HEAD.replace("from tensorflow import keras", f"import keras\n{imported}")
    loop = (
        "with tf.GradientTape() as tape:\n"
        "    loss = tf.reduce_mean(model(x))\n"
        "gradients = tape.gradient(optimizer.scale_loss(loss), weights)\n"
    ).replace("gradients =", "    gradients =")
    after = rewritten(tmp_path, "3", train=f"{head}optimizer = {optimizer}\n{loop}{APPLY}")["train"]
    assert f"optimizer = {written}\n" in after


@pytest.mark.parametrize("generation", ["2", "3"])
def test_an_import_is_added(generation: str, tmp_path: Path) -> None:
    head = HEAD.replace("from tensorflow import keras", "from tensorflow.keras.optimizers import SGD\nimport keras")
    loop = "with tf.GradientTape() as tape:\n    loss = tf.reduce_mean(model(x))\n"
    text = f"{head}optimizer = SGD(0.1)\n{loop}gradients = tape.gradient(loss, weights)\n{APPLY}"
    after = rewritten(tmp_path, generation, train=text)["train"]
    compile(after, "train.py", "exec")
    assert "LossScaleOptimizer(SGD(0.1))" in after


def test_nothing_is_written_where_the_optimizer_is_given_what_nobody_saw(tmp_path: Path) -> None:
    loop = (
        "import elsewhere\n"
        "with tf.GradientTape() as tape:\n"
        "    loss = tf.reduce_mean(model(x))\n"
        "gradients = tape.gradient(loss, weights)\n"
    )
    more = "optimizer.apply_gradients(zip(elsewhere.gradients(model), weights))\n"
    assert change(tmp_path, "3", HEAD + PLAIN + loop + APPLY + more) == []


def test_nothing_is_written_where_another_optimizer_has_the_name(tmp_path: Path) -> None:
    loop = (
        "others = {'a': keras.mixed_precision.LossScaleOptimizer(keras.optimizers.Adam())}\n"
        "with tf.GradientTape() as tape:\n"
        "    loss = tf.reduce_mean(model(x))\n"
        "optimizer = others['a']\n"
        "gradients = tape.gradient(loss, weights)\n"
    )
    assert change(tmp_path, "3", HEAD + SCALING + loop + APPLY) == []


HELPER = """\
def grad(net, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(net(y))
    return tape.gradient(loss, net.trainable_variables)


def main():
    optimizer = keras.optimizers.SGD(0.1)
    for _ in range(2):
        gradients = grad(model, x)
        {apply}
    {more}


main()
"""


@pytest.mark.parametrize(
    ("more", "written"),
    [("print('done')", True), ("print(grad)", False), ("grad(*[model, x])", False)],
)
def test_a_function_is_given_the_optimizer_where_all_its_calls_are_known(
    more: str, written: bool, tmp_path: Path
) -> None:
    text = HEAD + HELPER.format(apply=APPLY.strip().replace("weights", "model.trainable_variables"), more=more)
    after = rewritten(tmp_path, "3", unsafe=True, train=text)["train"]
    assert ("def grad(net, y, optimizer):" in after and "grad(model, x, optimizer)" in after) == written
    assert (after != text) == written


@pytest.mark.parametrize(
    ("more", "safe"),
    [
        ("model.save('model.keras')\n", True),
        ("model.compile(optimizer, 'mse')\nmodel.save('model.keras')\n", False),
        ("model.compile(optimizer, 'mse')\nmodel.fit(x, x)\n", True),
        ("tf.train.Checkpoint(optimizer=optimizer).restore('here')\n", False),
        ("print(optimizer.beta_1)\n", False),
    ],
)
def test_safe_where_the_state_of_the_optimizer_is_nobody_s(more: str, safe: bool, tmp_path: Path) -> None:
    loop = (
        "with tf.GradientTape() as tape:\n"
        "    loss = tf.reduce_mean(model(x))\n"
        "gradients = tape.gradient(loss, weights)\n"
    )
    text = HEAD + PLAIN + loop + APPLY + more
    assert (change(tmp_path, "3", text) != []) == safe
    assert rewritten(tmp_path, "3", unsafe=True, train=text)["train"] != text


@pytest.mark.parametrize(("more", "written"), [("", True), ("print(gradients_of(x))\n", False)])
def test_only_shown_where_a_gradient_is_also_looked_at(more: str, written: bool, tmp_path: Path) -> None:
    loop = (
        "def gradients_of(y):\n"
        "    with tf.GradientTape() as tape:\n"
        "        loss = tf.reduce_mean(model(y))\n"
        "    return tape.gradient(loss, weights)\n"
        "for _ in range(2):\n"
        "    gradients = gradients_of(x)\n"
        f"    {APPLY}"
    )
    assert (change(tmp_path, "3", HEAD + SCALING + loop + more) != []) == written
