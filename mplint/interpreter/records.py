"""The functions of the module `dataclasses` that take a dataclass apart, or copy it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mplint.interpreter import copying
from mplint.interpreter.calls import Arguments
from mplint.interpreter.classes import class_attribute
from mplint.interpreter.values import (
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

_FIELDS = "@dataclass fields"


def note_fields(m: Machine, instance: Instance, names: tuple[str, ...]) -> None:
    """Note that `instance` has these fields, in this order."""
    m.state.set((instance.address, _FIELDS), Tuple(tuple(Const(name) for name in names)))


def _fields_of(m: Machine, value: Value) -> list[str] | None:
    held = m.state.get((value.address, _FIELDS)) if isinstance(value, Instance) else None
    return [str(name.value) for name in held.items if isinstance(name, Const)] if isinstance(held, Tuple) else None


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
    if not isinstance(value, Instance) or _fields_of(m, value) is None or not arguments.sure:
        return UNKNOWN
    names = _fields_of(m, value) or []
    cls = value.cls
    assert isinstance(cls, Class)
    copied = Instance(m.allocate(place, "object"), cls)
    changed = dict(arguments.keywords)
    for name in names:
        held = changed.get(name, m.field(value.address, name))
        if held is not None:
            m.put(copied.address, name, held)
    note_fields(m, copied, tuple(names))
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
    names = _fields_of(m, value)
    if names is None or not isinstance(value, Instance) or depth > 5:
        return UNKNOWN
    outer = m.context
    held: list[Value] = []
    for index, name in enumerate(names):
        field = m.field(value.address, name) or UNKNOWN
        m.context = outer.at(place, index)
        if _fields_of(m, field) is not None:
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
    return Const(True) if isinstance(cls, Class) and class_attribute(m, cls, "@dataclass") is not None else UNKNOWN
