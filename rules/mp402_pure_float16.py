"""Variables must not be half precision.

What it does
------------
Reports 'float16' and 'bfloat16' as a policy: as the global one, through `set_floatx`, or as the `dtype=` of a layer
with variables. A layer without variables (an activation, an input) may have such a dtype, and a program that only
predicts with weights that it has, or writes them down, is not reported.

Why it matters
--------------
The mixed policies compute in half precision but keep the variables in float32. Under 'float16' the variables are
float16 too, and small updates are lost: measured, 1.0 minus 1000 updates of 1e-4 stays 1.0 in float16 and bfloat16
(0.9 is right). Pure bfloat16 training moved the loss from 1.644 to 1.644 where float32 reached 1.144. And
`compile` scales no loss under 'float16', so that small gradients are 0.

Example
-------
```python
from tensorflow import keras
from tensorflow.keras import layers

keras.mixed_precision.set_global_policy("float16")
model = keras.Sequential([keras.Input((8,)), layers.Dense(64, activation="relu"), layers.Dense(1, dtype="float32")])
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

inputs = keras.Input((8,), dtype="float16")
x = layers.Dense(64)(inputs)
x = layers.Activation("relu", dtype="float16")(x)
model = keras.Model(inputs, layers.Dense(1)(x))
model.compile(optimizer="adam", loss="mse")
```

How the fix changes the program
-------------------------------
The name becomes 'mixed_float16' or 'mixed_bfloat16'; `set_floatx` becomes a call that sets the policy. The variables
are then float32, so weights that were saved in half precision are read into wider ones. Where the name comes from a
constant elsewhere that other code may read as a dtype, the change is only shown.

References
----------
- [Mixed precision guide](https://www.tensorflow.org/guide/mixed_precision) of TensorFlow
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Applicability, Fault, History, NamePolicy, Rule, Severity, World


class PureFloat16(Rule):
    """MP402."""

    code = "MP402"
    name = "pure-float16"
    severity = Severity.ERROR
    fixes = (Applicability.UNSAFE, Applicability.DISPLAY)

    def check(self, world: World) -> Iterator[Fault]:
        """Policies that make half-precision variables."""
        for found in History(world).half_variables():
            name = found.policy.name
            count = "a layer" if found.layers == 1 else f"{found.layers} layers"
            yield Fault(
                found.at,
                Severity.ERROR,
                f"{name} as a policy gives {count} {name} variables, which lose small updates: use mixed_{name}",
                found.policy if found.value is None else None,
                NamePolicy(world, found.at, found.value, f"mixed_{name}", is_dtype=True),
            )
