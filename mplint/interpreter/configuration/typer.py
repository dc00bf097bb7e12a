"""Objects that collect commands: of `typer`, where the parameters of a function are options, and `click.Group`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from mplint.interpreter.calls import Arguments
from mplint.interpreter.configuration import commands
from mplint.interpreter.values import UNKNOWN, Api, Function, Instance, Partial, Place, Value

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

APPLICATION: Final = Api("typer.Typer")
_CALLBACK: Final = "@callback"


def _application(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`typer.Typer(…)`, `click.Group(…)`."""
    made = Instance(m.allocate(place, "application"), APPLICATION)
    callback = arguments.get("callback")
    if isinstance(callback, Function):
        m.state.set((made.address, _CALLBACK), callback)
    return made


def method(m: Machine, receiver: Instance, name: str, arguments: Arguments, place: Place) -> Value:
    """A method of an application."""
    match name:
        case "callback":
            return Partial(_SET_CALLBACK, (receiver,))
        case "__call__":
            return _run_application(m, receiver, place)
        case _:
            return commands.method(m, receiver, name, arguments, place)


_SET_CALLBACK: Final = Api("mplint.typer.callback")


def _set_callback(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`@app.callback()`: a function that runs before each command."""
    application, function = arguments.args
    if isinstance(application, Instance) and isinstance(function, Function):
        m.state.set((application.address, _CALLBACK), commands.configured(m, function))
    return function


def _run_application(m: Machine, application: Instance, place: Place) -> Value:
    """`app()`."""
    callback = m.state.get((application.address, _CALLBACK))
    if isinstance(callback, Function):
        m.call(callback, Arguments(), place)
    return commands.run(m, application, place)


def _run(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`typer.run(function)`, and what others call the same."""
    first = arguments.args[0] if arguments.args else arguments.get("function")
    if not isinstance(first, Function):
        return UNKNOWN
    return m.call(commands.configured(m, first), Arguments(), place)


def _tell(callee: Api, m: Machine, arguments: Arguments, place: Place) -> Value:
    """`typer.Option(…)` and `typer.Argument(…)` tell the default of a parameter, and more about it."""
    return Partial(callee, arguments.args, arguments.keywords)


HANDLERS: Final[dict[str, Callable[[Machine, Arguments, Place], Value]]] = {
    **dict.fromkeys(("typer.Typer", "click.Group", "click.CommandCollection"), _application),
    **dict.fromkeys(("typer.run", "plac.call", "defopt.run"), _run),
    **{callee.path: partial(_tell, callee) for callee in commands.TELLING},
    _SET_CALLBACK.path: _set_callback,
    commands.REGISTER.path: commands.registering,
}
