"""An epsilon must not vanish in float16.

What it does
------------
Reports an epsilon that is 0 in float16 where it should keep the operand of a logarithm, of a root or of a division
away from 0: added to a float16 tensor, as the lower bound of `maximum` or `clip`, as a default argument, or as the
epsilon that `l2_normalize`, `ops.normalize` and `UnitNormalization` add by themselves. So is `1 - 1e-7` as an upper
bound, which is 1 in float16, where `log(1 - x)` follows; in bfloat16 even `1 - 1e-3` is 1. An epsilon by which 1 cannot
be divided in float16 is reported where a constant is divided by nothing but it.

It is silent where the epsilon guards nothing, and where 0 is harmless or does not come up: `log1p`, `divide_no_nan`, a
quotient whose divisor the epsilon keeps above 0, a softmax by hand that subtracts the largest element, weights that are
normalized. So is it of the normalization layers of Keras that compute in float32 by themselves.

Why it matters
--------------
Below 2.98e-8 a number is 0 in float16. `log(x + 1e-10)` is -inf for 0, `x * rsqrt(mean + 1e-8)` and
`x / (norm + 1e-12)` are nan for a row of zeros (padding, a dead ReLU). Between that and 1.53e-5 the epsilon survives,
but `1 / (x + 1e-7)` is inf. Measured in both generations: `tf.math.l2_normalize` of zeros is nan.

Example
-------
```python
import tensorflow as tf
from tensorflow import keras

keras.mixed_precision.set_global_policy("mixed_float16")


class Norm(keras.layers.Layer):
    def __init__(self, eps=1e-8):
        super().__init__()
        self.eps = eps

    def call(self, x):
        mean = tf.reduce_mean(tf.abs(x), axis=-1, keepdims=True)
        return x / (mean + self.eps)


norm = Norm()
```

Fixed
-----
```python
import tensorflow as tf
from tensorflow import keras

keras.mixed_precision.set_global_policy("mixed_float16")


class Norm(keras.layers.Layer):
    def __init__(self, eps=1e-8):
        super().__init__()
        self.eps = eps

    def call(self, x):
        mean = tf.reduce_mean(tf.abs(x), axis=-1, keepdims=True)
        return tf.cast(tf.cast(x, tf.float32) / (tf.cast(mean, tf.float32) + self.eps), x.dtype)


norm = Norm()
```

Good
----
```python
import keras
from keras import ops

keras.config.set_dtype_policy("mixed_float16")


class Entropy(keras.layers.Layer):
    def call(self, p):
        p = ops.cast(p, "float32")
        return -ops.sum(p * ops.log(p + 1e-10), axis=-1)


class Ratio(keras.layers.Layer):
    def call(self, a):
        return a / (ops.mean(ops.abs(a), axis=-1, keepdims=True) + 1e-3)


entropy, ratio = Entropy(), Ratio()
```

How the fix changes the program
-------------------------------
The operation that the epsilon guards, and what the same expression makes of it, is computed in float32 and cast back. A
name for what is still of the size of the epsilon (an inverse root) stays float32, and what reads it is computed in
float32 in turn. An epsilon that is too small to be divided by is 1e-4 where the tensor is float16, and what it is
everywhere else. Under a float32 policy all results are bit-identical.

References
----------
- [GroupNormalization with an epsilon of 1e-12](https://github.com/keras-team/keras/issues/22586)
- [The default epsilon of `normalize`](https://github.com/keras-team/keras/pull/23566)
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import (
    Applicability,
    Fault,
    FitFloat16,
    InFloat32,
    Numerics,
    Rule,
    Severity,
    Underflow,
    World,
    shown_number,
)


class Float16Underflow(Rule):
    """MP502."""

    code = "MP502"
    name = "float16-underflow"
    severity = Severity.WARNING
    fixes = (Applicability.SAFE,)

    def check(self, world: World) -> Iterator[Fault]:
        """Epsilons that do not do what they are for."""
        numerics = world.once(Numerics)
        for found in numerics.underflows():
            rewrite = InFloat32(world, found.at, found.way) if found.is_lost else FitFloat16(world, found)
            yield Fault(found.at, Severity.WARNING, _says(found), numerics.policy_of(found.event), rewrite)
        for layer, epsilon in numerics.lost_in_layers():
            says = f"its epsilon {shown_number(epsilon)} is 0.0 in float16: zeros become nan; give it dtype='float32'"
            yield Fault(layer.place, Severity.WARNING, says, layer.policy)


def _says(found: Underflow) -> str:
    number = shown_number(found.number)
    if not found.is_lost:
        return f"1 / {number} is inf in float16; take an epsilon of 1e-4 there"
    if found.number > 0.5:
        return f"{number} is 1.0 in {found.dtype}, so that 1 - x becomes 0; compute it in float32"
    if found.event is found.guarded:
        return f"the epsilon {number} is 0.0 in float16: zeros become nan; compute it in float32"
    return f"{number} is 0.0 in float16 and guards nothing there; compute it in float32"
