"""A loss must be computed in float32.

What it does
------------
Reports operations of a loss that do not go well in float16, on the way from what layers and models give to what is
trained: exponentials, logarithms, squares, sums and means, norms, softmaxes and cross-entropies on half-precision
tensors in a `train_step`, a loop, an own loss function or class, or a term that a layer adds with `add_loss`. Where the
half-precision tensor is the output of a model, MP102 and MP101 say so, and this rule does not. bfloat16 has the range
of float32 and is not reported. What Keras casts itself is fine: in Keras 3 objects of losses and all that is given to
`compile` see float32; loss functions that the program calls itself do not, and in Keras 2 none does.

Why it matters
--------------
A model's layers are made for half precision, a loss is not. In float16 exp(11.1) is infinite, and so are the square of
256 and each sum beyond 65504. Measured in Keras 3, the KL term of a VAE whose log variances are 12 is inf in float16,
and 82,494.6 in float32. An infinite loss has gradients that are inf or nan: the loss scale falls, and the step is lost.
Where the loss as a whole is float16 the scale itself is too much for it: times 2^15 it is inf from a loss of 2 on.

Example
-------
```python
import keras
import tensorflow as tf
from keras import layers

keras.config.set_dtype_policy("mixed_float16")


class Vae(keras.Model):
    def __init__(self):
        super().__init__()
        self.to_mean = layers.Dense(16)
        self.to_log_var = layers.Dense(16)
        self.to_pixels = layers.Dense(64, dtype="float32")

    def call(self, x):
        return self.to_pixels(self.to_mean(x))

    def train_step(self, data):
        x, _ = data
        with tf.GradientTape() as tape:
            mean, log_var = self.to_mean(x), self.to_log_var(x)
            kl = 0.5 * tf.reduce_mean(tf.square(mean) + tf.exp(log_var) - 1.0 - log_var)
            loss = tf.reduce_mean(tf.square(self.to_pixels(mean) - x)) + tf.cast(kl, tf.float32)
            scaled_loss = self.optimizer.scale_loss(loss)
        grads = tape.gradient(scaled_loss, self.trainable_variables)
        self.optimizer.apply(grads, self.trainable_variables)
        return {"loss": loss}


vae = Vae()
vae.compile("adam")
```

Fixed
-----
```python
import keras
import tensorflow as tf
from keras import layers

keras.config.set_dtype_policy("mixed_float16")


class Vae(keras.Model):
    def __init__(self):
        super().__init__()
        self.to_mean = layers.Dense(16)
        self.to_log_var = layers.Dense(16)
        self.to_pixels = layers.Dense(64, dtype="float32")

    def call(self, x):
        return self.to_pixels(self.to_mean(x))

    def train_step(self, data):
        x, _ = data
        with tf.GradientTape() as tape:
            mean, log_var = self.to_mean(x), self.to_log_var(x)
            mean, log_var = tf.cast(mean, tf.float32), tf.cast(log_var, tf.float32)
            kl = 0.5 * tf.reduce_mean(tf.square(mean) + tf.exp(log_var) - 1.0 - log_var)
            loss = tf.reduce_mean(tf.square(self.to_pixels(mean) - x)) + tf.cast(kl, tf.float32)
            scaled_loss = self.optimizer.scale_loss(loss)
        grads = tape.gradient(scaled_loss, self.trainable_variables)
        self.optimizer.apply(grads, self.trainable_variables)
        return {"loss": loss}


vae = Vae()
vae.compile("adam")
```

Good
----
```python
import keras
import tensorflow as tf
from keras import layers

keras.config.set_dtype_policy("mixed_float16")


def focal(y_true, y_pred):
    return -tf.reduce_mean(y_true * (1.0 - y_pred) ** 2.0 * tf.math.log(y_pred + 1e-7))


inputs = keras.Input((16,))
outputs = layers.Dense(3, activation="softmax", dtype="float32")(inputs)
model = keras.Model(inputs, outputs)
model.compile("adam", focal)
```

How the fix changes the program
-------------------------------
What the loss is computed of is cast to float32, as the file writes a cast: once in front of the loss, by a statement
that binds the names anew, where all that reads them behind it is the loss or casts by itself; else where the loss reads
it. Layers that are given one of these names afterwards cast it back by themselves. Gradients go through a cast as they
are. In a float32 program a cast to float32 changes nothing. Only shown where the same code computes something else
than a loss in another call. Where Keras finds the logits behind the probabilities that a loss is given, a cast would
hide them: there the logits are kept, which is unsafe (MP104).

References
----------
- [Mixed precision guide](https://www.tensorflow.org/guide/mixed_precision) of TensorFlow
- [LossScaleOptimizer](https://keras.io/api/optimizers/loss_scale_optimizer/) of Keras 3
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import (
    Applicability,
    Fault,
    HalfLosses,
    KeepLogits,
    LossInFloat32,
    Probabilities,
    Rewrite,
    Rule,
    Severity,
    Together,
    World,
)


class LowPrecisionLoss(Rule):
    """MP103."""

    code = "MP103"
    name = "low-precision-loss"
    severity = Severity.WARNING
    fixes = (Applicability.SAFE, Applicability.UNSAFE, Applicability.DISPLAY)

    def check(self, world: World) -> Iterator[Fault]:
        """Losses with something that does not go well in float16."""
        probabilities = world.once(Probabilities)
        rounded = {loss.at for loss in probabilities.rounded()}
        for loss in world.once(HalfLosses).all:
            if any(event.place in rounded for event in loss.operations):
                continue
            rewrite: Rewrite = LossInFloat32(world, loss)
            of_probabilities = [given for event in loss.operations for given in probabilities.of(event)]
            if of_probabilities:  # a cast alone would hide the logits, which Keras finds behind what it is given
                rewrite = Together((*(KeepLogits(world, given) for given in of_probabilities), rewrite))
            for event, why in loss.faults:
                of = "a loss" if loss.trained else "what a metric is told"
                says = f"`{_name(event.by)}` of {of} runs in float16, where {why.value}: cast to float32 before it"
                yield Fault(event.place, Severity.WARNING, says, loss.policy, rewrite)


def _name(path: str) -> str:
    return path.rpartition(".")[2]
