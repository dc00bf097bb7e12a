"""`copy.copy` and `copy.deepcopy`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mplint.interpreter.classes import is_closed
from mplint.interpreter.namespaces import OBJECTS
from mplint.interpreter.sequences import FACTORY
from mplint.interpreter.state import MADE
from mplint.interpreter.values import (
    UNKNOWN,
    Choice,
    Class,
    Dict,
    Entries,
    Instance,
    List,
    Maybe,
    Place,
    Tuple,
    Value,
    choice,
)

if TYPE_CHECKING:
    from mplint.interpreter.calls import Arguments
    from mplint.interpreter.machine import Machine

_MAX_DEPTH = 8


def shallow(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`copy.copy(value)`."""
    return _copy(m, arguments.args[0], place) if arguments.args else UNKNOWN


def deep(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`copy.deepcopy(value)`."""
    return _deep(m, arguments.args[0], place, {}, 0) if arguments.args else UNKNOWN


def _copy(m: Machine, value: Value, place: Place) -> Value:
    match value:
        case Dict():
            made = m.new_dict(place, m.entries(value))
            factory = m.state.get((value.address, FACTORY))
            if factory is not None:
                m.state.set((made.address, FACTORY), factory)
            return made
        case List():
            return m.new_list(place, m.items(value), value.kind)
        case Instance(cls=cls) if is_closed(cls) if isinstance(cls, Class) else cls.path in OBJECTS:
            copied = Instance(m.allocate(place, "object"), cls)
            for name, held in m.state.of(value.address).items():
                if name not in (MADE, "@several"):
                    m.state.set((copied.address, name), held)
            return copied
        case Instance():
            return UNKNOWN
        case _:
            return value


def _deep(m: Machine, value: Value, place: Place, memo: dict[Value, Value], depth: int) -> Value:
    if depth > _MAX_DEPTH:
        return UNKNOWN
    if isinstance(value, Tuple):
        rest = None if value.rest is None else _deep(m, value.rest, place, memo, depth + 1)
        return Tuple(tuple(_deep(m, item, place, memo, depth + 1) for item in value.items), rest)
    if isinstance(value, Choice):
        return choice([_deep(m, option, place, memo, depth + 1) for option in value.options])
    if not isinstance(value, (Dict, List, Instance)):
        return value
    found = memo.get(value)
    if found is not None:
        return found
    outer = m.context
    m.context = outer.at(place, len(memo))
    made = memo[value] = _copy(m, value, place)
    m.context = outer
    match made:
        case List():
            inner = _deep(m, m.items(made), place, memo, depth + 1)
            m.put_items(made.address, inner if isinstance(inner, Tuple) else Tuple((), UNKNOWN))
        case Dict():
            held = m.entries(made)
            pairs = tuple((key, _deep(m, each, place, memo, depth + 1)) for key, each in held.pairs)
            rest = None if held.rest is None else _deep(m, held.rest, place, memo, depth + 1)
            m.put_entries(made.address, Entries(pairs, rest, held.optional, held.shuffled))
        case Instance():
            for name, field in m.fields(made.address).items():
                copied = _deep(m, field, place, memo, depth + 1)
                m.put(made.address, name, copied if m.has_field(made.address, name) else Maybe(copied))
        case _:
            pass
    return made
