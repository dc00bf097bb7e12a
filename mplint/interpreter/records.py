"""Objects with fields: the functions and methods that copy them or take them apart, and named tuples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mplint.interpreter import classes, containers, copying, fields, sequences
from mplint.interpreter.calls import Arguments
from mplint.interpreter.classes import MADE_TUPLE, fields_of, note_fields
from mplint.interpreter.values import (
    TRUE,
    UNKNOWN,
    Api,
    Choice,
    Class,
    Const,
    Dict,
    Entries,
    Instance,
    List,
    Partial,
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
    copied = Instance(m.allocate(place, "object"), cls)
    changed = dict(arguments.keywords)
    for name in names:
        held = changed.get(name, m.field(value.address, name))
        if held is not None:
            m.put(copied.address, name, held)
    note_fields(m, copied, names)
    if isinstance(cls, Class):
        fields.finish(m, copied, cls, place)
    return copied


def method(m: Machine, receiver: Instance, name: str, arguments: Arguments, place: Place) -> Value | None:
    """A method that a library gives objects with fields; None where it is not known."""
    if fields_of(m, receiver) is None:
        return None
    match name:
        case "_replace":
            return replace(m, arguments.behind(receiver), place)
        case "model_copy" | "copy":
            changes = arguments.get("update")
            more = containers.mapping(m, changes, place) if changes is not None else Entries()
            keywords = tuple((str(key.value), value) for key, value in more.pairs if isinstance(key, Const))
            return replace(m, Arguments((receiver,), keywords, None, more.rest), place)
        case "_asdict" | "model_dump" | "dict":
            return as_dict(m, Arguments((receiver,)), place)
        case _:
            return None


MAKER: Final = Api("mplint.namedtuple")


def named_tuple(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`collections.namedtuple(name, fields, defaults=…)`: what makes such tuples."""
    given = arguments.get("field_names", 1)
    if isinstance(given, Const) and isinstance(given.value, str):
        names: tuple[Value, ...] = tuple(map(Const, given.value.replace(",", " ").split()))
    elif isinstance(given, (List, Tuple)):
        listed = sequences.iterate(m, given, place)
        if listed.rest is not None or not all(isinstance(item, Const) for item in listed.items):
            return UNKNOWN
        names = listed.items
    else:
        return UNKNOWN
    defaults = arguments.get("defaults")
    held = sequences.iterate(m, defaults, place) if isinstance(defaults, (List, Tuple)) else Tuple(())
    return Partial(MAKER, (Tuple(names), held))


def make(m: Machine, arguments: Arguments, place: Place) -> Value:
    """An object of a class that `namedtuple` made."""
    names, defaults, *values = arguments.args
    assert isinstance(names, Tuple)
    assert isinstance(defaults, Tuple)
    texts = [str(name.value) for name in names.items if isinstance(name, Const)]
    last = dict(zip(reversed(texts), reversed(defaults.items), strict=False))
    made = Instance(m.allocate(place, "object"), MADE_TUPLE)
    given = Arguments(tuple(values), arguments.keywords, arguments.rest, arguments.more)
    for position, name in enumerate(texts):
        value = given.get(name, position)
        m.put(made.address, name, value if value is not None else last.get(name, UNKNOWN) if given.sure else UNKNOWN)
    note_fields(m, made, texts)
    return made


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
