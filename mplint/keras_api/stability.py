"""Functions and operators whose results do not fit float16 for ordinary numbers.

The core of it is what TensorFlow's own graph rewrite never runs in float16 (`Exp`, `Expm1`, `L2Loss`, `Mean`, `Pow`,
`Sum`, the softmax cross-entropies), by the names that programs write.
"""

from __future__ import annotations

import enum
from functools import lru_cache
from typing import Final

from mplint.keras_api.activations import activation_of
from mplint.keras_api.names import Kind, canonical, kind


class Instability(enum.Enum):
    """Why an operation does not go well in float16, the worst first; the value says it with measured numbers."""

    EXPONENTIAL = "exp(11.1) is inf"
    LOGARITHM = "the logarithm of what float16 rounds to 0 is -inf"
    POWER = "the square of 256 is inf"
    NORM = "squares beyond 65504 are inf, and those of 1e-4 are 0"
    CROSS_ENTROPY = "a loss of 2 is inf when it is multiplied with the loss scale"
    LOSS = "it is inf beyond 65504, and from 2 on when it is multiplied with the loss scale"
    SOFTMAX = "a probability below 3e-8 is 0"
    SUM = "a sum beyond 65504 is inf"


_TENSORFLOW: Final = {
    Instability.EXPONENTIAL: ("math.exp", "math.expm1"),
    Instability.POWER: ("math.pow", "math.square", "math.squared_difference", "nn.l2_loss"),
    Instability.NORM: (
        "norm", "math.reduce_euclidean_norm", "math.l2_normalize", "linalg.normalize", "clip_by_norm",
        "math.reduce_variance", "math.reduce_std", "nn.moments",
    ),
    Instability.SUM: (
        "math.reduce_sum", "math.reduce_mean", "math.cumsum", "math.segment_sum", "math.segment_mean",
        "math.unsorted_segment_sum", "math.unsorted_segment_mean", "nn.compute_average_loss",
    ),
    Instability.CROSS_ENTROPY: (
        "nn.sigmoid_cross_entropy_with_logits", "nn.softmax_cross_entropy_with_logits",
        "nn.sparse_softmax_cross_entropy_with_logits", "nn.weighted_cross_entropy_with_logits",
    ),
    Instability.LOGARITHM: ("math.log", "math.xlogy"),
}  # fmt: skip
_OPS: Final = {
    Instability.EXPONENTIAL: ("exp", "exp2", "expm1"),
    Instability.POWER: ("power", "square"),
    Instability.NORM: ("norm", "normalize", "var", "std", "moments"),
    Instability.SUM: ("sum", "mean", "average", "cumsum", "segment_sum"),
    Instability.CROSS_ENTROPY: ("binary_crossentropy", "categorical_crossentropy", "sparse_categorical_crossentropy"),
    Instability.LOGARITHM: ("log", "log2", "log10"),
}
_BACKEND: Final = {
    Instability.EXPONENTIAL: ("exp",),
    Instability.POWER: ("pow", "square"),
    Instability.NORM: ("l2_normalize", "var", "std"),
    Instability.SUM: ("sum", "mean", "cumsum"),
    Instability.CROSS_ENTROPY: (
        "binary_crossentropy", "binary_focal_crossentropy", "categorical_crossentropy",
        "categorical_focal_crossentropy", "sparse_categorical_crossentropy",
    ),
    Instability.LOGARITHM: ("log",),
}  # fmt: skip
_BY_NAME: Final = {
    "operator.**": Instability.POWER,
    **{
        f"{module}.{name}": why
        for module, table in (("tensorflow", _TENSORFLOW), ("keras.ops", _OPS), ("keras.backend", _BACKEND))
        for why, names in table.items()
        for name in names
    },
}


@lru_cache(maxsize=4096)
def instability(path: str) -> Instability | None:
    """Why the function or operator at `path` does not go well in float16; None where it does, or nobody knows."""
    found = _BY_NAME.get(path) or _BY_NAME.get(canonical(path))
    if found is not None:
        return found
    if kind(path) is Kind.LOSS:
        return Instability.CROSS_ENTROPY if is_cross_entropy(path) else Instability.LOSS
    return Instability.SOFTMAX if activation_of(path) == "softmax" else None


@lru_cache(maxsize=4096)
def is_cross_entropy(path: str) -> bool:
    """Whether a function or class of losses of Keras is a cross-entropy: of probabilities, on request of logits."""
    module, _, name = path.rpartition(".")
    return module in ("keras.losses", "keras.ops", "keras.backend") and name.lower().endswith("crossentropy")
