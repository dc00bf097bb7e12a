"""A gradient inside a loss needs a scale of its own.

What it does
------------
Reports a gradient that is taken through float16 layers and is a part of the loss, as in a gradient penalty, where what
it is taken of is not scaled. One that is only looked at (a saliency map), or that is computed in float32, is not
reported.

Why it matters
--------------
Scaling the whole loss comes too late for it: the inner gradient is computed before, in float16, and what is below 6e-8
is 0 in it. Measured on a WGAN-GP critic with small scores: all of the inner gradient is exactly 0, and the penalty is
that of a constant critic; with the scores scaled and the gradient unscaled none of it is. Nobody warns: the loss scale
of the optimizer sinks, or the penalty stays where it is.

Example
-------
```python
import tensorflow as tf
import tf_keras

tf_keras.mixed_precision.set_global_policy("mixed_float16")

critic = tf_keras.Sequential([tf_keras.layers.Dense(64), tf_keras.layers.Dense(1, dtype="float32")])
optimizer = tf_keras.mixed_precision.LossScaleOptimizer(tf_keras.optimizers.Adam(1e-4))


def step(real):
    with tf.GradientTape() as tape:
        with tf.GradientTape() as inner:
            inner.watch(real)
            score = tf.reduce_mean(critic(real))
        slope = inner.gradient(score, real)
        loss = tf.reduce_mean(tf.square(tf.norm(slope, axis=1) - 1.0)) - score
        scaled_loss = optimizer.get_scaled_loss(loss)
    gradients = optimizer.get_unscaled_gradients(tape.gradient(scaled_loss, critic.trainable_variables))
    optimizer.apply_gradients(zip(gradients, critic.trainable_variables))


step(tf.ones((4, 16)))
```

Fixed
-----
```python
import tensorflow as tf
import tf_keras

tf_keras.mixed_precision.set_global_policy("mixed_float16")

critic = tf_keras.Sequential([tf_keras.layers.Dense(64), tf_keras.layers.Dense(1, dtype="float32")])
optimizer = tf_keras.mixed_precision.LossScaleOptimizer(tf_keras.optimizers.Adam(1e-4))


def step(real):
    with tf.GradientTape() as tape:
        with tf.GradientTape() as inner:
            inner.watch(real)
            score = tf.reduce_mean(critic(real))
            scaled_score = optimizer.get_scaled_loss(score)
        slope = optimizer.get_unscaled_gradients([inner.gradient(scaled_score, real)])[0]
        loss = tf.reduce_mean(tf.square(tf.norm(slope, axis=1) - 1.0)) - score
        scaled_loss = optimizer.get_scaled_loss(loss)
    gradients = optimizer.get_unscaled_gradients(tape.gradient(scaled_loss, critic.trainable_variables))
    optimizer.apply_gradients(zip(gradients, critic.trainable_variables))


step(tf.ones((4, 16)))
```

Good
----
```python
import tensorflow as tf
import tf_keras

tf_keras.mixed_precision.set_global_policy("mixed_float16")

critic = tf_keras.Sequential([tf_keras.layers.Dense(64), tf_keras.layers.Dense(1, dtype="float32")])


def saliency(image):
    with tf.GradientTape() as tape:
        tape.watch(image)
        score = tf.reduce_mean(critic(image))
    return tf.abs(tape.gradient(score, image))


saliency(tf.ones((4, 16)))
```

How the fix changes the program
-------------------------------
What the inner gradient is taken of is scaled by the optimizer of the loss, inside the inner tape, and the gradient is
unscaled: by `get_unscaled_gradients` in Keras 2, in Keras 3 by a division by `scale_loss(1.0)`. The fix is unsafe: it
changes what is computed in the middle of a loss, and a score that is float16 itself may overflow.

References
----------
- [tensorflow#48662](https://github.com/tensorflow/tensorflow/issues/48662)
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Applicability, Fault, Loops, Rule, ScaleInner, Severity, World, first_at_each_place


class InnerGradientUnscaled(Rule):
    """MP214."""

    code = "MP214"
    name = "inner-gradient-unscaled"
    severity = Severity.WARNING
    fixes = (Applicability.UNSAFE,)

    def check(self, world: World) -> Iterator[Fault]:
        """Each gradient in a loss, computed in float16, of something that is not scaled."""
        loops = world.once(Loops)
        says = (
            "this gradient is a part of the loss and is taken in float16 of what is not scaled: what is below 6e-8"
            " becomes 0; scale what it is taken of, and divide the gradient by the scale"
        )
        yield from first_at_each_place(
            Fault(inner.place, Severity.WARNING, says, loops.policy_of(step), ScaleInner(world, step, inner))
            for step, inner in loops.inner_gradients()
            if inner.place is not None
        )
