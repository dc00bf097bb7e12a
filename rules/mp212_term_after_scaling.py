"""All terms of a loss must be scaled alike.

What it does
------------
Reports a sum in which one term of the loss is scaled and another is not: `scaled + penalty`, `scaled += …`, a list of
losses that is given to `tape.gradient`. Multiplying or dividing the scaled loss by a number is fine, and so is a term
that depends on no variable.

Why it matters
--------------
The gradients are divided by the loss scale as a whole, so that the term that was not multiplied with it weighs 32768
times less than it should. Measured on a weight decay added behind `get_scaled_loss`: the weights move by 4.5e-7
instead of 0.014. Neither generation warns, and the loss that is printed looks right.

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
        decay = 0.01 * tf.add_n([tf.nn.l2_loss(weight) for weight in model.trainable_variables])
        total = optimizer.scale_loss(loss) + decay
    gradients = tape.gradient(total, model.trainable_variables)
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
        decay = 0.01 * tf.add_n([tf.nn.l2_loss(weight) for weight in model.trainable_variables])
        total = optimizer.scale_loss(loss) + optimizer.scale_loss(decay)
    gradients = tape.gradient(total, model.trainable_variables)
    optimizer.apply(gradients, model.trainable_variables)
    return loss


step(tf.zeros((4, 16)), tf.zeros((4, 8)))
```

Good
----
```python
import keras
import tensorflow as tf

keras.mixed_precision.set_global_policy("mixed_float16")

model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(64), keras.layers.Dense(8, dtype="float32")])
optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam(1e-3))
replicas = 2


def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        loss += 0.01 * tf.add_n([tf.nn.l2_loss(weight) for weight in model.trainable_variables])
        scaled = optimizer.scale_loss(loss) / replicas
    gradients = tape.gradient(scaled, model.trainable_variables)
    optimizer.apply(gradients, model.trainable_variables)
    return loss


step(tf.zeros((4, 16)), tf.zeros((4, 8)))
```

How the fix changes the program
-------------------------------
The term is scaled, too, by the optimizer that scales the others, where it is added: the sum of scaled terms is the
scaled sum. It then weighs what it was meant to weigh, with or without a policy.

References
----------
- [Mixed precision guide](https://www.tensorflow.org/guide/mixed_precision) of TensorFlow, "Training the model with a
  custom training loop"
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Applicability, Fault, Loops, Rule, ScaleTerms, Severity, World, first_at_each_place


class TermAfterScaling(Rule):
    """MP212."""

    code = "MP212"
    name = "term-after-scaling"
    severity = Severity.WARNING
    fixes = (Applicability.SAFE,)

    def check(self, world: World) -> Iterator[Fault]:
        """Each sum of scaled terms and others."""
        loops = world.once(Loops)
        says = (
            "a term that is not scaled is added to a scaled loss: it weighs 1/scale of what it should, 32768 times less"
            " at first; add it before the loss is scaled, or scale it, too"
        )
        yield from first_at_each_place(
            Fault(at, Severity.WARNING, says, loops.policy_of(step), ScaleTerms(world, step))
            for step, at in loops.mixed_terms()
        )
