"""The policy must be set in the Keras that the layers come from.

What it does
------------
Reports a half-precision policy that is set in one copy of Keras while all layers come from another: `keras`, `tf_keras`
and `tensorflow.python.keras` are three, and `tf.keras` is `keras` in Keras 3 and `tf_keras` where
TF_USE_LEGACY_KERAS is set. A program that makes layers in the copy of the policy too is not reported.

Why it matters
--------------
Each copy has a global policy of its own. Measured: after
`tf_keras.mixed_precision.set_global_policy("mixed_float16")` a `keras.layers.Dense` computes in float32, and so in
every other pair. Nothing is said, and nothing gets faster.

Example
-------
```python
import keras
import tf_keras
from keras import ops

tf_keras.mixed_precision.set_global_policy("mixed_float16")
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(64), keras.layers.Dense(1, dtype="float32")])
print(ops.sum(model.weights[0]))
```

Fixed
-----
```python
import keras
import tf_keras
from keras import ops

keras.mixed_precision.set_global_policy("mixed_float16")
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(64), keras.layers.Dense(1, dtype="float32")])
print(ops.sum(model.weights[0]))
```

Good
----
```python
import keras
import tensorflow as tf
from keras import ops

tf.keras.mixed_precision.set_global_policy("mixed_float16")
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(64), keras.layers.Dense(1, dtype="float32")])
print(ops.sum(model.weights[0]))
```

How the fix changes the program
-------------------------------
The setter is read from the copy that the layers come from: by a name that the file has, or by another import. That
switches half precision on, so the fix is unsafe, and other rules may then find what it uncovers.

References
----------
- [Mixed precision guide](https://www.tensorflow.org/guide/mixed_precision) of TensorFlow
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Applicability, Fault, History, Rule, SetElsewhere, Severity, World


class PolicyInOtherKeras(Rule):
    """MP405."""

    code = "MP405"
    name = "policy-in-other-keras"
    severity = Severity.WARNING
    fixes = (Applicability.UNSAFE,)

    def check(self, world: World) -> Iterator[Fault]:
        """Policies in a copy of Keras that makes no layers."""
        for stray in History(world).stray():
            yield Fault(
                stray.at,
                Severity.WARNING,
                f"{stray.policy.name} is set in {stray.copy}, but the layers come from {stray.layers_from}, "
                "which has a policy of its own: they stay float32",
                stray.policy,
                SetElsewhere(world, stray.at, stray.spelled),
            )
