"""Classes that declare their fields, and whose constructor is written by a library: dataclasses, attrs, pydantic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import libcst as cst

from mplint.interpreter import candidates
from mplint.interpreter.calls import Arguments
from mplint.interpreter.classes import class_attribute, library_bases, note_fields
from mplint.interpreter.code import dotted
from mplint.interpreter.configuration.annotations import kind_of, option
from mplint.interpreter.values import (
    ABSENT,
    FALSE,
    NONE,
    UNKNOWN,
    Api,
    Bound,
    Class,
    Const,
    Instance,
    Partial,
    Place,
    Symbol,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from typing import TypeGuard

    from mplint.interpreter.code import ClassCode
    from mplint.interpreter.frames import Frame
    from mplint.interpreter.machine import Machine

DECORATORS: Final = frozenset(
    {
        "dataclasses.dataclass",
        "attr.s",
        "attr.attrs",
        "attr.define",
        "attr.frozen",
        "attr.mutable",
        "attrs.define",
        "attrs.frozen",
        "attrs.mutable",
        "attr.dataclass",
        "chex.dataclass",
        "flax.struct.dataclass",
        "pydantic.dataclasses.dataclass",
    }
)
FIELD: Final = Api("dataclasses.field")
"""What `dataclasses.field(…)` and its like are read into: a partial of it."""
_SETTINGS: Final = frozenset({"pydantic.BaseSettings", "pydantic_settings.BaseSettings"})
"""Bases of classes whose fields the environment sets."""


@dataclass(frozen=True)
class Field:
    """A field that a class declares."""

    name: str
    default: Value | None
    annotation: cst.BaseExpression | None
    frame: Frame
    """Where the annotation is written."""

    @property
    def options(self) -> dict[str, Value]:
        """What `field(…)` was told."""
        return dict(self.default.keywords) if _is_told(self.default) else {}

    @property
    def is_passed(self) -> bool:
        """Whether the constructor takes it."""
        return self.options.get("init") != FALSE


def declared(m: Machine, cls: Class) -> list[Field]:
    """The fields of a class, those of its bases first."""
    found: dict[str, Field] = {}
    for entry in reversed(cls.mro):
        if not isinstance(entry, Class):
            continue
        for name, annotation in _declarations(m, entry):
            default = m.variable(entry.frame, f"@field {name}") or m.variable(entry.frame, name)
            found[name] = Field(name, default, annotation, entry.frame)
    return list(found.values())


def _declarations(m: Machine, cls: Class) -> Iterator[tuple[str, cst.BaseExpression | None]]:
    for name, annotation in _written(cls.code):
        if annotation is None:
            if _is_told(m.variable(cls.frame, f"@field {name}")):
                yield name, None
        else:
            outer = annotation.value if isinstance(annotation, cst.Subscript) else annotation
            if "ClassVar" not in dotted(outer) and name != "model_config":
                yield name, annotation


def _written(code: ClassCode) -> Iterator[tuple[str, cst.BaseExpression | None]]:
    """What may declare a field: the names with an annotation, and those without (`x = attr.ib(…)`)."""
    for statement in code.body:
        match statement:
            case cst.AnnAssign(target=cst.Name(value=name)):
                yield name, statement.annotation.annotation
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name)), *_]):
                yield name, None
            case _:
                pass


def _is_told(value: Value | None) -> TypeGuard[Partial]:
    """Whether `value` is what `field(…)` was told."""
    return isinstance(value, Partial) and value.callee == FIELD


def note_defaults(m: Machine, namespace: Frame, code: ClassCode) -> None:
    """Note the defaults of a dataclass's fields, as its `__init__` has them from now on."""
    for name, annotation in _written(code):
        default = m.variable(namespace, name)
        if default is None or (annotation is None and not _is_told(default)):
            continue
        m.bind(namespace, f"@field {name}", default)
        if _is_told(default):  # gives way to its default, or to nothing
            m.bind(namespace, name, dict(default.keywords).get("default", ABSENT))


def set_fields(m: Machine, instance: Instance, cls: Class, arguments: Arguments, place: Place) -> None:
    """The constructor of a class that declares its fields."""
    position = 0
    fields = declared(m, cls)
    from_outside = not _SETTINGS.isdisjoint(library_bases(cls))
    note_fields(m, instance, [field.name for field in fields])
    for field in fields:
        value = None
        if not field.is_passed:
            if "default_factory" not in field.options:
                continue  # what the class has, if anything
        else:
            value = arguments.get(field.name, position)
            position += 1
        default = None if value is not None else default_of(m, field, place)
        symbol = Symbol("field", cls.code.qualname, field.name)
        if value is not None:
            pass
        elif from_outside:
            value = option(symbol, kind_of(m, field.frame, field.annotation), default)
        elif not arguments.sure:
            value = _passed_perhaps(arguments.more, field.name, symbol, default)
        else:
            value = Unknown(symbol) if default is None else default
        m.put(instance.address, field.name, value)
    finish(m, instance, cls, place)


def finish(m: Machine, instance: Instance, cls: Class, place: Place) -> None:
    """Run what the class wants to be run when its fields are set."""
    hook = class_attribute(m, cls, "__post_init__") or class_attribute(m, cls, "__attrs_post_init__")
    if hook is not None:
        m.call(Bound(instance, hook), Arguments(), place)
    told = class_attribute(m, cls, "model_post_init")
    if told is not None:
        m.call(Bound(instance, told), Arguments((NONE,)), place)
    checks = [name for entry in reversed(cls.mro) if isinstance(entry, Class) for name in entry.code.checks]
    for name in dict.fromkeys(checks):
        check = class_attribute(m, cls, name)
        if check is not None:
            m.call(Bound(instance, check), Arguments(), place)


def _passed_perhaps(more: Value | None, name: str, symbol: Symbol, default: Value | None) -> Value:
    """A field that `**unknown` may hold."""
    held = candidates.under(more, Const(name)) if more is not None else UNKNOWN
    return candidates.or_else(held if isinstance(held, Unknown) and held != more else Unknown(symbol), default)


def default_of(m: Machine, field: Field, place: Place) -> Value | None:
    """What the field is where nothing is passed; None where something must be."""
    told = field.options
    if "default" in told:
        return told["default"]
    factory = told.get("default_factory") or told.get("factory")
    if factory is not None:
        return m.call(factory, Arguments(), place)
    return None if _is_told(field.default) else field.default
