"""Command line options: what a parser is told about an option says which values it may have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mplint.interpreter import sequences
from mplint.interpreter.calls import Arguments
from mplint.interpreter.values import (
    NEVER,
    NONE,
    UNKNOWN,
    Api,
    Const,
    Entries,
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


def parser(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`argparse.ArgumentParser(…)`."""
    made = Instance(m.allocate(place, "parser"), PARSER)
    m.put_entries(made.address, Entries())
    return made


def method(m: Machine, receiver: Instance, name: str, arguments: Arguments, place: Place) -> Value:
    """A method of a parser (groups and subparsers add to it as well)."""
    match name:
        case "add_argument":
            _add(m, receiver, arguments, place)
            return UNKNOWN
        case "add_argument_group" | "add_mutually_exclusive_group" | "add_subparsers" | "add_parser":
            return receiver
        case "parse_args" | "parse_known_args":
            namespace = Instance(m.allocate(place, "options"), _NAMESPACE)
            for key, value in _held(m, receiver).pairs:
                if isinstance(key, Const):
                    m.put(namespace.address, str(key.value), value)
            return namespace if name == "parse_args" else Tuple((namespace, UNKNOWN))
        case "error" | "exit":
            return NEVER
        case _:
            return UNKNOWN


def _held(m: Machine, receiver: Instance) -> Entries:
    found = m.state.get((receiver.address, _OPTIONS))
    return found if isinstance(found, Entries) else Entries()


def _add(m: Machine, receiver: Instance, arguments: Arguments, place: Place) -> None:
    names = [value.value for value in arguments.args if isinstance(value, Const) and isinstance(value.value, str)]
    given = arguments.get("dest")
    if isinstance(given, Const) and isinstance(given.value, str):
        dest = given.value
    elif names:
        longest = next((name for name in names if name.startswith("--")), names[0])
        dest = longest.lstrip("-").replace("-", "_")
    else:
        return
    candidates: list[Value] = []
    choices = arguments.get("choices")
    if isinstance(choices, (List, Tuple)):
        candidates += sequences.iterate(m, choices, place).items
    default = arguments.get("default")
    if default is not None and default != NONE and default not in candidates:
        candidates.append(default)
    strings = tuple(value for value in candidates if isinstance(value, Const) and isinstance(value.value, str))
    option = Unknown(Symbol("option", place, dest), strings)
    more = Entries(((Const(dest), option),))
    m.put_entries(receiver.address, sequences.updated(_held(m, receiver), more))
