"""Context managers: what begins with a `with`, and what ends with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from mplint.interpreter.calls import Arguments, call_function
from mplint.interpreter.classes import class_attribute
from mplint.interpreter.conditions import truth
from mplint.interpreter.keras import stateless, strategies, tapes
from mplint.interpreter.values import (
    NONE,
    UNKNOWN,
    Api,
    ApiMethod,
    Bound,
    Class,
    Function,
    Instance,
    Partial,
    Place,
    Symbol,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

STACKS: Final = (Api("contextlib.ExitStack"), Api("contextlib.AsyncExitStack"))
NO_ERROR: Final = (NONE, NONE, NONE)
"""What `__exit__` is told where nothing was raised."""


def may_swallow(m: Machine, manager: Value) -> bool:
    """Whether a context manager sees an exception that is raised inside, and may end it."""
    match manager:
        case Instance(cls=Class() as cls):
            return class_attribute(m, cls, "__exit__") is not None
        case Unknown(symbol=Symbol(parts=("call", Api(path="contextlib.suppress"), *_))):
            return True
        case _:
            return _is_stack(manager)


def _is_stack(manager: Value) -> bool:
    return isinstance(manager, Instance) and manager.cls in STACKS


def enter(m: Machine, manager: Value, place: Place) -> Value:
    """What begins with a context manager that is an object; the value behind `as`."""
    if isinstance(manager, Instance) and isinstance(manager.cls, Class):
        own = class_attribute(m, manager.cls, "__enter__")
        return UNKNOWN if own is None else m.call(Bound(manager, own), Arguments(), place)
    if strategies.is_scope(manager):
        strategies.enter(m, manager)
        return UNKNOWN
    if tapes.is_tape(manager):
        tapes.enter(m, manager)
    elif stateless.may_be_scope(m, manager):
        stateless.enter(m, manager)
    return manager


def leave(m: Machine, manager: Value, error: tuple[Value, ...], place: Place) -> bool | None:
    """What ends with a context manager that is an object; whether that ends the error, None when not known."""
    if isinstance(manager, Instance) and isinstance(manager.cls, Class):
        own = class_attribute(m, manager.cls, "__exit__")
        return False if own is None else truth(m, m.call(Bound(manager, own), Arguments(error), place))
    if _is_stack(manager):
        m.call(Bound(manager, ApiMethod("__exit__")), Arguments(error), place)
    elif strategies.is_scope(manager):
        strategies.leave(m)
    elif tapes.is_tape(manager):
        tapes.leave(m, manager)
    elif stateless.may_be_scope(m, manager):
        stateless.leave(m, manager)
    return None


def within(m: Machine, manager: Value, inside: Callable[[Value], bool], place: Place) -> None:
    """Run `inside` (the body of a `with`) in the context that `manager` sets up."""
    if not isinstance(manager, Partial) or not isinstance(manager.callee, Function):
        fell = inside(enter(m, manager, place))
        if fell or strategies.is_scope(manager) or stateless.may_be_scope(m, manager):
            leave(m, manager, NO_ERROR, place)
        return
    # a generator function under @contextmanager: its body runs up to the yield, then ours, then the rest
    ran = False

    def resume(value: Value) -> bool:
        nonlocal ran
        ran = True
        return inside(value)

    call_function(m, manager.callee, Arguments(manager.args, manager.keywords), place, on_yield=resume)
    if not ran:
        inside(UNKNOWN)
