"""Programs behind a command line: what Click, Typer, Fire, Abseil and their like call, with whatever the user types."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

import libcst as cst

from mplint.interpreter import sequences
from mplint.interpreter.calls import Arguments
from mplint.interpreter.classes import class_attribute
from mplint.interpreter.frames import Frame
from mplint.interpreter.values import (
    NONE,
    UNKNOWN,
    Api,
    Bound,
    Choice,
    Class,
    Const,
    Dict,
    Function,
    Instance,
    List,
    Module,
    Partial,
    Place,
    Symbol,
    Tuple,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

_APP: Final = Api("typer.Typer")
_REGISTER: Final = Api("mplint.register_command")
_COMMANDS: Final = "@commands"
"""The field of a group in which its commands are, and the one in which what runs before each of them is."""
_CALLBACK: Final = "@callback"
_MAX_COMMANDS: Final = 24
"""Commands of one program that are run."""
_OPTIONS: Final = frozenset({"typer.Option", "typer.Argument", "typer.params.Option", "typer.params.Argument"})


def is_app(receiver: Value) -> bool:
    """Whether a value is an object that collects commands: `typer.Typer()`, `click.Group()`."""
    return isinstance(receiver, Instance) and receiver.cls == _APP


# -- collecting


def app(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`typer.Typer(…)`, `click.Group(…)`."""
    made = Instance(m.allocate(place, "app"), _APP)
    callback = arguments.get("callback")
    if callback is not None:
        m.state.set((made.address, _CALLBACK), callback)
    return made


def method(m: Machine, receiver: Value, name: str, arguments: Arguments, place: Place) -> Value:
    """A method of a group of commands, which a function under `@click.group()` is, too."""
    match name, arguments.args:
        case ("command" | "group" | "callback", (Function() as function,)):  # a decorator without brackets
            return _register(m, receiver, name, function)
        case ("command" | "group" | "callback", _):
            return Partial(_REGISTER, (receiver, Const(name)), ())
        case ("add_command" | "add_typer", (command, *_)):
            _register(m, receiver, "command", command)
            return NONE
        case ("__call__" | "main", _):
            return run_app(m, receiver, place)
        case _:
            return UNKNOWN


def register(m: Machine, arguments: Arguments, place: Place) -> Value:
    """What `group.command(…)` gives, called on the function that it decorates."""
    match arguments.args:
        case (receiver, Const(value=str(name)), function):
            return _register(m, receiver, name, function)
        case _:
            return UNKNOWN


def _register(m: Machine, receiver: Value, name: str, command: Value) -> Value:
    owner = receiver.address if isinstance(receiver, Instance) else receiver
    if name == "callback":
        m.state.set((owner, _CALLBACK), command)
        return command
    held = _commands(m, receiver)
    if command not in held:
        m.state.set((owner, _COMMANDS), Tuple((*held, command)))
    if isinstance(receiver, Function):
        m.program.groups.add(receiver.code.node)
    return command


def _commands(m: Machine, receiver: Value) -> tuple[Value, ...]:
    owner = receiver.address if isinstance(receiver, Instance) else receiver
    held = m.state.get((owner, _COMMANDS))
    return held.items if isinstance(held, Tuple) else ()


# -- running


def run_app(m: Machine, receiver: Value, place: Place) -> Value:
    """Calling a group: what runs before its commands, then any of them."""
    if isinstance(receiver, Instance):
        callback = m.state.get((receiver.address, _CALLBACK))
        if isinstance(callback, Value):
            typed(m, callback, place)
    run_commands(m, receiver, place)
    return UNKNOWN


def run_commands(m: Machine, receiver: Value, place: Place) -> None:
    """Run any of the commands of a group."""
    _any(m, _commands(m, receiver), lambda command: _run_command(m, command, place))


def _run_command(m: Machine, command: Value, place: Place) -> None:
    if is_app(command):
        run_app(m, command, place)
    else:
        typed(m, command, place)


def _any(m: Machine, values: Sequence[Value], run: Callable[[Value], object]) -> None:
    """Run any of `values`: each from the state that is there now."""

    def arm(value: Value) -> Callable[[], bool]:
        def go() -> bool:
            run(value)
            return True

        return go

    if values:
        m.alternatives([arm(value) for value in values[:_MAX_COMMANDS]])


