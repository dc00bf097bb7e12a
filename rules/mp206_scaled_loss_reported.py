"""The loss that is reported must be the unscaled one.

What it does
------------
Reports a loss that is returned from `train_step`, put into a metric, logged, printed or written into a text with the
loss scale in it. A text that says that the number is scaled may show it. The commonest form rebinds the name:
`loss = optimizer.scale_loss(loss)`, and the metric then reads `loss`.

Why it matters
--------------
Training is right, the numbers are not: measured, a loss of 0.59 is reported as 19,390, and it jumps by a factor of two
whenever the scale changes. Callbacks that watch it (early stopping, learning rates, checkpoints) decide by these jumps.

Example
-------
```python
import keras
import tensorflow as tf
from keras import layers

keras.config.set_dtype_policy("mixed_float16")


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = layers.Dense(64, activation="relu")
        self.out = layers.Dense(1, dtype="float32")

    def call(self, x):
        return self.out(self.hidden(x))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(x=x, y=y, y_pred=self(x, training=True))
            loss = self.optimizer.scale_loss(loss)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(grads, self.trainable_variables)
        return {"loss": loss}


net = Net()
net.compile("adam", "mse")
```

Fixed
-----
```python
import keras
import tensorflow as tf
from keras import layers

keras.config.set_dtype_policy("mixed_float16")


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = layers.Dense(64, activation="relu")
        self.out = layers.Dense(1, dtype="float32")

    def call(self, x):
        return self.out(self.hidden(x))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(x=x, y=y, y_pred=self(x, training=True))
            scaled_loss = self.optimizer.scale_loss(loss)
        grads = tape.gradient(scaled_loss, self.trainable_variables)
        self.optimizer.apply(grads, self.trainable_variables)
        return {"loss": loss}


net = Net()
net.compile("adam", "mse")
```

Good
----
```python
import tensorflow as tf
from tf_keras import Input, Sequential, layers, losses, metrics, mixed_precision, optimizers

mixed_precision.set_global_policy("mixed_float16")
model = Sequential([Input((8,)), layers.Dense(64, activation="relu"), layers.Dense(1, dtype="float32")])
optimizer = mixed_precision.LossScaleOptimizer(optimizers.SGD(0.1))
loss_fn = losses.MeanSquaredError()
tracker = metrics.Mean()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
        scaled_loss = optimizer.get_scaled_loss(loss)
    grads = optimizer.get_unscaled_gradients(tape.gradient(scaled_loss, model.trainable_variables))
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    tracker.update_state(loss)
```

How the fix changes the program
-------------------------------
The scaled loss gets a name of its own, `scaled_loss`, of which the gradients are taken; all that reads the old name is
told the plain loss. Where the plain loss has a name already, that is shown. A function that JAX differentiates gives
the plain loss beside the scaled one, which is unsafe, since others may call it. What is trained does not change.

References
----------
- [LossScaleOptimizer](https://keras.io/api/optimizers/loss_scale_optimizer/) of Keras 3
- [Mixed precision guide](https://www.tensorflow.org/guide/mixed_precision) of TensorFlow
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Applicability, Fault, Loops, Rule, Severity, ShowUnscaled, World


class ScaledLossReported(Rule):
    """MP206."""

    code = "MP206"
    name = "scaled-loss-reported"
    severity = Severity.WARNING
    fixes = (Applicability.SAFE, Applicability.UNSAFE)

    def check(self, world: World) -> Iterator[Fault]:
        """Losses that are shown with the scale in them."""
        for use in world.once(Loops).scaled_losses_shown():
            says = "the loss that is shown here is multiplied with the loss scale: show the one that was not scaled"
            yield Fault(use.at, Severity.WARNING, says, None, ShowUnscaled(world, use))
