"""Functions, classes and their instances: definition, construction, attribute lookup."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import libcst as cst

from mplint import keras_api
from mplint.interpreter import fields, mappings, namespaces, standard
from mplint.interpreter.activations import Activation
from mplint.interpreter.calls import Arguments
from mplint.interpreter.classes import (
    class_attribute,
    enum_lookup,
    has_fields,
    is_enum,
    library_bases,
    method_of,
    note_dataclass,
)
from mplint.interpreter.code import FunctionCode, dotted
from mplint.interpreter.configuration import objects as configuration
from mplint.interpreter.frames import Frame
from mplint.interpreter.keras import calling, layers, optimizers, policies
from mplint.interpreter.keras.info import keras_base, keras_base_of
from mplint.interpreter.state import MADE
from mplint.interpreter.values import (
    ABSENT,
    NONE,
    TRUE,
    UNKNOWN,
    Api,
    Bound,
    Choice,
    Class,
    ClassMethod,
    Const,
    Dict,
    Entries,
    Fields,
    Function,
    Instance,
    Module,
    Partial,
    Place,
    Property,
    StaticMethod,
    Super,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

_CONTEXT_MANAGERS: Final = frozenset({"contextlib.contextmanager", "contextlib.asynccontextmanager"})
_PROPERTIES: Final = frozenset({"builtins.property", "functools.cached_property"})
_CACHES: Final = frozenset({"cache", "lru_cache"})
"""Decorators behind which a function is run once for the same arguments."""
_OPERATORS: Final = {
    "Add": "__add__",
    "Subtract": "__sub__",
    "Multiply": "__mul__",
    "Divide": "__truediv__",
    "BitOr": "__or__",
    "RightShift": "__rshift__",
    "Equal": "__eq__",
    "NotEqual": "__ne__",
    "LessThan": "__lt__",
    "LessThanEqual": "__le__",
    "GreaterThan": "__gt__",
    "GreaterThanEqual": "__ge__",
}


# -- definitions


def define_function(m: Machine, frame: Frame, node: cst.FunctionDef) -> Value:
    """The value of a `def` statement, decorators applied."""
    code = m.program.function_code(node, frame.source, frame)
    defaults = tuple((p.name, m.evaluate(frame, p.default)) for p in code.parameters if p.default is not None)
    value: Value = Function(code, frame, defaults)
    for decorator in reversed(code.decorators):
        value = _decorated(m, frame, decorator, value)
    return value


def _decorated(m: Machine, frame: Frame, node: cst.BaseExpression, value: Value) -> Value:
    if isinstance(node, cst.Attribute) and node.attr.value in ("setter", "deleter", "getter", "register"):
        before = m.evaluate(frame, node.value)
        if isinstance(before, Property) and node.attr.value == "setter":
            return Property(before.getter, value)
        if not isinstance(before, Instance):
            return before if isinstance(before, Property) else value
    decorator = m.evaluate(frame, node)
    named = dotted(node.func if isinstance(node, cst.Call) else node).rpartition(".")[2]
    if named in _CACHES and isinstance(value, Function):
        m.program.cached.add(value.code.node)
    if named == "wraps" and isinstance(node, cst.Call) and node.args and isinstance(value, Function):
        wrapped = m.evaluate(frame, node.args[0].value)
        m.state.set((value, "__name__"), m.attribute(wrapped, "__name__", m.place(frame, node)))
    match decorator:
        case Api(path="builtins.staticmethod"):
            return StaticMethod(value)
        case Api(path="builtins.classmethod"):
            return ClassMethod(value)
        case Api(path=path) if path in _PROPERTIES:
            return Property(value)
        case Api(path=path) if path in _CONTEXT_MANAGERS:
            m.program.context_managers.add(value.code.node if isinstance(value, Function) else None)
            return value
        case Api(path=path) if path in standard.DECORATORS:
            return m.call(decorator, Arguments((value,)), m.place(frame, node))
        case _ if _is_known(m, decorator):
            wrapped = m.call(decorator, Arguments((value,)), m.place(frame, node))
            return value if isinstance(wrapped, Unknown) else wrapped
        case _:  # a library's decorator is taken to call what it wraps
            return value


def _is_known(m: Machine, decorator: Value) -> bool:
    """Whether it is known what a decorator does: the program says so, or it is a method of a known object."""
    match decorator:
        case Function() | Class() | Partial() | Bound(callee=Function()) | Bound(receiver=Function()):
            return True
        case Bound(receiver=receiver):
            return isinstance(receiver, Instance) and receiver.cls in standard.METHODS
        case Instance():
            return method_of(m, decorator, "__call__") is not None
        case _:
            return False


def define_class(m: Machine, frame: Frame, node: cst.ClassDef) -> Value:
    """The value of a `class` statement: its body has been run."""
    code = m.program.class_code(node, frame.source, frame)
    bases: list[Value] = []
    for arg in node.bases:
        if arg.star == "":
            base = m.evaluate(frame, arg.value)
            bases.append(base if isinstance(base, (Class, Api)) else _some_class(base))
    keywords = [(arg.keyword.value, m.evaluate(frame, arg.value)) for arg in node.keywords if arg.keyword is not None]
    if any(key == "metaclass" and value != Api("abc.ABCMeta") for key, value in keywords):
        bases.append(UNKNOWN)  # what a metaclass of its own puts into the class is not known
    namespace = m.program.frame(node, "class", frame.source, code, m.context, frame, None, None)
    cls = Class(code, namespace, tuple(bases))
    namespace.owner = cls
    m.program.hooks |= code.hooks
    m.stack.append(Activation(namespace))
    m.execute(namespace, code.body)
    m.stack.pop()
    m.state.set((namespace, MADE), TRUE)
    if "__init_subclass__" in m.program.hooks:
        told = class_attribute(m, cls, "__init_subclass__", after=cls)
        if told is not None:
            given = told.function if isinstance(told, ClassMethod) else told
            m.call(Bound(cls, given), Arguments((), tuple(keywords)), m.place(frame, node))
    value: Value = cls
    for decorator in reversed(code.decorators):
        made = m.evaluate(frame, decorator)
        target = made.receiver if isinstance(made, Bound) else made
        name = dotted(decorator.func if isinstance(decorator, cst.Call) else decorator)
        path = target.path if isinstance(target, Api) else name
        if path in fields.DECORATORS or name.endswith("dataclass"):
            note_dataclass(m, namespace)
            fields.note_defaults(m, namespace, code)
        elif path in standard.DECORATORS or _is_known(m, made):
            wrapped = m.call(made, Arguments((value,)), m.place(frame, decorator))
            value = wrapped if isinstance(wrapped, Class) else value
    return value


def _some_class(base: Value) -> Value:
    """A base class of several possibilities: the first that is known (`try: import a; except: import b`)."""
    if isinstance(base, Choice):
        return next((option for option in base.options if isinstance(option, (Class, Api))), UNKNOWN)
    return UNKNOWN


# -- construction


def instantiate(m: Machine, cls: Class, arguments: Arguments, place: Place) -> Value:
    """The object that calling the class `cls` makes."""
    if is_enum(cls):
        return enum_lookup(m, cls, arguments.get("value", 0))
    maker = class_attribute(m, cls, "__new__") if "__new__" in m.program.hooks else None
    made = m.call(maker, arguments.behind(cls), place) if maker is not None else UNKNOWN
    instance = made if isinstance(made, Instance) else Instance(m.allocate(place, "object"), cls)
    if instance.cls != cls:
        return instance
    base = keras_base(library_bases(cls))
    if base is not None:
        layers.begin(m, instance, base, place)
    elif mappings.derives_from_dict(cls):
        m.put_entries(instance.address, Entries())
    else:
        optimizers.note_made(m, instance, arguments, place)
    method = class_attribute(m, cls, "__init__")
    if place.node is not cls.code.node:  # where nothing makes one, the class itself is the place
        m.program.makings.note(cls, arguments)
    if method is not None:
        m.call(Bound(instance, method), arguments, place)
    elif base is not None:
        calling.initialise(m, instance, base, arguments, place)
    elif mappings.derives_from_dict(cls):
        fill(m, instance, arguments, place)
    elif has_fields(m, cls):
        fields.set_fields(m, instance, cls, arguments, place)
    else:
        for value in arguments.values():
            m.escape(value)
    return instance


def fill(m: Machine, instance: Instance, arguments: Arguments, place: Place) -> None:
    """`dict.__init__` of an object that is a dict."""
    made = m.call(Api("builtins.dict"), arguments, place)
    m.put_entries(instance.address, m.entries(made) if isinstance(made, Dict) else Entries((), UNKNOWN))


# -- instances


def set_attribute(m: Machine, target: Value, name: str, value: Value, place: Place) -> None:
    """`target.name = value`."""
    match target:
        case Instance():
            if policies.assigned(m, target, name, value):
                return
            if mappings.is_of_library(target):
                configuration.put(m, target, name, value, place)
                return
            if isinstance(target.cls, Class):
                hook = class_attribute(m, target.cls, "__setattr__") if "__setattr__" in m.program.hooks else None
                if hook is not None:
                    m.call(Bound(target, hook), Arguments((Const(name), value)), place)
                    return
            set_plainly(m, target, name, value, place)
            base = keras_base_of(m, target) if isinstance(target.cls, Class) else None
            if base is not None and keras_api.kind(base) is not keras_api.Kind.MODEL:
                m.use(value)  # a model inside a layer is a part of it
        case Class(frame=frame) | Module(frame=frame):
            m.bind(frame, name, value)
        case Choice():
            m.alternatives([partial(_set, m, option, name, value, place) for option in target.options])
        case Function():
            m.state.set((target, name), value)
        case Api():
            m.patch(target, name, value)
        case _:
            m.escape(value)


def set_plainly(m: Machine, target: Instance, name: str, value: Value, place: Place) -> None:
    """`object.__setattr__(target, name, value)`."""
    if isinstance(target.cls, Class):
        found = class_attribute(m, target.cls, name)
        if isinstance(found, Property) and m.field(target.address, name) is None:
            if found.setter is not None:
                m.call(Bound(target, found.setter), Arguments((value,)), place)
            return
        if isinstance(found, Instance) and isinstance(found.cls, Class) and "__set__" in m.program.hooks:
            setter = class_attribute(m, found.cls, "__set__")
            if setter is not None:
                m.call(Bound(found, setter), Arguments((target, value)), place)
                return
    if name == "__dict__":
        _set_namespace(m, target, value)
    else:
        m.put(target.address, name, value)


def _set(m: Machine, target: Value, name: str, value: Value, place: Place) -> bool:
    set_attribute(m, target, name, value, place)
    return True


def _delete(m: Machine, target: Value, name: str, place: Place) -> bool:
    delete_attribute(m, target, name, place)
    return True


def _set_namespace(m: Machine, target: Instance, value: Value) -> None:
    """`target.__dict__ = value`."""
    own = Fields(target)
    namespaces.clear(m, own)
    if value == target:
        mappings.alias(m, target)
    elif isinstance(value, Dict):
        namespaces.update(m, own, m.entries(value))
    elif isinstance(value, Fields):
        namespaces.update(m, own, namespaces.contents(m, value))
    else:
        namespaces.loosen(m, own)


def delete_attribute(m: Machine, target: Value, name: str, place: Place) -> None:
    """`del target.name`."""
    match target:
        case Instance(address=address, cls=cls):
            hook = class_attribute(m, cls, "__delattr__") if isinstance(cls, Class) and m.program.hooks else None
            if hook is not None:
                m.call(Bound(target, hook), Arguments((Const(name),)), place)
            else:
                m.drop_field(address, name)
        case Class(frame=frame) | Module(frame=frame):
            m.unbind(frame, name)
        case Api():
            m.patch(target, name, ABSENT)
        case Choice():
            m.alternatives([partial(_delete, m, option, name, place) for option in target.options])
        case _:
            pass


def inherited(m: Machine, receiver: Value, name: str, arguments: Arguments, place: Place) -> Value | None:
    """A method that `super()` finds in `object`; None where it may find another."""
    match name, receiver, arguments.args:
        case "__setattr__", Instance(), (key, value):
            if isinstance(key, Const) and isinstance(key.value, str):
                if not policies.assigned(m, receiver, key.value, value):
                    set_plainly(m, receiver, key.value, value, place)
            else:
                namespaces.loosen(m, Fields(receiver))
            return NONE
        case "__getattribute__", Instance(), (Const(value=str(key)),):
            return m.attribute(receiver, key, place, plainly=True)
        case "__delattr__", Instance(), (key,):
            namespaces.delete(m, Fields(receiver), key)
            return NONE
        case "__new__", Class(), (Class() as cls, *_):
            return Instance(m.allocate(place, "object"), cls)
        case "__init_subclass__", _, _:
            return NONE
        case _:
            return None


def super_of(m: Machine, frame: Frame) -> Value:
    """`super()` inside a method."""
    here: Frame | None = frame
    while here is not None and (here.owner is None or not isinstance(here.code, FunctionCode)):
        here = here.parent
    if here is None or here.owner is None or not isinstance(here.code, FunctionCode):
        return UNKNOWN
    first = here.code.first
    receiver = m.state.get((here, first)) if first else None
    if isinstance(receiver, (Instance, Class)):
        return Super(receiver, here.owner)
    return UNKNOWN


_REFLECTED: Final = {
    "__eq__": "__eq__",
    "__ne__": "__ne__",
    "__lt__": "__gt__",
    "__le__": "__ge__",
    "__gt__": "__lt__",
    "__ge__": "__le__",
}
"""What Python asks of the right side of a comparison, where the left one has nothing to say or is of a base class."""


def operator_method(m: Machine, name: str, left: Value, right: Value, place: Place) -> Value | None:
    """What a class of the program does for a binary operator; None when it does nothing."""
    method = _OPERATORS.get(name)
    if method is None or not (isinstance(left, Instance) or isinstance(right, Instance)):
        return None
    own = _method_of(m, left, method)
    other = _method_of(m, right, _REFLECTED.get(method, ""))
    if other is not None and (own is None or _is_of_subclass(right, left)):
        return m.call(other, Arguments((left,)), place)
    return None if own is None else m.call(own, Arguments((right,)), place)


def _method_of(m: Machine, value: Value, name: str) -> Value | None:
    found = method_of(m, value, name) if isinstance(value, Instance) else None
    return None if found is None else Bound(value, found)


def _is_of_subclass(value: Value, other: Value) -> bool:
    return (
        isinstance(value, Instance)
        and isinstance(other, Instance)
        and isinstance(value.cls, Class)
        and value.cls != other.cls
        and other.cls in value.cls.mro
    )


def yielded(m: Machine, value: Value) -> None:
    """A generator yields: its body's value is kept, or a `with` body runs here."""
    activation = m.stack[-1]
    if activation.on_yield is not None:
        resume = activation.on_yield
        activation.on_yield = None
        m.stack.pop()
        try:
            resume(value)
        finally:
            m.stack.append(activation)
        return
    activation.loose = activation.loose or bool(activation.path)
    activation.yields.append(value)
