"""A program that runs with Keras 2 must not use what only Keras 3 has.

What it does
------------
Reports what of mixed precision only Keras 3 has, in a program for Keras 2: `optimizer.scale_loss`, `optimizer.apply`,
`keras.config.set_dtype_policy` and `keras.config.dtype_policy`, `keras.DTypePolicy`,
`keras.optimizers.LossScaleOptimizer`. Where the file itself says that it is for Keras 3 (it imports `keras.ops`), or
asks which it is, nothing is reported.

Why it matters
--------------
Measured with TensorFlow 2.15 and tf-keras 2.21: `AttributeError: module 'keras' has no attribute 'config'`, and
`'LossScaleOptimizer' object has no attribute 'scale_loss'` at the first step. The two generations also differ in who
divides by the scale: in Keras 3 `apply` does, in Keras 2 the loop has to, with `get_unscaled_gradients`. A loop in
which only the names were changed trains with gradients that are 32768 times too large.

Example
-------
```python
import tensorflow as tf
import tf_keras as keras

keras.config.set_dtype_policy("mixed_float16")
model = keras.Sequential([keras.layers.Dense(64, input_shape=(8,)), keras.layers.Dense(1, dtype="float32")])
optimizer = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.SGD(0.1))


def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        scaled_loss = optimizer.scale_loss(loss)
    gradients = tape.gradient(scaled_loss, model.trainable_variables)
    optimizer.apply(gradients, model.trainable_variables)
    return loss


train_step(tf.ones((4, 8)), tf.ones((4, 1)))
```

Fixed
-----
```python
import tensorflow as tf
import tf_keras as keras

keras.mixed_precision.set_global_policy("mixed_float16")
model = keras.Sequential([keras.layers.Dense(64, input_shape=(8,)), keras.layers.Dense(1, dtype="float32")])
optimizer = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.SGD(0.1))


def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        scaled_loss = optimizer.get_scaled_loss(loss)
    gradients = tape.gradient(scaled_loss, model.trainable_variables)
    gradients = optimizer.get_unscaled_gradients(gradients)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


train_step(tf.ones((4, 8)), tf.ones((4, 1)))
```

Good
----
```python
import tensorflow as tf
import tf_keras as keras

if hasattr(keras, "config"):
    keras.config.set_dtype_policy("mixed_float16")
else:
    keras.mixed_precision.set_global_policy("mixed_float16")
model = keras.Sequential([keras.layers.Dense(64, input_shape=(8,)), keras.layers.Dense(1, dtype="float32")])
print(model(tf.ones((4, 8))).dtype)
```

How the fix changes the program
-------------------------------
The names become those of Keras 2. `scale_loss(loss)` becomes `get_scaled_loss(loss)`; of an optimizer that does not
scale, the loss itself. `apply(gradients, variables)` becomes `apply_gradients(zip(gradients, variables))`, and where
the optimizer scales, the gradients are unscaled in front of it, as `apply` does. The program raised before.

References
----------
- [tf.keras.mixed_precision.LossScaleOptimizer](https://www.tensorflow.org/versions/r2.15/api_docs/python/tf/keras/mixed_precision/LossScaleOptimizer)
- [keras issue 19479](https://github.com/keras-team/keras/issues/19479)
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import (
    Applicability,
    AppliedByKeras2,
    Fault,
    NameOfOther,
    OptimizerUse,
    OtherGeneration,
    Rewrite,
    Rule,
    ScaledByKeras2,
    Severity,
    World,
)

_INSTEAD = {
    "scale_loss": "`get_scaled_loss` of a LossScaleOptimizer scales the loss",
    "apply": "unscale the gradients and call `apply_gradients`",
}


class Keras3ApiInKeras2(Rule):
    """MP303."""

    code = "MP303"
    name = "keras3-api-in-keras2"
    severity = Severity.ERROR
    fixes = (Applicability.SAFE, Applicability.DISPLAY)

    def check(self, world: World) -> Iterator[Fault]:
        """Methods of optimizers, and names, that Keras 2 has not."""
        used = world.once(OtherGeneration)
        for use in used.optimizer_uses("2"):
            instead = _INSTEAD.get(use.name)
            says = f"an optimizer of Keras 2 has no `{use.name}`"
            yield Fault(
                use.at,
                Severity.ERROR,
                f"{says}: {instead}" if instead is not None else says,
                rewrite=_rewrite(use),
            )
        for other in used.names("2"):
            yield Fault(
                other.at,
                Severity.ERROR,
                f"Keras 2 has no `{other.label}`",
                rewrite=NameOfOther(world, other.at, other.spelled, other.path),
            )


def _rewrite(use: OptimizerUse) -> Rewrite | None:
    match use.name:
        case "scale_loss":
            return ScaledByKeras2(use.at, use.scales)
        case "apply":
            return AppliedByKeras2(use.at, use.scales)
        case _:
            return None
