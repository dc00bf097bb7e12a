"""The policy must be set before layers are made.

What it does
------------
Reports a half-precision policy that is set only after layers or models were made that are then used: compiled, run, or
put into one model with layers of the new policy. What counts is the order in which the program calls, not the order of
its text. A program that trains or runs something before it sets the policy switches on purpose and is not reported, nor
are models that are never used together with what comes later.

Why it matters
--------------
A layer takes the global policy once, when it is made, and keeps it. What was made before stays float32: measured, a
model that was built before `set_global_policy("mixed_float16")` computes every layer in float32, as slow as without it,
and neither generation of Keras says a word. Where only the model object was made before, its layers are float16 but
`compile` does not scale the loss, since it asks the policy of the model.

Example
-------
```python
from tensorflow import keras
from tensorflow.keras import layers

model = keras.Sequential([keras.Input((8,)), layers.Dense(64, activation="relu"), layers.Dense(1, dtype="float32")])
keras.mixed_precision.set_global_policy("mixed_float16")
model.compile(optimizer="adam", loss="mse")
```

Fixed
-----
```python
from tensorflow import keras
from tensorflow.keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")
model = keras.Sequential([keras.Input((8,)), layers.Dense(64, activation="relu"), layers.Dense(1, dtype="float32")])
model.compile(optimizer="adam", loss="mse")
```

Good
----
```python
from tensorflow import keras
from tensorflow.keras import layers

scaling = layers.Normalization()
scaling.adapt([[1.0], [2.0]])
keras.mixed_precision.set_global_policy("mixed_float16")
inputs = keras.Input((1,))
x = layers.Dense(64, activation="relu")(scaling(inputs))
model = keras.Model(inputs, layers.Dense(1, dtype="float32")(x))
model.compile(optimizer="adam", loss="mse")
```

How the fix changes the program
-------------------------------
The statement that sets the policy, or calls the helper that does, moves in front of the first statement that makes
such a layer, where both stand in one block and nothing in between is needed for it. That switches half precision on for
these layers, so the fix is unsafe: other rules may then find what it uncovers. Under a float32 policy nothing changes.

References
----------
- [Mixed precision guide](https://www.tensorflow.org/guide/mixed_precision) of TensorFlow
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Applicability, Fault, History, Rule, SetEarlier, Severity, World


class PolicyAfterLayers(Rule):
    """MP401."""

    code = "MP401"
    name = "policy-after-layers"
    severity = Severity.WARNING
    fixes = (Applicability.UNSAFE,)

    def check(self, world: World) -> Iterator[Fault]:
        """A policy that comes after what it is meant for."""
        for late in History(world).late():
            what = "everything that is trained here" if late.whole else "a part of the model"
            yield Fault(
                late.at,
                Severity.WARNING,
                f"{late.policy.name} is set too late: {what} was made before, and stays float32",
                late.policy,
                SetEarlier(late.at, late.before),
            )
