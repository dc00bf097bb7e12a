"""Half precision must come from a policy, not from the graph rewrite.

What it does
------------
Reports calls of `enable_mixed_precision_graph_rewrite`: of `tf.train.experimental`, which has it no more, and of
`tf.compat.v1`, where it is given an optimizer that it does not take. Optimizers of TensorFlow 1 are not reported there,
nor is a project that asks for TensorFlow before 2.4, or a program that only TensorFlow 1 can run.

Why it matters
--------------
The rewrite changed the graph behind the model's back, and the optimizer into one that scales the loss. Measured with
TensorFlow 2.15 and 2.21: `AttributeError: module 'tensorflow._api.v2.train.experimental' has no attribute
'enable_mixed_precision_graph_rewrite'`. That of `tf.compat.v1` raises `ValueError: "opt" must be an instance of a
tf.train.Optimizer` for every optimizer of Keras but those in `keras.optimizers.legacy`, and excludes a policy: each
raises once the other is set.

Example
-------
```python
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(64), tf.keras.layers.Dense(1, dtype="float32")])
optimizer = tf.keras.optimizers.SGD(0.1)
optimizer = tf.train.experimental.enable_mixed_precision_graph_rewrite(optimizer)
model.compile(optimizer, "mse")
```

Fixed
-----
```python
import tensorflow as tf

tf.keras.mixed_precision.set_global_policy("mixed_float16")
model = tf.keras.Sequential([tf.keras.layers.Dense(64), tf.keras.layers.Dense(1, dtype="float32")])
optimizer = tf.keras.optimizers.SGD(0.1)
model.compile(optimizer, "mse")
```

Good
----
```python
import tensorflow as tf

optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.1)
optimizer = tf.compat.v1.mixed_precision.enable_mixed_precision_graph_rewrite(optimizer)
print(tf.keras.backend.floatx())
```

How the fix changes the program
-------------------------------
The optimizer stays as it is, and mixed_float16 is set instead, unless a half-precision policy is set already: `compile`
then scales the loss. Where a layer was made before, MP401 says so, and moves it to the front. The program runs in half
precision then, so the fix is unsafe; other rules may find what it uncovers.

References
----------
- [enable_mixed_precision_graph_rewrite](https://www.tensorflow.org/api_docs/python/tf/compat/v1/mixed_precision/enable_mixed_precision_graph_rewrite)
- [Mixed precision guide](https://www.tensorflow.org/guide/mixed_precision) of TensorFlow
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Applicability, Fault, GraphRewriting, PolicyInstead, Rule, Severity, World


class GraphRewrite(Rule):
    """MP304."""

    code = "MP304"
    name = "graph-rewrite"
    severity = Severity.ERROR
    fixes = (Applicability.UNSAFE,)

    def check(self, world: World) -> Iterator[Fault]:
        """Calls that switch the graph rewrite on."""
        for found in world.once(GraphRewriting).calls():
            why = (
                "TensorFlow has no `enable_mixed_precision_graph_rewrite` any more"
                if found.gone
                else "`enable_mixed_precision_graph_rewrite` takes no optimizer of Keras"
            )
            instead = "the policy is set already" if found.has_policy else "set a policy instead"
            yield Fault(
                found.at,
                Severity.WARNING if found.deprecated else Severity.ERROR,
                f"{why}: {instead}",
                rewrite=PolicyInstead(world, found.at, found.has_policy, found.copy),
            )
