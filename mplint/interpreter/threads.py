"""Threads of the standard library: what they run, and under which dtype policy.

Keras 3 has a policy for each thread: one that is set in a thread holds nowhere else, and a thread begins without any.
Keras 2 has one for the whole process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from mplint.interpreter import containers, sequences
from mplint.interpreter.calls import Arguments, unseen
from mplint.interpreter.classes import class_attribute, library_bases
from mplint.interpreter.keras import policies
from mplint.interpreter.values import (
    NEVER,
    NONE,
    UNKNOWN,
    Api,
    Bound,
    Class,
    Instance,
    Place,
    Tuple,
    Value,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

_THREAD: Final = Api("threading.Thread")
_TIMER: Final = Api("threading.Timer")
_EXECUTOR: Final = Api("concurrent.futures.ThreadPoolExecutor")
_FUTURE: Final = Api("concurrent.futures.Future")
_POOL: Final = Api("multiprocessing.pool.ThreadPool")
_LOOP: Final = Api("asyncio.AbstractEventLoop")
_WORK: Final = ("target", "args", "kwargs")
"""The fields of a thread that say what it runs."""
_RESULT: Final = "@result"
"""The field of a future that holds what its function gives."""


def _run(m: Machine, function: Value, arguments: Arguments, place: Place) -> Value:
    """What a function gives that another thread runs; what that does with its arguments, others see or not."""
    for value in arguments.values():
        m.escape(value)
    result = policies.in_thread(m, lambda: m.call(function, arguments, place))
    return UNKNOWN if result is NEVER else result  # that ends the thread alone


# -- threads


def _thread(cls: Api, **passed: int) -> Callable[[Machine, Arguments, Place], Value]:
    """`threading.Thread(target=…, args=(…))`, by the names and the positions of what says what it runs."""

    def made(m: Machine, arguments: Arguments, place: Place) -> Value:
        thread = Instance(m.allocate(place, "thread"), cls)
        for field, (name, position) in zip(_WORK, passed.items(), strict=True):
            m.put(thread.address, field, arguments.get(name, position) or NONE)
        return thread

    return made


def _thread_method(m: Machine, receiver: Instance, name: str, arguments: Arguments, place: Place) -> Value:
    if name not in ("start", "run"):
        return UNKNOWN
    target, positional, named = (m.field(receiver.address, field) or NONE for field in _WORK)
    passed = containers.passed(m, positional, named, place)
    if name == "start":
        _run(m, target, passed, place)
    else:
        m.call(target, passed, place)
    return NONE


def start(m: Machine, receiver: Instance, place: Place) -> Value | None:
    """`thread.start()` of a class of the program that derives from `Thread`; None for any other class."""
    if not isinstance(receiver.cls, Class) or _THREAD.path not in library_bases(receiver.cls):
        return None
    own = class_attribute(m, receiver.cls, "run")
    if own is not None:
        _run(m, Bound(receiver, own), Arguments(), place)
    return NONE


# -- pools of threads


def _make(cls: Api) -> Callable[[Machine, Arguments, Place], Value]:
    def made(m: Machine, arguments: Arguments, place: Place) -> Value:
        return Instance(m.allocate(place, "threads"), cls)

    return made


def _pool_method(m: Machine, receiver: Instance, name: str, arguments: Arguments, place: Place) -> Value:
    """A method of an executor or of a pool."""
    if not arguments.args:
        return UNKNOWN
    function, *rest = arguments.args
    match name:
        case "submit":
            return _future(m, _run(m, function, arguments.without_first(), place), place)
        case "apply" | "apply_async":
            passed = containers.passed(m, arguments.get("args", 1), arguments.get("kwds", 2), place)
            result = _run(m, function, passed, place)
            return result if name == "apply" else _future(m, result, place)
        case "map" | "imap" | "imap_unordered" | "map_async":
            rows = Arguments((function, *(rest if receiver.cls == _EXECUTOR else rest[:1])))
            found = policies.in_thread(m, lambda: _each(m, rows, place))
            return _future(m, found, place) if name == "map_async" else found
        case _:
            return unseen(m, UNKNOWN, arguments)


def _each(m: Machine, arguments: Arguments, place: Place) -> Value:
    return m.call(Api("builtins.list"), Arguments((m.call(Api("builtins.map"), arguments, place),)), place)


def _future(m: Machine, result: Value, place: Place) -> Instance:
    made = Instance(m.allocate(place, "future"), _FUTURE)
    m.put(made.address, _RESULT, result)
    return made


def _future_method(m: Machine, receiver: Instance, name: str, arguments: Arguments, place: Place) -> Value:
    if name in ("result", "get"):
        return m.field(receiver.address, _RESULT) or UNKNOWN
    return unseen(m, UNKNOWN, arguments)


def _as_completed(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`concurrent.futures.as_completed(futures)`."""
    given = arguments.get("fs", 0)
    items = Tuple((), UNKNOWN) if given is None else sequences.iterate(m, given, place)
    return m.new_list(place, sequences.in_any_order(items))


# -- asyncio


def _to_thread(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`asyncio.to_thread(function, *args)`."""
    return _run(m, arguments.args[0], arguments.without_first(), place) if arguments.args else UNKNOWN


def _loop_method(m: Machine, receiver: Instance, name: str, arguments: Arguments, place: Place) -> Value:
    match name, arguments.args:
        case "run_in_executor", (_, function, *rest):
            return _run(m, function, Arguments(tuple(rest), (), arguments.rest), place)
        case "run_until_complete", (given,):  # what an `async def` does has been done
            return given
        case _:
            return unseen(m, UNKNOWN, arguments)


HANDLERS: Final[dict[str, Callable[[Machine, Arguments, Place], Value]]] = {
    _THREAD.path: _thread(_THREAD, target=1, args=3, kwargs=4),
    _TIMER.path: _thread(_TIMER, function=1, args=2, kwargs=3),
    _EXECUTOR.path: _make(_EXECUTOR),
    "concurrent.futures.thread.ThreadPoolExecutor": _make(_EXECUTOR),
    _POOL.path: _make(_POOL),
    "multiprocessing.dummy.Pool": _make(_POOL),
    "concurrent.futures.as_completed": _as_completed,
    "asyncio.to_thread": _to_thread,
    **dict.fromkeys(("asyncio.get_event_loop", "asyncio.get_running_loop", "asyncio.new_event_loop"), _make(_LOOP)),
}
METHODS: Final[dict[Api, Callable[[Machine, Instance, str, Arguments, Place], Value]]] = {
    _THREAD: _thread_method,
    _TIMER: _thread_method,
    _EXECUTOR: _pool_method,
    _POOL: _pool_method,
    _FUTURE: _future_method,
    _LOOP: _loop_method,
}
