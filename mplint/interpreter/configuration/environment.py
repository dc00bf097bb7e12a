"""`os.environ`: known where the program sets it itself, else whatever the shell has."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from mplint.interpreter import candidates, containers
from mplint.interpreter.calls import Arguments
from mplint.interpreter.keras.usage import note_environment
from mplint.interpreter.values import ABSENT, NONE, UNKNOWN, Api, Const, Maybe, Place, Unknown, Value, choice, derived

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

ENVIRON: Final = Api("os.environ")
_ANY: Final = (ENVIRON.path, "@any")
"""Something was set under a name that is not known."""


def write(m: Machine, key: Value, value: Value, place: Place) -> None:
    """`os.environ[key] = value`."""
    note_environment(m, key, value, place)
    _put(m, key, value)


def _put(m: Machine, key: Value, value: Value) -> None:
    if isinstance(key, Const) and isinstance(key.value, str):
        m.state.set((ENVIRON.path, key.value), value)
    else:
        m.state.set(_ANY, NONE)


def delete(m: Machine, key: Value) -> None:
    """`del os.environ[key]`."""
    _put(m, key, ABSENT)


def _held(m: Machine, key: Value) -> Value | None:
    """What the program has set; `Maybe` where it may have, None where it has not."""
    if m.state.get(_ANY) is not None:
        return UNKNOWN
    found = m.state.get((ENVIRON.path, key.value)) if isinstance(key, Const) and isinstance(key.value, str) else None
    return found if isinstance(found, Value) else None


def holds(m: Machine, key: Value) -> bool | None:
    """`key in os.environ`; None when not known."""
    found = _held(m, key)
    if found is None or found == UNKNOWN:
        return None
    return (False if found is ABSENT else None) if isinstance(found, Maybe) else True


def get(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`os.environ.get(key, default)` and `os.getenv`."""
    key = arguments.get("key", 0) or UNKNOWN
    default = arguments.get("default", 1) or NONE
    found = _held(m, key)
    if found is ABSENT:
        return default
    if isinstance(found, Maybe):
        return UNKNOWN
    if found is not None:
        return found
    given = derived("call", Api("os.environ.get"), *arguments.args[:1])
    if given.symbol is None or not isinstance(default, Const) or default == NONE:
        return given
    return candidates.likely(given.symbol, [default])


def item(m: Machine, key: Value) -> Value:
    """`os.environ[key]`."""
    found = _held(m, key)
    if found is None:
        return derived("item", ENVIRON, key)
    return UNKNOWN if isinstance(found, Maybe) else found


def set_default(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`os.environ.setdefault(key, value)`: what the shell has goes first."""
    key, default = arguments.get("key", 0) or UNKNOWN, arguments.get("value", 1) or UNKNOWN
    found = _held(m, key)
    if found is not None and not isinstance(found, Maybe):
        return found
    value = default if found is ABSENT else choice([default, UNKNOWN])
    note_environment(m, key, default, place)
    _put(m, key, value)
    return value


def pop(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`os.environ.pop(key, default)`."""
    value = get(m, arguments, place)
    delete(m, arguments.get("key", 0) or UNKNOWN)
    return value


def update(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`os.environ.update(…)`."""
    for value in arguments.args:
        given = containers.mapping(m, value, place)
        for key, held in given.pairs:
            write(m, key, held, place)
        if given.rest is not None:
            write(m, UNKNOWN, UNKNOWN, place)
    for name, held in arguments.keywords:
        write(m, Const(name), held, place)
    return NONE


_READER: Final = Api("mplint.environment")
"""The object of a library that reads the environment."""


def _reader(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`environs.Env()`."""
    return _READER


def _read(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`env("NAME", default)`, `decouple.config("NAME", default=…, cast=…)`."""
    if arguments.get("cast") == Api("builtins.bool"):
        return _read_bool(m, arguments, place)
    return get(m, arguments, place)


def _read_bool(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`env.bool("NAME", default)`."""
    found = get(m, Arguments(arguments.args[:1]), place)
    return candidates.switch(found.symbol) if isinstance(found, Unknown) and found.symbol is not None else UNKNOWN


HANDLERS: Final[dict[str, Callable[[Machine, Arguments, Place], Value]]] = {
    "os.environ.get": get,
    "os.environ.pop": pop,
    "os.environ.setdefault": set_default,
    "os.environ.update": update,
    "os.getenv": get,
    "decouple.config": _read,
    "environ.Env": _reader,
    "environs.Env": _reader,
    _READER.path: _read,
    **{f"{_READER.path}.{name}": _read for name in ("str", "int", "float", "enum")},
    f"{_READER.path}.bool": _read_bool,
}
