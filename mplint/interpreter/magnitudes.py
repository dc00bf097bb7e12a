"""How large the elements of a tensor may be, and how small: what its making tells."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from mplint.interpreter import scalars
from mplint.interpreter.keras.info import info_of
from mplint.interpreter.values import (
    OUTER,
    Api,
    Array,
    Choice,
    Const,
    Made,
    Symbol,
    Tensor,
    Unknown,
    Value,
    alternatives,
)
from mplint.keras_api import carries, joins
from mplint.keras_api.arithmetic import TIMES
from mplint.keras_api.precision import in_float16, in_half
from mplint.keras_api.stability import SATURATING, Sensitivity, sensitivity

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

_SMALL: Final = 8.0
_FAR: Final = 12
"""More operations than these are not followed back."""
FILLED: Final = frozenset(
    {"left", "right", "x", "y", "x1", "x2", "value", "fill_value", "constant_values", "on_value", "off_value",
     "clip_value_min", "clip_value_max", "x_min", "x_max", "min_value", "max_value", "min", "max"}
)  # fmt: skip
"""Parameters whose arguments become elements of the result, or meet them."""
_SUMS: Final = frozenset(
    {"operator.+", "operator.-", "tensorflow.math.add", "tensorflow.math.subtract", "keras.ops.add",
     "keras.ops.subtract"}
)  # fmt: skip
_MASKS: Final = frozenset(
    {"tensorflow.one_hot", "keras.ops.one_hot", "tensorflow.sequence_mask", "tensorflow.linalg.band_part",
     "tensorflow.eye", "keras.ops.eye", "tensorflow.ones", "tensorflow.ones_like", "keras.ops.ones",
     "keras.ops.ones_like", "keras.ops.tril", "keras.ops.triu", "keras.ops.tri", "keras.backend.ones_like"}
)  # fmt: skip
_PATTERNS: Final = frozenset(
    {"tensorflow.eye", "keras.ops.eye", "tensorflow.ones", "keras.ops.ones", "tensorflow.range", "keras.ops.arange",
     "keras.ops.tri", "keras.backend.arange"}
)  # fmt: skip
"""What is made of sizes alone."""
_ONES: Final = frozenset(
    {"tensorflow.ones", "tensorflow.ones_like", "keras.ops.ones", "keras.ops.ones_like", "keras.backend.ones_like"}
)
_HOLDS: Final = frozenset(
    {"tensorflow.where", "keras.ops.where", "tensorflow.fill", "tensorflow.constant", "keras.ops.full",
     "keras.ops.full_like", "tensorflow.convert_to_tensor", "keras.ops.convert_to_tensor", "tensorflow.cast",
     "keras.ops.cast", "keras.backend.cast", "tensorflow.pad", "keras.ops.pad", "keras.backend.constant"}
)  # fmt: skip
WHERE: Final = frozenset({"tensorflow.where", "keras.ops.where"})
_UPPER: Final = frozenset({"tensorflow.math.minimum", "keras.ops.minimum", "keras.backend.minimum"})
_LOWER: Final = frozenset({"tensorflow.math.maximum", "keras.ops.maximum", "keras.backend.maximum"})
CLIPS: Final = frozenset({"tensorflow.clip_by_value", "keras.ops.clip", "keras.backend.clip"})
_MOVES: Final = frozenset({"operator.Minus", "operator.Plus", "part", "autocast"})
_LAMBDA: Final = "keras.layers.Lambda"


@lru_cache(maxsize=4096)
def passes_on(by: str) -> bool:
    """Whether a function gives elements of its operands, chosen by place."""
    if by.startswith("operator.") or "." not in by:
        return False
    return carries(by) or any(joins(by, generation) for generation in "23")


def numbers(value: Value) -> Iterator[float]:
    """The numbers that a value is one of, as far as they are known; of an array, what it is filled with."""
    for option in value.options if isinstance(value, Choice) else (value,):
        found = scalars.number(option)
        if found is not None:
            yield found


def overflows(number: float, dtype: str) -> bool:
    """Whether a finite number is infinite in float16, or bfloat16."""
    return math.isfinite(number) and math.isinf(in_half(number, dtype))


def infinite(value: Value, dtype: str) -> float | None:
    """A number that is infinite in a half dtype, where a value is none that fits: which it is may be chosen."""
    found = list(numbers(value))
    return found[0] if found and all(overflows(number, dtype) for number in found) else None


def is_lost(number: float) -> bool:
    """Whether a number is 0 in float16, though it is not 0."""
    return number != 0 and in_float16(number) == 0


def too_large(value: Value, dtype: str, depth: int = 0) -> float | None:
    """An element of a tensor that does not fit a half dtype: a constant that it holds as it is, or times a mask."""
    if isinstance(value, Unknown):
        return _in_symbol(value.symbol, dtype) if value.symbol is not None else None
    if depth > _FAR or not isinstance(value, Tensor):
        return infinite(value, dtype) if depth else None
    for way in alternatives(value):
        found = _in_made(way.made, dtype, depth)
        if found is not None:
            return found
    return None


def autocast(tensor: Tensor) -> Tensor | None:
    """What Keras has cast for the `call` of a layer, where a tensor is that or a part of it."""
    made = tensor.made
    while made.by != "autocast" and len(made.operands) == 1 and (made.kind == "cast" or _moves(made.by)):
        made = made.operands[0].made
    return made.operands[0] if made.by == "autocast" and made.operands else None


def _moves(by: str) -> bool:
    return by == "part" or passes_on(by)


def _in_symbol(symbol: Symbol, dtype: str) -> float | None:
    """The same of what is not known, but for the arithmetic that gave it."""
    kind, *parts = symbol.parts
    inner = [part for part in parts if isinstance(part, Symbol)]
    if kind == "Multiply":
        constants = (infinite(part, dtype) for part in parts if isinstance(part, Const))
        found = next((number for number in constants if number is not None), None)
        return found if all(map(_may_be_mask, inner)) else None
    if kind in ("Add", "Subtract", "Minus", "item"):
        return next((found for part in inner if (found := _in_symbol(part, dtype)) is not None), None)
    return None


def _may_be_mask(symbol: Symbol) -> bool:
    """Whether an unknown value is likely to be 0 or 1: what a layer is called with, or the difference of it and 1."""
    kind, *parts = symbol.parts
    if kind in ("item", "slice"):
        return isinstance(parts[0], Symbol) and _may_be_mask(parts[0])
    if kind == "parameter":
        return isinstance(parts[0], str) and parts[0].endswith(".call")
    return kind == "Subtract" and any(list(numbers(part)) == [1.0] for part in parts if isinstance(part, Const))


def _in_made(made: Made, dtype: str, depth: int) -> float | None:
    given = dict(made.arguments)
    by = made.by
    if by in CLIPS or by in SATURATING:
        return None
    if by in TIMES:
        for factor, other in ((made.arguments), (made.arguments[::-1])) if len(made.arguments) == 2 else ():
            constant = infinite(factor[1], dtype)
            if constant is not None and is_mask(other[1]) and not is_pattern(other[1], depth + 1):
                return constant
        return None
    if by in _LOWER | _UPPER:
        bounds = [number for value in given.values() for number in numbers(value)]
        found = [number for value in given.values() if (number := too_large(value, dtype, depth + 1)) is not None]
        return next((number for number in found if not _is_bounded(by, number, bounds, dtype)), None)
    if by in WHERE and is_pattern(made.arguments[0][1] if made.arguments else made.operands[0], depth + 1):
        return None
    if by in _HOLDS or by in _SUMS or made.kind == "cast":
        held = [value for name, value in given.items() if name in FILLED] or list(made.operands)
    elif by in _MOVES or made.kind in OUTER or by == _LAMBDA or passes_on(by):
        held = list(made.operands)
    else:
        return None
    return next((number for value in held if (number := too_large(value, dtype, depth + 1)) is not None), None)


def _is_bounded(by: str, number: float, bounds: list[float], dtype: str) -> bool:
    """Whether `maximum` or `minimum` keeps a number that is too large out of its result."""
    if by in _LOWER:
        return number < 0 and any(not overflows(bound, dtype) or bound > 0 for bound in bounds)
    return number > 0 and any(not overflows(bound, dtype) or bound < 0 for bound in bounds)


def is_one(value: Value, depth: int = 0) -> bool:
    """Whether all elements of a tensor are 1."""
    if not isinstance(value, Tensor) or depth > _FAR:
        return False
    return all(
        way.made.by in _ONES
        or ((way.made.kind == "cast" or way.made.by in _MOVES or passes_on(way.made.by)) and _are_ones(way.made, depth))
        for way in alternatives(value)
    )


def _are_ones(made: Made, depth: int) -> bool:
    return bool(made.operands) and all(is_one(operand, depth + 1) for operand in made.operands)


def is_mask(value: Value, depth: int = 0) -> bool:
    """Whether the elements of a tensor are 0 and 1, as far as its making tells; what comes from outside may be so."""
    if isinstance(value, Array):
        return True
    if depth > _FAR or not isinstance(value, Tensor):
        return False
    return all(_is_mask(way, depth) for way in alternatives(value))


def _is_mask(tensor: Tensor, depth: int) -> bool:
    made = tensor.made
    if tensor.dtype == "bool" or made.by in _MASKS or made.kind in ("argument", "input"):
        return True
    if made.by in _SUMS:
        known = [number for _, value in made.arguments for number in numbers(value)]
        return known in ([1.0], [-1.0]) and all(is_mask(operand, depth + 1) for operand in made.operands)
    if made.kind == "cast" and not made.operands:
        return any(isinstance(value, Unknown) for _, value in made.arguments)
    if made.kind == "cast" or made.by in _MOVES or passes_on(made.by) or made.by in TIMES:
        return bool(made.operands) and all(is_mask(operand, depth + 1) for operand in made.operands)
    return False


def is_pattern(value: Value, depth: int = 0) -> bool:
    """Whether a tensor is made of nothing but its shape, as a causal mask is: no data can mask all of a row in it."""
    if depth > _FAR or not isinstance(value, Tensor):
        return False
    return all(_is_pattern(way.made, depth) for way in alternatives(value))


def _is_pattern(made: Made, depth: int) -> bool:
    if made.by in _PATTERNS:
        return True
    if made.kind not in ("operation", "cast") or not made.operands:
        return False
    return all(is_pattern(operand, depth + 1) for operand in made.operands)


def is_small(m: Machine, value: Value, depth: int = 0) -> bool:
    """Whether the elements of a tensor certainly lie in about [-8, 8]."""
    if not isinstance(value, Tensor):
        known = list(numbers(value))
        return bool(known) and all(abs(number) <= _SMALL for number in known)
    return depth <= _FAR and all(_is_small(m, way, depth) for way in alternatives(value))


def _is_small(m: Machine, tensor: Tensor, depth: int) -> bool:
    made = tensor.made
    if tensor.dtype == "bool" or made.by in SATURATING or made.by in _MASKS:
        return True
    if sensitivity(made.by) is Sensitivity.SOFTMAX or made.by in _UNITS or tensor.softmax is not None:
        return True
    if made.kind == "layer":
        return made.by in _NORMALIZING or _is_levelled(m, made)
    if made.by in CLIPS:
        known = [number for name, value in made.arguments if name in FILLED for number in numbers(value)]
        return len(known) >= 2 and all(abs(number) <= _SMALL for number in known)
    if made.by in TIMES or made.by in _SUMS:
        return all(is_small(m, value, depth + 1) for _, value in made.arguments)
    if made.kind == "cast" or made.by in _MOVES or passes_on(made.by):
        return bool(made.operands) and all(is_small(m, operand, depth + 1) for operand in made.operands)
    return False


def _is_levelled(m: Machine, made: Made) -> bool:
    """Whether a layer has an activation that never leaves [-1, 1]."""
    info = info_of(m, made.layer) if made.layer is not None else None
    activation = info.argument("activation") if info is not None else None
    match activation:
        case Const(value=str(name)):
            return f"keras.activations.{name}" in SATURATING
        case Api(path=path):
            return path in SATURATING
        case _:
            return False


_UNITS: Final = frozenset({"tensorflow.math.l2_normalize", "keras.ops.normalize", "keras.backend.l2_normalize"})
_NORMALIZING: Final = frozenset(
    {f"keras.layers.{name}" for name in
     ("LayerNormalization", "BatchNormalization", "GroupNormalization", "RMSNormalization", "UnitNormalization",
      "Softmax", "Normalization")}
)  # fmt: skip


def is_negative(m: Machine, value: Value, depth: int = 0) -> bool:
    """Whether no element of a tensor is certainly larger than 0: `-square(x)`, `x - max(x)`."""
    if not isinstance(value, Tensor):
        known = list(numbers(value))
        return bool(known) and all(number <= 0 for number in known)
    return depth <= _FAR and all(_is_negative(m, way.made, depth) for way in alternatives(value))


def _is_negative(m: Machine, made: Made, depth: int) -> bool:
    given = [value for _, value in made.arguments]
    if made.by == "operator.Minus":
        return all(is_positive(value, depth + 1) for value in given)
    if made.by in TIMES or made.by in _QUOTIENTS:
        if len(given) != 2:
            return False
        one, other = given
        return (is_negative(m, one, depth + 1) and is_positive(other, depth + 1)) or (
            is_positive(one, depth + 1) and is_negative(m, other, depth + 1)
        )
    if made.by in _DIFFERENCES and len(given) == 2:
        one, other = given
        return _is_maximum_of(other, one) or (is_negative(m, one, depth + 1) and is_positive(other, depth + 1))
    if made.by in ("operator.+", "tensorflow.math.add", "keras.ops.add"):
        return all(is_negative(m, value, depth + 1) for value in given)
    if made.by in _LOGS:
        return all(is_small(m, operand, depth + 1) and is_positive(operand, depth + 1) for operand in made.operands)
    if made.by in _UPPER:
        return any(is_negative(m, value, depth + 1) for value in given)
    if made.kind == "cast" or made.by in _MOVES or passes_on(made.by) or sensitivity(made.by) in _MEANS:
        return bool(made.operands) and all(is_negative(m, operand, depth + 1) for operand in made.operands)
    return False


_QUOTIENTS: Final = frozenset({"operator./", "operator.r/", "tensorflow.math.divide", "tensorflow.math.truediv",
                               "keras.ops.divide", "keras.ops.true_divide"})  # fmt: skip
_DIFFERENCES: Final = frozenset({"operator.-", "tensorflow.math.subtract", "keras.ops.subtract"})
_LOGS: Final = frozenset({"tensorflow.math.log_sigmoid", "tensorflow.nn.log_softmax", "keras.ops.log_softmax"})
_MAXIMA: Final = frozenset({"tensorflow.math.reduce_max", "keras.ops.max", "keras.ops.amax", "keras.backend.max",
                            "tensorflow.math.reduce_logsumexp", "keras.ops.logsumexp",
                            "tensorflow.math.segment_max", "tensorflow.math.unsorted_segment_max",
                            "keras.ops.segment_max"})  # fmt: skip
_SEGMENTS: Final = frozenset(
    {"tensorflow.math.segment_sum", "tensorflow.math.unsorted_segment_sum", "keras.ops.segment_sum"}
)
_POSITIVE: Final = frozenset(
    {f"tensorflow.math.{name}" for name in
     ("abs", "square", "squared_difference", "exp", "sigmoid", "softplus", "sqrt", "reduce_variance", "reduce_std",
      "reduce_euclidean_norm")}
    | {f"keras.ops.{name}" for name in
       ("abs", "absolute", "square", "exp", "sigmoid", "softplus", "relu", "sqrt", "softmax", "var", "std", "norm")}
    | {f"keras.backend.{name}" for name in
       ("abs", "square", "exp", "sigmoid", "softplus", "relu", "sqrt", "var", "std")}
    | {f"keras.activations.{name}" for name in ("relu", "sigmoid", "softplus", "softmax", "exponential")}
    | {"tensorflow.nn.relu", "tensorflow.nn.relu6", "tensorflow.nn.softmax", "tensorflow.norm", "operator.Absolute"}
)  # fmt: skip
_REDUCING: Final = frozenset(
    {Sensitivity.SUM, Sensitivity.MEAN, Sensitivity.NORM, Sensitivity.SPREAD, Sensitivity.CROSS_ENTROPY}
)
_MEANS: Final = frozenset({Sensitivity.SUM, Sensitivity.MEAN})


def _is_maximum_of(value: Value, of: Value) -> bool:
    """Whether a value is the largest element of another one, or more."""
    if not isinstance(value, Tensor) or not isinstance(of, Tensor):
        return False
    stack = [(way.made, 0) for way in alternatives(value)]
    wanted = {id(way.made) for way in alternatives(of)}
    while stack:
        made, depth = stack.pop()
        if made.by in _MAXIMA:
            return all(id(way.made) in wanted for operand in made.operands for way in alternatives(operand))
        moves = made.kind == "cast" or made.by in ("part", "tensorflow.stop_gradient") or passes_on(made.by)
        if depth < _FAR and moves:
            stack.extend((operand.made, depth + 1) for operand in made.operands)
    return False


def is_at_least_one(m: Machine, value: Value, depth: int = 0) -> bool:
    """Whether what is summed up has an element of 1: exponentials behind which the largest element was subtracted."""
    if not isinstance(value, Tensor) or depth > _FAR:
        return False
    for way in alternatives(value):
        made = way.made
        if sensitivity(made.by) is Sensitivity.EXPONENTIAL:
            if not any(_subtracts_maximum(each.made) for operand in made.operands for each in alternatives(operand)):
                return False
        elif sensitivity(made.by) is Sensitivity.SUM or made.by in _SEGMENTS or made.kind == "cast":
            if not made.operands or not is_at_least_one(m, made.operands[0], depth + 1):
                return False
        elif made.by in _MOVES or passes_on(made.by):
            if not all(is_at_least_one(m, operand, depth + 1) for operand in made.operands[:1]):
                return False
        else:
            return False
    return True


def _subtracts_maximum(made: Made) -> bool:
    given = [value for _, value in made.arguments]
    return made.by in _DIFFERENCES and len(given) == 2 and _is_maximum_of(given[1], given[0])


def is_weight(value: Value) -> bool:
    """Whether a tensor is computed from weights alone: these are neither large nor all 0."""
    stack: list[Tensor] = [value] if isinstance(value, Tensor) else []
    seen: set[int] = set()
    while stack:
        for way in alternatives(stack.pop()):
            if id(way.made) in seen:
                continue
            seen.add(id(way.made))
            if way.made.kind not in ("variable", "operation", "cast") or len(seen) > _FAR * _FAR:
                return False
            if way.made.kind != "variable" and not way.made.operands:
                return False
            stack.extend(way.made.operands)
    return bool(seen)


def is_reduced(value: Value, depth: int = 0) -> bool:
    """Whether a tensor was computed from one with more axes: it may have few elements."""
    if not isinstance(value, Tensor) or depth > _FAR:
        return False
    return any(
        sensitivity(way.made.by) in _REDUCING
        or (
            way.made.kind in ("operation", "cast")
            and any(is_reduced(operand, depth + 1) for operand in way.made.operands)
        )
        for way in alternatives(value)
    )


def is_positive(value: Value, depth: int = 0) -> bool:
    """Whether no element of a tensor is certainly less than 0."""
    if not isinstance(value, Tensor):
        known = list(numbers(value))
        return bool(known) and all(number >= 0 for number in known)
    return depth <= _FAR and all(_is_positive(way, depth) for way in alternatives(value))


def _is_positive(tensor: Tensor, depth: int) -> bool:
    made = tensor.made
    given = [value for _, value in made.arguments]
    if made.by in _POSITIVE or tensor.dtype == "bool" or tensor.softmax is not None:
        return True
    if made.by in TIMES and len(given) == 2 and _same(*given):
        return True
    if made.by in _POWERS and len(given) == 2 and any(number % 2 == 0 for number in numbers(given[1])):
        return True
    if made.by in TIMES or made.by in _QUOTIENTS or made.by in ("operator.+", "tensorflow.math.add", "keras.ops.add"):
        return all(is_positive(value, depth + 1) for value in given)
    if made.by in _LOWER:
        return any(is_positive(value, depth + 1) for value in given)
    if made.kind == "cast" or made.by in _MOVES or passes_on(made.by) or sensitivity(made.by) in _MEANS:
        return bool(made.operands) and all(is_positive(operand, depth + 1) for operand in made.operands)
    return False


_POWERS: Final = frozenset({"operator.**", "tensorflow.math.pow", "keras.ops.power", "keras.backend.pow"})


def _same(one: Value, other: Value) -> bool:
    """Whether both are one tensor."""
    return isinstance(one, Tensor) and isinstance(other, Tensor) and one.made is other.made


def is_square(made: Made) -> Tensor | None:
    """What is squared: `x * x`, `square(x)`, `x ** 2`."""
    given = [value for _, value in made.arguments]
    if sensitivity(made.by) is Sensitivity.SQUARE:
        return made.operands[0] if made.operands else None
    if made.by in TIMES and len(given) == 2 and _same(*given):
        return made.operands[0]
    if made.by in _POWERS and len(given) == 2 and list(numbers(given[1])) == [2.0]:
        return made.operands[0] if made.operands else None
    return None
