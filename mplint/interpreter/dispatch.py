"""Calling any value: who knows what it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mplint.interpreter import choosing, objects
from mplint.interpreter.calls import Arguments, call_function, unseen
from mplint.interpreter.configuration import commands, tuning
from mplint.interpreter.keras import batching, library
from mplint.interpreter.values import (
    NONE,
    UNKNOWN,
    Api,
    ApiMethod,
    Bound,
    Choice,
    Class,
    ClassMethod,
    Dataset,
    Function,
    Instance,
    Partial,
    Place,
    Property,
    StaticMethod,
    Symbol,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine


def call(m: Machine, callee: Value, arguments: Arguments, place: Place) -> Value:
    """The result of calling `callee`."""
    match callee:
        case Function():
            result = call_function(m, callee, arguments, place)
            if m.program.groups and callee.code in m.program.groups:
                return commands.run(m, callee, place)
            return result
        case Bound(receiver=receiver, callee=ApiMethod(name=name)):
            if name.startswith("super.__"):
                found = objects.inherited(m, receiver, name.removeprefix("super."), arguments, place)
                if found is not None:
                    return found
            return library.call_method(m, receiver, name, arguments, place)
        case Bound(receiver=receiver, callee=inner):
            return call(m, inner, arguments.behind(receiver), place)
        case Class():
            batching.note_made(m, callee, arguments, place)
            return objects.instantiate(m, callee, arguments, place)
        case Partial():
            keywords = dict(callee.keywords)
            keywords.update(arguments.keywords)
            joined = Arguments(callee.args + arguments.args, tuple(keywords.items()), arguments.rest, arguments.more)
            return call(m, callee.callee, joined, place)
        case Instance():
            return library.call_object(m, callee, arguments, place)
        case Api():
            return library.call(m, callee, arguments, place)
        case StaticMethod(function=inner) | ClassMethod(function=inner) | Property(getter=inner):
            return call(m, inner, arguments, place)
        case Choice():
            options = tuple(option for option in callee.options if option != NONE)  # which cannot be called
            return choosing.call_each(m, options, lambda option: call(m, option, arguments, place), place)
        case _:
            if type(callee) is Unknown:
                batching.note_unknown(m, callee, arguments, place)
            known = tuning.chosen(m, callee, arguments, place) or _by_its_name(m, callee, arguments, place)
            return unseen(m, callee, arguments) if known is None else known


def _by_its_name(m: Machine, callee: Value, arguments: Arguments, place: Place) -> Value | None:
    """A method of something of which nothing is known but that it has this method; None where many things have it."""
    match callee:
        case Unknown(symbol=Symbol(parts=("attribute", of, str(name)))) if name in library.TELLING:
            receiver = Unknown(of) if isinstance(of, Symbol) else UNKNOWN
            found = library.of_unknown(m, receiver, name, arguments, place)
            if isinstance(found, Dataset):
                batching.feed(m, receiver)
            return found
        case _:
            return None
