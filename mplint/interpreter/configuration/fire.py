"""`fire.Fire(…)`: whatever it is given is a command line, functions and the methods of classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from mplint.interpreter import sequences
from mplint.interpreter.calls import Arguments, each
from mplint.interpreter.classes import class_attribute
from mplint.interpreter.configuration import commands
from mplint.interpreter.values import (
    NONE,
    UNKNOWN,
    Bound,
    Class,
    Dict,
    Fields,
    Function,
    Instance,
    List,
    Module,
    Place,
    Tuple,
    Value,
)

if TYPE_CHECKING:
    from mplint.interpreter.frames import Frame
    from mplint.interpreter.machine import Machine


def run(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`fire.Fire(component)`; without one, whatever the running module defines."""
    component = arguments.args[0] if arguments.args else arguments.get("component")
    return _run(m, Module(m.stack[-1].frame.module) if component is None or component == NONE else component, place)


def _run(m: Machine, component: Value, place: Place) -> Value:
    match component:
        case Function():
            return m.call(commands.configured(m, component), Arguments(), place)
        case Bound(receiver=receiver, callee=Function() as function):
            return m.call(Bound(receiver, commands.configured(m, function, skip=1)), Arguments(), place)
        case Class():
            return _methods(m, _made(m, component, place), place)
        case Instance():
            return _methods(m, component, place)
        case Dict():
            return _any_of(m, [value for _, value in m.entries(component).pairs], place)
        case Module(frame=module):
            return _any_of(m, list(_defined_in(m, module)), place)
        case List() | Tuple():
            return _any_of(m, list(sequences.iterate(m, component, place).items), place)
        case _:
            return UNKNOWN


def _defined_in(m: Machine, module: Frame) -> Iterator[Value]:
    """The functions and classes that stand in the file of a module."""
    for name in module.bound:
        value = m.variable(module, name)
        if isinstance(value, (Function, Class)) and value.code.source is module.source and not name.startswith("_"):
            yield value


def _made(m: Machine, cls: Class, place: Place) -> Value:
    """An object of a class, the parameters of whose `__init__` are options."""
    own = class_attribute(m, cls, "__init__")
    if not isinstance(own, Function):
        return m.call(cls, Arguments(), place)
    options = commands.configured(m, own, skip=1)
    defaults = dict(options.defaults)
    names = [parameter.name for parameter in own.code.parameters[1:] if not parameter.kind.startswith("star")]
    return m.call(cls, Arguments((), tuple((name, defaults[name]) for name in names)), place)


def _methods(m: Machine, made: Value, place: Place) -> Value:
    if not isinstance(made, Instance) or not isinstance(made.cls, Class):
        return UNKNOWN
    found = [m.attribute(made, name, place) for name in commands.methods_of(m, made.cls)]
    return _any_of(m, [value for value in found if isinstance(value, Bound)], place)


def _any_of(m: Machine, components: list[Value], place: Place) -> Value:
    """Run one of several, whichever."""
    known = tuple(value for value in components if not isinstance(value, Fields))
    return each(m, known, lambda component: _run(m, component, place)) if known else NONE


HANDLERS: Final[dict[str, Callable[[Machine, Arguments, Place], Value]]] = dict.fromkeys(
    ("fire.Fire", "fire.core.Fire"), run
)
