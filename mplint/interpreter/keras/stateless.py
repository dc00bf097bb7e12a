"""Functions of JAX, which change no variables: what the optimizer's variables hold while one is run, and compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mplint.interpreter import standard
from mplint.interpreter.calls import Arguments
from mplint.interpreter.keras.tapes import OF_FUNCTION
from mplint.interpreter.state import GLOBAL, Cell
from mplint.interpreter.values import Api, Bound, Function, Instance, Partial, Place, Tuple, Unknown, Value

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

SCOPE: Final = Api("keras.StatelessScope")
"""In which variables have the values that it is given for them."""
_SCOPES: Final[Cell] = (GLOBAL, "@stateless scopes")
_COMPILED: Final[Cell] = (GLOBAL, "@compiled by jax")


def make(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`keras.StatelessScope(…)`."""
    return Instance(m.allocate(place, "scope"), SCOPE)


def may_be_scope(m: Machine, manager: Value) -> bool:
    """Whether a context manager gives variables other values, or is not known where that counts."""
    if isinstance(manager, Unknown):
        return bool(_held(m, _COMPILED))
    return isinstance(manager, Instance) and manager.cls == SCOPE


def enter(m: Machine, manager: Value) -> None:
    """What begins with such a context manager."""
    m.state.set(_SCOPES, Tuple((*_held(m, _SCOPES), manager)))


def leave(m: Machine, manager: Value) -> None:
    """What ends with it."""
    m.state.set(_SCOPES, Tuple(tuple(other for other in _held(m, _SCOPES) if other != manager)))


def compiled(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`jax.jit(function)`."""
    result = standard.pass_on(m, arguments, place)
    function = result
    if isinstance(function, Partial) and function.callee == Api(OF_FUNCTION):
        function = function.args[1]
    while isinstance(function, (Bound, Partial)):
        function = function.callee
    if isinstance(function, Function) and function not in _held(m, _COMPILED):
        m.state.set(_COMPILED, Tuple((*_held(m, _COMPILED), function)))
    return result


def reads_what_was(m: Machine) -> bool:
    """Whether a variable of Keras that is read now gives for ever what it held when the function was compiled."""
    if _held(m, _SCOPES):
        return False
    codes = [function.code for function in _held(m, _COMPILED) if isinstance(function, Function)]
    return any(activation.frame.code is code for activation in m.stack for code in codes)


def _held(m: Machine, cell: Cell) -> tuple[Value, ...]:
    held = m.state.get(cell)
    return held.items if isinstance(held, Tuple) else ()
