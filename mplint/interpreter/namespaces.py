"""Namespaces as dicts: `vars(obj)`, `obj.__dict__`, `globals()`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mplint.interpreter import candidates
from mplint.interpreter.frames import Frame
from mplint.interpreter.state import SHUFFLED, is_attribute
from mplint.interpreter.values import (
    MAX_CALLED,
    NONE,
    UNKNOWN,
    Address,
    Api,
    Class,
    Const,
    Entries,
    Fields,
    Function,
    Instance,
    Maybe,
    Module,
    Place,
    Symbol,
    Unknown,
    Value,
    choice,
    derived,
)

if TYPE_CHECKING:
    from mplint.interpreter.calls import Arguments
    from mplint.interpreter.machine import Machine


OBJECTS: Final = ("types.SimpleNamespace", "argparse.Namespace")
"""Library classes whose objects have no attributes but those that the program gives them."""


def of_keywords(m: Machine, cls: Api, arguments: Arguments, place: Place) -> Instance:
    """An object whose attributes are what it is given: `SimpleNamespace(…)`, `argparse.Namespace(…)`."""
    made = Instance(m.allocate(place, "object"), cls)
    given = arguments.named()
    update(m, Fields(made), Entries(given.pairs, None, given.optional))
    if not arguments.sure or arguments.args:
        note_loose(m, Fields(made))
    return made


_LOOSE: Final = "@loose"
"""The field of an object that something may have been done to under names that are not known."""


def contents(m: Machine, fields: Fields) -> Entries:
    """What the dict holds now."""
    owner = _owner(fields)
    held = m.fields(owner)
    optional = frozenset(Const(name) for name in held if _is_there(m, fields, name) is None)
    pairs = tuple((Const(name), value) for name, value in held.items())
    shuffled = m.state.get((owner, SHUFFLED)) is not None
    return Entries(pairs, UNKNOWN if isinstance(owner, Frame) or is_loose(m, fields) else None, optional, shuffled)


def is_loose(m: Machine, fields: Fields) -> bool:
    """Whether it may hold more than is known of: something was put there under a name that is not known."""
    return m.state.get((_owner(fields), _LOOSE)) is not None


def size(m: Machine, fields: Fields) -> int | None:
    """How many names it holds; None when not known."""
    there = [_is_there(m, fields, name) for name in m.fields(_owner(fields))]
    return None if None in there or isinstance(fields.of, Frame) or is_loose(m, fields) else len(there)


def looked_up(m: Machine, frame: Frame, name: Value) -> Value:
    """What a module has under a name that is not known: one of its functions and classes.

    Those under the names that it is likely to be.  Else any that begins as the name does, out of another module which
    has nothing to do with policies: most of what stands beside others in such a module makes the same kind of thing.
    """
    m.program.note_lookup(frame, m.generation, m.policy)
    likely = name.candidates if isinstance(name, Unknown) else ()
    names = [each.value.value for each in likely if isinstance(each.value, Const)]
    found = [m.variable(frame, each) for each in names if isinstance(each, str)]
    known = [value for value in found if isinstance(value, (Function, Class))]
    if known:
        return choice(list(known))
    if likely or frame is m.stack[-1].frame.module or m.program.project.mentions(frame.source.path, b"policy"):
        return derived("getattr", Module(frame), name)
    start = _start_of(name)
    own = [
        value
        for key in frame.bound
        if not key.startswith("_")
        and key.startswith(start)
        and isinstance(value := m.variable(frame, key), (Function, Class))
        and value.code.source is frame.source
    ]
    return choice(list(own)) if 0 < len(own) <= MAX_CALLED else derived("getattr", Module(frame), name)


def _start_of(name: Value) -> str:
    """How a text that is not known begins."""
    match name:
        case Unknown(symbol=Symbol(parts=("Add" | "text", Const(value=str(start)), *_))):
            return start
        case _:
            return ""


def read(m: Machine, fields: Fields, name: str) -> Value | None:
    """The value under `name`; None when there is none."""
    of = fields.of
    return m.variable(of, name) if isinstance(of, Frame) else m.field(of.address, name)


def has(m: Machine, fields: Fields, name: str) -> bool | None:
    """Whether there is something under `name`; None when not known."""
    there = _is_there(m, fields, name)
    if there is False and (isinstance(fields.of, Frame) or is_loose(m, fields)):
        return None
    return there


def write(m: Machine, fields: Fields, key: Value, value: Value) -> None:
    """Put `value` under `key`; under one that is not known, it may be any."""
    of = fields.of
    if not isinstance(key, Const) or not isinstance(key.value, str):
        loosen(m, fields)
    elif not is_attribute(key.value):
        return  # no program reads it as an attribute
    elif isinstance(of, Frame):
        of.bound[key.value] = None
        m.bind(of, key.value, value)
    else:
        m.put(of.address, key.value, value)


def delete(m: Machine, fields: Fields, key: Value) -> None:
    """Take out what is under `key`."""
    of = fields.of
    if not isinstance(key, Const) or not isinstance(key.value, str):
        loosen(m, fields)
    elif isinstance(of, Frame):
        m.unbind(of, key.value)
    else:
        m.drop_field(of.address, key.value)


def loosen(m: Machine, fields: Fields) -> None:
    """Anything may have been done to the dict."""
    owner = _owner(fields)
    note_loose(m, fields)
    for name, before in m.fields(owner).items():
        fresh: Value = UNKNOWN
        if isinstance(owner, Address):  # most likely, something was laid over what was there
            fresh = candidates.or_else(Unknown(Symbol("item", owner, Const(name))), _plain(before))
        write(m, fields, Const(name), Maybe(fresh))


def _plain(value: Value) -> Value | None:
    """A value that may go on as a candidate; None of others."""
    return value if candidates.is_plain(value) else None


def update(m: Machine, fields: Fields, entries: Entries) -> None:
    """`namespace.update(…)`."""
    for key, value in entries.pairs:
        if key not in entries.optional:
            write(m, fields, key, value)
        elif isinstance(key, Const) and isinstance(key.value, str):
            before = read(m, fields, key.value)
            both = value if before is None else choice([before, value])
            if _is_there(m, fields, key.value):
                write(m, fields, key, both)
            else:
                write(m, fields, key, Maybe(both))
                m.state.set((_owner(fields), SHUFFLED), NONE)
    source = candidates.source_of(entries.rest) if entries.rest is not None else None
    if entries.rest is not None and source is not None and isinstance(fields.of, Instance):
        given = {key for key, _ in entries.pairs}
        for name, before in m.fields(fields.of.address).items():
            if Const(name) not in given:
                held = Unknown(Symbol("item", source, Const(name)))
                write(m, fields, Const(name), candidates.or_else(held, _plain(before)))
        note_loose(m, fields)
    elif entries.rest is not None:
        loosen(m, fields)


def clear(m: Machine, fields: Fields) -> None:
    """`namespace.clear()`."""
    for name in m.fields(_owner(fields)):
        delete(m, fields, Const(name))


def note_loose(m: Machine, fields: Fields) -> None:
    """Note that it may hold more than is known of."""
    m.state.set((_owner(fields), _LOOSE), NONE)


def _owner(fields: Fields) -> Address | Frame:
    return fields.of if isinstance(fields.of, Frame) else fields.of.address


def _is_there(m: Machine, fields: Fields, name: str) -> bool | None:
    of = fields.of
    return m.is_bound(of, name) if isinstance(of, Frame) else m.has_field(of.address, name)
