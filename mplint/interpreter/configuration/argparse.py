"""`argparse`: what a parser is told about an option says which values it may have."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from mplint.interpreter import candidates, namespaces, sequences
from mplint.interpreter.calls import Arguments
from mplint.interpreter.configuration import choices, dataclasses
from mplint.interpreter.trace import Escaped
from mplint.interpreter.values import (
    FALSE,
    NEVER,
    NONE,
    TRUE,
    UNKNOWN,
    Api,
    Class,
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
    choice,
    derived,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

PARSER: Final = Api("argparse.ArgumentParser")
_NAMESPACE: Final = Api("argparse.Namespace")
_COMMANDS: Final = "@commands"
"""The field of a parser that says into which option its subcommand is put."""
_OF: Final = "@of"
"""The field of a subcommand's parser, or of what makes them: the parser that it belongs to."""
_GROUPS: Final = "@groups"
"""The field of a parser that holds its groups of options that exclude each other."""
_MEMBERS: Final = "@members"
"""The field of such a group: into what each of its options is put, and its action; unknown where that is not known."""
_REQUIRED: Final = "@required"
"""The field of such a group of which one option must be given."""
_MAX_MEMBERS: Final = 6
_OPTIONS: Final = "{}"
_DEFAULTS: Final = "@defaults"
_OPEN: Final = "@open"
"""The field of a parser that may know options which nobody saw."""
_SWITCHES: Final = (Const("store_true"), Const("store_false"))
_SILENT: Final = (Const("help"), Const("version"))


