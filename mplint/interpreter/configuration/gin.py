"""`gin`: parameters of functions and classes that configuration files bind, or statements of the program do.

A parameter that is bound has what it is bound to for its default; whoever passes an argument goes first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from mplint.interpreter import candidates, sequences
from mplint.interpreter.calls import PROVIDED, Arguments
from mplint.interpreter.configuration import commands, objects
from mplint.interpreter.values import (
    NONE,
    UNKNOWN,
    Api,
    Class,
    Const,
    Function,
    List,
    Partial,
    Place,
    Symbol,
    Tuple,
    Unknown,
    Value,
    choice,
)
from mplint.project.data import UNSURE, Tree, bindings

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

DECORATORS: Final = frozenset({"gin.configurable", "gin.register"})
"""Decorators that are written without a call, too."""
_CONFIGURABLE: Final = Api("mplint.gin.configurable")
_OWNER: Final = "gin"


def _configurable(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`gin.configurable` on a function or class, or with a name for it."""
    first = arguments.args[0] if arguments.args else None
    if isinstance(first, (Function, Class)):
        return _bind(m, first, None)
    name = arguments.get("name_or_fn", 0) or arguments.get("name")
    return Partial(_CONFIGURABLE, (name if name is not None else NONE,))


def _decorate(m: Machine, arguments: Arguments, place: Place) -> Value:
    name, target = arguments.args
    return _bind(m, target, name)


def _external(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`gin.external_configurable(function, name)`."""
    return _bind(m, arguments.get("fn_or_cls", 0) or UNKNOWN, arguments.get("name", 1))


def _bind(m: Machine, target: Value, told: Value | None) -> Value:
    """Bind the parameters of a function or class, under the name that it was told to have."""
    if not isinstance(target, (Function, Class)):
        return target
    name = told.value if isinstance(told, Const) and isinstance(told.value, str) else target.code.name
    if isinstance(target, Function):
        return _with_bindings(m, target, name)
    own = m.variable(target.frame, "__init__")
    if isinstance(own, Function):
        m.bind(target.frame, "__init__", _with_bindings(m, own, name))
    return target


def _with_bindings(m: Machine, function: Function, name: str) -> Function:
    defaults = dict(function.defaults)
    bound: dict[str, Value] = {}
    bare = name.rpartition(".")[2]
    for parameter in function.code.parameters:
        if parameter.kind.startswith("star") or parameter.name == "self":
            continue
        symbol = Symbol(PROVIDED, bare, parameter.name)
        found = list(_in_files(m, bare, parameter.name))
        if found:
            bound[parameter.name] = _value(symbol, found)
        elif _binds_itself(m):
            default = defaults.get(parameter.name)
            if default is None or candidates.is_plain(default):
                bound[parameter.name] = candidates.likely(symbol, [] if default is None else [default])
    return commands.given(function, bound) if bound else function


def _value(symbol: Symbol, found: list[Const]) -> Value:
    return objects.leaf(symbol, choice(list(found)))


def _in_files(m: Machine, function: str, parameter: str) -> Iterator[Const]:
    """What the project's files bind a parameter to."""
    project = m.program.project
    for path in project.settings_files:
        data = project.settings(path) if path.suffix == ".gin" else None
        yield from _matching(data.tree if data is not None else {}, function, parameter)


def _matching(bound: Tree, function: str, parameter: str) -> Iterator[Const]:
    for name, value in bound.items():
        owner, _, last = name.rpartition(".")
        if last == parameter and owner.rpartition(".")[2] == function and value is not UNSURE:
            yield Const(value)


def _binds_itself(m: Machine) -> bool:
    """Whether the program itself says what is bound."""
    project = m.program.project
    return any(project.mentions(path, b"parse_config(", b"bind_parameter(", b"bindings(") for path in project.files)


def bound(m: Machine, value: Unknown) -> Value:
    """What a parameter is bound to now, the default that stands for it being `value`."""
    assert value.symbol is not None
    _, function, parameter = value.symbol.parts
    held = m.state.get((_OWNER, f"{function}.{parameter}"))
    if isinstance(held, Value):
        return held
    default = value.candidates[0].value if len(value.candidates) == 1 and not value.closed else value
    in_files = any(_in_files(m, str(function), str(parameter)))
    return value if in_files else default


def _say(m: Machine, name: str, value: Value) -> None:
    """`module.function.parameter` is `value` from now on."""
    owner, _, parameter = name.rpartition("/")[2].rpartition(".")
    if owner:
        m.state.set((_OWNER, f"{owner.rpartition('.')[2]}.{parameter}"), value)


def _parse(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`gin.parse_config(bindings)`: a text, or several."""
    for value in arguments.values():
        texts = sequences.iterate(m, value, place).items if isinstance(value, (List, Tuple)) else (value,)
        for text in texts:
            if isinstance(text, Const) and isinstance(text.value, str):
                for name, bound in bindings(text.value).items():
                    if bound is not UNSURE:
                        _say(m, name, Const(bound))
    return NONE


def _bind_parameter(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`gin.bind_parameter(name, value)`."""
    name, value = arguments.get("binding_key", 0), arguments.get("value", 1)
    if isinstance(name, Const) and isinstance(name.value, str) and value is not None:
        _say(m, name.value, value)
    return NONE


HANDLERS: Final[dict[str, Callable[[Machine, Arguments, Place], Value]]] = {
    "gin.configurable": _configurable,
    "gin.register": _configurable,
    "gin.external_configurable": _external,
    "gin.parse_config": _parse,
    "gin.parse_config_files_and_bindings": _parse,
    "gin.bind_parameter": _bind_parameter,
    _CONFIGURABLE.path: _decorate,
}
