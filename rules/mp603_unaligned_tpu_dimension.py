"""Hidden sizes of layers on a TPU should be multiples of 128.

What it does
------------
Reports hidden sizes of more than 128 that are a little less than a multiple of 128 (which is less than a third more),
of layers that compute in half precision where the program trains under `TPUStrategy`, or with `--device tpu`. Which
sizes are hidden is told at [MP601](MP601.md), which gives way to this rule on a TPU.

Why it matters
--------------
A TPU multiplies matrices of 128 by 128, and keeps arrays in tiles of 8 by 128: the compiler pads every other size. A
layer of 200 units takes the memory and the time of one of 256. This is advice about speed: what the program computes is
right as it is.

Example
-------
```python
import keras
import tensorflow as tf
from keras import layers

keras.mixed_precision.set_global_policy("mixed_bfloat16")
strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local"))
with strategy.scope():
    model = keras.Sequential(
        [keras.Input((64,)), layers.Dense(500, activation="relu"), layers.Dense(10, dtype="float32")]
    )
```

Fixed
-----
```python
import keras
import tensorflow as tf
from keras import layers

keras.mixed_precision.set_global_policy("mixed_bfloat16")
strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local"))
with strategy.scope():
    model = keras.Sequential(
        [keras.Input((64,)), layers.Dense(512, activation="relu"), layers.Dense(10, dtype="float32")]
    )
```

Good
----
```python
import keras
import tensorflow as tf
from keras import layers

keras.mixed_precision.set_global_policy("mixed_bfloat16")
strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local"))
with strategy.scope():
    model = keras.Sequential(
        [keras.Input((64,)), layers.Dense(192, activation="relu"), layers.Dense(1000, dtype="float32")]
    )
```

How the fix changes the program
-------------------------------
As that of [MP601](MP601.md): the number is rounded up where it is written, with all that must be as large. The model
has more weights then, other results in float32 as well, and cannot load weights of before: the fix is unsafe.

References
----------
- [Cloud TPU performance guide](https://cloud.google.com/tpu/docs/performance-guide): layout and padding
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Applicability, Fault, RoundUp, Rule, Severity, Sizes, World


class UnalignedTpuDimension(Rule):
    """MP603."""

    code = "MP603"
    name = "unaligned-tpu-dimension"
    severity = Severity.ADVICE
    fixes = (Applicability.UNSAFE,)

    def check(self, world: World) -> Iterator[Fault]:
        """Hidden sizes of layers that compute in half precision on a TPU."""
        for unaligned in world.once(Sizes).for_tpu():
            says = f"{unaligned.says}: not a multiple of 128, so that a TPU pads it"
            yield Fault(unaligned.place, Severity.ADVICE, says, unaligned.policy, RoundUp(unaligned.place, 128))