def _parser(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`argparse.ArgumentParser(…)`."""
    made = Instance(m.allocate(place, "parser"), PARSER)
    m.put_entries(made.address, Entries())
    m.state.set((made.address, _DEFAULTS), Entries())
    parents = arguments.get("parents")
    if not arguments.sure:
        m.state.set((made.address, _OPEN), TRUE)
    elif parents is not None:
        _inherit(m, made, sequences.iterate(m, parents, place))
    return made


def _inherit(m: Machine, made: Instance, parents: Tuple) -> None:
    """A parser knows the options of its `parents`."""
    for parent in parents.items:
        if not isinstance(parent, Instance) or parent.cls != PARSER:
            m.state.set((made.address, _OPEN), TRUE)
            continue
        for name in (_OPTIONS, _DEFAULTS):
            m.state.set((made.address, name), sequences.updated(_held(m, made, name), _held(m, parent, name)))
        if m.state.get((parent.address, _OPEN)) is not None:
            m.state.set((made.address, _OPEN), TRUE)
    if parents.rest is not None:
        m.state.set((made.address, _OPEN), TRUE)


def _namespace(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`argparse.Namespace(…)`."""
    return namespaces.of_keywords(m, _NAMESPACE, arguments, place)


def method(m: Machine, receiver: Instance, name: str, arguments: Arguments, place: Place) -> Value:
    """A method of a parser (groups add to it as well), or of a subcommand's."""
    owner = _owner(m, receiver)
    match name:
        case "add_argument":
            _join(m, receiver, _add(m, owner, arguments, place), arguments)
            return UNKNOWN
        case "add_argument_group":
            return receiver
        case "add_mutually_exclusive_group":
            return _group(m, owner, arguments, place)
        case "add_subparsers":
            m.state.set((owner.address, _OPEN), TRUE)
            dest = arguments.get("dest")
            if isinstance(dest, Const) and isinstance(dest.value, str):
                m.state.set((owner.address, _COMMANDS), dest)
                _put(m, owner, _OPTIONS, dest.value, Unknown(Symbol("option", place, dest.value), (), closed=True))
                _put(m, owner, _DEFAULTS, dest.value, NONE)
            return _below(m, owner, place)
        case "add_parser":
            _add_command(m, owner, arguments)
            return _below(m, owner, place)
        case "set_defaults":
            _set_defaults(m, owner, arguments, several=owner != receiver)
            return NONE
        case "parse_args" | "parse_known_args":
            parsed = _parsed(m, owner, arguments, place)
            return parsed if name == "parse_args" else Tuple((parsed, UNKNOWN))
        case "add_arguments":  # of simple_parsing
            _add_dataclass(m, owner, arguments, place)
            return NONE
        case "error" | "exit":
            return NEVER
        case _:
            return UNKNOWN


def _add_dataclass(m: Machine, owner: Instance, arguments: Arguments, place: Place) -> None:
    """`parser.add_arguments(Config, dest="config")`."""
    cls, dest = arguments.get("dataclass", 0), arguments.get("dest", 1)
    if isinstance(cls, Class) and isinstance(dest, Const) and isinstance(dest.value, str):
        _put(m, owner, _OPTIONS, dest.value, dataclasses.parsed(m, cls, place))
        _put(m, owner, _DEFAULTS, dest.value, UNKNOWN)
    else:
        m.state.set((owner.address, _OPEN), TRUE)


def _below(m: Machine, owner: Instance, place: Place) -> Instance:
    made = Instance(m.allocate(place, "subcommands"), PARSER)
    m.state.set((made.address, _OF), owner)
    return made


def _group(m: Machine, owner: Instance, arguments: Arguments, place: Place) -> Instance:
    """A group of options of which at most one is given."""
    made = Instance(m.allocate(place, "group"), PARSER)
    m.state.set((made.address, _OF), owner)
    m.state.set((made.address, _MEMBERS), Tuple(()))
    m.state.set((made.address, _REQUIRED), arguments.get("required") or FALSE)
    m.state.set((owner.address, _GROUPS), Tuple((*_listed(m, owner, _GROUPS), made)))
    return made


def _join(m: Machine, group: Instance, dest: str | None, arguments: Arguments) -> None:
    """Note that an option is one of a group, where it is."""
    if m.state.get((group.address, _MEMBERS)) is None:
        return
    member = UNKNOWN if dest is None else Tuple((Const(dest), arguments.get("action") or NONE))
    m.state.set((group.address, _MEMBERS), Tuple((*_listed(m, group, _MEMBERS), member)))


def _listed(m: Machine, owner: Instance, name: str) -> tuple[Value, ...]:
    found = m.state.get((owner.address, name))
    return found.items if isinstance(found, Tuple) else ()


def _excluding(m: Machine, parser: Instance, group: Instance) -> Iterator[tuple[Symbol, bool]]:
    """What is known of the options of a group when the command line has been read."""
    members = _listed(m, group, _MEMBERS)
    given = [_given(m, parser, member) for member in members[:_MAX_MEMBERS]]
    for (one, _), (other, _) in itertools.combinations(given, 2):
        both = derived("and", one, other)
        if both.symbol is not None:
            yield both.symbol, False
    told = len(members) <= _MAX_MEMBERS and all(is_told for _, is_told in given)
    if given and told and m.state.get((group.address, _REQUIRED)) == TRUE:
        some = functools.reduce(lambda one, other: derived("or", one, other), (value for value, _ in given))
        if some.symbol is not None:
            yield some.symbol, True


def _given(m: Machine, parser: Instance, member: Value) -> tuple[Unknown, bool]:
    """Whether an option is another than by default: then it was given; and whether it is that whenever it is given."""
    if not isinstance(member, Tuple):
        return UNKNOWN, False
    dest, action = member.items
    option = sequences.lookup(_held(m, parser, _OPTIONS), dest)
    default = sequences.lookup(_held(m, parser, _DEFAULTS), dest)
    if not isinstance(option, Unknown) or option.symbol is None or not isinstance(default, Const):
        return UNKNOWN, False
    value = Unknown(option.symbol)
    if action not in _SWITCHES:
        return derived("not", derived("Equal", value, default)), default == NONE
    turns_on = action == Const("store_true")
    if default == Const(turns_on):
        return UNKNOWN, False
    return value if turns_on else derived("not", value), True


def _owner(m: Machine, receiver: Instance) -> Instance:
    """The parser whose options these are: those of all subcommands are its."""
    found = m.state.get((receiver.address, _OF))
    return found if isinstance(found, Instance) else receiver


def _add_command(m: Machine, owner: Instance, arguments: Arguments) -> None:
    dest, name = m.state.get((owner.address, _COMMANDS)), arguments.get("name", 0)
    if not isinstance(dest, Const) or not isinstance(dest.value, str):
        return
    held = sequences.lookup(_held(m, owner, _OPTIONS), dest)
    if isinstance(held, Unknown):
        _put(m, owner, _OPTIONS, dest.value, candidates.widened(held, [name or UNKNOWN], closed=True))


def _parsed(m: Machine, receiver: Instance, arguments: Arguments, place: Place) -> Value:
    made = Instance(m.allocate(place, "options"), _NAMESPACE)
    line = arguments.get("args", 0)
    words = sequences.iterate(m, line, place) if isinstance(line, (List, Tuple)) else Tuple((), UNKNOWN)
    if words.items or words.rest is not None or line == NONE or arguments.get("namespace", 1) is not None:
        held = _held(m, receiver, _OPTIONS)
        for group in _listed(m, receiver, _GROUPS):
            if isinstance(group, Instance):
                m.learned = {**m.learned, **dict(_excluding(m, receiver, group))}
    else:  # no words at all: each option is what it is by default
        held = _held(m, receiver, _DEFAULTS)
    for key, value in held.pairs:
        if isinstance(key, Const):
            m.put(made.address, str(key.value), value)
    m.note_open()
    escaped = any(isinstance(e, Escaped) and e.address is receiver.address for e in m.trace.events)
    if escaped or m.state.get((receiver.address, _OPEN)) is not None or held.rest is not None:
        namespaces.note_loose(m, Fields(made))
    return made


def _held(m: Machine, receiver: Instance, name: str) -> Entries:
    found = m.state.get((receiver.address, name))
    return found if isinstance(found, Entries) else Entries()


def _put(m: Machine, receiver: Instance, name: str, dest: str, value: Value) -> None:
    more = Entries(((Const(dest), value),))
    m.state.set((receiver.address, name), sequences.updated(_held(m, receiver, name), more))


def _add(m: Machine, receiver: Instance, arguments: Arguments, place: Place) -> str | None:
    """`parser.add_argument(…)`: into what the option is put; None where there is none, or that is not known."""
    names = [value.value for value in arguments.args if isinstance(value, Const) and isinstance(value.value, str)]
    given, action = arguments.get("dest"), arguments.get("action")
    if isinstance(given, Const) and isinstance(given.value, str):
        dest = given.value
    elif names:
        longest = next((name for name in names if name.startswith("--")), names[0])
        dest = longest.lstrip("-").replace("-", "_")
    else:
        m.state.set((receiver.address, _OPEN), TRUE)
        return None
    if action in _SILENT:
        return None
    earlier = sequences.lookup(_held(m, receiver, _DEFAULTS), Const(dest))  # by `set_defaults`, or of another option
    default = arguments.get("default")
    if default is None:
        default = FALSE if action == Const("store_true") else TRUE if action == Const("store_false") else NONE
        default = default if earlier is None else earlier
    _put(m, receiver, _DEFAULTS, dest, _converted(m, default, arguments, place) if arguments.sure else UNKNOWN)
    needed = arguments.get("required") == TRUE or (bool(names) and not names[0].startswith("-"))
    symbol = Symbol("option", place, dest)
    there = sequences.lookup(_held(m, receiver, _OPTIONS), Const(dest))
    if isinstance(there, Unknown) and there.candidates and there.symbol is not None:  # several options for one name
        symbol = there.symbol
    made = _option(m, arguments, default, symbol, place, needed=needed)
    if isinstance(there, Unknown) and there.candidates:
        made = candidates.widened(there, [each.value for each in made.candidates], closed=made.closed)
    _put(m, receiver, _OPTIONS, dest, made)
    return dest


def _option(m: Machine, arguments: Arguments, default: Value, symbol: Symbol, place: Place, *, needed: bool) -> Unknown:
    """The unknown value of an option, with what `add_argument` says about it."""
    action, kind = arguments.get("action"), arguments.get("type")
    if action in _SWITCHES or (action == Api("argparse.BooleanOptionalAction") and isinstance(default, Const)):
        return candidates.switch_or_none(symbol, default if action not in _SWITCHES else None)
    if action is not None and action not in (Const("store"), Const("store_const")):
        return Unknown(symbol)
    many = arguments.get("nargs")
    if many is not None and many != Const("?"):
        return Unknown(symbol)
    constant = arguments.get("const")
    found = [] if constant is None else [constant]
    closed = action == Const("store_const")
    listed = choices.listed(m, arguments.get("choices"), place) or choices.listed(m, kind, place)
    if listed is not None:
        found += listed.items
        closed = listed.rest is None
    if default != NONE or (closed and not needed):
        found.append(_converted(m, default, arguments, place) if kind is not None else default)
    return candidates.likely(symbol, found, closed=closed and arguments.sure)


def _converted(m: Machine, default: Value, arguments: Arguments, place: Place) -> Value:
    """A default as it is found: a text is read as one of the command line is, by `type`."""
    kind = arguments.get("type")
    if isinstance(default, Const) and not isinstance(default.value, str):
        return default
    if isinstance(default, Instance):
        return default
    return default if kind is None or kind == NONE else m.call(kind, Arguments((default,)), place)


def _set_defaults(m: Machine, receiver: Instance, arguments: Arguments, *, several: bool) -> None:
    """`set_defaults(dest=value)`: of options that there are, and of names that are no options.

    Where there are `several` parsers of subcommands, which of them says so is not known.
    """
    for name, value in arguments.keywords:
        there = sequences.lookup(_held(m, receiver, _OPTIONS), Const(name))
        _put(m, receiver, _DEFAULTS, name, value if there is None else UNKNOWN)
        if isinstance(there, Unknown) and there.symbol is not None:
            _put(m, receiver, _OPTIONS, name, candidates.widened(there, [value], closed=True))
        else:
            _put(m, receiver, _OPTIONS, name, choice([there, value]) if several and there is not None else value)
    if not arguments.sure:
        m.state.set((receiver.address, _OPEN), TRUE)
        m.put_entries(receiver.address, Entries((), UNKNOWN))
        m.state.set((receiver.address, _DEFAULTS), Entries((), UNKNOWN))


HANDLERS: Final[dict[str, Callable[[Machine, Arguments, Place], Value]]] = {
    PARSER.path: _parser,
    _NAMESPACE.path: _namespace,
    "configargparse.ArgParser": _parser,
    "configargparse.ArgumentParser": _parser,
    "jsonargparse.ArgumentParser": _parser,
    "simple_parsing.ArgumentParser": _parser,
}
