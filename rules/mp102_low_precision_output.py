"""A model must return float32.

What it does
------------
Reports an output of a model that is float16 or bfloat16: a sigmoid, a regression, logits, or a float32 head whose
result a later layer rounds again. What a model returns is followed through reshapes, helper functions, nested models
and `call`. Where a function or a class of layers makes the middle of models, too, the call that uses it at the end is
reported. A softmax end is MP101's, and MP105's one for which float32 was asked for where it has no effect.

Why it matters
--------------
Neither generation of Keras casts what a model returns. Losses, metrics and your own code then work on numbers with 11
bits (float16) or 8 bits (bfloat16): from 2048 on a float16 prediction cannot even tell whole numbers apart, and a
target of 100,000 is infinite. Keras 2 computes the loss in float16 too: measured on a regression with targets up to
9000, 199 of 200 steps were skipped because the gradients overflowed.

Example
-------
```python
from tensorflow import keras
from tensorflow.keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")

inputs = keras.Input((16,))
x = layers.Dense(64, activation="relu")(inputs)
price = layers.Dense(1, name="price")(x)
model = keras.Model(inputs, price)
```

Fixed
-----
```python
from tensorflow import keras
from tensorflow.keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")

inputs = keras.Input((16,))
x = layers.Dense(64, activation="relu")(inputs)
price = layers.Dense(1, name="price", dtype="float32")(x)
model = keras.Model(inputs, price)
```

Good
----
```python
from tensorflow import keras
from tensorflow.keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")

inputs = keras.Input((16,))
x = layers.Dense(64, activation="relu")(inputs)
mask = layers.Dense(8)(x)
mask = layers.Activation("sigmoid", dtype="float32")(mask)
model = keras.Model(inputs, mask)
```

How the fix changes the program
-------------------------------
A layer without an activation gets `dtype="float32"`: better than a cast behind it, since its own sum would still
overflow in float16. One with an activation is split as for MP101. Layers that only carry numbers on (Reshape, Dropout)
get the dtype as well. An end that no layer makes is cast. A model of `keras.applications` gets a float32 activation
behind it; one without its top is only an end where it is trained as it is. So does a call of code that makes the middle
of models, too. Under a float32 policy nothing changes, bit for bit.

References
----------
- [Mixed precision guide](https://www.tensorflow.org/guide/mixed_precision) of TensorFlow
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Applicability, EndFault, Fault, Float32End, Rule, Severity, World, faulty_ends


class LowPrecisionOutput(Rule):
    """MP102."""

    code = "MP102"
    name = "low-precision-output"
    severity = Severity.WARNING
    fixes = (Applicability.SAFE, Applicability.DISPLAY)

    def check(self, world: World) -> Iterator[Fault]:
        """Ends that are half precision, for which no other rule has a finer word."""
        for end, at in faulty_ends(world, EndFault.OUTPUT):
            yield Fault(
                at,
                Severity.WARNING,
                f"{end.label} is the model's output and is {end.dtype}",
                end.policy,
                Float32End(end),
            )
