"""A loop that runs with Keras 3 must scale its loss as Keras 3 does.

What it does
------------
Reports what optimizers of Keras 2 had and those of Keras 3 have not: `get_scaled_loss`, `get_unscaled_gradients`,
`minimize`, the attributes `loss_scale` and `dynamic`, `LossScaleOptimizer(optimizer, dynamic=…)`, and the optimizers
in `keras.optimizers.legacy`. The object must be known to be an optimizer of Keras: a class of the program's own that
has such methods is not reported, nor is code behind `hasattr(optimizer, "get_scaled_loss")` or a check of the
version.

And the name of a dtype, as in `print(x.dtype.name)`, by which the guide shows what a layer computes in: the dtype of a
symbolic tensor and of a layer's variable is a string in Keras 3, and has no name. That of TensorFlow's own tensors has.

Why it matters
--------------
The training loop in TensorFlow's guide is one of Keras 2. With TensorFlow 2.16 or later it raises
`AttributeError: 'LossScaleOptimizer' object has no attribute 'get_scaled_loss'` at the first step, and so does
`minimize`. In Keras 3 the optimizer itself divides the gradients by the scale when it applies them. A loop that only
leaves both calls out trains, measured, 2^-15 as fast as it should.

Example
-------
```python
import tensorflow as tf
from tensorflow import keras

keras.mixed_precision.set_global_policy("mixed_float16")
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(64), keras.layers.Dense(1, dtype="float32")])
optimizer = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.SGD(0.1))


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        scaled_loss = optimizer.get_scaled_loss(loss)
    gradients = tape.gradient(scaled_loss, model.trainable_variables)
    gradients = optimizer.get_unscaled_gradients(gradients)
    gradients, _ = tf.clip_by_global_norm(gradients, 5.0)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


train_step(tf.ones((4, 8)), tf.ones((4, 1)))
```

Fixed
-----
```python
import tensorflow as tf
from tensorflow import keras

keras.mixed_precision.set_global_policy("mixed_float16")
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(64), keras.layers.Dense(1, dtype="float32")])
optimizer = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.SGD(0.1))


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        scaled_loss = optimizer.scale_loss(loss)
    gradients = tape.gradient(scaled_loss, model.trainable_variables)
    gradients, _ = tf.clip_by_global_norm(gradients, 5.0 * optimizer.scale_loss(1.0))
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


train_step(tf.ones((4, 8)), tf.ones((4, 1)))
```

Good
----
```python
import tensorflow as tf
from tensorflow import keras

keras.mixed_precision.set_global_policy("mixed_float16")
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(64), keras.layers.Dense(1, dtype="float32")])
optimizer = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.SGD(0.1))
KERAS2 = hasattr(optimizer, "get_scaled_loss")


def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        scaled = optimizer.get_scaled_loss(loss) if KERAS2 else optimizer.scale_loss(loss)
    gradients = tape.gradient(scaled, model.trainable_variables)
    if KERAS2:
        gradients = optimizer.get_unscaled_gradients(gradients)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


train_step(tf.ones((4, 8)), tf.ones((4, 1)))
```

How the fix changes the program
-------------------------------
`get_scaled_loss` becomes `scale_loss`, where it stands. `get_unscaled_gradients` goes, and what comes behind it is
given the scaled gradients: `apply_gradients` divides by the scale. A threshold that they are clipped at is multiplied
by `optimizer.scale_loss(1.0)`, which is the scale, and 1 for an optimizer that does not scale. Where the gradients go
anywhere else (into a log, out of the function), the change is only shown. `minimize` becomes a tape with `scale_loss`
in it, `tape.gradient` and `apply_gradients`. `x.dtype.name` becomes `x.dtype`. The program raised before.

References
----------
- [keras issue 20894](https://github.com/keras-team/keras/issues/20894): the guide's loop with Keras 3
- [LossScaleOptimizer](https://keras.io/api/optimizers/loss_scale_optimizer/) of Keras 3
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import (
    AlwaysDynamic,
    Applicability,
    DTypeItself,
    Fault,
    LeftToKeras3,
    Minimized,
    NameOfOther,
    OptimizerUse,
    OtherGeneration,
    Rewrite,
    Rule,
    ScaledByKeras3,
    ScaleRead,
    Severity,
    WithoutDynamic,
    World,
)

_INSTEAD = {
    "get_scaled_loss": "`scale_loss` scales the loss",
    "get_unscaled_gradients": "`apply_gradients` divides by the scale",
    "minimize": "scale the loss, take the gradient and apply it",
    "compute_gradients": "take the gradient with a tape",
    "loss_scale": "`scale_loss(1.0)` gives the scale",
    "dynamic": "the scale always is",
}


class Keras2ApiInKeras3(Rule):
    """MP302."""

    code = "MP302"
    name = "keras2-api-in-keras3"
    severity = Severity.ERROR
    fixes = (Applicability.SAFE, Applicability.DISPLAY)

    def check(self, world: World) -> Iterator[Fault]:
        """Methods of optimizers, and optimizers, that Keras 3 has not."""
        used = world.once(OtherGeneration)
        for use in used.optimizer_uses("3"):
            if use.name == "loss_scale" and use.called:
                continue  # it was no method in Keras 2, either
            instead = _INSTEAD.get(use.name)
            says = f"an optimizer of Keras 3 has no `{use.name}`"
            yield Fault(
                use.at,
                Severity.ERROR,
                f"{says}: {instead}" if instead is not None else says,
                rewrite=_rewrite(world, use),
            )
        for told in used.dynamics():
            yield Fault(
                told.at,
                Severity.ERROR,
                "LossScaleOptimizer of Keras 3 takes no `dynamic`: its scale always is; an optimizer with "
                "`loss_scale_factor` has a fixed one",
                rewrite=WithoutDynamic(told.at, told.value),
            )
        for other in used.names("3"):
            yield Fault(
                other.at,
                Severity.ERROR,
                f"Keras 3 has no `{other.label}`",
                rewrite=NameOfOther(world, other.at, other.spelled, other.path),
            )
        for asked in used.attributes_of_text():
            yield Fault(
                asked.place,
                Severity.ERROR,
                f"a dtype of Keras 3 is a string, and has no `{asked.name}`",
                rewrite=DTypeItself(asked.place),
            )


def _rewrite(world: World, use: OptimizerUse) -> Rewrite | None:
    match use.name:
        case "get_scaled_loss":
            return ScaledByKeras3(use.at)
        case "get_unscaled_gradients":
            return LeftToKeras3(use.at)
        case "minimize":
            return Minimized(world, use.at)
        case "loss_scale":
            return ScaleRead(world, use.at)
        case "dynamic" if use.scales and not use.called:
            return AlwaysDynamic(use.at)
        case _:
            return None
