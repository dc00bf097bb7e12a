"""A loss must be scaled once.

What it does
------------
Reports a loss that is multiplied with the scale of its optimizer twice, and whose gradients are divided by it once: by
`get_scaled_loss` in front of `minimize`, which scales by itself (Keras 2), by `scale_loss` in a helper and again in its
caller, or in a model's `compute_loss`, whose loss `fit` scales by itself.

Why it matters
--------------
The gradients that reach the inner optimizer are 32768 times too large. Measured: with SGD the weights move 45 times as
far as they should and training diverges; with Adam, which does not mind the size, the loss scale falls to 512 and
small gradients are lost again. In front of `minimize`, and in `compute_loss`, the first step is skipped, since the
gradients overflow.

Example
-------
```python
import tensorflow as tf
import tf_keras

tf_keras.mixed_precision.set_global_policy("mixed_float16")

model = tf_keras.Sequential([tf_keras.layers.Dense(64), tf_keras.layers.Dense(8, dtype="float32")])
optimizer = tf_keras.mixed_precision.LossScaleOptimizer(tf_keras.optimizers.SGD(0.1))


def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        scaled_loss = optimizer.get_scaled_loss(loss)
    optimizer.minimize(scaled_loss, model.trainable_variables, tape=tape)
    return loss


step(tf.zeros((4, 16)), tf.zeros((4, 8)))
```

Fixed
-----
```python
import tensorflow as tf
import tf_keras

tf_keras.mixed_precision.set_global_policy("mixed_float16")

model = tf_keras.Sequential([tf_keras.layers.Dense(64), tf_keras.layers.Dense(8, dtype="float32")])
optimizer = tf_keras.mixed_precision.LossScaleOptimizer(tf_keras.optimizers.SGD(0.1))


def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    optimizer.minimize(loss, model.trainable_variables, tape=tape)
    return loss


step(tf.zeros((4, 16)), tf.zeros((4, 8)))
```

Good
----
```python
import tensorflow as tf
import tf_keras

tf_keras.mixed_precision.set_global_policy("mixed_float16")

model = tf_keras.Sequential([tf_keras.layers.Dense(64), tf_keras.layers.Dense(8, dtype="float32")])
optimizer = tf_keras.mixed_precision.LossScaleOptimizer(tf_keras.optimizers.SGD(0.1))


def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        scaled_loss = optimizer.get_scaled_loss(loss)
    gradients = tape.gradient(scaled_loss, model.trainable_variables)
    gradients = optimizer.get_unscaled_gradients(gradients)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


step(tf.zeros((4, 16)), tf.zeros((4, 8)))
```

How the fix changes the program
-------------------------------
`minimize` gets the plain loss, and a statement that only scaled it goes; of two scalings the second one goes. Where
one of the two is right for some callers, nothing is written. The gradients then have the size that they should have.

References
----------
- [Mixed precision guide](https://www.tensorflow.org/guide/mixed_precision) of TensorFlow, "Training the model with a
  custom training loop"
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mplint.api import Applicability, Fault, Loops, Rule, ScaleOnce, Severity, World, first_at_each_place

_MINIMIZED: Final = "minimize is given a scaled loss and scales it once more: give it the loss as it is"
_SO: Final = "; its gradients are 32768 times too large at first"
_OF_FIT: Final = "fit scales what compute_loss gives once more: give it the loss as it is"
_SCALED: Final = "the loss is scaled once more here, and its gradients are unscaled once: scale it once"


class LossScaledTwice(Rule):
    """MP213."""

    code = "MP213"
    name = "loss-scaled-twice"
    severity = Severity.ERROR
    fixes = (Applicability.SAFE,)

    def check(self, world: World) -> Iterator[Fault]:
        """Each scaling too many."""
        loops = world.once(Loops)
        yield from first_at_each_place(
            Fault(
                at,
                Severity.ERROR,
                (_OF_FIT if step.is_of_fit else _MINIMIZED if step.is_minimize else _SCALED) + _SO,
                loops.policy_of(step),
                ScaleOnce(world, step, at),
            )
            for step, at in loops.scaled_twice()
        )
