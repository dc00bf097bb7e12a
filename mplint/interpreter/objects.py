"""Functions, classes and their instances: definition, construction, attribute lookup, context managers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import libcst as cst

from mplint.interpreter.activations import Activation
from mplint.interpreter.calls import Arguments, call_function
from mplint.interpreter.classes import class_attribute, enum_lookup, library_bases
from mplint.interpreter.code import dotted
from mplint.interpreter.frames import Frame
from mplint.interpreter.keras import calling, layers, policies, strategies
from mplint.interpreter.keras.info import keras_base
from mplint.interpreter.values import (
    NONE,
    TRUE,
    UNKNOWN,
    Api,
    Bound,
    Choice,
    Class,
    ClassMethod,
    Const,
    Function,
    Instance,
    List,
    Module,
    Partial,
    Place,
    Property,
    StaticMethod,
    Super,
    Symbol,
    Tuple,
    Unknown,
    Value,
    choice,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

_DATACLASSES: Final = frozenset(
    {
        "dataclasses.dataclass",
        "attr.s",
        "attr.define",
        "attrs.define",
        "attr.dataclass",
        "chex.dataclass",
        "flax.struct.dataclass",
    }
)
_CONTEXT_MANAGERS: Final = frozenset({"contextlib.contextmanager", "contextlib.asynccontextmanager"})
_PROPERTIES: Final = frozenset({"builtins.property", "functools.cached_property"})
_OPERATORS: Final = {
    "Add": "__add__",
    "Subtract": "__sub__",
    "Multiply": "__mul__",
    "Divide": "__truediv__",
    "BitOr": "__or__",
    "RightShift": "__rshift__",
    "Equal": "__eq__",
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
        return before if isinstance(before, Property) else value
    decorator = m.evaluate(frame, node)
    match decorator:
        case Api(path="builtins.staticmethod"):
            return StaticMethod(value)
        case Api(path="builtins.classmethod"):
            return ClassMethod(value)
        case Api(path=path) if path in _PROPERTIES:
            return Property(value)
        case Api(path=path) if path in _CONTEXT_MANAGERS:
            m.program.context_managers.add(_code_node(value))
            return value
        case Function() | Class() | Partial():
            wrapped = m.call(decorator, Arguments((value,)), m.place(frame, node))
            return value if isinstance(wrapped, Unknown) else wrapped
        case _:  # a library's decorator is taken to call what it wraps
            return value


def _code_node(value: Value) -> object:
    return value.code.node if isinstance(value, Function) else None


def define_class(m: Machine, frame: Frame, node: cst.ClassDef) -> Value:
    """The value of a `class` statement: its body has been run."""
    code = m.program.class_code(node, frame.source, frame)
    bases: list[Value] = []
    for arg in node.bases:
        if arg.star == "":
            base = m.evaluate(frame, arg.value)
            bases.append(base if isinstance(base, (Class, Api)) else _some_class(base))
    namespace = m.program.frame(node, "class", frame.source, code, m.context, frame, None, None)
    cls = Class(code, namespace, tuple(bases))
    namespace.owner = cls
    m.stack.append(Activation(namespace))
    m.execute(namespace, code.body)
    m.stack.pop()
    value: Value = cls
    for decorator in reversed(code.decorators):
        made = m.evaluate(frame, decorator)
        target = made.receiver if isinstance(made, Bound) else made
        name = dotted(decorator.func if isinstance(decorator, cst.Call) else decorator)
        path = target.path if isinstance(target, Api) else name
        if path in _DATACLASSES or name.endswith("dataclass"):
            m.bind(namespace, "@dataclass", TRUE)
        elif isinstance(target, (Function, Partial)):
            wrapped = m.call(target, Arguments((value,)), m.place(frame, decorator))
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
    bases = library_bases(cls)
    if any(base.startswith("enum.") for base in bases):
        return enum_lookup(m, cls, arguments.get("value", 0))
    instance = Instance(m.allocate(place, "object"), cls)
    base = keras_base(m, bases)
    if base is not None:
        layers.begin(m, instance, base, place)
    method = class_attribute(m, cls, "__init__")
    if method is not None:
        m.call(Bound(instance, method), arguments, place)
    elif base is not None:
        calling.initialise(m, instance, base, arguments, place)
    elif "typing.NamedTuple" in bases or any(
        m.variable(entry.frame, "@dataclass") for entry in cls.mro if isinstance(entry, Class)
    ):
        names = _set_fields(m, instance, cls, arguments, place)
        if "typing.NamedTuple" in bases:
            m.state.set((instance.address, "@fields"), Tuple(tuple(Const(name) for name in names)))
    else:
        for value in arguments.values():
            m.escape(value)
    return instance


def _set_fields(m: Machine, instance: Instance, cls: Class, arguments: Arguments, place: Place) -> list[str]:
    """The `__init__` that `@dataclass` and NamedTuple write; the names of the fields."""
    names: dict[str, Value | None] = {}
    for entry in reversed(cls.mro):
        if not isinstance(entry, Class):
            continue
        for statement in entry.code.body:
            if isinstance(statement, cst.AnnAssign) and isinstance(statement.target, cst.Name):
                if "ClassVar" in _annotation(statement):
                    continue
                names[statement.target.value] = m.variable(entry.frame, statement.target.value)
    for position, (name, default) in enumerate(names.items()):
        value = arguments.get(name, position)
        if value is None and default is not None and arguments.sure:
            value = _field_default(m, default, place)
        m.put(instance.address, name, Unknown(Symbol("field", cls.code.qualname, name)) if value is None else value)
    post = class_attribute(m, cls, "__post_init__")
    if post is not None:
        m.call(Bound(instance, post), Arguments(), place)
    return list(names)


def _annotation(statement: cst.AnnAssign) -> str:
    node: cst.BaseExpression = statement.annotation.annotation
    if isinstance(node, cst.Subscript):
        node = node.value
    return dotted(node)


def _field_default(m: Machine, default: Value, place: Place) -> Value:
    """`dataclasses.field(default=…, default_factory=…)` has been read into a partial by the library's face."""
    if isinstance(default, Partial) and default.callee == Api("dataclasses.field"):
        keywords = dict(default.keywords)
        if "default" in keywords:
            return keywords["default"]
        if "default_factory" in keywords:
            return m.call(keywords["default_factory"], Arguments(), place)
        return UNKNOWN
    return default


