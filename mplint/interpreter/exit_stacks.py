"""`contextlib.ExitStack`: context managers that are entered one by one, and left together."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from mplint.interpreter import managers
from mplint.interpreter.calls import Arguments, call_function, unseen
from mplint.interpreter.state import POLICY, State
from mplint.interpreter.values import (
    NONE,
    UNKNOWN,
    Api,
    Class,
    Function,
    Instance,
    Partial,
    Place,
    Policy,
    Tuple,
    Undecided,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

_HELD: Final = "@held"
"""The field of a stack that holds what is to be done when it is left: managers, calls, and policies to put back."""

_BEFORE: Final = "@before"
"""The field of a stack that holds the policy under which it was made."""


def _make(cls: Api) -> Callable[[Machine, Arguments, Place], Value]:
    return lambda m, arguments, place: _stack(m, cls, Tuple(()), m.state.get(POLICY), place)


def _stack(m: Machine, cls: Class | Api, held: Tuple, before: object, place: Place) -> Instance:
    stack = Instance(m.allocate(place, "stack"), cls)
    m.state.set((stack.address, _HELD), held)
    m.state.set((stack.address, _BEFORE), before or UNKNOWN)
    return stack


def _method(m: Machine, receiver: Instance, name: str, arguments: Arguments, place: Place) -> Value:
    match name, arguments.args:
        case "enter_context" | "enter_async_context", (manager, *_):
            return _enter(m, receiver, manager, place)
        case "callback" | "push_async_callback", (function, *_):
            rest = arguments.without_first()
            _hold(m, receiver, Partial(function, rest.args, rest.keywords))
            return function
        case "push" | "push_async_exit", (manager, *_):
            _hold(m, receiver, manager)
            return manager
        case "close" | "aclose", _:
            _leave(m, receiver, managers.NO_ERROR, place)
            return NONE
        case "__exit__" | "__aexit__", _:
            _leave(m, receiver, arguments.args, place)
            return UNKNOWN  # whether that ends an error
        case "__enter__" | "__aenter__", _:
            return receiver
        case "pop_all", _:
            made = _stack(m, receiver.cls, _held(m, receiver), m.state.get((receiver.address, _BEFORE)), place)
            m.state.set((receiver.address, _HELD), Tuple(()))
            return made
        case _:
            return unseen(m, UNKNOWN, arguments)


def _held(m: Machine, stack: Instance) -> Tuple:
    found = m.state.get((stack.address, _HELD))
    return found if isinstance(found, Tuple) else Tuple(())


def _hold(m: Machine, stack: Instance, value: Value) -> None:
    held = _held(m, stack)
    m.state.set((stack.address, _HELD), Tuple((*held.items, value), held.rest))


def _enter(m: Machine, stack: Instance, manager: Value, place: Place) -> Value:
    """Enter a context manager; it is left with the stack."""
    if isinstance(manager, Partial) and isinstance(manager.callee, Function):
        return _begin(m, stack, manager.callee, Arguments(manager.args, manager.keywords), place)
    value = managers.enter(m, manager, place)
    if isinstance(manager, Instance):
        _hold(m, stack, manager)
    return value


def _begin(m: Machine, stack: Instance, function: Function, arguments: Arguments, place: Place) -> Value:
    """Run a generator under `contextmanager` up to its yield; of what stands behind it only the policy is kept."""
    base = m.state
    seen: list[tuple[Value, State, int]] = []
    end = base

    def resume(value: Value) -> bool:
        seen.append((value, State(base, dict(m.state.above(base))), len(m.trace.events)))
        return True

    def whole() -> None:
        nonlocal end
        call_function(m, function, arguments, place, on_yield=resume)
        end = m.state

    m.aside(whole)
    if not seen:
        m.state = end.settled(base)
        return UNKNOWN
    value, there, events = seen[0]
    del m.trace.events[events:]
    before, after = there.get(POLICY), end.get(POLICY)
    m.state = there.settled(base)
    if isinstance(after, (Policy, Undecided)) and after != before:
        _hold(m, stack, after)
    return value


def _leave(m: Machine, stack: Instance, error: tuple[Value, ...], place: Place) -> None:
    """Leave what was entered, the last first."""
    held = _held(m, stack)
    m.state.set((stack.address, _HELD), Tuple(()))
    for value in reversed(held.items):
        called = value.callee if isinstance(value, Partial) else value
        if isinstance(called, Unknown) and m.state.get(POLICY) != m.state.get((stack.address, _BEFORE)):
            m.set_policy(Policy(None, m.policy.set_by))  # that may put the policy back
        match value:
            case Policy():
                m.set_policy(value)
            case Undecided():
                m.state.set(POLICY, value)
            case Partial():
                m.call(value, Arguments(), place)
            case Instance():
                managers.leave(m, value, error, place)
            case _:
                m.call(value, Arguments(error), place)


HANDLERS: Final[dict[str, Callable[[Machine, Arguments, Place], Value]]] = {
    cls.path: _make(cls) for cls in managers.STACKS
}
METHODS: Final[dict[Api, Callable[[Machine, Instance, str, Arguments, Place], Value]]] = dict.fromkeys(
    managers.STACKS, _method
)
