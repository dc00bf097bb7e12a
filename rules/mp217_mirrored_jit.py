"""MirroredStrategy with loss scaling should not be compiled by XLA.

What it does
------------
Reports a model that is made under a `MirroredStrategy`, scales its loss, and is compiled with `jit_compile=True`.

Why it matters
--------------
The replicas have to agree on whether a step is skipped, and XLA does not compile that exchange: with several GPUs
releases of Keras have raised "merge_call called while defining a new graph". With a single replica the program runs,
as measured, so that the fault first shows on the large machine.

Example
-------
```python
import keras
import tensorflow as tf
from keras import layers

keras.config.set_dtype_policy("mixed_float16")
strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = keras.Sequential([keras.Input((8,)), layers.Dense(64, activation="relu"), layers.Dense(1, dtype="float32")])
    model.compile("sgd", "mse", jit_compile=True)
```

Good
----
```python
import keras
import tensorflow as tf
from keras import layers

keras.config.set_dtype_policy("mixed_float16")
strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = keras.Sequential([keras.Input((8,)), layers.Dense(64, activation="relu"), layers.Dense(1, dtype="float32")])
    model.compile("sgd", "mse", jit_compile=False)
```

How the fix changes the program
-------------------------------
There is none: leave `jit_compile` off, or use bfloat16, which needs no loss scaling.

References
----------
- [Mixed precision guide](https://www.tensorflow.org/guide/mixed_precision) of TensorFlow
- [Distributed training](https://www.tensorflow.org/guide/distributed_training) of TensorFlow
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Fault, Rule, Scalers, Severity, World


class MirroredJit(Rule):
    """MP217."""

    code = "MP217"
    name = "mirrored-jit"
    severity = Severity.ADVICE

    def check(self, world: World) -> Iterator[Fault]:
        """Models of several replicas whose steps XLA compiles."""
        for compiled in world.once(Scalers).mirrored_with_xla():
            says = "XLA may not compile a step in which the replicas of a MirroredStrategy agree on a loss scale: "
            says += "leave jit_compile off"
            yield Fault(compiled.place, Severity.ADVICE, says, compiled.policy)
