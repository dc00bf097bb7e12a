"""How many elements tensors have along their axes, as far as inputs and layers tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mplint.interpreter.keras.info import LayerInfo, info_of
from mplint.interpreter.values import NONE, TRUE, Const, List, Made, Tensor, Tuple, Value, alternatives
from mplint.keras_api import activation_of
from mplint.keras_api.arithmetic import OVER, TIMES

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

Shape = tuple[int | None, ...]

_SAME: Final = frozenset(
    {f"keras.layers.{name}" for name in
     ("Activation", "ReLU", "LeakyReLU", "ELU", "PReLU", "Softmax", "Dropout", "SpatialDropout1D", "GaussianNoise",
      "GaussianDropout", "BatchNormalization", "LayerNormalization", "GroupNormalization", "RMSNormalization",
      "UnitNormalization", "Normalization", "Rescaling", "Masking", "Identity", "ActivityRegularization", "Add",
      "Subtract", "Multiply", "Average", "Maximum", "Minimum", "MultiHeadAttention")}
)  # fmt: skip
"""Layers whose output has the shape of their (first) input."""
_FEATURES: Final = {"keras.layers.Dense": "units", "keras.layers.Embedding": "output_dim"}
"""Layers that decide the last axis alone: an Embedding adds it."""
_RECURRENT: Final = frozenset({"keras.layers.LSTM", "keras.layers.GRU", "keras.layers.SimpleRNN"})
_ELEMENTWISE: Final = TIMES | OVER | {"operator.+", "operator.-", "operator.Minus", "operator.Plus"}
_ONE_BY_ONE: Final = frozenset(
    f"{module}.{name}"
    for module in ("tensorflow.math", "keras.ops", "keras.backend")
    for name in ("abs", "absolute", "exp", "negative", "sqrt", "square")
)
"""Functions of each element by itself, beside activations."""
_FAR: Final = 32


def along(m: Machine, tensor: Tensor, axis: int) -> int | None:
    """How many elements a tensor has along an axis; None where that is not known."""
    shape = _shape(m, tensor, 0)
    return shape[axis] if shape is not None and -len(shape) <= axis < len(shape) else None


def _shape(m: Machine, tensor: Tensor, depth: int) -> Shape | None:
    if depth > _FAR:
        return None
    found = {_of(m, way.made, depth) for way in alternatives(tensor)}
    return found.pop() if len(found) == 1 else None


def _of(m: Machine, made: Made, depth: int) -> Shape | None:
    if made.kind == "input":
        info = info_of(m, made.layer) if made.layer is not None else None
        return _written(m, info.argument("shape")) if info is not None else None
    given = _shape(m, made.operands[0], depth + 1) if made.operands else None
    if given is None:
        return None
    if made.kind == "layer":
        info = info_of(m, made.layer) if made.layer is not None else None
        return _behind(info, given) if info is not None else None
    if made.kind == "cast" or made.by in _ONE_BY_ONE or activation_of(made.by) is not None:
        return given
    if made.kind == "operation" and made.by in _ELEMENTWISE:
        others = [_shape(m, operand, depth + 1) for operand in made.operands[1:]]
        return given if all(other == given for other in others) else None
    return None


def _behind(info: LayerInfo, given: Shape) -> Shape | None:
    """The shape of what a layer gives."""
    if info.base in _SAME:
        return given
    if info.base in _FEATURES:
        size = _number(info.argument(_FEATURES[info.base]))
        return (*(given if info.base.endswith("Embedding") else given[:-1]), size)
    if info.base in _RECURRENT and info.argument("return_sequences") == TRUE:
        return (*given[:-1], _number(info.argument("units")))
    if info.base == "keras.layers.Conv1D" and info.argument("padding") in (Const("same"), Const("causal")):
        strides = info.argument("strides")
        return (*given[:-1], _number(info.argument("filters"))) if strides in (None, NONE, Const(1)) else None
    return None


def _written(m: Machine, shape: Value | None) -> Shape | None:
    """The shape of an input, the batch in front."""
    if isinstance(shape, Const) and isinstance(shape.value, int):
        return (None, shape.value)
    items = m.items(shape) if isinstance(shape, List) else shape
    if not isinstance(items, Tuple) or items.rest is not None:
        return None
    return (None, *map(_number, items.items))


def _number(value: Value | None) -> int | None:
    return value.value if isinstance(value, Const) and type(value.value) is int else None
