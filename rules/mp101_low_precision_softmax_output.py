"""Softmax at a model's end must run in float32.

What it does
------------
Reports a softmax that is computed in float16 or bfloat16 and whose result is what a model returns. A softmax in the
middle of a model (attention weights, gates) is fine and is not reported. One that is cast to float32 behind the softmax
is MP106's; one that is half precision with its variables, MP402's. In bfloat16 it is a warning, not an error.

Why it matters
--------------
Probabilities near 0 and 1 do not survive half precision. In float16 the probability of the true class is exactly 0 from
a logit gap of 18 on: Keras 3's cross-entropy then gives 16.12 where 18 is right, and a gradient of 0, so that the worst
mistakes are the ones that are not learnt from; at a gap of 12 the gradient is infinite. A cast to float32 *behind* the
softmax does not help: the numbers are gone by then.

Example
-------
```python
from tensorflow import keras
from tensorflow.keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")

inputs = keras.Input((784,))
x = layers.Dense(256, activation="relu")(inputs)
outputs = layers.Dense(10, activation="softmax", name="predictions")(x)
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
outputs = layers.Dense(10, name="predictions_logits")(x)
outputs = layers.Activation("softmax", dtype="float32", name="predictions")(outputs)
model = keras.Model(inputs, outputs)
```

Good
----
```python
from tensorflow import keras
from tensorflow.keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")

inputs = keras.Input((784,))
outputs = layers.Dense(10, activation="softmax", dtype="float32")(inputs)
model = keras.Model(inputs, outputs)
```

How the fix changes the program
-------------------------------
In a Functional or Sequential model the activation is split off into a float32 `Activation` that keeps the name, so that
the matrix product stays fast. Where something else in the program depends on the layer itself (`get_layer(...)`,
`layers[-1]`, weights loaded by name, an attribute of a class, an activity regularizer), or the model has several
outputs (one more layer would change the order of its weights), the layer gets `dtype="float32"` instead; `output-fix`
in the configuration chooses one of the two for good. A softmax written as a function gets its operand cast. A model of
`keras.applications` is made without its activation, and a float32 one is put behind it. Under a float32 policy all of
them train to bit-identical weights.

References
----------
- [Mixed precision guide](https://www.tensorflow.org/guide/mixed_precision) of TensorFlow
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Applicability, EndFault, Fault, Float32End, Rule, Severity, World, faulty_ends


class LowPrecisionSoftmaxOutput(Rule):
    """MP101."""

    code = "MP101"
    name = "low-precision-softmax-output"
    severity = Severity.ERROR
    fixes = (Applicability.SAFE, Applicability.DISPLAY)

    def check(self, world: World) -> Iterator[Fault]:
        """Ends that are a softmax of half precision."""
        for end, at in faulty_ends(world, EndFault.SOFTMAX):
            yield Fault(
                at,
                Severity.ERROR if end.softmax_dtype == "float16" else Severity.WARNING,
                f"{end.label} is the model's output and its softmax runs in {end.softmax_dtype}",
                end.policy,
                Float32End(end),
            )
