"""An optimizer in a training loop of your own must scale the loss under mixed_float16.

What it does
------------
Reports an optimizer that is given gradients of float16 layers in a loop of your own, and scales no loss: one that was
never wrapped in LossScaleOptimizer, or one whose model was compiled with it, since `compile` wraps its own reference
and leaves yours as it is. GANs that keep two optimizers are the commonest case. Gradients with respect to inputs,
variables of float32 layers and anything under `mixed_bfloat16` need no scaling and are not reported, nor is a loss
that is multiplied with a scale by hand.

Why it matters
--------------
In float16 a number below 6e-8 is 0, and many gradients are as small as that. Measured on a classifier whose loss is
weighted with 1e-6: with a plain optimizer no weight moves and it stays at 9 %; with the loss scaled it learns to 92 %,
as it does in float32 and in bfloat16. Neither generation of Keras warns.

Example
-------
```python
import keras
import tensorflow as tf

keras.mixed_precision.set_global_policy("mixed_float16")

model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(64), keras.layers.Dense(8, dtype="float32")])
optimizer = keras.optimizers.Adam(1e-3)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
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


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        scaled_loss = optimizer.scale_loss(loss)
    gradients = tape.gradient(scaled_loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


step(tf.zeros((4, 16)), tf.zeros((4, 8)))
```

Good
----
```python
import tensorflow as tf
from tensorflow import keras

keras.mixed_precision.set_global_policy("mixed_float16")

model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(64), keras.layers.Dense(8, dtype="float32")])
image = tf.Variable(tf.zeros((1, 16)))
optimizer = keras.optimizers.Adam(0.05)

with tf.GradientTape() as tape:
    score = tf.reduce_mean(model(image))
gradient = tape.gradient(score, image)
optimizer.apply_gradients([(gradient, image)])
```

How the fix changes the program
-------------------------------
The optimizer is wrapped where it is made, and the loss is scaled as for MP202 in every loop that it is used in; a
`minimize` of Keras 2 and a loss that already goes through `scale_loss` need the wrapping only. Under float32 nothing
changes, bit for bit: the scale is a power of two. The state of a wrapped optimizer has another structure, so the fix
is unsafe where the program saves or restores something that may hold it; so it is where the program reads what a
LossScaleOptimizer does not pass on, and where a function needs one more parameter. It is only shown where the
optimizer is also given gradients of which it is not known what loss they belong to.

References
----------
- [Mixed precision guide](https://www.tensorflow.org/guide/mixed_precision) of TensorFlow, "Training the model with a
  custom training loop"
- [LossScaleOptimizer](https://keras.io/api/optimizers/loss_scale_optimizer/) of Keras 3
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import AddLossScaling, Applicability, Fault, Loops, Rule, Severity, World, first_at_each_place


class MissingLossScaling(Rule):
    """MP201."""

    code = "MP201"
    name = "missing-loss-scaling"
    severity = Severity.ERROR
    fixes = (Applicability.SAFE, Applicability.UNSAFE, Applicability.DISPLAY)

    def check(self, world: World) -> Iterator[Fault]:
        """Each optimizer that is given gradients of float16 layers, and does not scale."""
        loops = world.once(Loops)
        yield from first_at_each_place(
            Fault(
                step.optimizer.address.place,
                Severity.ERROR,
                "this optimizer trains float16 layers in a loop that does not scale the loss: gradients below 6e-8"
                f" become 0; wrap it in LossScaleOptimizer and {_MORE[world.generation]}",
                loops.policy_of(step),
                AddLossScaling(world, step),
            )
            for step in loops.without_scaling()
        )


_MORE = {
    "2": "take the gradient of optimizer.get_scaled_loss(loss), then pass it through optimizer.get_unscaled_gradients",
    "3": "take the gradient of optimizer.scale_loss(loss), computed inside the tape",
}
