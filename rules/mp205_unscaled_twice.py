"""Gradients must be unscaled once.

What it does
------------
Reports a division by the loss scale after which gradients are divided by it once more. In Keras 3 `apply` and
`apply_gradients` of a LossScaleOptimizer do that by themselves, so that one more by hand is too many. In Keras 2 it is
a second `get_unscaled_gradients`, or one for a loss that nobody has scaled.

Why it matters
--------------
What reaches the weights is 32768 times too small. Measured on a small classifier, 200 steps of SGD move the weights a
14,000th of the way and the accuracy stays at 0.09 instead of 0.92; Adam hides it as "a bit worse" (0.87 instead of
0.91). Neither generation of Keras warns of it.

Example
-------
```python
import keras
import tensorflow as tf
from keras import layers

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
    scale = optimizer.scale_loss(1.0)
    grads = [g / scale for g in grads]
    optimizer.apply(grads, model.trainable_variables)
    return loss
```

Fixed
-----
```python
import keras
import tensorflow as tf
from keras import layers

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
import tensorflow as tf
from tf_keras import Input, Sequential, layers, losses, mixed_precision, optimizers

mixed_precision.set_global_policy("mixed_float16")
model = Sequential([Input((8,)), layers.Dense(64, activation="relu"), layers.Dense(1, dtype="float32")])
optimizer = mixed_precision.LossScaleOptimizer(optimizers.SGD(0.1))
loss_fn = losses.MeanSquaredError()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
        scaled_loss = optimizer.get_scaled_loss(loss)
    grads = tape.gradient(scaled_loss, model.trainable_variables)
    grads = optimizer.get_unscaled_gradients(grads)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss
```

How the fix changes the program
-------------------------------
The last division goes, with the name for the scale where nothing else reads it. Gradients that are clipped behind it
are then clipped while they are scaled: MP204 says so, and mends that. Where another run of the same lines needs the
division, the fix is only shown. With a scale of 1, as a plain optimizer of Keras 3 has it, nothing changes.

References
----------
- [LossScaleOptimizer](https://keras.io/api/optimizers/loss_scale_optimizer/) of Keras 3
- [Mixed precision guide](https://www.tensorflow.org/guide/mixed_precision) of TensorFlow
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Applicability, Fault, Loops, Rule, Severity, UnscaleOnce, World


class UnscaledTwice(Rule):
    """MP205."""

    code = "MP205"
    name = "unscaled-twice"
    severity = Severity.ERROR
    fixes = (Applicability.SAFE, Applicability.DISPLAY)

    def check(self, world: World) -> Iterator[Fault]:
        """Divisions by the scale that are one too many."""
        loops = world.once(Loops)
        for step, factor in loops.unscaled_twice():
            if factor.place is None:
                continue
            if world.generation == "3":
                says = "the loss scale is taken out here, and the optimizer takes it out again: leave it to that"
            elif step.course.is_ever_scaled:
                says = "the loss scale is taken out here for the second time: unscale the gradients once"
            else:
                says = "a loss scale is taken out here that nobody has put in: scale the loss, or leave this away"
            yield Fault(factor.place, Severity.ERROR, says, loops.policy_of(step), UnscaleOnce(world, factor))
