"""Numbers: what is known of those that no constant of Python's stands for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from mplint.interpreter.folding import NotKnown, fold
from mplint.interpreter.values import Array, Const, Symbol, Value
from mplint.keras_api.precision import LIMITS

SHAPE: Final = "shape of"
"""The kind of the symbol of a tensor's `shape`: what stands in it are integers."""
_CALLS: Final = frozenset({"float", "int", "len", "round"})
_ARITHMETIC: Final = frozenset(
    {"Add", "Subtract", "Multiply", "Divide", "FloorDivide", "Modulo", "Power", "Minus", "Plus"}
)
_OF_INTEGERS: Final = _ARITHMETIC - {"Divide", "Power"}
"""What gives an integer of integers."""
_ITEMS: Final = frozenset({"item", "element"})


def is_number(symbol: Symbol) -> bool:
    """Whether an unknown value is certainly a number of Python's, and no tensor."""
    kind, *parts = symbol.parts
    if kind in _CALLS or (isinstance(kind, str) and kind.startswith("math.")):
        return True
    if kind in _ITEMS:
        return isinstance(parts[0], Symbol) and parts[0].parts[0] == SHAPE
    return kind in _ARITHMETIC and all(
        is_number(part) if isinstance(part, Symbol) else _plain(part) is not None for part in parts
    )


def is_whole(symbol: Symbol) -> bool:
    """Whether an unknown value is certainly an integer of Python's: a length, or made of such."""
    kind, *parts = symbol.parts
    if kind in ("len", "int"):
        return True
    if kind in _ITEMS:
        return isinstance(parts[0], Symbol) and parts[0].parts[0] == SHAPE
    return kind in _OF_INTEGERS and all(
        is_whole(part) if isinstance(part, Symbol) else isinstance(part, Const) and type(part.value) is int
        for part in parts
    )


def is_computed(symbol: Symbol) -> bool:
    """Whether an unknown value is what arithmetic gave."""
    return symbol.parts[0] in _ARITHMETIC


def number(value: Value) -> float | None:
    """The number that a value is, or that all elements of an array are."""
    return value.number if isinstance(value, Array) else _plain(value)


def _plain(value: object) -> float | None:
    held = value.value if isinstance(value, Const) else None
    if isinstance(held, bool) or not isinstance(held, (int, float)):
        return None
    try:
        return float(held)
    except OverflowError:
        return math.copysign(math.inf, held)


def is_power_of_two(value: Value | None) -> bool:
    """Whether products with a number are exact in every floating dtype."""
    return isinstance(value, Const) and isinstance(value.value, (int, float)) and abs(math.frexp(value.value)[0]) == 0.5


def operator(name: str, left: Value, right: Value) -> float | None:
    """The number that `left <name> right` is, of arrays of one dtype and numbers."""
    dtypes = {value.dtype for value in (left, right) if isinstance(value, Array)}
    one, other = number(left), number(right)
    if one is None or other is None or len(dtypes) != 1:
        return None
    try:
        result = fold(name, one, other)
    except NotKnown:
        return None
    return result if type(result) is float else None


def unary(name: str, value: Array) -> Array:
    """`-value`, `+value`, `~value`."""
    if value.number is None or name == "Plus":
        return value
    return Array(value.dtype, value.scalar, -value.number if name == "Minus" else None)


def scalar(dtype: str, given: Value | None) -> Array:
    """What one of NumPy's types makes of a number: `np.float32(-1e9)`."""
    found = number(given) if given is not None else None
    limits = LIMITS.get(dtype)
    if found is None or limits is None:
        return Array(dtype, True)
    return Array(dtype, True, found if abs(found) <= limits.max else math.copysign(math.inf, found))


def computed(function: str, given: Sequence[Value]) -> float | None:
    """What a function of the module math gives for a number; NumPy has it under the same name."""
    found = number(given[0]) if len(given) == 1 else None
    try:
        return getattr(math, function)(found) if found is not None else None
    except (ValueError, OverflowError):
        return None


def limit(dtype: str, name: str) -> Array:
    """`min`, `max`, `eps` or `tiny` of a dtype."""
    limits = LIMITS.get(dtype)
    return Array(dtype, True, getattr(limits, name) if limits is not None else None)
