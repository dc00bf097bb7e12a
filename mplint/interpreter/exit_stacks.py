"""`contextlib.ExitStack`: context managers that are entered one by one, and left together."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from mplint.interpreter.calls import Arguments, call_function, unseen
from mplint.interpreter.classes import class_attribute
from mplint.interpreter.keras import strategies
from mplint.interpreter.state import POLICY, State
from mplint.interpreter.values import (
    NONE,
    UNKNOWN,
    Api,
    Bound,
    Class,
    Const,
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

_STACKS: Final = (Api("contextlib.ExitStack"), Api("contextlib.AsyncExitStack"))
_HELD: Final = "@held"
"""The field of a stack that holds what is to be done when it is left: managers, calls, and policies to put back."""

_BEFORE: Final = "@before"
"""The field of a stack that holds the policy under which it was made."""


def _make(cls: Api) -> Callable[[Machine, Arguments, Place], Value]:
    def made(m: Machine, arguments: Arguments, place: Place) -> Value:
        stack = Instance(m.allocate(place, "stack"), cls)
        m.state.set((stack.address, _BEFORE), m.state.get(POLICY) or UNKNOWN)
        return stack

    return made


def is_stack(value: Value) -> bool:
    """Whether `value` is an exit stack."""
    return isinstance(value, Instance) and value.cls in _STACKS


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
        case "close" | "aclose" | "__exit__" | "__aexit__", _:
            leave(m, receiver, place)
            return NONE
        case "__enter__" | "__aenter__", _:
            return receiver
        case "pop_all", _:
            made = Instance(m.allocate(place, "stack"), Api("contextlib.ExitStack"))
            m.state.set((made.address, _HELD), _held(m, receiver))
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
    if isinstance(manager, Instance) and isinstance(manager.cls, Class):
        enter = class_attribute(m, manager.cls, "__enter__")
        _hold(m, stack, manager)
        return UNKNOWN if enter is None else m.call(Bound(manager, enter), Arguments(), place)
    if strategies.is_scope(manager):
        strategies.enter(m, manager)
        _hold(m, stack, manager)
        return UNKNOWN
    return manager


def _begin(m: Machine, stack: Instance, function: Function, arguments: Arguments, place: Place) -> Value:
    """Run a generator under `contextmanager` up to its yield; of what stands behind it only the policy is kept."""
    base, captures, learned = m.state, m.captures, m.learned
    base.pins += 1
    m.state = base.fork()
    seen: list[tuple[Value, State, int]] = []

    def resume(value: Value) -> bool:
        seen.append((value, State(base, dict(m.state.above(base))), len(m.trace.events)))
        return True

    call_function(m, function, arguments, place, on_yield=resume)
    last = m.state.get(POLICY)
    if m.captures == captures:
        base.pins -= 1
    m.learned = learned
    if not seen:
        m.state = m.state.settled(base)
        return UNKNOWN
    value, there, events = seen[0]
    del m.trace.events[events:]
    if isinstance(last, (Policy, Undecided)) and last != there.get(POLICY):
        m.state = there
        _hold(m, stack, last)
    m.state = there.settled(base)
    return value


def leave(m: Machine, stack: Instance, place: Place) -> None:
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
            case Instance(cls=Class() as cls):
                left = class_attribute(m, cls, "__exit__")
                if left is not None:
                    m.call(Bound(value, left), Arguments((NONE, NONE, NONE)), place)
            case _ if strategies.is_scope(value):
                strategies.leave(m)
            case Const():
                pass
            case _:
                m.call(value, Arguments((NONE, NONE, NONE)), place)


HANDLERS: Final[dict[str, Callable[[Machine, Arguments, Place], Value]]] = {cls.path: _make(cls) for cls in _STACKS}
METHODS: Final[dict[Api, Callable[[Machine, Instance, str, Arguments, Place], Value]]] = dict.fromkeys(_STACKS, _method)
