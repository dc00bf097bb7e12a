"""Attribute access on every kind of value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mplint.interpreter.calls import Arguments
from mplint.interpreter.classes import class_attribute, is_open, member
from mplint.interpreter.keras import layers, policies, strategies, surgery, tensors
from mplint.interpreter.keras.info import keras_base_of
from mplint.interpreter.values import (
    NONE,
    UNKNOWN,
    Api,
    ApiMethod,
    Array,
    Bound,
    Choice,
    Class,
    ClassMethod,
    Const,
    Dict,
    DType,
    Fields,
    Function,
    Instance,
    List,
    Module,
    Partial,
    Place,
    Policy,
    Property,
    StaticMethod,
    Super,
    Tensor,
    Tuple,
    Unknown,
    Value,
    choice,
    derived,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine


def get(m: Machine, value: Value, name: str, place: Place) -> Value:
    """`value.name`."""
    match value:
        case Api():
            return _library(m, value, name)
        case Module(frame=frame):
            return _module(m, value, frame.source.path.name, name)
        case Instance():
            return _instance(m, value, name, place)
        case Class():
            return _class(m, value, name)
        case Super():
            return _super(m, value, name, place)
        case Tensor():
            return tensors.attribute(m, value, name, place)
        case Policy():
            return policies.attribute(m, value, name)
        case DType():
            return tensors.dtype_attribute(value, name)
        case Choice():
            return choice([get(m, option, name, place) for option in value.options if option != NONE] or [UNKNOWN])
        case Const() | Tuple() | List() | Dict() | Fields() | Array():
            return _of_builtin(value, name)
        case Function():
            if name == "__name__":
                return Const(value.code.name)
            return Bound(value, ApiMethod(name))
        case Partial():
            fields = {"func": value.callee, "args": Tuple(value.args)}
            return fields.get(name, UNKNOWN)
        case Bound() if name == "__self__":
            return value.receiver
        case Unknown():
            return derived("attribute", value, name)
        case _:
            return UNKNOWN


def _library(m: Machine, value: Api, name: str) -> Value:
    stored = m.patched(value, name)
    if stored is not None:
        return stored
    dtype = tensors.dtype_of(m, value) if name in ("name", "as_numpy_dtype", "base_dtype") else None
    if dtype is not None:
        return tensors.dtype_attribute(DType(dtype), name)
    spelled = f"{value.spelled or value.path}.{name}"
    path = m.program.table.canonical(f"{value.path}.{name}")
    return m.program.table.constant(path) or Api(path, spelled)


def _module(m: Machine, value: Module, file: str, name: str) -> Value:
    found = m.variable(value.frame, name) or m.variable(value.frame, "*")
    if found is not None:
        return found
    return derived("name", file, name)


def _instance(m: Machine, value: Instance, name: str, place: Place) -> Value:
    held = m.field(value.address, name)
    if held is not None:
        return layers.read_variable(m, value, held)
    if name == "__dict__":
        return Fields(value)
    if isinstance(value.cls, Class):
        found = class_attribute(m, value.cls, name)
        if found is not None:
            return _bind(m, value, found, place)
        if name == "__class__":
            return value.cls
        base = keras_base_of(m, value)
        if base is not None:
            return surgery.attribute(m, value, name, place)
        fallback = class_attribute(m, value.cls, "__getattr__")
        if fallback is not None and not name.startswith("__"):
            return m.call(Bound(value, fallback), Arguments((Const(name),)), place)
        return Bound(value, ApiMethod(name)) if is_open(value.cls) or value.cls.bases else UNKNOWN
    read = strategies.attribute(value, name) if strategies.is_strategy(value.cls.path) else None
    return read if read is not None else surgery.attribute(m, value, name, place)


def _bind(m: Machine, receiver: Instance, found: Value, place: Place) -> Value:
    match found:
        case Function():
            return Bound(receiver, found)
        case StaticMethod(function=inner):
            return inner
        case ClassMethod(function=inner):
            return Bound(receiver.cls, inner)
        case Property(getter=getter):
            return m.call(Bound(receiver, getter), Arguments(), place)
        case _:
            return found


def _class(m: Machine, value: Class, name: str) -> Value:
    known = member(m, value, name)
    if known is not None:
        return known
    found = class_attribute(m, value, name)
    match found:
        case None:
            return Const(value.code.name) if name == "__name__" else Bound(value, ApiMethod(name))
        case StaticMethod(function=inner):
            return inner
        case ClassMethod(function=inner):
            return Bound(value, inner)
        case _:
            return found


def _super(m: Machine, value: Super, name: str, place: Place) -> Value:
    receiver = value.receiver
    cls = receiver.cls if isinstance(receiver, Instance) else receiver
    if not isinstance(cls, Class):
        return UNKNOWN
    found = class_attribute(m, cls, name, after=value.after)
    if found is None:
        if isinstance(receiver, Instance):
            base = keras_base_of(m, receiver)
            if base is None or name in ("__init__", "__init_subclass__"):
                return Bound(receiver, ApiMethod(f"super.{name}"))
            return surgery.attribute(m, receiver, name, place, inherited=True)
        return UNKNOWN
    if isinstance(receiver, Instance):
        return _bind(m, receiver, found, place)
    return Bound(receiver, found.function) if isinstance(found, ClassMethod) else found


def _of_builtin(value: Value, name: str) -> Value:
    if isinstance(value, Array) and name in ("T", "flat", "real"):
        return value
    if isinstance(value, Array) and name == "dtype" and value.dtype:
        return DType(value.dtype)
    if isinstance(value, Array) and name in ("shape", "size", "ndim"):
        return UNKNOWN
    return Bound(value, ApiMethod(name))
