"""Which copy of Keras a name was written from: each has a global policy of its own."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Literal

Copy = Literal["keras", "tf_keras", "tensorflow.keras", "tensorflow.python.keras"]
COPIES: Final[tuple[Copy, ...]] = ("keras", "tf_keras", "tensorflow.keras", "tensorflow.python.keras")


@lru_cache(maxsize=4096)
def copy_of(path: str) -> Copy:
    """The copy of Keras that the name `path`, as a program writes it, comes from.

    `tensorflow.python.keras` is TensorFlow's private copy; only its generated API names are the public one.
    """
    if path.startswith("tf_keras"):
        return "tf_keras"
    if path.startswith("tensorflow.python.keras") and not path.startswith("tensorflow.python.keras.api"):
        return "tensorflow.python.keras"
    return "tensorflow.keras" if path.startswith("tensorflow") else "keras"


def are_separate(one: Copy, other: Copy, generation: str, legacy: bool) -> bool:
    """Whether the two are certainly different copies.

    `legacy` says that the program itself sets TF_USE_LEGACY_KERAS.  In Keras 3 `tf.keras` is `keras`; in Keras 2 it is
    `keras` or `tf_keras`, depending on TensorFlow's version and that switch.
    """
    pair = {one, other}
    if len(pair) == 1:
        return False
    if "tensorflow.python.keras" in pair or pair == {"keras", "tf_keras"}:
        return True
    if pair == {"tensorflow.keras", "tf_keras"}:
        return generation == "3"
    return generation == "2" and legacy
