"""`click`: the options of a command are parameters of its function; contexts carry an object from group to command."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from mplint.interpreter import candidates
from mplint.interpreter.calls import Arguments
from mplint.interpreter.configuration import choices, commands
from mplint.interpreter.values import (
    NONE,
    TRUE,
    UNKNOWN,
    Api,
    Const,
    Function,
    Maybe,
    Partial,
    Place,
    Symbol,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

_CHOICE: Final = Api("click.Choice")
_PARAMETER: Final = Api("mplint.click.parameter")
DECORATORS: Final = frozenset({"click.group", "click.pass_context", "click.pass_obj"})
"""Decorators that are written without a call, too."""


def _option(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`click.option(…)` and `click.argument(…)`: decorators that give a function one of its parameters."""
    words = [value.value for value in arguments.args if isinstance(value, Const) and isinstance(value.value, str)]
    name = _name(words)
    if name is None or len(words) < len(arguments.args):
        return UNKNOWN
    symbol = Symbol("option", place, name)
    return Partial(_PARAMETER, (Const(name), _value(m, arguments, symbol, words, place)))


def _name(words: list[str]) -> str | None:
    """The parameter that an option is passed as."""
    plain = [word for word in words if word.isidentifier()]
    if plain:
        return plain[0]
    written = [word.partition("/")[0].strip() for word in words]
    longest = sorted(written, key=lambda word: len(word) - len(word.lstrip("-")), reverse=True)
    name = longest[0].lstrip("-").replace("-", "_").lower() if longest else ""
    return name if name.isidentifier() else None


def _value(m: Machine, arguments: Arguments, symbol: Symbol, words: list[str], place: Place) -> Value:
    default = arguments.get("default")
    if isinstance(default, Function):
        default = m.call(default, Arguments(), place)
    several = arguments.get("multiple", None) == TRUE or arguments.get("nargs") is not None
    if several or arguments.get("count") == TRUE or not arguments.sure or arguments.get("callback") is not None:
        return Unknown(symbol)
    constant, kind = arguments.get("flag_value"), arguments.get("type")
    if constant is not None:
        return candidates.likely(symbol, [constant])
    is_bool = isinstance(default, Const) and isinstance(default.value, bool)
    if arguments.get("is_flag") == TRUE or any("/" in word for word in words) or is_bool or kind == _BOOL:
        return candidates.switch_or_none(symbol, default)
    if isinstance(default, Unknown):
        return default
    if isinstance(kind, Partial) and kind.callee == _CHOICE and kind.args:
        kind = kind.args[0]
    found = choices.listed(m, kind, place)
    closed = found is not None and found.rest is None
    listed = list(found.items) if found is not None else []
    if default is None and not words[0].isidentifier() and arguments.get("required") != TRUE:
        default = NONE
    if default is not None and (default != NONE or closed):
        listed.append(default)
    return candidates.likely(symbol, listed, closed=closed)


_BOOL: Final = Api("builtins.bool")


def _choice(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`click.Choice([…])`."""
    listed = arguments.get("choices", 0)
    return UNKNOWN if listed is None else Partial(_CHOICE, (listed,))


def _give(m: Machine, arguments: Arguments, place: Place) -> Value:
    """A function gets a parameter; one that several options set may be what any of them says."""
    name, value, function = arguments.args
    if not isinstance(function, Function) or not isinstance(name, Const):
        return function
    before = dict(function.defaults).get(str(name.value))
    if isinstance(before, Unknown) and isinstance(value, Unknown):
        values = [candidate.value for candidate in value.candidates]
        value = candidates.widened(before, values, closed=value.closed)
    return commands.given(function, {str(name.value): value})


def _group(m: Machine, arguments: Arguments, place: Place) -> Value:
    if arguments.args and isinstance(arguments.args[0], Function):
        commands.make_group(m, arguments.args[0])
        return arguments.args[0]
    return Api("click.group")


def _pass_context(m: Machine, arguments: Arguments, place: Place) -> Value:
    function = arguments.args[0] if arguments.args else UNKNOWN
    if not isinstance(function, Function) or function.code.first is None:
        return function
    return commands.given(function, {function.code.first: commands.CONTEXT})


def _pass_object(m: Machine, arguments: Arguments, place: Place) -> Value:
    function = arguments.args[0] if arguments.args else UNKNOWN
    if isinstance(function, Function):
        commands.takes_object(m, function)
    return function


def _ensure_object(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`ctx.ensure_object(dict)`."""
    held = m.patched(commands.CONTEXT, "obj")
    if held is None or isinstance(held, Maybe):
        made = m.call(arguments.args[0] if arguments.args else UNKNOWN, Arguments(), place)
        m.patch(commands.CONTEXT, "obj", made)
        return made
    return held


def _invoke(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`ctx.invoke(command, …)`."""
    if not arguments.args:
        return UNKNOWN
    first, *others = arguments.args
    return m.call(first, Arguments(tuple(others), arguments.keywords, arguments.rest, arguments.more), place)


def _context(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`click.get_current_context()`."""
    return commands.CONTEXT


HANDLERS: Final[dict[str, Callable[[Machine, Arguments, Place], Value]]] = {
    "click.option": _option,
    "click.argument": _option,
    "click.Choice": _choice,
    "click.group": _group,
    "click.pass_context": _pass_context,
    "click.pass_obj": _pass_object,
    "click.get_current_context": _context,
    _PARAMETER.path: _give,
    f"{commands.CONTEXT.path}.ensure_object": _ensure_object,
    f"{commands.CONTEXT.path}.invoke": _invoke,
    f"{commands.CONTEXT.path}.forward": _invoke,
}
