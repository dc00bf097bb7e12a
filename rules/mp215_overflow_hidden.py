"""The optimizer must see the gradients that overflow.

What it does
------------
Reports operations that put other numbers where gradients are inf or nan (`nan_to_num`, `where(is_finite(g), g, 0)`,
`multiply_no_nan`) in front of a LossScaleOptimizer. Counting or logging such steps is right, and so are masks of any
other kind.

Why it matters
--------------
Overflow is how a LossScaleOptimizer learns that the scale is too large: it skips the step and halves the scale.
Measured, a scale that falls to 1024 within 24 steps stays at 32768 where the gradients are cleaned first, and each of
these steps is made with the largest gradients set to zero. Neither generation of Keras warns of it.

Example
-------
```python
import keras
import tensorflow as tf
from keras import layers, ops

keras.config.set_dtype_policy("mixed_float16")
model = keras.Sequential([keras.Input((8,)), layers.Dense(64, activation="relu"), layers.Dense(1, dtype="float32")])
optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1))
loss_fn = keras.losses.MeanSquaredError()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
        scaled_loss = optimizer.scale_loss(loss)
    grads = tape.gradient(scaled_loss, model.trainable_variables)
    grads = [ops.nan_to_num(g) for g in grads]
    optimizer.apply(grads, model.trainable_variables)
    return loss
```

Fixed
-----
```python
import keras
import tensorflow as tf
from keras import layers, ops

keras.config.set_dtype_policy("mixed_float16")
model = keras.Sequential([keras.Input((8,)), layers.Dense(64, activation="relu"), layers.Dense(1, dtype="float32")])
optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1))
loss_fn = keras.losses.MeanSquaredError()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
        scaled_loss = optimizer.scale_loss(loss)
    grads = tape.gradient(scaled_loss, model.trainable_variables)
    optimizer.apply(grads, model.trainable_variables)
    return loss
```

Good
----
```python
import keras
import tensorflow as tf
from keras import layers, ops

keras.config.set_dtype_policy("mixed_float16")
model = keras.Sequential([keras.Input((8,)), layers.Dense(64, activation="relu"), layers.Dense(1, dtype="float32")])
optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1))
loss_fn = keras.losses.MeanSquaredError()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(ops.nan_to_num(y), model(x, training=True))
        scaled_loss = optimizer.scale_loss(loss)
    grads = tape.gradient(scaled_loss, model.trainable_variables)
    tf.print(tf.reduce_all([tf.reduce_all(tf.math.is_finite(g)) for g in grads]))
    optimizer.apply(grads, model.trainable_variables)
    return loss
```

How the fix changes the program
-------------------------------
The operation goes, and the gradients reach the optimizer as they are. Steps whose gradients are not finite are then
skipped, under a float32 policy by nobody: the fix is unsafe where the program needs the mask there, too.

References
----------
- [LossScaleOptimizer](https://keras.io/api/optimizers/loss_scale_optimizer/) of Keras 3
- [Mixed precision guide](https://www.tensorflow.org/guide/mixed_precision) of TensorFlow
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Applicability, Fault, KeepOverflows, Loops, Rule, Severity, World


class OverflowHidden(Rule):
    """MP215."""

    code = "MP215"
    name = "overflow-hidden"
    severity = Severity.WARNING
    fixes = (Applicability.UNSAFE,)

    def check(self, world: World) -> Iterator[Fault]:
        """Operations that hide an overflow from the optimizer."""
        loops = world.once(Loops)
        for step, use in loops.hidden_overflows():
            says = (
                "inf and nan are hidden from the LossScaleOptimizer here, so that the scale never falls: leave them in"
            )
            yield Fault(use.at, Severity.WARNING, says, loops.policy_of(step), KeepOverflows(use))
