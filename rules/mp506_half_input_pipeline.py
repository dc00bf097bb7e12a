"""Data must be prepared in float32, and cast by the model.

What it does
------------
Reports data that are made float16 or bfloat16 in front of a model, and computed with from there on: in the function of
a `map` of a `tf.data` pipeline, in a training loop before the model is called, or as a NumPy array that goes to `fit`,
`predict` or `Dataset.from_tensor_slices`. Where nothing is computed any more (the cast is the last step) it is advice:
the model casts its inputs by itself, whatever policy it has.

Nothing is said of a cast of pixels that are whole numbers, which half precision holds up to 256 and beyond, where
nothing is computed with them; nor of products with powers of two, which are exact.

Why it matters
--------------
A model under a mixed policy rounds its inputs once. What is computed in half precision before that is rounded at every
step. Measured on the pixels 0 to 255: `x / 127.5 - 1` in float16 differs for 140 of 256 from what float32 gives and the
model rounds, and in bfloat16 it is 0.0078 for 128 instead of 0.0039; `(x - 123.68) / 58.393` differs for 109 and 150.
`tf.image.convert_image_dtype(x, tf.bfloat16)` differs for 126. 200 / 255 is 0.78418 in float16, 0.78516 in bfloat16 and
0.78431 in float32, and that is what a float32 layer at the beginning of the model gets, or the whole model where no
policy is set. Beyond 65504 float16 is inf. Half precision saves nothing here: a CPU computes in it more slowly.

Example
-------
```python
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")


def prepare(image, label):
    image = tf.cast(image, tf.float16) / 127.5 - 1.0
    return image, label


images = tf.zeros((64, 32, 32, 3), tf.uint8)
labels = tf.zeros((64,), tf.int32)
data = tf.data.Dataset.from_tensor_slices((images, labels)).map(prepare).batch(32)
model = keras.Sequential([layers.Flatten(), layers.Dense(10, dtype="float32")])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(data)
```

Fixed
-----
```python
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")


def prepare(image, label):
    image = tf.cast(image, tf.float32) / 127.5 - 1.0
    return image, label


images = tf.zeros((64, 32, 32, 3), tf.uint8)
labels = tf.zeros((64,), tf.int32)
data = tf.data.Dataset.from_tensor_slices((images, labels)).map(prepare).batch(32)
model = keras.Sequential([layers.Flatten(), layers.Dense(10, dtype="float32")])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(data)
```

Good
----
```python
import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")

images = np.zeros((64, 32, 32, 3), np.uint8)
images = images.astype("float32") / 127.5 - 1.0
labels = np.zeros((64,), "int32")
model = keras.Sequential([layers.Flatten(), layers.Dense(10, dtype="float32")])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(images, labels, batch_size=32)
```

How the fix changes the program
-------------------------------
The dtype in the call that makes the data half precision becomes float32, and with it those of constants that meet the
data. The model casts what it is given. The numbers that it gets are the right ones then. Under a float32 policy they
were rounded, too, where the dtype is written out; where it is the compute dtype of the policy, nothing changes there.

References
----------
- [Mixed precision guide](https://www.tensorflow.org/guide/mixed_precision) of TensorFlow
- [tensorflow/models#5253](https://github.com/tensorflow/models/pull/5253)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mplint.api import Applicability, Fault, Feeding, KeepFloat32, Rule, Severity, World

_EXAMPLES: Final = {
    "float16": "200 / 255 is 0.78418 there, and 0.78431 in float32",
    "bfloat16": "200 / 255 is 0.78516 there, and 0.78431 in float32",
}


class HalfInputPipeline(Rule):
    """MP506."""

    code = "MP506"
    name = "half-input-pipeline"
    severity = Severity.WARNING
    fixes = (Applicability.SAFE,)
    gives_way_to = ("MP508",)

    def check(self, world: World) -> Iterator[Fault]:
        """Data in half precision in front of a model."""
        for data in world.once(Feeding).half_data():
            dtype, severity = data.origin.dtype, Severity.WARNING
            says = f"from here on the data are prepared in {dtype} ({_EXAMPLES[dtype]}): keep them float32"
            if data.computed is None:
                severity = Severity.ADVICE
                says = f"the data are rounded to {dtype} here, in front of a model that casts its inputs by itself"
            yield Fault(data.origin.at, severity, says, None, KeepFloat32(world, data))
