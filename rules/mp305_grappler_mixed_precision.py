"""Half precision must come from a policy, not from an option of TensorFlow's graph optimizer.

What it does
------------
Reports `auto_mixed_precision` that is switched on with `tf.config.optimizer.set_experimental_options`, whatever way the
dict comes there, and the variables `TF_ENABLE_AUTO_MIXED_PRECISION` and
`TF_ENABLE_AUTO_MIXED_PRECISION_GRAPH_REWRITE` of the environment where the program sets them. A
program that only TensorFlow 1 can run, which has no policies, is not reported.

Why it matters
--------------
The option makes TensorFlow choose, op by op and by lists of its own, what runs in float16. Beside a policy it also
turns ops that were kept in float32 on purpose, such as a float32 head. Without one nothing scales the loss: Keras
does not know that anything is float16, so small gradients become 0. It does nothing outside a graph, and nothing on a
machine without a suitable GPU: measured there, it logs "No (suitable) GPUs detected, skipping auto_mixed_precision
graph optimizer".

Example
-------
```python
import tensorflow as tf
from tensorflow import keras

tf.config.optimizer.set_experimental_options({"auto_mixed_precision": True, "layout_optimizer": True})
keras.mixed_precision.set_global_policy("mixed_float16")
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(64), keras.layers.Dense(1, dtype="float32")])
model.compile("sgd", "mse")
```

Fixed
-----
```python
import tensorflow as tf
from tensorflow import keras

tf.config.optimizer.set_experimental_options({"layout_optimizer": True})
keras.mixed_precision.set_global_policy("mixed_float16")
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(64), keras.layers.Dense(1, dtype="float32")])
model.compile("sgd", "mse")
```

Good
----
```python
import tensorflow as tf
from tensorflow import keras

tf.config.optimizer.set_experimental_options({"auto_mixed_precision": False, "layout_optimizer": True})
keras.mixed_precision.set_global_policy("mixed_float16")
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(64), keras.layers.Dense(1, dtype="float32")])
model.compile("sgd", "mse")
```

How the fix changes the program
-------------------------------
The entry goes, and the call or assignment where it sets nothing else. A program without a policy then runs in float32
on a GPU, where it ran in half precision, so the fix is unsafe; set a policy to have it back.

References
----------
- [tf.config.optimizer.set_experimental_options](https://www.tensorflow.org/api_docs/python/tf/config/optimizer/set_experimental_options)
- [Mixed precision guide](https://www.tensorflow.org/guide/mixed_precision) of TensorFlow
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Applicability, Fault, GraphRewriting, Rule, Severity, WithoutOption, World


class GrapplerMixedPrecision(Rule):
    """MP305."""

    code = "MP305"
    name = "grappler-mixed-precision"
    severity = Severity.WARNING
    fixes = (Applicability.UNSAFE,)

    def check(self, world: World) -> Iterator[Fault]:
        """Options and variables that switch it on."""
        for found in world.once(GraphRewriting).options():
            why = (
                "beside the policy it also turns what is kept in float32"
                if found.beside
                else "it scales no loss, and Keras does not know of it"
            )
            yield Fault(
                found.at,
                Severity.WARNING,
                f"`{found.name}` switches on TensorFlow's own mixed precision: {why}",
                rewrite=WithoutOption(found.at, found.call),
            )
