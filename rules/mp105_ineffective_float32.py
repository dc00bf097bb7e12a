"""float32 must be asked for where it counts.

What it does
------------
Reports a float32 dtype that has no effect:

- given to a model (`super().__init__(dtype="float32")`, in Keras 3 also `Model(inputs, outputs, dtype="float32")`) or
  to a layer of the program, whose own layers keep the global policy;
- given to the wrong side of `TimeDistributed`, `Bidirectional` or `SpectralNormalization`: in Keras 2 only the dtype of
  the layer inside counts, in Keras 3 that of the wrapper.

It is reported wherever it stands, in the middle of a model too, and only where what comes out is known to be half
precision.

Why it matters
--------------
Somebody saw that float32 is needed here and wrote it down, and the program computes in half precision all the same,
without a word. Measured under `mixed_float16`: `TimeDistributed(Dense(n), dtype="float32")` gives float16 in Keras 2
and float32 in Keras 3, `TimeDistributed(Dense(n, dtype="float32"))` the reverse; a model with `dtype="float32"` and
plain layers gives float16 in both.

Example
-------
```python
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.mixed_precision.set_global_policy("mixed_float16")


class Critic(tf.keras.Model):
    def __init__(self):
        super().__init__(dtype="float32")
        self.hidden = layers.Dense(64, activation="relu")
        self.value = layers.Dense(1)

    def call(self, states):
        return self.value(self.hidden(states))


critic = Critic()
```

Fixed
-----
```python
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.mixed_precision.set_global_policy("mixed_float16")


class Critic(tf.keras.Model):
    def __init__(self):
        super().__init__(dtype="float32")
        self.hidden = layers.Dense(64, activation="relu")
        self.value = layers.Dense(1, dtype="float32")

    def call(self, states):
        return self.value(self.hidden(states))


critic = Critic()
```

Good
----
```python
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.mixed_precision.set_global_policy("mixed_float16")


class Critic(tf.keras.Model):
    def __init__(self):
        super().__init__(dtype="float32")
        self.hidden = layers.Dense(64, activation="relu")
        self.value = layers.Dense(1)

    def call(self, states):
        return tf.cast(self.value(self.hidden(states)), self.dtype)


critic = Critic()
```

How the fix changes the program
-------------------------------
The end of a model gets float32 in the ways of MP102. Of a wrapper the other side gets `dtype="float32"` as well, so
that it holds in Keras 2 and in Keras 3. A layer in the middle is left to you: its layers may be meant to differ. Under
a float32 policy nothing changes, bit for bit.

References
----------
- [Mixed precision guide](https://www.tensorflow.org/guide/mixed_precision) of TensorFlow
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import (
    Applicability,
    EndFault,
    Fault,
    Float32End,
    Float32Wrapper,
    Ineffective,
    Rewrite,
    Rule,
    Severity,
    Together,
    World,
    faulty_ends,
    in_vain,
)


class IneffectiveFloat32(Rule):
    """MP105."""

    code = "MP105"
    name = "ineffective-float32"
    severity = Severity.WARNING
    fixes = (Applicability.SAFE, Applicability.DISPLAY)

    def check(self, world: World) -> Iterator[Fault]:
        """Each float32 that was asked for in vain."""
        faulty = {end for end, _ in faulty_ends(world, EndFault.INEFFECTIVE_FLOAT32)}
        for asked in world.once(in_vain):
            yield Fault(
                asked.at,
                Severity.WARNING,
                f"float32 has no effect here: {asked.why}, and what comes out is {asked.dtype}",
                asked.policy,
                _rewrite(world, asked, tuple(Float32End(end) for end in asked.ends if end in faulty)),
            )


def _rewrite(world: World, asked: Ineffective, ends: tuple[Float32End, ...]) -> Rewrite | None:
    """What heals the ends of models that it spoils, else the wrapper."""
    if ends:
        return Together(ends)
    return Float32Wrapper(world, asked.wrapper) if asked.wrapper is not None else None
