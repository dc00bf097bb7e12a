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
    Address,
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
TELLING: Final = frozenset({Api("typer.Option"), Api("typer.Argument")})
"""What stands as the default of a parameter and tells more about it, kept as a partial."""
REGISTER: Final = Api("mplint.commands.register")
"""The decorator that makes a function a command of a group."""


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
    if not isinstance(value, Partial) or value.callee not in TELLING:
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


def _register(m: Machine, group: Function | Instance, command: Value) -> None:
    """Add a command to a group."""
    held = m.state.get(_cell(group))
    items = held.items if isinstance(held, Tuple) else ()
    m.state.set(_cell(group), Tuple((*items, command)))


def _cell(group: Function | Instance) -> tuple[FunctionCode | Address, str]:
    return (group.code if isinstance(group, Function) else group.address, _COMMANDS)


def run(m: Machine, group: Function | Instance, place: Place) -> Value:
    """Run one of the commands of a group, whichever."""
    held = m.state.get(_cell(group))
    if not isinstance(held, Tuple) or not held.items:
        return NONE

    def command(function: Value) -> Value:
        takes = isinstance(function, Function) and m.state.get((function.code, _OBJECT)) is not None
        return m.call(function, Arguments((_held_object(m),) if takes else ()), place)

    return each(m, held.items, command)


def _held_object(m: Machine) -> Value:
    """The object that the context carries."""
    held = m.patched(CONTEXT, "obj")
    return UNKNOWN if held is None or isinstance(held, Maybe) else held


def takes_object(m: Machine, function: Function) -> None:
    """Note that a command is given the object of its group first."""
    m.state.set((function.code, _OBJECT), NONE)


def method(m: Machine, receiver: Function | Instance, name: str, arguments: Arguments, place: Place) -> Value:
    """A method of a group: of a function that is one, or of an object."""
    if isinstance(receiver, Function) and receiver.code not in m.program.groups:
        return UNKNOWN
    first = arguments.args[0] if arguments.args else arguments.get("cmd")
    match name:
        case "command" | "group":
            decorator = Partial(REGISTER, (Bound(receiver, NONE), Const(name)))
            return m.call(decorator, Arguments((first,)), place) if isinstance(first, Function) else decorator
        case "add_command" | "add_typer" if first is not None:
            _register(m, receiver, first)
            return NONE
        case "main":
            return m.call(receiver, Arguments(), place)
        case _:
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
        _register(m, owner.receiver, function)
    elif isinstance(owner.receiver, Instance):
        _register(m, owner.receiver, configured(m, function))
    return function


def methods_of(m: Machine, cls: Class) -> list[str]:
    """The public methods of a class of the program."""
    found: dict[str, None] = {}
    for entry in cls.mro:
        if isinstance(entry, Class):
            found.update(dict.fromkeys(name for name in m.fields(entry.frame) if not name.startswith("_")))
    return [name for name in found if isinstance(class_attribute(m, cls, name), Function)]
