"""Command line options: what a parser is told about an option says which values it may have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mplint.interpreter import namespaces, sequences
from mplint.interpreter.calls import Arguments
from mplint.interpreter.trace import Escaped
from mplint.interpreter.values import (
    FALSE,
    NEVER,
    NONE,
    TRUE,
    UNKNOWN,
    Api,
    Const,
    Entries,
    Fields,
    Instance,
    List,
    Place,
    Symbol,
    Tuple,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

PARSER: Final = Api("argparse.ArgumentParser")
_NAMESPACE: Final = Api("argparse.Namespace")
_OPTIONS: Final = "{}"
_DEFAULTS: Final = "@defaults"
_OPEN: Final = "@open"
"""The field of a parser that may know options which nobody saw."""


def parser(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`argparse.ArgumentParser(…)`."""
    made = Instance(m.allocate(place, "parser"), PARSER)
    m.put_entries(made.address, Entries())
    m.state.set((made.address, _DEFAULTS), Entries())
    if arguments.get("parents") is not None or not arguments.sure:
        m.state.set((made.address, _OPEN), TRUE)
    return made


def method(m: Machine, receiver: Instance, name: str, arguments: Arguments, place: Place) -> Value:
    """A method of a parser (groups and subparsers add to it as well)."""
    match name:
        case "add_argument":
            _add(m, receiver, arguments, place)
            return UNKNOWN
        case "add_argument_group" | "add_mutually_exclusive_group":
            return receiver
        case "add_subparsers" | "add_parser":
            m.state.set((receiver.address, _OPEN), TRUE)
            return receiver
        case "set_defaults":
            _set_defaults(m, receiver, arguments)
            return NONE
        case "parse_args" | "parse_known_args":
            namespace = _parsed(m, receiver, arguments, place)
            return namespace if name == "parse_args" else Tuple((namespace, UNKNOWN))
        case "error" | "exit":
            return NEVER
        case _:
            return UNKNOWN


def _parsed(m: Machine, receiver: Instance, arguments: Arguments, place: Place) -> Value:
    namespace = Instance(m.allocate(place, "options"), _NAMESPACE)
    line = arguments.get("args", 0)
    words = sequences.iterate(m, line, place) if isinstance(line, (List, Tuple)) else Tuple((), UNKNOWN)
    if words.items or words.rest is not None or line == NONE or arguments.get("namespace", 1) is not None:
        held = _held(m, receiver, _OPTIONS)
    else:  # no words at all: each option is what it is by default
        held = _held(m, receiver, _DEFAULTS)
    for key, value in held.pairs:
        if isinstance(key, Const):
            m.put(namespace.address, str(key.value), value)
    escaped = any(isinstance(e, Escaped) and e.address is receiver.address for e in m.trace.events)
    if escaped or m.state.get((receiver.address, _OPEN)) is not None or held.rest is not None:
        namespaces.note_loose(m, Fields(namespace))
    return namespace


def _held(m: Machine, receiver: Instance, name: str) -> Entries:
    found = m.state.get((receiver.address, name))
    return found if isinstance(found, Entries) else Entries()


def _put(m: Machine, receiver: Instance, name: str, dest: str, value: Value) -> None:
    more = Entries(((Const(dest), value),))
    m.state.set((receiver.address, name), sequences.updated(_held(m, receiver, name), more))


def _add(m: Machine, receiver: Instance, arguments: Arguments, place: Place) -> None:
    names = [value.value for value in arguments.args if isinstance(value, Const) and isinstance(value.value, str)]
    given, action = arguments.get("dest"), arguments.get("action")
    if isinstance(given, Const) and isinstance(given.value, str):
        dest = given.value
    elif names:
        longest = next((name for name in names if name.startswith("--")), names[0])
        dest = longest.lstrip("-").replace("-", "_")
    else:
        m.state.set((receiver.address, _OPEN), TRUE)
        return
    if action in (Const("help"), Const("version")):
        return
    candidates: list[Value] = []
    choices = arguments.get("choices")
    if isinstance(choices, (List, Tuple)):
        candidates += sequences.iterate(m, choices, place).items
    earlier = sequences.lookup(_held(m, receiver, _DEFAULTS), Const(dest))  # by `set_defaults`
    default = arguments.get("default")
    if default is None:
        default = FALSE if action == Const("store_true") else TRUE if action == Const("store_false") else NONE
        default = default if earlier is None else earlier
    _put(m, receiver, _DEFAULTS, dest, _converted(m, default, arguments, place) if arguments.sure else UNKNOWN)
    if arguments.get("default") is not None and default != NONE and default not in candidates:
        candidates.append(default)
    strings = tuple(value for value in candidates if isinstance(value, Const) and isinstance(value.value, str))
    _put(m, receiver, _OPTIONS, dest, Unknown(Symbol("option", place, dest), strings))


def _converted(m: Machine, default: Value, arguments: Arguments, place: Place) -> Value:
    """A default as it is found: a text is read as one of the command line is, by `type`."""
    kind = arguments.get("type")
    if isinstance(default, Const) and not isinstance(default.value, str):
        return default
    return default if kind is None or kind == NONE else m.call(kind, Arguments((default,)), place)


def _set_defaults(m: Machine, receiver: Instance, arguments: Arguments) -> None:
    """`set_defaults(dest=value)`: of options that there are, and of names that are no options."""
    for name, value in arguments.keywords:
        there = sequences.lookup(_held(m, receiver, _OPTIONS), Const(name))
        _put(m, receiver, _DEFAULTS, name, value if there is None else UNKNOWN)
        if isinstance(there, Unknown):
            fresh = () if value in there.candidates or not isinstance(value, Const) else (value,)
            _put(m, receiver, _OPTIONS, name, Unknown(there.symbol, there.candidates + fresh))
        else:
            _put(m, receiver, _OPTIONS, name, value)
    if not arguments.sure:
        m.state.set((receiver.address, _OPEN), TRUE)
        m.put_entries(receiver.address, Entries((), UNKNOWN))
        m.state.set((receiver.address, _DEFAULTS), Entries((), UNKNOWN))
