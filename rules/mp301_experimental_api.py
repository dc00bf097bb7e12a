"""Mixed precision must be written in the API that is there.

What it does
------------
Reports what TensorFlow renamed or took away when mixed precision left its trial in 2.4: `mixed_precision.experimental`,
`set_policy`, the argument `loss_scale=` of `Policy` and of `LossScaleOptimizer` (or `"dynamic"` in its place),
`optimizer.loss_scale()` as a call, `policy.loss_scale`, and the classes `FixedLossScale` and `DynamicLossScale`. Every
line that must change is reported, whatever the module is imported as. What stands in a `try` that goes on without the
name, or behind a check that it is there, is not reported, nor is a project that asks for TensorFlow before 2.4.

Why it matters
--------------
TensorFlow 2.9 to 2.15, tf-keras and Keras 3 have no `mixed_precision.experimental`: measured, the import raises
`ImportError: cannot import name 'experimental'`. `LossScaleOptimizer(optimizer, loss_scale="dynamic")` raises a
`TypeError` in Keras 2 and a `ValueError` in Keras 3, and `optimizer.loss_scale()` raises
`TypeError: 'EagerTensor' object is not callable`. Keras 3 takes `LossScaleOptimizer(optimizer, "dynamic")` without a
word, and fails at the first step.

Example
-------
```python
from tensorflow import keras
from tensorflow.keras.mixed_precision import experimental as mixed_precision

policy = mixed_precision.Policy("mixed_float16", loss_scale="dynamic")
mixed_precision.set_policy(policy)
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(64), keras.layers.Dense(1, dtype="float32")])
optimizer = mixed_precision.LossScaleOptimizer(keras.optimizers.SGD(0.1), loss_scale="dynamic")
model.compile(optimizer, "mse")
```

Fixed
-----
```python
from tensorflow import keras
from tensorflow.keras import mixed_precision

policy = mixed_precision.Policy("mixed_float16")
mixed_precision.set_global_policy(policy)
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(64), keras.layers.Dense(1, dtype="float32")])
optimizer = mixed_precision.LossScaleOptimizer(keras.optimizers.SGD(0.1))
model.compile(optimizer, "mse")
```

Good
----
```python
from tensorflow import keras
from tensorflow.keras import mixed_precision

try:
    mixed_precision.set_global_policy("mixed_float16")
except AttributeError:
    mixed_precision.experimental.set_policy("mixed_float16")
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(64), keras.layers.Dense(1, dtype="float32")])
```

How the fix changes the program
-------------------------------
The names become those of today, which say the same; a dynamic scale is the default, so `loss_scale="dynamic"` goes. A
fixed scale becomes `dynamic=False, initial_scale=…` in Keras 2; Keras 3 has no fixed scale in a LossScaleOptimizer, so
there, and where the scale is not written in the call, the change is only shown. The program raised before.

References
----------
- [Release notes of TensorFlow 2.4](https://github.com/tensorflow/tensorflow/releases/tag/v2.4.0)
- [tf.keras.mixed_precision](https://www.tensorflow.org/api_docs/python/tf/keras/mixed_precision)
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import (
    Applicability,
    Fault,
    NameOfToday,
    Outdated,
    Rule,
    ScaleOfToday,
    ScaleRead,
    Severity,
    World,
)


class ExperimentalApi(Rule):
    """MP301."""

    code = "MP301"
    name = "experimental-api"
    severity = Severity.ERROR
    fixes = (Applicability.SAFE, Applicability.DISPLAY)

    def check(self, world: World) -> Iterator[Fault]:
        """Names, arguments and calls of the API on trial."""
        outdated = world.once(Outdated)
        for found in outdated.names():
            is_deprecated, was_there = outdated.is_deprecated(found.at), found.names[0].was_there
            gone = ", ".join(f"`{each.label}`" for each in found.names)
            now = ", ".join(dict.fromkeys(f"`{each.now}`" for each in found.names if each.now is not None))
            says = f"{gone} {_absence(is_deprecated) if was_there else 'is not there'}"
            yield Fault(
                found.at,
                Severity.WARNING if is_deprecated else Severity.ERROR,
                f"{says}: use {now}" if now else f"{says}: LossScaleOptimizer says how the loss is scaled",
                rewrite=NameOfToday(found.at, found.names),
            )
        for argument in outdated.arguments:
            what = "a policy" if argument.of_policy else "LossScaleOptimizer"
            yield Fault(
                argument.at,
                Severity.ERROR,
                f"{what} takes no `loss_scale` since TensorFlow 2.4: it is dynamic unless LossScaleOptimizer is told "
                "otherwise",
                rewrite=ScaleOfToday(world, argument.at, argument.value, argument.of_policy, argument.old),
            )
        for use in outdated.called_scales():
            now = (
                "an attribute" if world.generation == "2" else "not there in Keras 3: `scale_loss(1.0)` gives the scale"
            )
            yield Fault(
                use.at,
                Severity.ERROR,
                f"`loss_scale` of an optimizer is no method, but {now}",
                rewrite=ScaleRead(world, use.at),
            )


def _absence(is_deprecated: bool) -> str:
    return "was deprecated in TensorFlow 2.4 and is gone in 2.9" if is_deprecated else "was taken out of TensorFlow"
