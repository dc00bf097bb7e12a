"""A softmax must run in float32, not only be cast to it.

What it does
------------
Reports a softmax at the end of a model that is computed in float16 or bfloat16 and then cast to float32: by a linear
`Activation`, an `Identity` or a `Reshape` of float32, a `Lambda`, or a cast that is written out. The output has the
right dtype and the wrong numbers.

Why it matters
--------------
What half precision has rounded away no cast brings back: in float16 the probability of the true class is 0 from a
logit gap of 18 on, and stays 0 in float32. It even trains worse: measured with a hard start in Keras 2, 45 of 200 steps
changed nothing (the loss scale fell to 1) where the softmax was cast afterwards, against 2 with the plain float16
softmax and 2 with a float32 one, since Keras 2 finds the logits only behind an untouched softmax. In Keras 3 it was 17
of 200, exactly as many as without the cast. Because the dtype is right, no check of dtypes sees it.

Example
-------
```python
from tensorflow import keras
from tensorflow.keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")

inputs = keras.Input((784,))
x = layers.Dense(256, activation="relu")(inputs)
x = layers.Dense(10, activation="softmax")(x)
outputs = layers.Activation("linear", dtype="float32")(x)
model = keras.Model(inputs, outputs)
```

Fixed
-----
```python
from tensorflow import keras
from tensorflow.keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")

inputs = keras.Input((784,))
x = layers.Dense(256, activation="relu")(inputs)
x = layers.Dense(10)(x)
x = layers.Activation("softmax", dtype="float32")(x)
outputs = layers.Activation("linear", dtype="float32")(x)
model = keras.Model(inputs, outputs)
```

Good
----
```python
from tensorflow import keras
from tensorflow.keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")

inputs = keras.Input((784,))
x = layers.Dense(10)(inputs)
x = layers.Activation("linear", dtype="float32")(x)
outputs = layers.Activation("softmax", dtype="float32")(x)
model = keras.Model(inputs, outputs)
```

How the fix changes the program
-------------------------------
The softmax itself gets float32, in the ways of MP101. The cast behind it stays: it does nothing any more, and you may
delete it. Under a float32 policy nothing changes, bit for bit.

References
----------
- [Mixed precision guide](https://www.tensorflow.org/guide/mixed_precision) of TensorFlow
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Applicability, EndFault, Fault, Float32End, Rule, Severity, World, faulty_ends


class CastAfterLowPrecisionSoftmax(Rule):
    """MP106."""

    code = "MP106"
    name = "cast-after-low-precision-softmax"
    severity = Severity.WARNING
    fixes = (Applicability.SAFE, Applicability.DISPLAY)
    gives_way_to = ("MP101",)

    def check(self, world: World) -> Iterator[Fault]:
        """Ends that are float32 and carry a softmax of half precision."""
        for end, at in faulty_ends(world, EndFault.SOFTMAX_CAST_AFTERWARDS):
            yield Fault(
                at,
                Severity.WARNING,
                f"this softmax runs in {end.softmax_dtype} and is cast to {end.dtype} afterwards: "
                "the model's output has the right dtype, but the rounded numbers",
                end.policy,
                Float32End(end),
            )
