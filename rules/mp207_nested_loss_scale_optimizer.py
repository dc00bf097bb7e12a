"""An optimizer needs one LossScaleOptimizer around it.

What it does
------------
Reports a LossScaleOptimizer that is put around another one. That is seldom written in one line: a factory returns a
wrapped optimizer, and its caller wraps it again. Giving a LossScaleOptimizer to `compile` is right: that wraps only
what is not wrapped yet.

Why it matters
--------------
The loss is scaled once, by the outer one, and the gradients are unscaled by both: what reaches the weights is 32768
times too small. Measured in Keras 3, 200 steps of SGD move the weights a 14,000th of the way, the accuracy stays at
0.09 instead of 0.92, and nothing is said. Keras 2 refuses it with a TypeError.

Example
-------
```python
import keras


def make_optimizer(rate):
    return keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(rate))


keras.config.set_dtype_policy("mixed_float16")
base = make_optimizer(0.1)
optimizer = keras.optimizers.LossScaleOptimizer(base)
```

Fixed
-----
```python
import keras


def make_optimizer(rate):
    return keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(rate))


keras.config.set_dtype_policy("mixed_float16")
base = make_optimizer(0.1)
optimizer = base
```

Good
----
```python
import keras
from keras import layers

keras.config.set_dtype_policy("mixed_float16")
model = keras.Sequential([keras.Input((8,)), layers.Dense(64, activation="relu"), layers.Dense(1, dtype="float32")])
model.compile(keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1)), loss="mse")
```

How the fix changes the program
-------------------------------
The outer wrapper goes, with the settings of its scale. Where the same call is given plain optimizers, too, it asks
first whether there is a wrapper. Steps become as long as they are in float32.

References
----------
- [LossScaleOptimizer](https://keras.io/api/optimizers/loss_scale_optimizer/) of Keras 3
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Applicability, Fault, Rule, Scalers, Severity, World, WrapOnce


class NestedLossScaleOptimizer(Rule):
    """MP207."""

    code = "MP207"
    name = "nested-loss-scale-optimizer"
    severity = Severity.ERROR
    fixes = (Applicability.SAFE,)

    def check(self, world: World) -> Iterator[Fault]:
        """Wrappers around wrappers."""
        for event in world.once(Scalers).nested():
            says = "this LossScaleOptimizer is around another one, and both take the scale out: wrap the optimizer once"
            yield Fault(event.place, Severity.ERROR, says, None, WrapOnce(world, event.place))
