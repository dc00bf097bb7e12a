"""bfloat16 needs no loss scaling.

What it does
------------
Reports a LossScaleOptimizer in a program that computes in bfloat16, and nowhere in float16. A program that decides at
run time between the two is not reported.

Why it matters
--------------
float16 numbers below 0.00000006 are zero, and gradients are often as small; that is what scaling is for. bfloat16 has
the range of float32, and nothing to be saved from. Measured, a loop with and one without the scaling train to the same
weights: what is left is code, a check of every gradient for inf and nan in every step, and another structure of
checkpoints.

Example
-------
```python
import keras
import tensorflow as tf
from keras import layers

keras.config.set_dtype_policy("mixed_bfloat16")
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

Fixed
-----
```python
import keras
import tensorflow as tf
from keras import layers

keras.config.set_dtype_policy("mixed_bfloat16")
model = keras.Sequential([keras.Input((8,)), layers.Dense(64, activation="relu"), layers.Dense(1, dtype="float32")])
optimizer = keras.optimizers.SGD(0.1)
loss_fn = keras.losses.MeanSquaredError()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply(grads, model.trainable_variables)
    return loss
```

Good
----
```python
import sys

import keras
from keras import layers

keras.config.set_dtype_policy("mixed_float16" if "--half" in sys.argv else "mixed_bfloat16")
model = keras.Sequential([keras.Input((8,)), layers.Dense(64, activation="relu"), layers.Dense(1, dtype="float32")])
model.compile(keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1)), loss="mse")
```

How the fix changes the program
-------------------------------
The wrapper goes, and with it the calls that scale the loss and unscale gradients. Checkpoints with the state of a
LossScaleOptimizer no longer fit, so the fix is unsafe. What is computed stays the same, under a float32 policy, too.

References
----------
- [Mixed precision guide](https://www.tensorflow.org/guide/mixed_precision) of TensorFlow
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Applicability, Fault, Rule, Scalers, Severity, Unwrap, World


class NeedlessLossScaling(Rule):
    """MP208."""

    code = "MP208"
    name = "needless-loss-scaling"
    severity = Severity.ADVICE
    fixes = (Applicability.UNSAFE, Applicability.DISPLAY)

    def check(self, world: World) -> Iterator[Fault]:
        """Wrappers in a program that has no use for them."""
        for event in world.once(Scalers).needless():
            says = "the loss is scaled for bfloat16, which has the range of float32: use the optimizer as it is"
            yield Fault(event.place, Severity.ADVICE, says, None, Unwrap(world, event.place))
