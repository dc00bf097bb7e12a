"""A policy must have a name that Keras knows.

What it does
------------
Reports a name that the installed generation of Keras refuses as a policy ('mixed_fp16', 'fp16', 'Mixed_Float16', in
Keras 3 also 'half'), and a dtype object where a name is wanted (`set_global_policy(tf.float16)`); in a setter also a
dtype that layers cannot train in ('int32', which Keras 3 takes without a word). What is inside a `try` that catches
the exception is not reported.

Why it matters
--------------
`ValueError: Cannot convert 'mixed_fp16' to a mixed precision DTypePolicy` comes when the line is reached, which in a
program that sets the policy behind an option may be on another day and on another machine. Under 'int32' Keras 3
makes layers whose variables are integers.

Example
-------
```python
from tensorflow import keras
from tensorflow.keras import layers

keras.mixed_precision.set_global_policy("mixed_fp16")
model = keras.Sequential([keras.Input((8,)), layers.Dense(64), layers.Dense(1, dtype="float32")])
```

Fixed
-----
```python
from tensorflow import keras
from tensorflow.keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")
model = keras.Sequential([keras.Input((8,)), layers.Dense(64), layers.Dense(1, dtype="float32")])
```

Good
----
```python
from tensorflow import keras

NAMES = {"fp16": "mixed_float16", "bf16": "mixed_bfloat16", "fp32": "float32"}
keras.mixed_precision.set_global_policy(NAMES["fp16"])
```

How the fix changes the program
-------------------------------
The name becomes that of the policy that was meant; of the half-precision ones always the mixed one. The program, which
raised there, then runs in half precision, so the fix is unsafe. A constant that is written elsewhere is changed only
where its text occurs once.

References
----------
- [Mixed precision guide](https://www.tensorflow.org/guide/mixed_precision) of TensorFlow
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Applicability, Fault, History, NamePolicy, Rule, Severity, World, nearest_policy


class UnknownPolicy(Rule):
    """MP404."""

    code = "MP404"
    name = "unknown-policy"
    severity = Severity.ERROR
    fixes = (Applicability.UNSAFE, Applicability.DISPLAY)

    def check(self, world: World) -> Iterator[Fault]:
        """Names that are refused, or wrongly taken."""
        for refused in History(world).refused():
            meant = nearest_policy(refused.name)
            hint = f": did you mean {meant}?" if meant is not None else ""
            yield Fault(
                refused.place,
                Severity.ERROR,
                f"{refused.name!r} is no policy that layers can work with in Keras {world.generation}{hint}",
                rewrite=NamePolicy(world, refused.place, refused.value, meant, is_dtype=False) if meant else None,
            )
