"""Other libraries' wrappers and a LossScaleOptimizer seldom fit.

What it does
------------
Reports a LossScaleOptimizer that is given to another library's wrapper of optimizers (stochastic weight averaging,
Lookahead, a distributed optimizer, one that accumulates gradients), or that is put around what such a wrapper gives.

Why it matters
--------------
Both sides read attributes that the other one does not pass on, and the wrapper may average, sum or send gradients while
they are scaled. Reports of missing attributes and crashes are many, and which order works depends on the releases of
both. Where a wrapper steps the weights by itself, nobody looks for overflow any more.

Example
-------
```python
import horovod.tensorflow.keras as hvd
import tensorflow as tf

tf.keras.mixed_precision.set_global_policy("mixed_float16")
optimizer = tf.keras.mixed_precision.LossScaleOptimizer(tf.keras.optimizers.SGD(0.1))
optimizer = hvd.DistributedOptimizer(optimizer)
```

Good
----
```python
import horovod.tensorflow.keras as hvd
import tensorflow as tf

tf.keras.mixed_precision.set_global_policy("mixed_float16")
model = tf.keras.Sequential([tf.keras.Input((8,)), tf.keras.layers.Dense(1, dtype="float32")])
model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.1)), loss="mse")  # compile does the rest
```

How the fix changes the program
-------------------------------
There is none. See what the other library says of mixed precision; averaging of weights, clipping and accumulating are
built into the optimizers of Keras 3 (`use_ema`, `global_clipnorm`, `gradient_accumulation_steps`), and work inside a
LossScaleOptimizer.

References
----------
- [LossScaleOptimizer](https://keras.io/api/optimizers/loss_scale_optimizer/) of Keras 3
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Fault, Rule, Scalers, Severity, World


class WrappedLossScaleOptimizer(Rule):
    """MP216."""

    code = "MP216"
    name = "wrapped-loss-scale-optimizer"
    severity = Severity.ADVICE

    def check(self, world: World) -> Iterator[Fault]:
        """Wrappers of other libraries around or inside a LossScaleOptimizer."""
        for place, wrapper in world.once(Scalers).foreign_wrappers():
            says = (
                f"{wrapper} and a LossScaleOptimizer are put around one another: see whether these releases support it"
            )
            yield Fault(place, Severity.ADVICE, says)
