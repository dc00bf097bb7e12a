"""Abstract values that are wholly known, as the objects that they stand for, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mplint.interpreter.classes import tuple_fields
from mplint.interpreter.folding import NotKnown
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
