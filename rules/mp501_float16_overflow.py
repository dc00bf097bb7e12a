"""Numbers must fit float16 where they meet it.

What it does
------------
Reports a constant beyond 65504 where it becomes float16: added to or multiplied with a float16 tensor, chosen by
`where`, put into a tensor of that dtype, or held by a float32 mask that is cast, by the program or by Keras for a
layer that adds it. The constant is followed through
names, attributes, default arguments and arithmetic. In bfloat16 only the limits of float32 are too large
(`tf.float32.min`), and are reported. Nothing is reported in a layer that computes in float32, nor of an infinity that
the program itself writes, of a comparison, of a mask that is not known to meet half precision, or of a causal mask
that chooses or is cast, which leaves something of each row.

Why it matters
--------------
From 65520 on a number is infinite in float16. Added to attention scores as `(1 - mask) * -1e9`, it makes `0 * -inf` of
the positions that are *kept*: measured, every score of the layer is nan, in both generations, without a word.
Chosen by `where`, or cast from a float32 mask, -inf does no harm until a row is masked as a whole: its softmax is nan
then, and the weights after the next step. bfloat16 ends at 3.39e38: `tf.float32.min` is -inf there, and an additive
mask of it gives nan likewise. A bound of `clip_by_value` or `maximum` that is infinite bounds nothing.

Example
-------
```python
import tensorflow as tf
from tensorflow import keras

keras.mixed_precision.set_global_policy("mixed_float16")


class Scores(keras.layers.Layer):
    def call(self, scores, mask):
        mask = tf.cast(mask, scores.dtype)
        return tf.nn.softmax(scores + (1.0 - mask) * -1e9)


scores = Scores()
```

Fixed
-----
```python
import tensorflow as tf
from tensorflow import keras

keras.mixed_precision.set_global_policy("mixed_float16")


class Scores(keras.layers.Layer):
    def call(self, scores, mask):
        mask = tf.cast(mask, scores.dtype)
        return tf.nn.softmax(scores + (1.0 - mask) * (-3e4 if mask.dtype == "float16" else -1e9))


scores = Scores()
```

Good
----
```python
import keras
from keras import ops

keras.config.set_dtype_policy("mixed_float16")


class Scores(keras.layers.Layer):
    def call(self, scores, mask):
        return ops.softmax(ops.where(mask, scores, -3e4))


class Float32Scores(keras.layers.Layer):
    def call(self, scores, mask):
        return ops.softmax(ops.where(mask, scores, -1e9))


scores, others = Scores(), Float32Scores(dtype="float32")
```

How the fix changes the program
-------------------------------
Where the tensor that it meets is float16, another number takes the place of the constant: -3e4, which a softmax makes 0
of, and which leaves room for a second mask and for the scores; of a bound, 65504; in bfloat16 -1e9 and 3e38. In every
other dtype the constant
stays what it is, so that under a float32 policy all results are bit-identical. The comparison with `"float16"` is right
for the dtypes of TensorFlow, for those of KerasTensors, and in both generations.

References
----------
- [Mixed precision guide](https://www.tensorflow.org/guide/mixed_precision) of TensorFlow
- [A mask of the lowest float16 that overflows](https://github.com/keras-team/keras/pull/17571)
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Applicability, Fault, FitFloat16, Numerics, Overflow, Rule, Severity, World, shown_number


class Float16Overflow(Rule):
    """MP501."""

    code = "MP501"
    name = "float16-overflow"
    severity = Severity.ERROR
    fixes = (Applicability.SAFE,)

    def check(self, world: World) -> Iterator[Fault]:
        """Constants that are infinite where they meet float16."""
        numerics = world.once(Numerics)
        for found in numerics.overflows():
            severity = Severity.ERROR if found.is_multiplied else Severity.WARNING
            yield Fault(found.at, severity, _says(found), numerics.policy_of(found.event), FitFloat16(world, found))


def _says(found: Overflow) -> str:
    infinite = "-inf" if found.number < 0 else "inf"
    evidence = f"{shown_number(found.number)} is {infinite} in {found.dtype}"
    mask, bound = ("3e4", "65504") if found.dtype == "float16" else ("1e9", "3e38")
    if found.is_multiplied:
        return f"{evidence}, and 0 * {infinite} is nan on the kept positions; take a number that fits, e.g. -{mask}"
    if found.is_bound:
        return f"{evidence}, so that nothing is bounded by it; take {bound}"
    if found.number < 0:
        return f"{evidence}: the softmax of a row that is masked as a whole becomes nan; take -{mask}"
    return f"{evidence}; take a number that fits, e.g. {mask}"