# -- instances


def set_attribute(m: Machine, target: Value, name: str, value: Value, place: Place) -> None:
    """`target.name = value`."""
    match target:
        case Instance(address=address):
            if policies.assigned(m, target, name, value):
                return
            if isinstance(target.cls, Class):
                found = class_attribute(m, target.cls, name)
                if isinstance(found, Property) and m.field(address, name) is None:
                    if found.setter is not None:
                        m.call(Bound(target, found.setter), Arguments((value,)), place)
                    return
            m.put(address, name, value)
        case Class(frame=frame):
            m.bind(frame, name, value)
        case Module(frame=frame):
            m.bind(frame, name, value)
        case Choice():
            for option in target.options:
                if isinstance(option, Instance):
                    before = m.field(option.address, name)
                    m.put(option.address, name, choice([before, value]) if before is not None else value)
        case Api():
            m.patch(target, name, value)
        case _:
            m.escape(value)


def super_of(m: Machine, frame: Frame) -> Value:
    """`super()` inside a method."""
    here: Frame | None = frame
    while here is not None and (here.kind != "function" or here.owner is None or here.code is None):
        here = here.parent
    if here is None or here.owner is None or here.code is None:
        return UNKNOWN
    first = getattr(here.code, "first", None)
    receiver = m.state.get((here, first)) if first else None
    if isinstance(receiver, (Instance, Class)):
        return Super(receiver, here.owner)
    return UNKNOWN


def operator_method(m: Machine, name: str, left: Value, right: Value, place: Place) -> Value | None:
    """What a class of the program does for a binary operator; None when it does nothing."""
    method = _OPERATORS.get(name)
    if method is None or not isinstance(left, Instance) or not isinstance(left.cls, Class):
        return None
    found = class_attribute(m, left.cls, method)
    return None if found is None else m.call(Bound(left, found), Arguments((right,)), place)


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


def enter_context(m: Machine, manager: Value, inside: Callable[[Value], bool], place: Place) -> None:
    """Run `inside` (the body of a `with`) in the context that `manager` sets up."""
    if isinstance(manager, List) and manager.kind == "generator":
        inside(UNKNOWN)
        return
    if isinstance(manager, Partial) and isinstance(manager.callee, Function):
        # a generator function under @contextmanager: its body runs up to the yield, then ours, then the rest
        ran = False

        def resume(value: Value) -> bool:
            nonlocal ran
            ran = True
            return inside(value)

        call_function(m, manager.callee, Arguments(manager.args, manager.keywords), place, on_yield=resume)
        if not ran:
            inside(UNKNOWN)
        return
    if isinstance(manager, Instance) and isinstance(manager.cls, Class):
        enter = class_attribute(m, manager.cls, "__enter__")
        leave = class_attribute(m, manager.cls, "__exit__")
        value: Value = UNKNOWN
        if enter is not None:
            value = m.call(Bound(manager, enter), Arguments(), place)
        fell = inside(value)
        if leave is not None and fell:
            m.call(Bound(manager, leave), Arguments((NONE, NONE, NONE)), place)
        return
    if strategies.is_scope(manager):
        strategies.within(m, manager, lambda: inside(UNKNOWN))
        return
    inside(manager)
