"""Gradients must not be clipped or shown while they are scaled.

What it does
------------
Reports gradients that are clipped, divided by their own norm, held against a number (`if norm > 1.0`), logged or put
into a metric while the loss scale is still in them: in Keras 2 before `get_unscaled_gradients`, in Keras 3 anywhere,
since there the optimizer takes the scale out. A threshold that is multiplied with the scale is right. So is summing
gradients of several batches, asking whether they are finite, and the `clipnorm` of an optimizer, which clips behind the
scale.

Why it matters
--------------
The scale begins at 32768. Gradients that are clipped to a norm of 1 and then divided by it have a norm of 0.00003.
Measured on a small classifier with SGD, the weights then move a ten-thousandth of the way, and the accuracy after 200
steps is 0.09 instead of 0.92; Adam hides most of it (0.88 instead of 0.91). A norm is logged as 24,000 that is 0.73.
Neither generation of Keras says a word.

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
    grads, _ = tf.clip_by_global_norm(grads, 1.0)
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
    grads, _ = tf.clip_by_global_norm(grads, optimizer.scale_loss(1.0))
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
    grads, _ = tf.clip_by_global_norm(grads, 1.0)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss
```

How the fix changes the program
-------------------------------
Keras 2: the statement that unscales moves in front of the operation; where it cannot be moved, the gradients are
unscaled inside the operation, and no more later. Keras 3: the threshold is multiplied with `scale_loss(1.0)`, which is
the present scale (the attribute `dynamic_scale` does not exist before the optimizer is built), and what is shown is
divided by it. In a stateless loop of JAX the scale is taken from the variables that the step was given, in a
`StatelessScope`. A plain optimizer has a scale of 1, so that under a float32 policy all numbers stay what they are.

References
----------
- [LossScaleOptimizer](https://keras.io/api/optimizers/loss_scale_optimizer/) of Keras 3
- [Mixed precision guide](https://www.tensorflow.org/guide/mixed_precision) of TensorFlow
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mplint.api import Applicability, Fault, Loops, Rule, Severity, UseUnscaled, World

_CLIPPED: Final = (
    "these gradients still carry the loss scale, and are clipped as if they were 32768 times as large as they are"
)
_DIVIDED: Final = (
    "these gradients still carry the loss scale, and are divided by their norm with it: the scale is taken out twice"
)
_DECIDED: Final = (
    "this number still carries the loss scale of the gradients, and is held against one that does not, as if it were"
    " 32768 times as large as it is"
)


class ScaledGradientsUsed(Rule):
    """MP204."""

    code = "MP204"
    name = "scaled-gradients-used"
    severity = Severity.ERROR
    fixes = (Applicability.SAFE,)

    def check(self, world: World) -> Iterator[Fault]:
        """Gradients that are clipped or shown with the scale in them."""
        later = "unscale them first" if world.generation == "2" else "take the scale into account: scale_loss(1.0)"
        for use in world.once(Loops).scaled_uses():
            if use.is_shown:
                says = f"what is shown here still carries the loss scale of the gradients; {later}"
            elif use.is_decided_by:
                says = f"{_DECIDED}; {later}"
            else:
                says = f"{_DIVIDED if use.what.startswith('operator.') else _CLIPPED}; {later}"
            yield Fault(use.at, Severity.ERROR, says, None, UseUnscaled(world, use))
