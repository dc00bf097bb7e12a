"""Functions of TensorFlow and of keras.ops, for a layer's arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tests.generator.author import Author

_NAMES: Final = {
    "mean": ("reduce_mean", "mean"),
    "sum": ("reduce_sum", "sum"),
    "max": ("reduce_max", "max"),
    "clip": ("clip_by_value", "clip"),
    "log": ("math.log", "log"),
    "log1p": ("math.log1p", "log1p"),
    "rsqrt": ("math.rsqrt", "rsqrt"),
    "softmax": ("nn.softmax", "softmax"),
    "relu": ("nn.relu", "relu"),
    "moments": ("nn.moments", "moments"),
    "variance": ("math.reduce_variance", "var"),
    "deviation": ("math.reduce_std", "std"),
    "logsumexp": ("reduce_logsumexp", "logsumexp"),
    "concat": ("concat", "concatenate"),
}
"""Names that differ in the two; others are the same."""


@dataclass(frozen=True)
class Functions:
    """One of the two libraries, as a program that uses it writes it."""

    a: Author
    is_ops: bool

    @classmethod
    def draw(cls, a: Author, *, in_call: bool = True) -> Functions:
        """TensorFlow's where there is a choice is the simpler one; on a KerasTensor of Keras 3 there is none."""
        return cls(a, a.is_3 and (not in_call or a.choices.chance(0.45)))

    def __call__(self, name: str) -> str:
        """`tf.reduce_mean` or `ops.mean`."""
        tensorflow, ops = _NAMES.get(name, (name, name))
        return self.a.keras(f"ops.{ops}") if self.is_ops else self.a.spelling.tensorflow(tensorflow)

    def cast(self, tensor: str, dtype: str) -> str:
        """A cast to a dtype that is written already."""
        return f"{self('cast')}({tensor}, {dtype})"

    @property
    def float32(self) -> str:
        """The dtype."""
        if not self.is_ops and self.a.choices.chance(0.6):
            return self.a.spelling.tensorflow("float32")
        return self.a.text("float32")
