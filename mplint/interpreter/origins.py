"""Where the numbers of a program come from: the literals behind one, and what it would be with others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mplint.interpreter.folding import NotKnown, fold
from mplint.interpreter.program import Program
from mplint.interpreter.values import Const, Place, Unknown, Value

_SCALES: Final = frozenset({"Multiply", "FloorDivide", "Divide", "Power"})
"""The arithmetic that makes one hidden size of another; a sum is a size with a meaning: `vocabulary + 1`."""
_LONGEST: Final = 12
"""Arithmetic nested deeper than this is not followed."""


def number(value: Value | None) -> Const | None:
    """The integer that `value` is, or most likely is: an option has its default."""
    if isinstance(value, Unknown) and len(value.candidates) == 1:
        value = value.candidates[0].value
    return value if isinstance(value, Const) and type(value.value) is int else None


def value_of(number: Const) -> int:
    """The integer that a constant is."""
    assert isinstance(number.value, int)
    return number.value


def literals(program: Program, value: Const, depth: int = 0) -> dict[Place, Const] | None:
    """The literals that a number is computed from, and where they stand; None where that is not all known."""
    place = program.literal_places.get(id(value))
    if place is not None:
        return {place: value}
    if value.parts is None or value.parts[0] not in _SCALES or depth > _LONGEST:
        return None
    name, left, right = value.parts
    one, other = literals(program, left, depth + 1), literals(program, right, depth + 1)
    if other is None and name == "Power":  # a level of a loop, more likely than not
        other = {}
    return None if one is None or other is None else one | other


def again(program: Program, value: Const, instead: Mapping[Place, int]) -> object:
    """What `value` would be with other numbers in the place of some literals; None where that is no number."""
    place = program.literal_places.get(id(value))
    if place is not None:
        return instead.get(place, value.value)
    if value.parts is None:
        return value.value
    name, left, right = value.parts
    try:
        return fold(name, again(program, left, instead), again(program, right, instead))
    except NotKnown:
        return None
