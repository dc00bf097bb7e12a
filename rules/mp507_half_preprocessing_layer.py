"""Layers that prepare data must compute in float32.

What it does
------------
Reports a `Normalization`, `Rescaling`, `RandomContrast`, `RandomBrightness` or another layer that computes new numbers
from the data, where it takes half precision from the policy: inside the model, in front of it, or in a `map` of a
`tf.data` pipeline. In Keras 3 also `Discretization`, `RandomSaturation`, `RandomSharpness`, `RandAugment` and others.

Layers that only move pixels or choose among them (`RandomFlip`, `RandomCrop`, `CenterCrop`) lose nothing. Nor do those
that resample in float32 whatever their dtype is (`Resizing`, `RandomRotation`, `RandomZoom`, `RandomTranslation`).

Why it matters
--------------
The layer casts raw data to half precision before it computes. Measured under `mixed_float16` in both generations:
`Normalization` of columns with a mean of 90,000 gives NaN or inf for all of 512 rows, since float16 ends at 65504, and
of a column around 3000 it is wrong in 9 of 10 values, since float16 has only even numbers there. `Rescaling(1 / 127.5,
-1)` is wrong for more than half of all pixels, and under `mixed_bfloat16` gives 0.0078 for 128 instead of 0.0039.
`Discretization` puts 100 of 4001 values around its edges into the wrong bin in Keras 3. `RandomContrast` has no float16
kernel for a CPU in Keras 2, and raises.

Example
-------
```python
from tensorflow import keras
from tensorflow.keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")

inputs = keras.Input((32, 32, 3))
x = layers.Rescaling(1 / 127.5, offset=-1)(inputs)
x = layers.Conv2D(32, 3, activation="relu")(x)
x = layers.GlobalAveragePooling2D()(x)
outputs = layers.Dense(1, dtype="float32")(x)
model = keras.Model(inputs, outputs)
```

Fixed
-----
```python
from tensorflow import keras
from tensorflow.keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")

inputs = keras.Input((32, 32, 3))
x = layers.Rescaling(1 / 127.5, offset=-1, dtype="float32")(inputs)
x = layers.Conv2D(32, 3, activation="relu")(x)
x = layers.GlobalAveragePooling2D()(x)
outputs = layers.Dense(1, dtype="float32")(x)
model = keras.Model(inputs, outputs)
```

Good
----
```python
from tensorflow import keras
from tensorflow.keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")

augment = keras.Sequential([layers.RandomFlip("horizontal"), layers.RandomRotation(0.1)])
inputs = keras.Input((32, 32, 3))
x = layers.Rescaling(1 / 255, dtype="float32")(augment(inputs))
x = layers.Conv2D(32, 3, activation="relu")(x)
x = layers.GlobalAveragePooling2D()(x)
outputs = layers.Dense(1, dtype="float32")(x)
model = keras.Model(inputs, outputs)
```

How the fix changes the program
-------------------------------
The layer gets `dtype="float32"`. The next layer casts what it gives to half precision, as it does with data. Under a
float32 policy nothing changes, bit for bit. In a model of your own class `call` is given half precision already: there
the layer computes in float32 from then on, but what the model's own cast has rounded stays so; a number beyond 65504
must be prepared in front of the model.

References
----------
- [Mixed precision guide](https://www.tensorflow.org/guide/mixed_precision) of TensorFlow
- [keras-team/keras#19332](https://github.com/keras-team/keras/issues/19332)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mplint.api import (
    Applicability,
    Fault,
    Float32Preprocessing,
    Rule,
    Severity,
    World,
    half_preprocessing,
    lacks_kernel,
)

_LOSES: Final = {
    "Normalization": {
        "float16": "numbers beyond 65504 become inf before the mean is subtracted, and 3001 becomes 3000",
        "bfloat16": "3001 becomes 3008 before the mean is subtracted",
    },
    "Rescaling": {
        "float16": "200 / 255 is 0.78418 instead of 0.78431",
        "bfloat16": "200 / 255 is 0.78516 instead of 0.78431",
    },
    "Discretization": {
        "float16": "3001 becomes 3000, and falls into another bin",
        "bfloat16": "3001 becomes 3008, and falls into another bin",
    },
}
_OF_PIXELS: Final = {
    "float16": "pixels from 0 to 255 come out up to 0.5 wrong",
    "bfloat16": "pixels from 0 to 255 come out up to 3 wrong",
}


class HalfPreprocessingLayer(Rule):
    """MP507."""

    code = "MP507"
    name = "half-preprocessing-layer"
    severity = Severity.WARNING
    fixes = (Applicability.SAFE, Applicability.DISPLAY)

    def check(self, world: World) -> Iterator[Fault]:
        """Layers that compute with raw data in half precision."""
        for layer in half_preprocessing(world):
            name = layer.base.rpartition(".")[2]
            dtype = layer.computes_in or ""
            loses = _LOSES.get(name, _OF_PIXELS)[dtype]
            if lacks_kernel(layer.base, dtype, world.generation):
                loses = "a CPU has no kernel for that, and raises"
            says = f"{name} prepares the data in {dtype}: {loses}; give it float32"
            yield Fault(layer.place, Severity.WARNING, says, layer.policy, Float32Preprocessing(layer))
