"""A cross-entropy must be given logits, not probabilities of half precision.

What it does
------------
Reports a cross-entropy of probabilities that a softmax or sigmoid has computed in float16 or bfloat16, where these are
no output of a model (there MP101 and MP102 speak): a second head in `train_step`, a loss that a layer adds, the loss of
something in the middle. Only where the loss sees the rounded probabilities. Keras looks for the logits behind what it
is given, and finds them where that is just what a softmax or sigmoid of Keras has put out: Keras 2 does so in objects
and functions alike, Keras 3 in functions only, since its objects cast to float32 first. A cast or a reshape in between
hides them from all. A logarithm that the program takes itself is reported in float16.

Why it matters
--------------
Half precision has rounded the probabilities before the loss sees them, and no cast brings them back. Measured with
float16, at a logit gap of 12 the gradient of the loss is nan (with a sigmoid it is inf), and at 18 the loss is 16.12 in
place of 19.10 and the gradient 0 in place of 1: the worst mistakes are not learnt from. In bfloat16 nothing overflows,
but at a gap of 18 the gradient is 0 all the same. With the logits all of these are right.

Example
-------
```python
import keras
from keras import layers

keras.config.set_dtype_policy("mixed_float16")


class DeepSupervision(layers.Layer):
    def __init__(self, classes):
        super().__init__()
        self.guess = layers.Dense(classes, activation="softmax")
        self.criterion = keras.losses.SparseCategoricalCrossentropy()

    def call(self, features, labels):
        self.add_loss(self.criterion(labels, self.guess(features)))
        return features


x = keras.Input((32,))
labels = keras.Input((), dtype="int32")
outputs = layers.Dense(8, dtype="float32")(DeepSupervision(8)(x, labels))
model = keras.Model([x, labels], outputs)
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
```

Fixed
-----
```python
import keras
from keras import layers

keras.config.set_dtype_policy("mixed_float16")


class DeepSupervision(layers.Layer):
    def __init__(self, classes):
        super().__init__()
        self.guess = layers.Dense(classes)
        self.criterion = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def call(self, features, labels):
        self.add_loss(self.criterion(labels, self.guess(features)))
        return features


x = keras.Input((32,))
labels = keras.Input((), dtype="int32")
outputs = layers.Dense(8, dtype="float32")(DeepSupervision(8)(x, labels))
model = keras.Model([x, labels], outputs)
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
```

Good
----
```python
import keras
from keras import layers

keras.config.set_dtype_policy("mixed_float16")


class DeepSupervision(layers.Layer):
    def __init__(self, classes):
        super().__init__()
        self.guess = layers.Dense(classes, activation="softmax", dtype="float32")
        self.criterion = keras.losses.SparseCategoricalCrossentropy()

    def call(self, features, labels):
        self.add_loss(self.criterion(labels, self.guess(features)))
        return features


x = keras.Input((32,))
labels = keras.Input((), dtype="int32")
outputs = layers.Dense(8, dtype="float32")(DeepSupervision(8)(x, labels))
model = keras.Model([x, labels], outputs)
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
```

How the fix changes the program
-------------------------------
The layer loses its activation and gives logits, and the loss is told with `from_logits=True`. That is unsafe: in
float32 the loss is the same number computed another way, bit for bit it is not, and whoever reads the layer gets
logits. Only shown where something else reads the probabilities, or the object that computes the loss may be called on
others.

Where the activation is a layer or a function of its own, or the program takes the logarithm itself, the activation is
computed in float32: the layer is given `dtype="float32"`, or the logits are cast. Under a float32 policy nothing
changes, bit for bit. It takes `--unsafe-fixes` where the probabilities are handed on to others, who see float32 then.

References
----------
- [Mixed precision guide](https://www.tensorflow.org/guide/mixed_precision) of TensorFlow
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import (
    Applicability,
    Fault,
    Float32Probabilities,
    KeepLogits,
    Probabilities,
    Rule,
    Severity,
    World,
)


class CrossEntropyOnHalfProbabilities(Rule):
    """MP104."""

    code = "MP104"
    name = "cross-entropy-on-half-probabilities"
    severity = Severity.WARNING
    fixes = (Applicability.SAFE, Applicability.UNSAFE, Applicability.DISPLAY)

    def check(self, world: World) -> Iterator[Fault]:
        """Cross-entropies that are computed of what half precision has left of the probabilities."""
        for rounded in world.once(Probabilities).rounded():
            dtype = rounded.maker.computed_in
            says = f"this cross-entropy is computed of what a {rounded.activation} has put out in {dtype}"
            lost = "there a probability of 1e-8 is 0" if dtype == "float16" else "three digits are left of them"
            in_float32 = rounded.event is None or rounded.is_apart
            rewrite = Float32Probabilities(world, rounded) if in_float32 else KeepLogits(world, rounded)
            yield Fault(
                rounded.at, Severity.WARNING, f"{says}, and {lost}: give it the logits", rounded.policy, rewrite
            )
