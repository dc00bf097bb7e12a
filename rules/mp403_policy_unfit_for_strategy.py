"""The policy must suit the distribution strategy.

What it does
------------
Reports mixed_float16 for layers that are made in the scope of a `TPUStrategy`, and in Keras 2 also in that of a
`ParameterServerStrategy` or `CentralStorageStrategy`.

Why it matters
--------------
TPUs compute in bfloat16; there is no float16 hardware, and loss scaling is not supported. In Keras 2 the first layer
raises there ("Mixed precision is not supported with the tf.distribute.Strategy", measured under
`CentralStorageStrategy`; by its source the same holds for the other two). Keras 3 has no such check: it runs in a
format that TPUs only emulate. mixed_bfloat16 has the range of float32, needs no loss scaling, and is taken by all of
them.

Example
-------
```python
import tensorflow as tf

strategy = tf.distribute.TPUStrategy()
tf.keras.mixed_precision.set_global_policy("mixed_float16")
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(64), tf.keras.layers.Dense(1, dtype="float32")])
```

Fixed
-----
```python
import tensorflow as tf

strategy = tf.distribute.TPUStrategy()
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(64), tf.keras.layers.Dense(1, dtype="float32")])
```

Good
----
```python
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
tf.keras.mixed_precision.set_global_policy("mixed_float16")
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(64), tf.keras.layers.Dense(1, dtype="float32")])
```

How the fix changes the program
-------------------------------
'mixed_float16' becomes 'mixed_bfloat16' where it is written. Its numbers have 8 bits instead of 11, so results differ
slightly from those of float16 elsewhere.

References
----------
- [Mixed precision guide](https://www.tensorflow.org/guide/mixed_precision) of TensorFlow
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Applicability, Fault, History, NamePolicy, Rule, Severity, World


class PolicyUnfitForStrategy(Rule):
    """MP403."""

    code = "MP403"
    name = "policy-unfit-for-strategy"
    severity = Severity.ERROR
    fixes = (Applicability.UNSAFE, Applicability.DISPLAY)

    def check(self, world: World) -> Iterator[Fault]:
        """mixed_float16 under a strategy that does not support it."""
        for unfit in History(world).unfit():
            yield Fault(
                unfit.at,
                Severity.ERROR,
                f"{unfit.policy.name} does not work under {unfit.strategy}: use mixed_bfloat16",
                unfit.policy,
                NamePolicy(world, unfit.at, unfit.value, "mixed_bfloat16", is_dtype=False),
            )
