"""The ways to get a training loop wrong that were measured, one program each, for two optimizers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Failure = Literal["raises", "stalls", "diverges", "reports", "slows"]
"""What shows: an exception; weights that hardly move; weights that move far off or are nan; a loss that is reported
many times too large; less accuracy than in float32, while the optimizer hides the fault."""
OPTIMIZERS: Final = {"SGD": "0.1", "Adam": "0.01"}
_HEAD: Final = """\
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.mixed_precision.set_global_policy("mixed_float16")

random = np.random.RandomState(4)
centres = random.normal(size=(6, 16)) * 1.2
y = random.randint(0, 6, size=512)
x = (centres[y] + random.normal(size=(512, 16))).astype("float32")


def build():
    inputs = keras.Input((16,))
    h = keras.layers.Dense(32, activation="relu")(inputs)
    return keras.Model(inputs, keras.layers.Dense(6, dtype="float32")(h))


model = build()
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
"""
_TAIL: Final = """\


start = [each.numpy() for each in model.trainable_variables]
history = []
for _ in range(40):
    history.append(float(train_step(x, y)))
score = float(np.mean(np.argmax(model.predict(x, verbose=0), axis=1) == y))
"""
_LSO: Final = {"2": "keras.mixed_precision.LossScaleOptimizer", "3": "keras.optimizers.LossScaleOptimizer"}


@dataclass(frozen=True)
class Variant:
    """A program with one fault, `code`; `shows` says what comes of it with each optimizer (None: nothing).

    A loss that is too small for float16 is so for Adam in float32, too: there only SGD shows what is lost.
    """

    name: str
    generation: str
    code: str
    shows: dict[str, Failure | None]
    optimizer: str
    """How the optimizer is made: `{inner}` stands for the plain one, `{lso}` for the class that wraps it."""
    in_tape: tuple[str, ...]
    behind: tuple[str, ...]
    gives: str = "loss"

    def source(self, kind: str) -> str:
        """The program for one kind of optimizer."""
        rate = "1e6" if self.shows is _ONLY_SGD else OPTIMIZERS[kind]
        made = self.optimizer.format(inner=f"keras.optimizers.{kind}({rate})", lso=_LSO[self.generation])
        return _program(made, self.in_tape, self.behind, self.gives)


def right(generation: str, kind: str) -> str:
    """The loop without a fault."""
    made = f"{_LSO[generation]}(keras.optimizers.{kind}({OPTIMIZERS[kind]}))"
    return _program(made, *_RIGHT[generation], "loss")


def _program(made: str, in_tape: tuple[str, ...], behind: tuple[str, ...], gives: str) -> str:
    lines = [f"optimizer = {made}", "", "", "def train_step(x, y):", "    with tf.GradientTape() as tape:"]
    lines += ["        loss = loss_fn(y, model(x, training=True))", *(f"        {line}" for line in in_tape)]
    lines += [*(f"    {line}" for line in behind), f"    return {gives}", ""]
    return _HEAD + "\n".join(lines) + _TAIL


_VARIABLES: Final = "model.trainable_variables"
_APPLY: Final = f"optimizer.apply_gradients(zip(gradients, {_VARIABLES}))"
_SCALED: Final = {"2": "scaled = optimizer.get_scaled_loss(loss)", "3": "scaled = optimizer.scale_loss(loss)"}
_GRADIENTS: Final = f"gradients = tape.gradient(scaled, {_VARIABLES})"
_OF_LOSS: Final = f"gradients = tape.gradient(loss, {_VARIABLES})"
_UNSCALED: Final = "gradients = optimizer.get_unscaled_gradients(gradients)"
_CLIP: Final = "gradients, norm = tf.clip_by_global_norm(gradients, 1.0)"
_RIGHT: Final = {
    "2": ((_SCALED["2"],), (_GRADIENTS, _UNSCALED, _APPLY)),
    "3": ((_SCALED["3"],), (_GRADIENTS, _APPLY)),
}
_STALLS: Final[dict[str, Failure | None]] = {"SGD": "stalls", "Adam": "slows"}
_RAISES: Final[dict[str, Failure | None]] = {"SGD": "raises", "Adam": "raises"}
_REPORTS: Final[dict[str, Failure | None]] = {"SGD": "reports", "Adam": "reports"}
_ONLY_SGD: Final[dict[str, Failure | None]] = {"SGD": "slows"}

VARIANTS: Final = (
    Variant("plain optimizer", "3", "MP201", _ONLY_SGD, "{inner}", ("loss = loss * 1e-7",), (_OF_LOSS, _APPLY)),
    Variant("loss not scaled", "3", "MP202", _STALLS, "{lso}({inner})", (), (_OF_LOSS, _APPLY)),
    Variant(
        "clipped while scaled", "3", "MP204", _STALLS, "{lso}({inner})", (_SCALED["3"],), (_GRADIENTS, _CLIP, _APPLY)
    ),
    Variant(
        "divided by hand, too",
        "3",
        "MP205",
        _STALLS,
        "{lso}({inner})",
        (_SCALED["3"],),
        (_GRADIENTS, "gradients = [each / optimizer.scale_loss(1.0) for each in gradients]", _APPLY),
    ),
    Variant(
        "scaled loss reported",
        "3",
        "MP206",
        _REPORTS,
        "{lso}({inner})",
        (_SCALED["3"],),
        (_GRADIENTS, _APPLY),
        "scaled",
    ),
    Variant("wrapped twice", "3", "MP207", _STALLS, "{lso}({lso}({inner}))", (_SCALED["3"],), (_GRADIENTS, _APPLY)),
    Variant("scaled outside", "3", "MP211", _RAISES, "{lso}({inner})", (), (_SCALED["3"], _GRADIENTS, _APPLY)),
    Variant(
        "scaled twice",
        "3",
        "MP213",
        {"SGD": "diverges", "Adam": None},
        "{lso}({inner})",
        (_SCALED["3"], "scaled = optimizer.scale_loss(scaled)"),
        (_GRADIENTS, _APPLY),
    ),
    Variant(
        "calls of Keras 2", "3", "MP302", _RAISES, "{lso}({inner})", (_SCALED["2"],), (_GRADIENTS, _UNSCALED, _APPLY)
    ),
    Variant(
        "minimize", "3", "MP302", _RAISES, "{lso}({inner})", (), (f"optimizer.minimize(loss, {_VARIABLES}, tape=tape)",)
    ),
    Variant("plain optimizer", "2", "MP201", _ONLY_SGD, "{inner}", ("loss = loss * 1e-7",), (_OF_LOSS, _APPLY)),
    Variant("loss not scaled", "2", "MP202", _ONLY_SGD, "{lso}({inner})", ("loss = loss * 1e-7",), (_OF_LOSS, _APPLY)),
    Variant(
        "not unscaled",
        "2",
        "MP203",
        {"SGD": "diverges", "Adam": None},
        "{lso}({inner})",
        (_SCALED["2"],),
        (_GRADIENTS, _APPLY),
    ),
    Variant(
        "clipped while scaled",
        "2",
        "MP204",
        _STALLS,
        "{lso}({inner})",
        (_SCALED["2"],),
        (_GRADIENTS, _CLIP, _UNSCALED, _APPLY),
    ),
    Variant("unscaled, not scaled", "2", "MP205", _STALLS, "{lso}({inner})", (), (_OF_LOSS, _UNSCALED, _APPLY)),
    Variant(
        "unscaled twice",
        "2",
        "MP205",
        _STALLS,
        "{lso}({inner})",
        (_SCALED["2"],),
        (_GRADIENTS, _UNSCALED, _UNSCALED, _APPLY),
    ),
    Variant(
        "scaled loss reported",
        "2",
        "MP206",
        _REPORTS,
        "{lso}({inner})",
        (_SCALED["2"],),
        (_GRADIENTS, _UNSCALED, _APPLY),
        "scaled",
    ),
    Variant(
        "wrapped twice",
        "2",
        "MP207",
        _RAISES,
        "{lso}({lso}({inner}))",
        (_SCALED["2"],),
        (_GRADIENTS, _UNSCALED, _APPLY),
    ),
    Variant(
        "scaled outside", "2", "MP211", _RAISES, "{lso}({inner})", (), (_SCALED["2"], _GRADIENTS, _UNSCALED, _APPLY)
    ),
    Variant(
        "scaled, then minimize",
        "2",
        "MP213",
        {"SGD": "diverges", "Adam": None},
        "{lso}({inner})",
        (_SCALED["2"],),
        (f"optimizer.minimize(scaled, {_VARIABLES}, tape=tape)",),
    ),
    Variant("calls of Keras 3", "2", "MP303", _RAISES, "{lso}({inner})", (_SCALED["3"],), (_GRADIENTS, _APPLY)),
)
