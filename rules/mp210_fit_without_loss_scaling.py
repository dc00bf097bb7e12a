"""A model that fit trains in float16 needs loss scaling.

What it does
------------
Reports a model with float16 layers that is compiled with an optimizer that does not scale the loss. `compile` puts a
LossScaleOptimizer around the optimizer where the policy of the *model* is mixed_float16, which is the global policy
when the model is made. Layers with a policy of their own, in a model without it, get none; in Keras 3,
`auto_scale_loss=False` switches it off.

Why it matters
--------------
Gradients below 0.00000006 are zero in float16. Measured, with a loss that is weighed by 0.000001, the weights of the
float16 layers do not move at all and the accuracy stays at 0.09, where scaling reaches the 0.92 of float32. Neither
generation of Keras warns of it.

Example
-------
```python
import keras
from keras import layers

inputs = keras.Input((8,))
x = layers.Dense(64, activation="relu", dtype="mixed_float16")(inputs)
model = keras.Model(inputs, layers.Dense(1, dtype="float32")(x))
model.compile(optimizer=keras.optimizers.SGD(0.1), loss="mse")
```

Fixed
-----
```python
import keras
from keras import layers

inputs = keras.Input((8,))
x = layers.Dense(64, activation="relu", dtype="mixed_float16")(inputs)
model = keras.Model(inputs, layers.Dense(1, dtype="float32")(x))
model.compile(optimizer=keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1)), loss="mse")
```

Good
----
```python
import keras
from keras import layers

keras.config.set_dtype_policy("mixed_float16")
model = keras.Sequential([keras.Input((8,)), layers.Dense(64, activation="relu"), layers.Dense(1, dtype="float32")])
model.compile(optimizer=keras.optimizers.SGD(0.1), loss="mse")
```

How the fix changes the program
-------------------------------
`auto_scale_loss=False` goes. Where the policy stands at single layers, the optimizer gets a LossScaleOptimizer, so that
no other layer is changed. The optimizer's state in checkpoints then has another structure, so the fix is unsafe. What
is computed in float32 stays the same.

References
----------
- [Mixed precision guide](https://www.tensorflow.org/guide/mixed_precision) of TensorFlow
- [LossScaleOptimizer](https://keras.io/api/optimizers/loss_scale_optimizer/) of Keras 3
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Applicability, CompileScaling, Fault, Rule, Scalers, Severity, World


class FitWithoutLossScaling(Rule):
    """MP210."""

    code = "MP210"
    name = "fit-without-loss-scaling"
    severity = Severity.ERROR
    fixes = (Applicability.UNSAFE,)

    def check(self, world: World) -> Iterator[Fault]:
        """Models that are compiled for float16 without scaling."""
        for compiled in world.once(Scalers).compiled_without_scaling():
            if compiled.unscaled:
                why = "auto_scale_loss=False switches loss scaling off: leave it on"
            else:
                why = "compile scales the loss only where the model's own policy is mixed_float16: wrap the optimizer"
            says = f"layers of this model compute in float16, and {why}"
            policy = compiled.policy if compiled.unscaled else None
            yield Fault(compiled.place, Severity.ERROR, says, policy, CompileScaling(world, compiled))
