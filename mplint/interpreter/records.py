"""The functions of the module `dataclasses` that take a dataclass apart, or copy it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mplint.interpreter import classes, copying
from mplint.interpreter.calls import Arguments
from mplint.interpreter.classes import class_attribute, fields_of, note_fields
from mplint.interpreter.values import (
    TRUE,
    UNKNOWN,
    Bound,
    Choice,
    Class,
    Const,
    Dict,
    Entries,
    Instance,
    List,
    Place,
    Tuple,
    Value,
    choice,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine


def replace(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`dataclasses.replace(obj, **changes)`."""
    value = arguments.args[0] if arguments.args else UNKNOWN
    if isinstance(value, Choice):
        outer, made = m.context, []
        for index, option in enumerate(value.options):
            m.context = outer.at(place, index)
            made.append(replace(m, Arguments((option,), arguments.keywords, None, arguments.more), place))
        m.context = outer
        return choice(made)
    names = fields_of(m, value) if isinstance(value, Instance) else None
    if not isinstance(value, Instance) or names is None or not arguments.sure:
        return UNKNOWN
    cls = value.cls
    assert isinstance(cls, Class)
    copied = Instance(m.allocate(place, "object"), cls)
    changed = dict(arguments.keywords)
    for name in names:
        held = changed.get(name, m.field(value.address, name))
        if held is not None:
            m.put(copied.address, name, held)
    note_fields(m, copied, names)
    after = class_attribute(m, cls, "__post_init__")
    if after is not None:
        m.call(Bound(copied, after), Arguments(), place)
    return copied


def as_dict(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`dataclasses.asdict(obj)`."""
    return _converted(m, arguments.args[0], place, "dict", 0) if arguments.args else UNKNOWN


def as_tuple(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`dataclasses.astuple(obj)`."""
    return _converted(m, arguments.args[0], place, "tuple", 0) if arguments.args else UNKNOWN


def _converted(m: Machine, value: Value, place: Place, kind: str, depth: int) -> Value:
    names = fields_of(m, value) if isinstance(value, Instance) else None
    if names is None or not isinstance(value, Instance) or depth > 5:
        return UNKNOWN
    outer = m.context
    held: list[Value] = []
    for index, name in enumerate(names):
        field = m.field(value.address, name) or UNKNOWN
        m.context = outer.at(place, index)
        if isinstance(field, Instance) and fields_of(m, field) is not None:
            held.append(_converted(m, field, place, kind, depth + 1))
        elif isinstance(field, (List, Dict, Tuple)):
            held.append(copying.deep(m, Arguments((field,)), place))
        else:
            held.append(field)
    m.context = outer
    if kind == "tuple":
        return Tuple(tuple(held))
    return m.new_dict(place, Entries(tuple((Const(name), each) for name, each in zip(names, held, strict=True))))


def is_dataclass(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`dataclasses.is_dataclass(obj)`."""
    value = arguments.args[0] if arguments.args else UNKNOWN
    cls = value.cls if isinstance(value, Instance) else value
    return TRUE if isinstance(cls, Class) and classes.is_dataclass(m, cls) else UNKNOWN
