"""The loss scale should be dynamic.

What it does
------------
Reports a loss scale that stays what it is: `loss_scale_factor=` of an optimizer in Keras 3, a LossScaleOptimizer with
`dynamic=False` in Keras 2, and a loss that the program multiplies with a number of its own, or with a variable that
it leaves at one, by which it divides the gradients. So it does with a loss that is scaled in a step that JAX compiles,
outside `keras.StatelessScope`: there the scale is the one that the optimizer had when the step was compiled, while
`stateless_apply` divides by the one that it is given.

Why it matters
--------------
The right scale depends on the model and on how far it is trained. One that is too small loses gradients, one that is
too large makes them infinite: measured, a loop that works with 1024 gives nan with 16,777,216, and nothing skips the
step. A LossScaleOptimizer begins at 32768, halves the scale when gradients overflow, without making that step, and
doubles it after 2000 good ones.

In a stateless step of JAX that forgets the scope, the steps become half as long with each doubling of the scale, and
after an overflow the loss stays as large as it was: measured with a first scale of 67,108,864, each of 60 steps is left
out and no weight moves; in the scope the scale comes down and the model learns.

Example
-------
```python
import keras
from keras import layers

keras.config.set_dtype_policy("mixed_float16")
model = keras.Sequential([keras.Input((8,)), layers.Dense(64, activation="relu"), layers.Dense(1, dtype="float32")])
model.compile(keras.optimizers.SGD(0.1, loss_scale_factor=1024.0), loss="mse")
```

Fixed
-----
```python
import keras
from keras import layers

keras.config.set_dtype_policy("mixed_float16")
model = keras.Sequential([keras.Input((8,)), layers.Dense(64, activation="relu"), layers.Dense(1, dtype="float32")])
model.compile(keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1)), loss="mse")
```

Good
----
```python
import keras
from keras import layers

keras.config.set_dtype_policy("mixed_float16")
model = keras.Sequential([keras.Input((8,)), layers.Dense(64, activation="relu"), layers.Dense(1, dtype="float32")])
model.compile(keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1), initial_scale=1024.0), loss="mse")
```

How the fix changes the program
-------------------------------
The argument goes, and a LossScaleOptimizer is put around the optimizer; a scale made by hand becomes calls of that.
The scale is then another one than was chosen, and the optimizer's state in checkpoints has another structure, so the
fix is unsafe. Under a float32 policy scaling by powers of two changes nothing. A step of JAX scales in the scope, with
the variables of the optimizer that it is given; the function that is differentiated takes them as one more parameter
where it has none for them, so that who else calls it must know.

References
----------
- [LossScaleOptimizer](https://keras.io/api/optimizers/loss_scale_optimizer/) of Keras 3
- [Mixed precision guide](https://www.tensorflow.org/guide/mixed_precision) of TensorFlow
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Applicability, Fault, Rule, ScaleDynamically, Scalers, Severity, World


class FixedLossScale(Rule):
    """MP209."""

    code = "MP209"
    name = "fixed-loss-scale"
    severity = Severity.WARNING
    fixes = (Applicability.UNSAFE,)

    def check(self, world: World) -> Iterator[Fault]:
        """Scales that do not adapt themselves."""
        for fixed in world.once(Scalers).fixed_scales():
            if fixed.value is None:
                says = (
                    "this scale stays what it was when JAX compiled the step, and stateless_apply divides by what it"
                    " has become: scale inside keras.StatelessScope, with the variables that it is given"
                )
            else:
                says = (
                    f"the loss scale is fixed at {fixed.value:g}: let a LossScaleOptimizer find the one that neither"
                    " loses nor overflows"
                )
            yield Fault(fixed.at, Severity.WARNING, says, None, ScaleDynamically(world, fixed))
