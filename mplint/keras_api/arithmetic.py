"""Functions and operators by what they do to the size of numbers: the scale of a loss is in it."""

from __future__ import annotations

from typing import Final

TIMES: Final = frozenset(
    {"operator.*", "operator.r*", "tensorflow.math.multiply", "tensorflow.math.scalar_mul", "keras.ops.multiply"}
)
"""Products."""
OVER: Final = frozenset(
    {"operator./", "operator.//", "tensorflow.math.divide", "tensorflow.math.truediv",
     "tensorflow.math.divide_no_nan", "keras.ops.divide", "keras.ops.true_divide", "keras.ops.divide_no_nan"}
)  # fmt: skip
"""Quotients, the first operand over the others."""
UNDER: Final = frozenset({"operator.r/", "operator.r//", "tensorflow.math.reciprocal", "keras.ops.reciprocal"})
"""A number divided by the tensor."""
CONSTANT: Final = "tensorflow.constant"
"""The function that makes a tensor of a number."""
READ: Final = "value"
"""What a variable of the program holds: its first operand is the variable, the second, or what is no tensor, that."""
ZEROS: Final = frozenset({"tensorflow.zeros", "tensorflow.zeros_like", "keras.ops.zeros", "keras.ops.zeros_like"})
"""Functions that give nothing but zeros."""
LIMITS: Final = {
    "tensorflow.clip_by_global_norm": (("clip_norm", 1),),
    "tensorflow.clip_by_norm": (("clip_norm", 1),),
    "tensorflow.clip_by_value": (("clip_value_min", 1), ("clip_value_max", 2)),
    "keras.ops.clip": (("x_min", 1), ("x_max", 2)),
}
"""Operations that hold their first operand against others, which are no terms of the result: those, and where they are
given."""
CLIPS: Final = frozenset(LIMITS)
ASKS_FOR_OVERFLOWS: Final = frozenset(
    {"tensorflow.math.is_finite", "tensorflow.math.is_inf", "tensorflow.math.is_nan", "keras.ops.isfinite",
     "keras.ops.isinf", "keras.ops.isnan"}
)  # fmt: skip
"""Questions where a tensor is inf or nan."""
MASKS: Final = frozenset({"keras.ops.nan_to_num", "tensorflow.experimental.numpy.nan_to_num"})
"""Operations that put another number where a tensor is inf or nan."""
CHOOSES: Final = frozenset({"tensorflow.where", "keras.ops.where", "tensorflow.math.multiply_no_nan"})
"""Those that do so where they are told by what asks for it."""
_COMPARES: Final = ("argmax", "argmin", "sign", "count_nonzero", "equal", "not_equal", "greater", "greater_equal",
                    "less", "less_equal")  # fmt: skip
_SHAPES: Final = ("shape", "size", "zeros_like", "ones_like")
COMPARES: Final = frozenset({"<", "<=", ">", ">="})
"""Operators that hold a number against another."""
ENDS: Final = (
    ASKS_FOR_OVERFLOWS
    | {f"operator.{symbol}" for symbol in ("==", "!=", *COMPARES)}
    | {f"tensorflow.math.{name}" for name in _COMPARES}
    | {f"tensorflow.{name}" for name in (*_SHAPES, "rank", "stop_gradient")}
    | {f"keras.ops.{name}" for name in (*_COMPARES, *_SHAPES, "stop_gradient")}
)
"""Operations whose results are no larger when their operands are, or through which no gradient goes."""
TAKES_IDS: Final = {
    "keras.ops.one_hot": ("x", "num_classes"),
    "keras.ops.segment_sum": ("segment_ids", "num_segments"),
    "keras.ops.take": ("indices", ""),
    "keras.ops.take_along_axis": ("indices", ""),
    "keras.backend.gather": ("indices", ""),
    "keras.backend.one_hot": ("indices", "num_classes"),
    "tensorflow.gather": ("indices", ""),
    "tensorflow.gather_nd": ("indices", ""),
    "tensorflow.math.unsorted_segment_sum": ("segment_ids", "num_segments"),
    "tensorflow.nn.embedding_lookup": ("ids", ""),
    "tensorflow.one_hot": ("indices", "depth"),
    "tensorflow.scatter_nd": ("indices", ""),
}
"""Functions that take ids: as which argument, and the one that says how many there are."""
TAKES_FLOATS: Final = frozenset({"keras.ops.one_hot"})
"""Those that take ids of any dtype."""
TAKES_LABELS: Final = {
    "keras.backend.sparse_categorical_crossentropy": ("target", "output"),
    "keras.losses.sparse_categorical_crossentropy": ("y_true", "y_pred"),
    "keras.ops.sparse_categorical_crossentropy": ("target", "output"),
    "tensorflow.nn.sparse_softmax_cross_entropy_with_logits": ("labels", "logits"),
}
"""Losses that take the numbers of classes: as which argument, and the one with a feature for each class."""
