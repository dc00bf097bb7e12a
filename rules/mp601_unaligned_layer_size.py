"""Hidden sizes of layers should be multiples of 8.

What it does
------------
Reports the units, filters, features and head sizes of layers that compute in half precision where they are more than 8
and no multiple of 8, and only hidden ones: sizes that nothing but other layers of the program depends on. What a model
gives (classes, colours, anchors, a latent code), single units, what is counted in the data, and what is cut or reshaped
at a place of its own is left alone, and so is a program that loads its weights before it trains, or only predicts.

Why it matters
--------------
Tensor Cores multiply matrices in tiles, whose sides are multiples of 8 in half precision. Today's libraries use them
for other sizes, too: they pad the matrices, or take a slower kernel, so that a layer of 250 units takes at least as
long as one of 256. This is advice about speed: what the program computes is right as it is.

Example
-------
```python
import keras
from keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")

WIDTH = 100

words = keras.Input((64,), dtype="int32")
x = layers.Embedding(8192, WIDTH)(words)
x = layers.Add()([x, layers.MultiHeadAttention(num_heads=4, key_dim=WIDTH // 4)(x, x)])
x = layers.LSTM(250)(x)
model = keras.Model(words, layers.Dense(10, activation="softmax", dtype="float32")(x))
```

Fixed
-----
```python
import keras
from keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")

WIDTH = 128

words = keras.Input((64,), dtype="int32")
x = layers.Embedding(8192, WIDTH)(words)
x = layers.Add()([x, layers.MultiHeadAttention(num_heads=4, key_dim=WIDTH // 4)(x, x)])
x = layers.LSTM(256)(x)
model = keras.Model(words, layers.Dense(10, activation="softmax", dtype="float32")(x))
```

Good
----
```python
import keras
from keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")

CLASSES = 100

images = keras.Input((32, 32, 3))
x = layers.Conv2D(24, 3, activation="relu")(images)
x = layers.GlobalAveragePooling2D()(x)
model = keras.Model(images, layers.Dense(CLASSES, activation="softmax", dtype="float32")(x))
```

How the fix changes the program
-------------------------------
The number is rounded up where it is written: in the call, or in the constant, the list, the dict, the field, the
default of an argument or of an option that it comes from, once for all that reads it. What must be as large changes
with it: what is added to it, multiplied by it or reshaped to it, what shares its weights, and heads that are a part of
it. Where something else reads the number, or the widths would not fit any more, the fix is only shown, or there is
none. The model has more weights then, other results in float32 as well, and cannot load weights of before: the fix is
unsafe.

References
----------
- [Deep learning performance guide](https://docs.nvidia.com/deeplearning/performance/) of NVIDIA: sizes of layers
- [Mixed precision guide](https://www.tensorflow.org/guide/mixed_precision) of TensorFlow, "Performance tips"
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Applicability, Fault, RoundUp, Rule, Severity, Sizes, World


class UnalignedLayerSize(Rule):
    """MP601."""

    code = "MP601"
    name = "unaligned-layer-size"
    severity = Severity.ADVICE
    fixes = (Applicability.UNSAFE,)
    gives_way_to = ("MP603",)

    def check(self, world: World) -> Iterator[Fault]:
        """Hidden sizes of layers that compute in half precision."""
        for unaligned in world.once(Sizes).for_tensor_cores():
            says = f"{unaligned.says}: not a multiple of 8, so that it is padded or slower on Tensor Cores"
            yield Fault(unaligned.place, Severity.ADVICE, says, unaligned.policy, RoundUp(unaligned.place, 8))