def run_main(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`app.run(main)`, `typer.run(main)`: a function that is called with what the user types."""
    main = arguments.args[0] if arguments.args else arguments.get("main") or arguments.get("function")
    if main is None or main == NONE:
        main = m.variable(m.stack[-1].frame.module, "main")
    return UNKNOWN if main is None else typed(m, main, place)


def fire(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`fire.Fire(component)`: a function, an object or class with commands for methods, a dict of them, or a module."""
    component = arguments.get("component", 0)
    _fire(m, Module(m.stack[-1].frame.module) if component is None or component == NONE else component, place)
    return UNKNOWN


def _fire(m: Machine, component: Value, place: Place) -> None:
    match component:
        case Class() as cls:
            _fire(m, typed(m, cls, place), place)
        case Instance(cls=Class() as cls):
            methods = [m.attribute(component, name, place) for name in _public_methods(cls)]
            _any(m, methods, lambda method: typed(m, method, place))
        case Dict():
            held = [value for _, value in m.entries(component).pairs]
            _any(m, held, lambda value: _fire(m, value, place))
        case Tuple() | List():
            items = sequences.iterate(m, component, place).items
            _any(m, items, lambda value: _fire(m, value, place))
        case Module(frame=frame):
            _any(m, list(_defined_in(m, frame)), lambda value: _fire(m, value, place))
        case _:
            typed(m, component, place)


def _public_methods(cls: Class) -> Iterator[str]:
    names: dict[str, None] = {}
    for entry in cls.mro:
        if isinstance(entry, Class):
            for statement in entry.code.body:
                if isinstance(statement, cst.FunctionDef) and not statement.name.value.startswith("_"):
                    names[statement.name.value] = None
    yield from names


def _defined_in(m: Machine, frame: Frame) -> Iterator[Value]:
    """The functions and classes that stand in the file of a module."""
    for name in frame.bound:
        value = m.variable(frame, name)
        if isinstance(value, (Function, Class)) and value.code.source is frame.source and not name.startswith("_"):
            yield value


def typed(m: Machine, callee: Value, place: Place) -> Value:
    """Call a function with arguments that the user types: of those with a default, too, nothing more is known."""
    if isinstance(callee, Choice):
        _any(m, callee.options, lambda option: typed(m, option, place))
        return UNKNOWN
    return m.call(callee, Arguments((), tuple(_typed(m, callee))), place)


def _typed(m: Machine, callee: Value, given: Iterable[str] = ()) -> Iterator[tuple[str, Value]]:
    match callee:
        case Function(code=code, defaults=defaults):
            for name, default in defaults:
                if name not in given:
                    yield name, Unknown(Symbol("typed", code.qualname, name), _likely(default))
        case Bound(callee=inner):
            yield from _typed(m, inner, given)
        case Partial(callee=inner, args=args, keywords=keywords):
            skipped = [p.name for p in inner.code.parameters[: len(args)]] if isinstance(inner, Function) else []
            yield from _typed(m, inner, {*given, *skipped, *(name for name, _ in keywords)})
        case Class():
            made = class_attribute(m, callee, "__init__")
            if made is not None:
                yield from _typed(m, made, given)
        case _:
            pass


def _likely(default: Value) -> tuple[Value, ...]:
    """What an option is likely to be: its default, which Typer is told inside a call."""
    if isinstance(default, Unknown) and default.symbol is not None and default.symbol.parts[0] == "call":
        _, callee, *given = default.symbol.parts
        if isinstance(callee, Api) and callee.path in _OPTIONS:
            return tuple(value for value in given[:1] if isinstance(value, Const) and value.value is not None)
    return (default,) if isinstance(default, Const) and default.value is not None else ()


HANDLERS: Final = {
    "absl.app.run": run_main,
    "click.CommandCollection": app,
    "click.Group": app,
    "fire.Fire": fire,
    "fire.core.Fire": fire,
    "jsonargparse.CLI": fire,
    "jsonargparse.auto_cli": fire,
    "plac.call": run_main,
    "defopt.run": run_main,
    "tensorflow.app.run": run_main,
    "tensorflow.compat.v1.app.run": run_main,
    "tyro.cli": run_main,
    "typer.Typer": app,
    "typer.run": run_main,
    _REGISTER.path: register,
}
