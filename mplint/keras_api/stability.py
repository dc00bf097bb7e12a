"""Functions and operators by what half precision does to their results, beyond rounding them.

TensorFlow's own mixed precision for graphs keeps `Exp`, `Expm1`, `L2Loss`, `Mean`, `Pow`, `Sum` and the cross-entropies
in float32.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from mplint.keras_api.activations import activation_of
from mplint.keras_api.names import Kind, canonical, kind


class Sensitivity(enum.Enum):
    """Why a function is better not computed in half precision, the worst first, with measured numbers."""

    EXPONENTIAL = "exp(11.1) is inf"
    LOGARITHM = "the logarithm of what float16 rounds to 0 is -inf"
    POWER = "256 ** 2 is inf"
    SQUARE = "the square of 256 is inf, and that of 0.00017 is 0"
    NORM = "squares beyond 65504 are inf, and those of 1e-4 are 0"
    """A root of a sum of squares, or what is divided by one."""
    SPREAD = "the squares of differences beyond 255 are inf"
    """A variance or a standard deviation."""
    CROSS_ENTROPY = "a loss of 2 is inf when it is multiplied with the loss scale"
    LOSS = "it is inf beyond 65504, and from 2 on when it is multiplied with the loss scale"
    SOFTMAX = "a probability below 3e-8 is 0"
    SUM = "a sum beyond 65504 is inf"
    MEAN = "the sum behind a mean is inf beyond 65504"
    RUNNING = "a running sum of ones stays at 2048"
    """A running sum or product: the longer, the less of a new term is left."""


def _of(module: str, names: Iterable[str], kind: Sensitivity) -> dict[str, Sensitivity]:
    return {f"{module}.{name}": kind for name in names}


_S = Sensitivity
SENSITIVE: Final[dict[str, Sensitivity]] = {
    **_of("tensorflow.math", ("exp", "expm1", "sinh", "cosh"), _S.EXPONENTIAL),
    **_of("keras.ops", ("exp", "exp2", "expm1", "sinh", "cosh"), _S.EXPONENTIAL),
    "keras.backend.exp": _S.EXPONENTIAL,
    "keras.activations.exponential": _S.EXPONENTIAL,
    **_of("tensorflow.math", ("log", "log1p", "xlogy", "xlog1py"), _S.LOGARITHM),
    **_of("keras.ops", ("log", "log1p", "log2", "log10"), _S.LOGARITHM),
    "keras.backend.log": _S.LOGARITHM,
    "operator.**": _S.POWER,
    "tensorflow.math.pow": _S.POWER,
    "keras.ops.power": _S.POWER,
    "keras.backend.pow": _S.POWER,
    "tensorflow.math.square": _S.SQUARE,
    "tensorflow.math.squared_difference": _S.SQUARE,
    "keras.ops.square": _S.SQUARE,
    "keras.backend.square": _S.SQUARE,
    "tensorflow.math.reduce_sum": _S.SUM,
    "tensorflow.math.reduce_prod": _S.SUM,
    "keras.ops.sum": _S.SUM,
    "keras.ops.prod": _S.SUM,
    "keras.backend.sum": _S.SUM,
    "keras.backend.prod": _S.SUM,
    "tensorflow.math.reduce_mean": _S.MEAN,
    "keras.ops.mean": _S.MEAN,
    "keras.ops.average": _S.MEAN,
    "keras.backend.mean": _S.MEAN,
    **_of("tensorflow.math", ("segment_sum", "unsorted_segment_sum"), _S.SUM),
    **_of("tensorflow.math", ("segment_mean", "unsorted_segment_mean"), _S.MEAN),
    "tensorflow.nn.compute_average_loss": _S.MEAN,
    "keras.ops.segment_sum": _S.SUM,
    "tensorflow.norm": _S.NORM,
    "tensorflow.math.l2_normalize": _S.NORM,
    "tensorflow.math.reduce_euclidean_norm": _S.NORM,
    "tensorflow.nn.l2_loss": _S.NORM,
    "tensorflow.linalg.normalize": _S.NORM,
    "tensorflow.clip_by_norm": _S.NORM,
    "keras.ops.norm": _S.NORM,
    "keras.ops.normalize": _S.NORM,
    "keras.backend.l2_normalize": _S.NORM,
    "tensorflow.nn.moments": _S.SPREAD,
    "tensorflow.nn.weighted_moments": _S.SPREAD,
    "tensorflow.math.reduce_variance": _S.SPREAD,
    "tensorflow.math.reduce_std": _S.SPREAD,
    **_of("keras.ops", ("moments", "var", "std"), _S.SPREAD),
    **_of("keras.backend", ("var", "std"), _S.SPREAD),
    **_of("tensorflow.math", ("cumsum", "cumprod"), _S.RUNNING),
    **_of("keras.ops", ("cumsum", "cumprod"), _S.RUNNING),
    **_of("keras.backend", ("cumsum", "cumprod"), _S.RUNNING),
    **_of("tensorflow.nn", ("softmax", "log_softmax"), _S.SOFTMAX),
    **_of("keras.ops", ("softmax", "log_softmax"), _S.SOFTMAX),
    **_of("keras.activations", ("softmax", "log_softmax"), _S.SOFTMAX),
    "keras.backend.softmax": _S.SOFTMAX,
    **_of(
        "tensorflow.nn",
        ("softmax_cross_entropy_with_logits", "sparse_softmax_cross_entropy_with_logits",
         "sigmoid_cross_entropy_with_logits", "weighted_cross_entropy_with_logits"),
        _S.CROSS_ENTROPY,
    ),
    **_of(
        "keras.ops",
        ("binary_crossentropy", "categorical_crossentropy", "sparse_categorical_crossentropy"),
        _S.CROSS_ENTROPY,
    ),
    **_of(
        "keras.backend",
        ("binary_crossentropy", "binary_focal_crossentropy", "categorical_crossentropy",
         "categorical_focal_crossentropy", "sparse_categorical_crossentropy"),
        _S.CROSS_ENTROPY,
    ),
}  # fmt: skip
"""By canonical name."""


@lru_cache(maxsize=4096)
def sensitivity(path: str) -> Sensitivity | None:
    """Why the function or the operator at `path` is better not computed in half precision; None where it may be."""
    found = SENSITIVE.get(path) or SENSITIVE.get(canonical(path))
    if found is not None:
        return found
    if kind(path) is Kind.LOSS:
        return Sensitivity.CROSS_ENTROPY if is_cross_entropy(path) else Sensitivity.LOSS
    return Sensitivity.SOFTMAX if activation_of(path) == "softmax" else None


@lru_cache(maxsize=4096)
def is_cross_entropy(path: str) -> bool:
    """Whether a function or a class of losses of Keras is a cross-entropy, of probabilities or on request of logits."""
    module, _, name = path.rpartition(".")
    return module in ("keras.losses", "keras.ops", "keras.backend") and name.lower().endswith("crossentropy")


ROOTS: Final = frozenset(
    {"tensorflow.math.sqrt", "tensorflow.math.rsqrt", "keras.ops.sqrt", "keras.ops.rsqrt", "keras.backend.sqrt"}
)
"""Square roots and what is divided by one: at 0 their slope is infinite."""
INVERSES: Final = frozenset(
    {"tensorflow.math.rsqrt", "keras.ops.rsqrt", "tensorflow.math.reciprocal", "keras.ops.reciprocal"}
)
"""What is infinite at 0."""
SATURATING: Final = frozenset(
    {f"tensorflow.math.{name}" for name in ("tanh", "sigmoid", "erf", "atan", "sin", "cos")}
    | {f"keras.ops.{name}" for name in ("tanh", "sigmoid", "hard_sigmoid", "erf", "arctan", "sin", "cos")}
    | {f"keras.activations.{name}" for name in ("tanh", "sigmoid", "hard_sigmoid")}
    | {f"keras.backend.{name}" for name in ("tanh", "sigmoid", "hard_sigmoid", "sin", "cos")}
)
"""Functions that never leave [-1, 1] (arctan: [-1.6, 1.6]), whatever they are given."""
_HEAVY: Final = frozenset(
    {"matmul", "dot", "tensordot", "einsum", "conv", "conv1d", "conv2d", "conv3d", "conv_transpose", "depthwise_conv",
     "depthwise_conv2d", "separable_conv", "separable_conv2d", "convolution", "conv2d_transpose", "batch_dot", "@"}
)  # fmt: skip
"""Products of matrices and convolutions, by their last names: what half precision makes faster."""


def is_heavy(path: str) -> bool:
    """Whether a function or an operator is a product of matrices, or a convolution."""
    return path.rpartition(".")[2] in _HEAVY
