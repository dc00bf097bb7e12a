"""Gradients of a scaled loss must be unscaled before they are applied.

What it does
------------
Reports gradients that reach an optimizer with the loss scale still in them. In Keras 2 that is a loop that scales its
loss by `get_scaled_loss` and leaves `get_unscaled_gradients` out. In Keras 3 the LossScaleOptimizer takes the scale out
by itself, but the optimizer inside it does not: gradients that are given to its `inner_optimizer` are reported.

Why it matters
--------------
Every step is 32768 times as long as it was meant to be. Measured on a small classifier with SGD, the weights move 439
times as far as in float32 and the loss is nan; Adam hides it, since it divides by the size of the gradients, until
the scale changes. Keras 2 logs one warning, Keras 3 none.

Example
-------
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
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss
```

Fixed
-----
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

Good
----
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
    optimizer.apply(grads, model.trainable_variables)  # takes the scale out
    return loss
```

How the fix changes the program
-------------------------------
Keras 2: `get_unscaled_gradients` is called in front of the call that applies the gradients, or around them where they
stand in it; under the same condition, where the loss is scaled under one. Gradients for an inner optimizer are given to
the LossScaleOptimizer itself. Where another run of the same lines is right as it is, the fix is only shown. Steps
become as long as they are in float32, where the loop raises as it is: a plain optimizer of Keras 2 has no
`get_scaled_loss`.

References
----------
- [LossScaleOptimizer](https://keras.io/api/optimizers/loss_scale_optimizer/) of Keras 3
- [Mixed precision guide](https://www.tensorflow.org/guide/mixed_precision) of TensorFlow
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Applicability, Fault, Loops, Rule, Severity, Unscale, World


class GradientsNotUnscaled(Rule):
    """MP203."""

    code = "MP203"
    name = "gradients-not-unscaled"
    severity = Severity.ERROR
    fixes = (Applicability.SAFE, Applicability.DISPLAY)

    def check(self, world: World) -> Iterator[Fault]:
        """Gradients that are applied with the scale in them."""
        loops = world.once(Loops)
        for step in loops.left_scaled():
            if step.scales:
                says = "the loss was scaled, and nobody unscales these gradients: call get_unscaled_gradients first"
            else:
                says = "the loss was scaled, and an inner optimizer does not unscale: give them to the outer one"
            yield Fault(step.event.place, Severity.ERROR, says, loops.policy_of(step), Unscale(world, step))
