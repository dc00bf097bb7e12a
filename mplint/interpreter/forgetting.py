"""What a call may have changed that is not entered: nothing of that is known behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from mplint.interpreter.values import (
    UNKNOWN,
    Bound,
    Class,
    ClassMethod,
    Const,
    Dict,
    Entries,
    Function,
    Instance,
    List,
    StaticMethod,
    Tuple,
    Value,
    options,
)

if TYPE_CHECKING:
    from mplint.interpreter.calls import Arguments
    from mplint.interpreter.code import FunctionCode
    from mplint.interpreter.frames import Frame
    from mplint.interpreter.machine import Machine


def forget(m: Machine, function: Function, arguments: Arguments) -> None:
    """Drop what is known of all that a function, and those that it calls, may write."""
    _forget(m, function, arguments.args, set())


def _forget(m: Machine, function: Function, args: tuple[Value, ...], seen: set[FunctionCode]) -> None:
    code = function.code
    if code in seen:
        return
    seen.add(code)
    for name in code.foreign:
        home = _home(m, function.frame, name)
        if home is not None:
            m.bind(home, name, UNKNOWN)
    positional = [parameter.name for parameter in code.parameters if parameter.kind.startswith("positional")]
    given = dict(zip(positional, args, strict=False))
    for path in code.touched:
        name, _, attribute = path.partition(".")
        value = given.get(name)
        if value is None and name not in code.locals:
            home = _home(m, function.frame, name)
            value = m.variable(home, name) if home is not None else None
        for option in options(value) if value is not None else ():
            _loosen(m, option, attribute)
    for called in _called(m, function, code, given):
        _forget(m, called, (), seen)


def _home(m: Machine, frame: Frame, name: str) -> Frame | None:
    here: Frame | None = frame
    while here is not None:
        if here.kind != "class" and (here.names is None or name in here.names) and m.variable(here, name) is not None:
            return here
        here = here.parent
    return None


def _called(m: Machine, function: Function, code: FunctionCode, given: dict[str, Value]) -> Iterator[Function]:
    for name in code.calls:
        home = _home(m, function.frame, name)
        value = m.variable(home, name) if home is not None else None
        if isinstance(value, Function):
            yield value
    for receiver in given.values():
        if isinstance(receiver, Instance) and isinstance(receiver.cls, Class):
            for name in code.calls:
                method = _method(m, receiver.cls, name)
                if method is not None:
                    yield method


def _method(m: Machine, cls: Class, name: str) -> Function | None:
    for entry in cls.mro:
        found = m.variable(entry.frame, name) if isinstance(entry, Class) else None
        inner = found.function if isinstance(found, (StaticMethod, ClassMethod)) else found
        if isinstance(inner, Function):
            return inner
    return None


def _loosen(m: Machine, value: Value, attribute: str = "") -> None:
    """Anything may have been done to an object, or to one attribute of it."""
    match value:
        case List():
            m.put_items(value.address, Tuple((), UNKNOWN))
        case Dict():
            m.put_entries(value.address, Entries((), UNKNOWN))
        case Instance(address=address) if attribute:
            held = m.field(address, attribute)
            if held is not None:
                _loosen_held(m, held, lambda: m.put(address, attribute, UNKNOWN))
        case Class(frame=frame) if attribute:
            held = m.variable(frame, attribute)
            if held is not None:
                _loosen_held(m, held, lambda: m.bind(frame, attribute, UNKNOWN))
        case Bound(receiver=receiver):
            _loosen(m, receiver, attribute)
        case _:
            pass


def _loosen_held(m: Machine, held: Value, lose: Callable[[], None]) -> None:
    for option in options(held):
        if isinstance(option, (List, Dict)):
            _loosen(m, option)
        elif isinstance(option, Const):
            lose()
