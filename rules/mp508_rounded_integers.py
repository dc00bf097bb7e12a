"""Whole numbers that say which must not be carried in half precision.

What it does
------------
Reports ids, positions and labels that are float16 or bfloat16 somewhere on the way to where they are used:

- an `Input` of ids without `dtype="int32"` whose tensor passes a layer before the `Embedding`: `Reshape`, `Lambda`, a
  layer or model of your own. A layer casts floating inputs to its compute dtype; only `Embedding` itself does not;
- ids that are cast to half precision and looked up, also by `one_hot`, `gather`, `gather_nd` or a sum by segments, and
  also where they are cast back to integers before that;
- a `tf.range` in half precision that is longer than it can count;
- positions in half precision of which angles are computed, for `sin` and `cos`;
- labels that are cast to half precision in front of `fit`, or of a sparse cross-entropy that the program calls, for
  more classes than it can count.

Nothing is said where all ids are known to be small enough: the `input_dim` of the `Embedding` tells.

Why it matters
--------------
float16 holds the whole numbers up to 2048, bfloat16 up to 256, and of those beyond only every second, then every
fourth. Measured in both generations: behind a `Reshape` the ids 2049, 2051 and 4097 look up the rows 2048, 2052 and
4096 in float16, and 2048, 2048 and 4096 in bfloat16. `tf.range(300, dtype="bfloat16")` ends with 296, 296, 298, 300.
Sines of 1024 positions that are computed in float16 are up to 0.2 off among the first 512, and 0.4 behind them; in
bfloat16 they are anything. No exception is raised, and the loss still goes down.

Example
-------
```python
from tensorflow import keras
from tensorflow.keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")

item = keras.Input((1,))
x = layers.Reshape(())(item)
x = layers.Embedding(50000, 32)(x)
score = layers.Dense(1, dtype="float32")(x)
model = keras.Model(item, score)
```

Fixed
-----
```python
from tensorflow import keras
from tensorflow.keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")

item = keras.Input((1,), dtype="int32")
x = layers.Reshape(())(item)
x = layers.Embedding(50000, 32)(x)
score = layers.Dense(1, dtype="float32")(x)
model = keras.Model(item, score)
```

Good
----
```python
from tensorflow import keras
from tensorflow.keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")

words = keras.Input((20,))
x = layers.Embedding(50000, 32)(words)
x = layers.GlobalAveragePooling1D()(x)
score = layers.Dense(1, dtype="float32")(x)
model = keras.Model(words, score)
```

How the fix changes the program
-------------------------------
The `Input` (or the range) gets an integer dtype, or the cast is left out, where everything behind takes integers:
layers do not cast those. Nothing is rewritten where something else uses the same tensor as a number, nor where angles
are computed: do that in float32, and cast the sines. Under a float32 policy nothing changes: the ids are looked up as
integers there, too.

References
----------
- [keras-team/keras#19332](https://github.com/keras-team/keras/issues/19332)
- [keras-team/keras#15012](https://github.com/keras-team/keras/issues/15012)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mplint.api import Applicability, Fault, Integers, KeepIntegers, Rounded, Rule, Severity, World

_HOLDS: Final = {
    "float16": "float16 holds whole numbers up to 2048, and 2049 becomes 2048",
    "bfloat16": "bfloat16 holds whole numbers up to 256, and 257 becomes 256",
}
_ANGLES: Final = {
    "float16": "up to 0.2 off among the first 512 in float16",
    "bfloat16": "as good as random in bfloat16",
}


class RoundedIntegers(Rule):
    """MP508."""

    code = "MP508"
    name = "rounded-integers"
    severity = Severity.ERROR
    fixes = (Applicability.SAFE,)

    def check(self, world: World) -> Iterator[Fault]:
        """Ids and positions in half precision."""
        for rounded in world.once(Integers).rounded():
            severity = Severity.ERROR if rounded.count is not None else Severity.WARNING
            yield Fault(rounded.at, severity, _says(rounded), rounded.policy, KeepIntegers(world, rounded))


def _says(rounded: Rounded) -> str:
    if rounded.used == "angles":
        return f"these positions are {rounded.dtype}, and their sines are {_ANGLES[rounded.dtype]}: use float32"
    holds = _HOLDS[rounded.dtype]
    if rounded.used == "range":
        return f"this range ends at {rounded.count}, but {holds}: keep it an integer"
    if rounded.used == "labels":
        return f"these labels of {rounded.count} classes are {rounded.dtype}, but {holds}: keep them integers"
    known = f", of which there are {rounded.count}," if rounded.count is not None else ""
    return f"these ids{known} are {rounded.dtype} on their way to {rounded.used}, but {holds}: keep them integers"
