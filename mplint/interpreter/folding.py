"""Operators on constants of Python's."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any, Final

_MAX_NUMBER: Final = 1 << 128
_WIDE: Final = re.compile(r"%[^a-zA-Z%]*(\d{4}|\*)")
"""A format that asks for more characters than it has."""
_OPERATORS: Final[dict[str, Callable[[Any, Any], object]]] = {
    "Add": operator.add,
    "Subtract": operator.sub,
    "Multiply": operator.mul,
    "Divide": operator.truediv,
    "FloorDivide": operator.floordiv,
    "Modulo": operator.mod,
    "Power": operator.pow,
    "LeftShift": operator.lshift,
    "RightShift": operator.rshift,
    "BitAnd": operator.and_,
    "BitOr": operator.or_,
    "BitXor": operator.xor,
    "Equal": operator.eq,
    "NotEqual": operator.ne,
    "LessThan": operator.lt,
    "LessThanEqual": operator.le,
    "GreaterThan": operator.gt,
    "GreaterThanEqual": operator.ge,
    "In": lambda left, right: left in right,
    "NotIn": lambda left, right: left not in right,
}


class NotKnown(Exception):
    """Some part of a value is not known."""


def fold(name: str, left: object, right: object) -> object:
    """`left <name> right` for an operator of LibCST's naming; `NotKnown` where that fails, or may be very large."""
    function = _OPERATORS.get(name)
    if function is None or _may_be_large(name, left, right):
        raise NotKnown
    try:
        return function(left, right)
    except Exception:  # noqa: BLE001  (the program's own error: what it would raise is not our business)
        raise NotKnown from None


def _may_be_large(name: str, left: object, right: object) -> bool:
    for side in (left, right):
        if isinstance(side, int) and abs(side) > _MAX_NUMBER:
            return True
    if name in ("Power", "LeftShift"):
        return not (isinstance(right, (int, float)) and abs(right) <= 128)
    if name == "Multiply" and isinstance(left, (str, bytes)):
        return not (isinstance(right, int) and right <= 1000)
    if name == "Multiply":
        return isinstance(right, (str, bytes))
    return name == "Modulo" and isinstance(left, (str, bytes)) and (len(left) > 200 or bool(_WIDE.search(str(left))))
