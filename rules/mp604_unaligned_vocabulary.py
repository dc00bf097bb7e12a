"""A vocabulary that is projected to should be padded to a multiple of 8.

What it does
------------
Reports a vocabulary of 1000 words or more that is no multiple of 8, at its Embedding and at the Dense that says, in
half precision, which of the words it is. An Embedding alone looks words up and multiplies no matrices, and a vocabulary
that is counted in the data is left alone.

Why it matters
--------------
The projection to the vocabulary is the largest product of matrices in many a language model, and its side is the number
of words. Where that is no multiple of 8, the product is padded or slower on Tensor Cores:
[measured](https://github.com/tensorflow/models/pull/7407) on a translation model, padding 33,708 words to 33,712 made
each step about 35 ms shorter.

Example
-------
```python
import keras
from keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")

WORDS = 33708

words = keras.Input((None,), dtype="int32")
x = layers.Embedding(WORDS, 256)(words)
x = layers.LSTM(256, return_sequences=True)(x)
x = layers.Dense(WORDS)(x)
model = keras.Model(words, layers.Activation("softmax", dtype="float32")(x))
```

Fixed
-----
```python
import keras
from keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")

WORDS = 33712

words = keras.Input((None,), dtype="int32")
x = layers.Embedding(WORDS, 256)(words)
x = layers.LSTM(256, return_sequences=True)(x)
x = layers.Dense(WORDS)(x)
model = keras.Model(words, layers.Activation("softmax", dtype="float32")(x))
```

Good
----
```python
import keras
from keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")

words = keras.Input((None,), dtype="int32")
x = layers.Embedding(33708, 256)(words)
x = layers.LSTM(256)(x)
model = keras.Model(words, layers.Dense(2, activation="softmax", dtype="float32")(x))
```

How the fix changes the program
-------------------------------
The number is rounded up where it is written: the words more than there are get weights that no example trains, and a
probability near zero. The model has more weights, and cannot load weights of before: the fix is unsafe. Where something
else reads the number it is only shown.

References
----------
- [Pull request 7407](https://github.com/tensorflow/models/pull/7407) of TensorFlow's models
- [Deep learning performance guide](https://docs.nvidia.com/deeplearning/performance/) of NVIDIA: vocabulary size
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Applicability, Fault, RoundUp, Rule, Severity, Sizes, World


class UnalignedVocabulary(Rule):
    """MP604."""

    code = "MP604"
    name = "unaligned-vocabulary"
    severity = Severity.ADVICE
    fixes = (Applicability.UNSAFE,)

    def check(self, world: World) -> Iterator[Fault]:
        """Embeddings of words, and the layers that say which word it is."""
        for unaligned in world.once(Sizes).vocabularies():
            says = (
                f"{unaligned.says} is the size of a vocabulary and not a multiple of 8, so that the projection to it "
                "is padded or slower on Tensor Cores"
            )
            yield Fault(
                unaligned.place, Severity.ADVICE, says, unaligned.policy, RoundUp(unaligned.place, 8, of_words=True)
            )
