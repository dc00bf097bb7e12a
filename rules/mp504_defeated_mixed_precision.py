"""A layer that computes in half precision must do so where it counts.

What it does
------------
Reports a cast to float32, or an operation that promotes to it, that makes the matrix products or convolutions of a
layer run in float32 under a half-precision policy: `ops.cast(x, "float32")` in front of a product with the layer's
weights, and in Keras 3 a product or sum with a float32 constant, or with a NumPy array, since functions of `keras.ops`
promote where TensorFlow's raise.

Not reported is what is done in float32 for a reason: statistics, a softmax and what it is computed of, the end of a
model, a layer or a variable that asks for float32 itself, and what is cast back before the next product.

Why it matters
--------------
Nothing is wrong with the results. But products of matrices are what half precision makes faster, and these run as if
there were no policy, with the casts on top: the layer is slower and takes more memory than it needs, and what it gives
is float32. Keras says nothing.

Example
-------
```python
import keras
from keras import layers, ops

keras.mixed_precision.set_global_policy("mixed_float16")


class Project(layers.Layer):
    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], 64), name="kernel")

    def call(self, inputs):
        x = ops.cast(inputs, "float32")
        return ops.relu(ops.matmul(x, self.kernel))


inputs = keras.Input((32,))
outputs = layers.Dense(1, dtype="float32")(Project()(inputs))
model = keras.Model(inputs, outputs)
```

Fixed
-----
```python
import keras
from keras import layers, ops

keras.mixed_precision.set_global_policy("mixed_float16")


class Project(layers.Layer):
    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], 64), name="kernel")

    def call(self, inputs):
        x = ops.cast(inputs, self.compute_dtype)
        return ops.relu(ops.matmul(x, self.kernel))


inputs = keras.Input((32,))
outputs = layers.Dense(1, dtype="float32")(Project()(inputs))
model = keras.Model(inputs, outputs)
```

Good
----
```python
import keras
from keras import layers, ops

keras.mixed_precision.set_global_policy("mixed_float16")


class NormalizedProject(layers.Layer):
    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], 64), name="kernel")

    def call(self, inputs):
        x = ops.cast(inputs, "float32")
        x = (x - ops.mean(x, axis=-1, keepdims=True)) / (ops.std(x, axis=-1, keepdims=True) + 1e-3)
        return ops.matmul(ops.cast(x, self.compute_dtype), self.kernel)


inputs = keras.Input((32,))
outputs = layers.Dense(1, dtype="float32")(NormalizedProject()(inputs))
model = keras.Model(inputs, outputs)
```

How the fix changes the program
-------------------------------
A cast whose result goes into these products alone is made to the layer's compute dtype, which is what the input has
already; otherwise what goes into each product is cast right before it, and what else is computed in float32 stays so.
Under a float32 policy nothing changes, bit for bit. Under a half one the products lose the precision that they had by
accident: whether it was needed only the author knows, so that it takes `--unsafe-fixes`.

References
----------
- [Mixed precision guide](https://www.tensorflow.org/guide/mixed_precision) of TensorFlow
- [transformers issue 7052](https://github.com/huggingface/transformers/issues/7052): layers that run in float32
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Applicability, Fault, Lowered, Rule, Severity, World, defeats


class DefeatedMixedPrecision(Rule):
    """MP504."""

    code = "MP504"
    name = "defeated-mixed-precision"
    severity = Severity.ADVICE
    fixes = (Applicability.UNSAFE,)

    def check(self, world: World) -> Iterator[Fault]:
        """What makes heavy operations of a half-precision layer run in float32."""
        for found in world.once(defeats):
            cause = "this cast" if found.is_cast else "a tensor that is not half precision"
            says = (
                f"{cause} makes products of matrices run in {found.dtype} that would run in {found.half}:"
                f" nothing is gained by the policy there; compute them in the layer's compute dtype"
            )
            yield Fault(found.at, Severity.ADVICE, says, found.policy, Lowered(world, found))
