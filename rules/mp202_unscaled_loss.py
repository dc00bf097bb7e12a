"""A LossScaleOptimizer must be given the gradient of a scaled loss.

What it does
------------
Reports a gradient that is taken of an unscaled loss and given to a LossScaleOptimizer: in a loop of your own, or in a
`train_step`, where `compile` has put a LossScaleOptimizer around the optimizer. Losses and gradients are followed
through helper functions, tuples, methods, `strategy.run` and `tf.function`. A loss that may have been scaled where it
cannot be followed is not reported, nor is one that is multiplied with a scale by hand.

Why it matters
--------------
Keras 3's LossScaleOptimizer divides every gradient by the scale, 32768 at first, whether or not the loss was
multiplied with it. Measured on a classifier that learns to 92 %: with SGD the weights move 0.00007 times as far as
they should and it stays at 9 %, with Adam it learns half as fast. Keras says nothing. In Keras 2 nothing is divided;
there only what loss scaling is for is missing: gradients below 6e-8 are 0 in float16. Measured with a loss of the size
of 1e-6: no weight moves at all. A stateless loop of JAX is like the first: weights move 0.0006 times as far with SGD.

Example
-------
```python
import keras
import tensorflow as tf

keras.mixed_precision.set_global_policy("mixed_float16")


class Denoiser(keras.Model):
    def __init__(self):
        super().__init__()
        self.encode = keras.layers.Dense(64, activation="relu")
        self.decode = keras.layers.Dense(32, dtype="float32")

    def call(self, x):
        return self.decode(self.encode(x))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(x=x, y=y, y_pred=self(x, training=True))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(gradients, self.trainable_variables)
        return {"loss": loss}


model = Denoiser()
model.compile(optimizer=keras.optimizers.SGD(0.1), loss="mse")
```

Fixed
-----
```python
import keras
import tensorflow as tf

keras.mixed_precision.set_global_policy("mixed_float16")


class Denoiser(keras.Model):
    def __init__(self):
        super().__init__()
        self.encode = keras.layers.Dense(64, activation="relu")
        self.decode = keras.layers.Dense(32, dtype="float32")

    def call(self, x):
        return self.decode(self.encode(x))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(x=x, y=y, y_pred=self(x, training=True))
            scaled_loss = self.optimizer.scale_loss(loss)
        gradients = tape.gradient(scaled_loss, self.trainable_variables)
        self.optimizer.apply(gradients, self.trainable_variables)
        return {"loss": loss}


model = Denoiser()
model.compile(optimizer=keras.optimizers.SGD(0.1), loss="mse")
```

Good
----
```python
import keras
import tensorflow as tf

keras.mixed_precision.set_global_policy("mixed_bfloat16")

model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(8, dtype="float32")])
optimizer = keras.optimizers.SGD(0.1)


def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - y))
        scaled_loss = optimizer.scale_loss(loss)
    gradients = tape.gradient(scaled_loss, model.trainable_variables)
    optimizer.apply(gradients, model.trainable_variables)


step(tf.zeros((4, 16)), tf.zeros((4, 8)))
```

How the fix changes the program
-------------------------------
The scaled loss gets a name of its own, behind the statement that binds the loss and inside the tape, and the gradient
is taken of it: what is logged and returned stays the loss. In Keras 3 the gradients stay scaled until they are
applied, so what they are clipped to is scaled as well. Keras 2 also gets `get_unscaled_gradients` behind the gradient;
where `compile` has made the optimizer, which is a plain one without the policy, gradient and application become
`optimizer.minimize(loss, variables, tape=tape)`, which does all of this where it is needed, or, where the gradients
are used for more, stand under `isinstance(optimizer, LossScaleOptimizer)`. A function that takes the gradient and does
not know the optimizer gets it as one more parameter, where all its calls are known: that is unsafe, since others may
call it. A function that JAX differentiates gets the variables of the optimizer as one more parameter, scales its loss
in a `StatelessScope` of them, and gives the plain loss beside the scaled one, so that the step has it as before; that
is unsafe, too. Under `mixed_float16` the program learns as it should. Under float32 nothing changes where `compile`
decides whether the loss is scaled; a loop whose optimizer scales in any case is mended there, too.

References
----------
- [Mixed precision guide](https://www.tensorflow.org/guide/mixed_precision) of TensorFlow, "Training the model with a
  custom training loop"
- [LossScaleOptimizer](https://keras.io/api/optimizers/loss_scale_optimizer/) of Keras 3
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Applicability, Fault, Loops, Rule, ScaleLoss, Severity, World, first_at_each_place


class UnscaledLoss(Rule):
    """MP202."""

    code = "MP202"
    name = "unscaled-loss"
    severity = Severity.ERROR
    fixes = (Applicability.SAFE, Applicability.UNSAFE)

    def check(self, world: World) -> Iterator[Fault]:
        """Each gradient of a loss that nobody scales, for an optimizer that counts on it."""
        loops = world.once(Loops)
        severity, says = _VERDICTS[world.generation]
        yield from first_at_each_place(
            Fault(step.gradient.place, severity, says, loops.policy_of(step), ScaleLoss(world, step))
            for step in loops.unscaled_losses()
            if step.gradient.place is not None
        )


_VERDICTS = {
    "2": (
        Severity.WARNING,
        (
            "the optimizer is a LossScaleOptimizer, but this is the gradient of a loss that is not scaled: what is too"
            " small for float16 becomes 0; take that of optimizer.get_scaled_loss(loss), computed inside the tape, and"
            " give it to optimizer.get_unscaled_gradients"
        ),
    ),
    "3": (
        Severity.ERROR,
        (
            "this is the gradient of a loss that is not scaled, and the optimizer divides it by the loss scale"
            " all the same: the model hardly learns; take that of optimizer.scale_loss(loss), computed inside the tape"
        ),
    ),
}
