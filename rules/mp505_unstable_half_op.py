"""Statistics, running sums and the like must be computed in float32.

What it does
------------
Reports, in the `call` of a layer or a model, operations on float16 tensors of whose results too little is left:

- variances, standard deviations, `moments`, norms, `l2_normalize`;
- sums and means of squares;
- running sums and products;
- sums and means over several axes at once, over all of a tensor that was not reduced before, or over one axis that is
  known to have 2048 elements or more (`keras.ops.mean` adds up in float32 by itself);
- an exponential that is summed up, which is a softmax or a logarithm of a sum made by hand, unless the largest element
  was subtracted before;
- powers above 2, unless they go into `tanh` and the like alone, as in GELU;
- running sums and averages that a layer keeps in a variable of its own, and continues with what it reads of it: that is
  half precision.

It leaves alone `softmax` itself, which subtracts the largest element; the layers of Keras, which compute their
statistics in float32; other sums over one axis, which are often short, and weighted ones; exponentials that are not
summed; whatever works on values that are known to be small, as behind a sigmoid, a softmax or a normalization. What
stands in losses and training loops is MP103's.

Why it matters
--------------
A square overflows from 256 on: measured, the variance of values around 300 is inf, `l2_normalize([300, 300])` is
[0, 0], a hand-written normalization of such an image gives zeros only, in both generations. A square is 0 below
0.00024. `cumsum` of 3,000 ones ends at 2048, since 2048 + 1 is 2048 in float16. The mean of 12,544 values of 20 (an
image of 112 x 112) is inf on a CPU; on GPUs and under XLA, as TensorFlow's source says (not measured here), the terms
of a mean are added up in float32: with `device = "gpu"` or `"tpu"` means of anything but squares are not reported.
`exp` overflows from 11.1 on. A layer reads its variables in half precision: an average that is
continued as `old * 0.99 + new * 0.01` stays at 2.90 where it should come to 3.00, and a count with `assign_add(1.0)` at
2048, in Keras 2 only with `assign`. TensorFlow's own mixed precision for graphs keeps most of these operations in
float32.

Example
-------
```python
import tensorflow as tf
from tensorflow import keras

keras.mixed_precision.set_global_policy("mixed_float16")


class InstanceNorm(keras.layers.Layer):
    def call(self, images):
        mean, variance = tf.nn.moments(images, axes=[1, 2], keepdims=True)
        return (images - mean) * tf.math.rsqrt(variance + 1e-3)


norm = InstanceNorm()
```

Fixed
-----
```python
import tensorflow as tf
from tensorflow import keras

keras.mixed_precision.set_global_policy("mixed_float16")


class InstanceNorm(keras.layers.Layer):
    def call(self, images):
        mean, variance = tf.nn.moments(tf.cast(images, tf.float32), axes=[1, 2], keepdims=True)
        return tf.cast((tf.cast(images, tf.float32) - mean) * tf.math.rsqrt(variance + 1e-3), images.dtype)


norm = InstanceNorm()
```

Good
----
```python
import keras
from keras import ops

keras.config.set_dtype_policy("mixed_float16")


class Pooled(keras.layers.Layer):
    def call(self, x):
        weights = ops.softmax(ops.max(x, axis=-1), axis=-1)
        return ops.sum(x * weights[..., None], axis=1)


class Kernel(keras.layers.Layer):
    def call(self, x):
        return ops.exp(-ops.square(ops.tanh(x)))


pooled, kernel = Pooled(), Kernel()
```

How the fix changes the program
-------------------------------
The operation, and what the same expression makes of it, is computed in float32 and cast back to the dtype of its
operand. A name for a statistic stays float32, and the expressions that read it are computed in float32 in turn. What is
an output of a model is not cast back: that is to be float32 (MP102). Under a float32 policy the casts change nothing,
and all results are bit-identical.

A variable that is continued is not rewritten: made with `autocast=False` (in Keras 2 `experimental_autocast=False`) it
is read in float32, and what meets half precision must be cast then.

References
----------
- [A normalization by hand that diverges](https://github.com/tensorflow/tensorflow/issues/47156)
- [Lists of operations](https://github.com/tensorflow/tensorflow/blob/master/tensorflow/core/grappler/optimizers/auto_mixed_precision_lists.h)
  of TensorFlow's mixed precision for graphs
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mplint.api import (
    Applicability,
    Fault,
    InFloat32,
    LostUpdate,
    Numerics,
    Rule,
    Sensitivity,
    Severity,
    Unstable,
    World,
    lost_updates,
)

_WHY: Final = {
    Sensitivity.SPREAD: "a variance overflows in float16 once values differ by 256",
    Sensitivity.NORM: "a norm overflows in float16 from values of 256 on",
    Sensitivity.RUNNING: "a running sum in float16 stops growing at 2048 when ones are added",
    Sensitivity.SUM: "a long sum overflows in float16, and loses small terms",
    Sensitivity.MEAN: "the sum of a long mean overflows in float16 on a CPU",
    Sensitivity.EXPONENTIAL: "an exponential overflows in float16 from 11.1 on, and it is summed up here",
    Sensitivity.POWER: "a power overflows in float16",
}


class UnstableHalfOp(Rule):
    """MP505."""

    code = "MP505"
    name = "unstable-half-op"
    severity = Severity.WARNING
    fixes = (Applicability.SAFE,)
    gives_way_to = ("MP502",)

    def check(self, world: World) -> Iterator[Fault]:
        """Operations in layers that float16 is too small for."""
        numerics = world.once(Numerics)
        for found in numerics.unstable():
            yield Fault(
                found.at,
                Severity.WARNING,
                f"{_why(found)}; compute it in float32" + ("" if found.stays_wide else " and cast the result back"),
                numerics.policy_of(found.event),
                InFloat32(world, found.at),
            )
        for update in lost_updates(world):
            yield Fault(update.at, Severity.WARNING, _loses(world, update), update.policy)


def _loses(world: World, update: LostUpdate) -> str:
    part = "2048" if update.dtype == "float16" else "256"
    name = "autocast" if world.generation == "3" else "experimental_autocast"
    return (
        f"this layer reads its variable in {update.dtype} and adds to that, where less than a {part}th of it is lost:"
        f" make it with {name}=False, and cast what meets it"
    )


def _why(found: Unstable) -> str:
    if found.count is not None:
        largest = f"{65504 / found.count:.3g}"
        return f"the sum of {found.count} elements overflows in float16 once they are {largest} on average"
    return "squares overflow in float16 from 256 on" if found.squared else _WHY[found.why]
