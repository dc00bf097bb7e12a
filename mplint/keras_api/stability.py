"""Functions and operators by what half precision does to their results, beyond rounding them.

TensorFlow's own mixed precision for graphs keeps `Exp`, `Expm1`, `L2Loss`, `Mean`, `Pow`, `Sum` and the cross-entropies
in float32.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Final


class Sensitivity(enum.Enum):
    """Why a function is better not computed in half precision."""

    EXPONENTIAL = "exponential"
    """Overflows from 11.1 on."""
    LOGARITHM = "logarithm"
    """Of what has become 0 it is -inf."""
    POWER = "power"
    SQUARE = "square"
    """Overflows from 256 on, and is 0 below 0.00024."""
    SUM = "sum"
    """Of many; overflows, and small terms are lost."""
    MEAN = "mean"
    NORM = "norm"
    """A root of a sum of squares, or what is divided by one."""
    SPREAD = "spread"
    """A variance or a standard deviation."""
    RUNNING = "running"
    """A running sum or product: the longer, the less of a new term is left."""
    SOFTMAX = "softmax"
    CROSS_ENTROPY = "cross-entropy"


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
    "tensorflow.norm": _S.NORM,
    "tensorflow.math.l2_normalize": _S.NORM,
    "tensorflow.math.reduce_euclidean_norm": _S.NORM,
    "tensorflow.nn.l2_loss": _S.NORM,
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
        ("binary_crossentropy", "categorical_crossentropy", "sparse_categorical_crossentropy"),
        _S.CROSS_ENTROPY,
    ),
}  # fmt: skip
"""By canonical name."""


def sensitivity(path: str) -> Sensitivity | None:
    """Why the function or the operator at `path`, a canonical name, is better not computed in half precision."""
    return SENSITIVE.get(path)


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
HEAVY: Final = frozenset(
    {"operator.@", "tensorflow.linalg.matmul", "tensorflow.einsum", "tensorflow.tensordot", "keras.ops.matmul",
     "keras.ops.einsum", "keras.ops.tensordot", "keras.ops.dot", "keras.backend.dot", "keras.backend.batch_dot",
     "tensorflow.nn.conv2d", "tensorflow.nn.conv1d", "tensorflow.nn.conv3d", "tensorflow.nn.convolution",
     "tensorflow.nn.depthwise_conv2d", "tensorflow.nn.conv2d_transpose", "keras.ops.conv", "keras.backend.conv2d"}
)  # fmt: skip
"""What half precision is for."""
