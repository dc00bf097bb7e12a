"""Classes of the program: method resolution, attributes, enum members."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

import libcst as cst

from mplint.interpreter import candidates
from mplint.interpreter.values import (
    TRUE,
    UNKNOWN,
    Api,
    Class,
    ClassMethod,
    Const,
    Function,
    Instance,
    Maybe,
    Property,
    StaticMethod,
    Symbol,
    Tuple,
    Unknown,
    Value,
    choice,
    is_member,
)

if TYPE_CHECKING:
    from mplint.interpreter.frames import Frame
    from mplint.interpreter.machine import Machine


def class_attribute(m: Machine, cls: Class, name: str, after: Class | None = None) -> Value | None:
    """The attribute `name` of a class of the program, from behind `after` on; None when the program has none."""
    started = after is None
    possible: list[Value] = []
    for entry in cls.mro:
        if started and isinstance(entry, Class):
            found = m.content(entry.frame, name)
            if type(found) is Maybe:  # or that of the next class
                possible += [found.value] if found.value is not None else []
            elif found is not None:
                return choice([*possible, found]) if possible else found
        started = started or entry == after
    return choice(possible) if possible else None


def method_of(m: Machine, instance: Instance, name: str) -> Value | None:
    """What the class of an object has under `name`; None where it is the library's, or the program has none."""
    return class_attribute(m, instance.cls, name) if isinstance(instance.cls, Class) else None


def has_class_attribute(m: Machine, cls: Class, name: str) -> bool | None:
    """Whether some class of the program in the order of `cls` has an attribute; None when not known."""
    outcomes = [m.is_bound(entry.frame, name) for entry in cls.mro if isinstance(entry, Class)]
    return True if True in outcomes else None if None in outcomes else False


_EMPTY: Final = ("builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol")
"""Library classes from which no attributes of interest are inherited."""


def is_closed(cls: Class) -> bool:
    """Whether all that the objects of `cls` inherit is written in the program."""
    return all(isinstance(entry, Class) or (isinstance(entry, Api) and entry.path in _EMPTY) for entry in cls.mro)


def library_bases(cls: Class) -> list[str]:
    """The library classes that `cls` derives from."""
    return [entry.path for entry in cls.mro if isinstance(entry, Api)]


def is_open(cls: Class) -> bool:
    """Whether some base of `cls` is not known at all."""
    return any(isinstance(entry, Unknown) for entry in cls.mro)


_NAMED_TUPLE: Final = "typing.NamedTuple"
MADE_TUPLE: Final = Api("collections.namedtuple")
"""The class of what a class that `namedtuple` made makes."""
_FIELDS: Final = "@fields"
_DATACLASS: Final = "@dataclass"


def note_fields(m: Machine, instance: Instance, names: Iterable[str]) -> None:
    """Note that an object of a dataclass, or a NamedTuple, has these fields, in this order."""
    m.state.set((instance.address, _FIELDS), Tuple(tuple(Const(name) for name in names)))


def fields_of(m: Machine, instance: Instance) -> list[str] | None:
    """The fields of an object of a dataclass, or of a NamedTuple; None of other objects."""
    held = m.state.get((instance.address, _FIELDS))
    return [str(name.value) for name in held.items if isinstance(name, Const)] if isinstance(held, Tuple) else None


def tuple_fields(m: Machine, instance: Instance) -> list[str] | None:
    """The fields of a NamedTuple, which is a sequence of them; None of other objects."""
    found = fields_of(m, instance)
    if found is None:
        return None
    if isinstance(instance.cls, Class):
        return found if _NAMED_TUPLE in library_bases(instance.cls) else None
    return found if instance.cls == MADE_TUPLE else None


def note_dataclass(m: Machine, namespace: Frame) -> None:
    """Note that the class with this namespace is a dataclass."""
    m.bind(namespace, _DATACLASS, TRUE)


def is_dataclass(m: Machine, cls: Class) -> bool:
    """Whether `cls`, or a class that it derives from, is a dataclass."""
    return class_attribute(m, cls, _DATACLASS) is not None


_WITH_FIELDS: Final = frozenset(
    {"typing.NamedTuple", "pydantic.BaseModel", "pydantic.BaseSettings", "pydantic_settings.BaseSettings",
     "msgspec.Struct", "sqlmodel.SQLModel"}
)  # fmt: skip
"""Bases whose constructor sets the fields that a class declares."""


def has_fields(m: Machine, cls: Class) -> bool:
    """Whether `cls` is a dataclass, a NamedTuple or a model of pydantic, whose constructor sets its fields."""
    return is_dataclass(m, cls) or not _WITH_FIELDS.isdisjoint(library_bases(cls))


def enum_lookup(m: Machine, cls: Class, wanted: Value | None) -> Value:
    """`SomeEnum(wanted)`."""
    found = [(held, one) for _, held, one in _members(m, cls)]
    known = next((one for held, one in found if wanted in (held, one)), None)
    if known is not None:
        return known
    if not isinstance(wanted, Unknown) or not found:
        return UNKNOWN
    return candidates.member_of(found, wanted, Symbol("member", cls.code.qualname, wanted.symbol))


def enum_item(m: Machine, cls: Class, name: Value) -> Value:
    """`SomeEnum[name]`."""
    if isinstance(name, Const):
        return member(m, cls, str(name.value)) or UNKNOWN
    found = [(Const(each), one) for each, _, one in _members(m, cls)]
    if not isinstance(name, Unknown) or not found:
        return UNKNOWN
    return candidates.member_of(found, name, Symbol("member", cls.code.qualname, "name", name.symbol))


def is_enum(cls: Class) -> bool:
    """Whether `cls` is an enumeration."""
    return any(base.startswith("enum.") for base in library_bases(cls))


def members(m: Machine, cls: Class) -> Tuple:
    """The members of an enumeration, in order; a second name for one is none."""
    found: dict[Value, Value] = {}
    for _, held, one in _members(m, cls):
        if not isinstance(held, Const):
            return Tuple((), UNKNOWN)
        found.setdefault(held, one)
    return Tuple(tuple(found.values()))


def _members(m: Machine, cls: Class) -> Iterator[tuple[str, Value, Instance]]:
    """The names that the body of an enumeration assigns, in order, each with its value and its member."""
    for statement in cls.code.body:
        if isinstance(statement, cst.Assign) and isinstance(statement.targets[0].target, cst.Name):
            name = statement.targets[0].target.value
            held, one = m.variable(cls.frame, name), member(m, cls, name)
            if held is not None and is_member(one) and not name.startswith("_"):
                yield name, held, one


def member(m: Machine, cls: Class, name: str) -> Value | None:
    """The member `name` of an enum class, as an instance with `name` and `value`."""
    held = m.variable(cls.frame, name)
    if held is None or isinstance(held, (Function, Property, StaticMethod, ClassMethod)):
        return None
    if not is_enum(cls):
        return None
    address = m.program.address(
        m.program.place(cls.code.source, cls.code.node), m.program.root_context, f"member {name}"
    )
    m.state.set((address, "value"), held)
    m.state.set((address, "name"), Const(name))
    return Instance(address, cls)
