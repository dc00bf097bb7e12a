"""Functions that a command line calls: their parameters are options, and a group runs one of its commands.

A function that was given options is the same function with other defaults: whoever calls it without them leaves them to
the command line.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from mplint.interpreter.calls import Arguments, each
from mplint.interpreter.classes import class_attribute
from mplint.interpreter.configuration.annotations import kind_of, option
from mplint.interpreter.values import (
    NONE,
    UNKNOWN,
    Api,
    Bound,
    Class,
    Const,
    Function,
    Instance,
    Maybe,
    Partial,
    Place,
    Symbol,
    Tuple,
    Value,
)

if TYPE_CHECKING:
    from mplint.interpreter.code import FunctionCode
    from mplint.interpreter.machine import Machine

CONTEXT: Final = Api("mplint.click.context")
"""The context of a command: one for all, since what commands share is its object."""
_COMMANDS: Final = "@commands"
_OBJECT: Final = "@object"
REGISTER: Final = Api("mplint.commands.register")
"""The decorator that makes a function a command of a group."""
_GROUPED: Final = frozenset({"command", "group"})


def given(function: Function, options: Mapping[str, Value]) -> Function:
    """The function, with `options` for what a call does not pass."""
    defaults = {**dict(function.defaults), **options}
    return Function(function.code, function.frame, tuple(defaults.items()))


def configured(m: Machine, function: Function, *, skip: int = 0) -> Function:
    """The function, each parameter of which is an option of its name, but the first `skip`."""
    found: dict[str, Value] = {}
    defaults = dict(function.defaults)
    for parameter in function.code.parameters[skip:]:
        if parameter.kind in ("star", "star_star"):
            continue
        annotation = parameter.annotation.annotation if parameter.annotation is not None else None
        kind = kind_of(m, function.frame, annotation)
        default = _default(defaults.get(parameter.name))
        found[parameter.name] = option(Symbol("option", function.code.qualname, parameter.name), kind, default)
    return given(function, found)


def _default(value: Value | None) -> Value | None:
    """The default that `typer.Option(default, …)` tells, or the value itself."""
    if not isinstance(value, Partial) or not isinstance(value.callee, Api):
        return value
    named = dict(value.keywords).get("default")
    first = value.args[0] if value.args else named
    return None if first == Const(...) else first


# -- groups


def make_group(m: Machine, function: Function) -> None:
    """Note that a function is a group: whoever calls it runs one of its commands, too."""
    m.program.groups.add(function.code)
    if m.state.get((function.code, _COMMANDS)) is None:
        m.state.set((function.code, _COMMANDS), Tuple(()))


def register(m: Machine, owner: FunctionCode | Instance, command: Value) -> None:
    """Add a command to a group."""
    cell = (owner.address if isinstance(owner, Instance) else owner, _COMMANDS)
    held = m.state.get(cell)
    items = held.items if isinstance(held, Tuple) else ()
    m.state.set(cell, Tuple((*items, command)))


def run(m: Machine, owner: FunctionCode | Instance, place: Place) -> Value:
    """Run one of the commands of a group, whichever."""
    held = m.state.get((owner.address if isinstance(owner, Instance) else owner, _COMMANDS))
    if not isinstance(held, Tuple) or not held.items:
        return NONE

    def command(function: Value) -> Value:
        takes = isinstance(function, Function) and m.state.get((function.code, _OBJECT)) is not None
        return m.call(function, Arguments((held_object(m),) if takes else ()), place)

    return each(m, held.items, command)


def held_object(m: Machine) -> Value:
    """The object that the context carries."""
    held = m.patched(CONTEXT, "obj")
    return UNKNOWN if held is None or isinstance(held, Maybe) else held


def takes_object(m: Machine, function: Function) -> None:
    """Note that a command is given the object of its group first."""
    m.state.set((function.code, _OBJECT), NONE)


def method(m: Machine, receiver: Function, name: str, arguments: Arguments, place: Place) -> Value | None:
    """A method of a function that is a group; None of others."""
    if receiver.code not in m.program.groups:
        return None
    first = arguments.args[0] if arguments.args else arguments.get("cmd")
    if name in _GROUPED:
        decorator = Partial(REGISTER, (Bound(receiver, NONE), Const(name)))
        return m.call(decorator, Arguments((first,)), place) if isinstance(first, Function) else decorator
    if name == "add_command" and first is not None:
        register(m, receiver.code, first)
        return NONE
    if name in ("main", "__call__"):
        return m.call(receiver, Arguments(), place)
    return UNKNOWN


def registering(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`@group.command(…)` on a function."""
    owner, kind, function = arguments.args
    assert isinstance(owner, Bound)
    if not isinstance(function, Function):
        return function
    if kind == Const("group"):
        make_group(m, function)
    if isinstance(owner.receiver, Function):
        register(m, owner.receiver.code, function)
    elif isinstance(owner.receiver, Instance):
        register(m, owner.receiver, configured(m, function))
    return function


def methods_of(m: Machine, cls: Class) -> list[str]:
    """The public methods of a class of the program."""
    found: dict[str, None] = {}
    for entry in cls.mro:
        if isinstance(entry, Class):
            found.update(dict.fromkeys(name for name in m.fields(entry.frame) if not name.startswith("_")))
    return [name for name in found if isinstance(class_attribute(m, cls, name), Function)]
