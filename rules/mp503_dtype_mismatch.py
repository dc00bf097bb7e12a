"""What is computed with half-precision tensors must be half precision.

What it does
------------
Reports an operation that raises because one of its operands is float32 and another half precision: noise, masks, zeros
and constants that are made in float32, which is the default; a cast to a dtype that is written out; a variable that no
layer casts (`tf.Variable`, in Keras 2 the `embeddings` of a layer), also where half precision is assigned to it; what a
float32 layer gives. Tensors are followed
through functions, attributes, lists and files. It is reported once for each of these tensors, where it first meets half
precision, and not where the exception is caught.

What TensorFlow itself makes fit is not reported: Python's numbers, NumPy's arrays, the weights of a layer; nor what
`keras.ops` promotes to float32.

Why it matters
--------------
A float32 program runs, and raises as soon as the policy is set: `InvalidArgumentError: cannot compute AddV2 as input
#1(zero-based) was expected to be a half tensor but is a float tensor`, or `TypeError: x and y must have the same
dtype, got tf.float16 != tf.float32`. In bug reports about mixed precision no other fault is as common.

Example
-------
```python
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.mixed_precision.set_global_policy("mixed_float16")


class Sampling(layers.Layer):
    def call(self, inputs):
        mean, deviation = inputs
        noise = tf.random.normal(tf.shape(mean))
        return mean + deviation * noise


z = Sampling()([tf.zeros((4, 8)), tf.ones((4, 8))])
```

Fixed
-----
```python
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.mixed_precision.set_global_policy("mixed_float16")


class Sampling(layers.Layer):
    def call(self, inputs):
        mean, deviation = inputs
        noise = tf.random.normal(tf.shape(mean), dtype=deviation.dtype)
        return mean + deviation * noise


z = Sampling()([tf.zeros((4, 8)), tf.ones((4, 8))])
```

Good
----
```python
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.mixed_precision.set_global_policy("mixed_float16")
POSITIONS = np.linspace(0.0, 1.0, 8)


class Positions(layers.Layer):
    def build(self, shape):
        self.scale = self.add_weight(shape=(8,), initializer="ones", name="scale")

    def call(self, x):
        weights = tf.nn.softmax(tf.cast(x, tf.float32))
        return (x + POSITIONS) * self.scale * 0.5 + tf.cast(weights, x.dtype)


y = Positions()(tf.zeros((4, 8)))
```

How the fix changes the program
-------------------------------
Where the float32 tensor is noise, a mask or a constant, and is made for these operations alone, it is made in the dtype
of the tensor that it meets: `dtype=x.dtype`. Otherwise it is cast where they meet, `tf.cast(noise, x.dtype)`: it stays
float32 for everything else, and so does what is computed of it before. A sum of what the program has cast to float32
may be too large for half precision: there the change is only shown. In a loss, behind its last product of matrices, it
is the half-precision tensor that is cast, to float32: `tf.reduce_sum(tf.square(tf.cast(x, tf.float32)))`. Under a
float32 policy nothing changes, bit for bit. Under a half one the program raised before.

References
----------
- [Mixed precision guide](https://www.tensorflow.org/guide/mixed_precision) of TensorFlow
- [tensorflow issue 38850](https://github.com/tensorflow/tensorflow/issues/38850),
  [addons issue 2030](https://github.com/tensorflow/addons/issues/2030) and
  [addons pull request 2253](https://github.com/tensorflow/addons/pull/2253): noise, a mask, the depth of attention
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Applicability, Fault, Matched, Mismatch, Rule, Severity, World, mismatches


class DtypeMismatch(Rule):
    """MP503."""

    code = "MP503"
    name = "dtype-mismatch"
    severity = Severity.ERROR
    fixes = (Applicability.SAFE, Applicability.DISPLAY)

    def check(self, world: World) -> Iterator[Fault]:
        """Each float32 tensor that meets half precision where it must not."""
        for found in world.once(mismatches):
            yield Fault(found.at, Severity.ERROR, _says(found), found.policy, Matched(world, found))


def _says(found: Mismatch) -> str:
    if found.is_assignment:
        return f"{found.half} is assigned to a float32 variable here, and this raises: cast it to the variable's dtype"
    if found.in_loss:
        return (
            f"float32 meets {found.half} in a loss here, and this raises: {found.label} is float32;"
            f" cast what is {found.half} to float32, which a loss needs"
        )
    return (
        f"float32 meets {found.half} here, and this raises: {found.label} is float32;"
        " give it the dtype of the other one"
    )
