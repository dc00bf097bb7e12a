"""A loss must be scaled while the tape records.

What it does
------------
Reports `scale_loss` (Keras 3) or `get_scaled_loss` (Keras 2) of a loss behind the `with` statement of the gradient
tape, where the gradient is then taken of the scaled loss by that tape. Scaling that stands in a helper is followed to
where the helper is called. A tape that goes on recording, in a second `with` statement, is understood.

Why it matters
--------------
The tape has not seen the multiplication, so that nothing connects the scaled loss with the variables: every gradient
is None. Measured in both generations: `apply_gradients` raises `ValueError: No gradients provided for any variable`.
Where the gradients are None-tolerant, filtered before they are applied, nothing is trained and nobody says so.

Example
-------
```python
import keras
import tensorflow as tf

keras.mixed_precision.set_global_policy("mixed_float16")

model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(64), keras.layers.Dense(8, dtype="float32")])
optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam(1e-3))


def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    scaled_loss = optimizer.scale_loss(loss)
    gradients = tape.gradient(scaled_loss, model.trainable_variables)
    optimizer.apply(gradients, model.trainable_variables)
    return loss


step(tf.zeros((4, 16)), tf.zeros((4, 8)))
```

Fixed
-----
```python
import keras
import tensorflow as tf

keras.mixed_precision.set_global_policy("mixed_float16")

model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(64), keras.layers.Dense(8, dtype="float32")])
optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam(1e-3))


def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        scaled_loss = optimizer.scale_loss(loss)
    gradients = tape.gradient(scaled_loss, model.trainable_variables)
    optimizer.apply(gradients, model.trainable_variables)
    return loss


step(tf.zeros((4, 16)), tf.zeros((4, 8)))
```

Good
----
```python
import tensorflow as tf
from tensorflow import keras

keras.mixed_precision.set_global_policy("mixed_bfloat16")

model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(64), keras.layers.Dense(8, dtype="float32")])
optimizer = keras.optimizers.Adam(1e-3)


def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    reported = loss * 100.0
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return reported


step(tf.zeros((4, 16)), tf.zeros((4, 8)))
```

How the fix changes the program
-------------------------------
The statement that scales moves to the end of what the tape records; where the scaling stands inside the call that
takes the gradient, the scaled loss gets a name there. The program, which raised, trains. Where the statements in
between use what it gives, or change what it needs, nothing is written.

References
----------
- [Mixed precision guide](https://www.tensorflow.org/guide/mixed_precision) of TensorFlow, "Training the model with a
  custom training loop"
- [tensorflow#48662](https://github.com/tensorflow/tensorflow/issues/48662)
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Applicability, Fault, Loops, Rule, ScaleInsideTape, Severity, World, first_at_each_place


class LossScaledOutsideTape(Rule):
    """MP211."""

    code = "MP211"
    name = "loss-scaled-outside-tape"
    severity = Severity.ERROR
    fixes = (Applicability.SAFE,)

    def check(self, world: World) -> Iterator[Fault]:
        """Each scaling that the tape does not record."""
        loops = world.once(Loops)
        says = (
            "the loss is scaled where the tape no longer records: every gradient of it is None; scale it inside the"
            " tape's with block"
        )
        yield from first_at_each_place(
            Fault(at, Severity.ERROR, says, loops.policy_of(step), ScaleInsideTape(step, at))
            for step, at in loops.scaled_outside()
        )
