"""Abstract values that are wholly known, as the objects that they stand for, and back."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from mplint.interpreter.classes import tuple_fields
from mplint.interpreter.sequences import iterate
from mplint.interpreter.values import (
    UNKNOWN,
    Const,
    Dict,
    Entries,
    Instance,
    List,
    Place,
    Range,
    Tuple,
    Value,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

_MAX_ITEMS: Final = 300
_MAX_DEPTH: Final = 4
MAX_TEXT: Final = 10_000
"""A longer text is not kept."""
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


def concrete(m: Machine, value: Value, depth: int = 0) -> object:
    """The object that `value` stands for: a constant, or a container of them; `NotKnown` for anything else."""
    if type(value) is Const:
        return value.value
    if depth > _MAX_DEPTH:
        raise NotKnown
    match value:
        case Tuple():
            return tuple(_listed(m, value, depth))
        case List(kind="list"):
            return _listed(m, m.items(value), depth)
        case List(kind="set"):
            try:
                return frozenset(_listed(m, m.items(value), depth))
            except TypeError:
                raise NotKnown from None
        case Range():
            return range(value.start, value.stop, value.step)
        case Dict():
            entries = m.entries(value)
            if entries.rest is not None or entries.optional or entries.shuffled or len(entries.pairs) > _MAX_ITEMS:
                raise NotKnown
            try:
                return {concrete(m, key, depth + 1): concrete(m, held, depth + 1) for key, held in entries.pairs}
            except TypeError:
                raise NotKnown from None
        case Instance() if tuple_fields(m, value) is not None:  # a NamedTuple is a tuple
            return tuple(_listed(m, iterate(m, value, value.address.place), depth))
        case _:
            raise NotKnown


def _listed(m: Machine, items: Tuple, depth: int) -> list[object]:
    if items.rest is not None or len(items.items) > _MAX_ITEMS:
        raise NotKnown
    return [concrete(m, item, depth + 1) for item in items.items]


def abstract(m: Machine, made: object, place: Place) -> Value:
    """The value that stands for a constant, or for a new container of them."""
    match made:
        case list():
            return m.new_list(place, Tuple(tuple(map(_part, made))))
        case set() | frozenset():
            return m.new_list(place, Tuple(tuple(map(_part, made))), "set")
        case dict():
            return m.new_dict(place, Entries(tuple((_part(key), _part(held)) for key, held in made.items())))
        case _:
            return _part(made)


def _part(made: object) -> Value:
    """A constant or an element, which no container that can be changed may be: it would need a place of its own."""
    match made:
        case str() | bytes():
            return Const(made) if len(made) <= MAX_TEXT else UNKNOWN
        case bool() | int() | float() | complex() | None:
            return Const(made)
        case tuple():
            return Tuple(tuple(map(_part, made)))
        case _:
            return UNKNOWN


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
