"""Classes of the program: method resolution, attributes, enum members."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from mplint.interpreter.values import (
    UNKNOWN,
    Api,
    Class,
    ClassMethod,
    Const,
    Function,
    Instance,
    Property,
    StaticMethod,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine


def class_attribute(m: Machine, cls: Class, name: str, after: Class | None = None) -> Value | None:
    """The attribute `name` of a class of the program, from behind `after` on; None when the program has none."""
    started = after is None
    for entry in cls.mro:
        if started and isinstance(entry, Class):
            found = m.variable(entry.frame, name)
            if found is not None:
                return found
        started = started or entry == after
    return None


def library_bases(cls: Class) -> list[str]:
    """The library classes that `cls` derives from."""
    return [entry.path for entry in cls.mro if isinstance(entry, Api)]


def is_open(cls: Class) -> bool:
    """Whether some base of `cls` is not known at all."""
    return any(isinstance(entry, Unknown) for entry in cls.mro)


def enum_lookup(m: Machine, cls: Class, wanted: Value | None) -> Value:
    """`SomeEnum(wanted)`."""
    for statement in cls.code.body:
        if isinstance(statement, cst.Assign) and isinstance(statement.targets[0].target, cst.Name):
            name = statement.targets[0].target.value
            if m.variable(cls.frame, name) == wanted:
                return member(m, cls, name) or UNKNOWN
    return UNKNOWN


def member(m: Machine, cls: Class, name: str) -> Value | None:
    """The member `name` of an enum class, as an instance with `name` and `value`."""
    held = m.variable(cls.frame, name)
    if held is None or isinstance(held, (Function, Property, StaticMethod, ClassMethod)):
        return None
    if not any(base.startswith("enum.") for base in library_bases(cls)):
        return None
    address = m.program.address(
        m.program.place(cls.code.source, cls.code.node), m.program.root_context, f"member {name}"
    )
    m.state.set((address, "value"), held)
    m.state.set((address, "name"), Const(name))
    return Instance(address, cls)
