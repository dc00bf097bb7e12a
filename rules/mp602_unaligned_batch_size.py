"""The number of examples in a batch should be a multiple of 8.

What it does
------------
Reports batch sizes of more than 8 that are no multiple of 8, where a model that computes in half precision is trained:
in `fit`, in `batch` of a dataset, in the functions that read datasets from folders, and where a sequence of batches is
made. Sizes that are computed from the data or from the number of devices are left alone.

Why it matters
--------------
The batch is one side of the matrices that dense layers and attention multiply, forwards and backwards, and Tensor Cores
work on tiles whose sides are multiples of 8. Other batches are padded or take a slower kernel: one of 60 takes at least
as long as one of 64. This is advice about speed; convolutions over images hardly feel it.

Example
-------
```python
import numpy as np
import keras
from keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")

BATCH_SIZE = 60

model = keras.Sequential([keras.Input((8,)), layers.Dense(64, activation="relu"), layers.Dense(1, dtype="float32")])
model.compile("adam", loss="mse")
model.fit(np.ones((600, 8)), np.ones((600, 1)), batch_size=BATCH_SIZE)
```

Fixed
-----
```python
import numpy as np
import keras
from keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")

BATCH_SIZE = 64

model = keras.Sequential([keras.Input((8,)), layers.Dense(64, activation="relu"), layers.Dense(1, dtype="float32")])
model.compile("adam", loss="mse")
model.fit(np.ones((600, 8)), np.ones((600, 1)), batch_size=BATCH_SIZE)
```

Good
----
```python
import numpy as np
import keras
from keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")

model = keras.Sequential([keras.Input((8,)), layers.Dense(64, activation="relu"), layers.Dense(1, dtype="float32")])
model.compile("adam", loss="mse")
model.fit(np.ones((600, 8)), np.ones((600, 1)), batch_size=48)
print(model.predict(np.ones((10, 8)), batch_size=10))
```

How the fix changes the program
-------------------------------
The number is rounded up where it is written. Fewer, larger batches train to other weights, in float32 too: the fix is
unsafe, and where something else reads the number than what counts batches it is only shown.

References
----------
- [Deep learning performance guide](https://docs.nvidia.com/deeplearning/performance/) of NVIDIA: batch size
- [Mixed precision guide](https://www.tensorflow.org/guide/mixed_precision) of TensorFlow, "Performance tips"
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Applicability, Batches, Fault, RoundUpBatch, Rule, Severity, World


class UnalignedBatchSize(Rule):
    """MP602."""

    code = "MP602"
    name = "unaligned-batch-size"
    severity = Severity.ADVICE
    fixes = (Applicability.UNSAFE,)

    def check(self, world: World) -> Iterator[Fault]:
        """Batches that a model is trained with in half precision."""
        for batched, policy in world.once(Batches).unaligned():
            says = (
                f"{batched.size.value} examples in a batch: not a multiple of 8, so that matrices are padded or slower "
                "on Tensor Cores"
            )
            yield Fault(batched.place, Severity.ADVICE, says, policy, RoundUpBatch(world, batched.size))
