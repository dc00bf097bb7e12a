"""Command lines that fill a dataclass: tyro, simple_parsing, HfArgumentParser, draccus, pyrallis and their like."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from mplint.interpreter import sequences
from mplint.interpreter.calls import Arguments
from mplint.interpreter.classes import has_fields
from mplint.interpreter.configuration import commands, fire
from mplint.interpreter.configuration.annotations import kind_of, option
from mplint.interpreter.fields import FIELD, declared, default_of
from mplint.interpreter.values import (
    UNKNOWN,
    Api,
    Class,
    Const,
    Function,
    Instance,
    List,
    Partial,
    Place,
    Symbol,
    Tuple,
    Value,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

PARSER: Final = Api("transformers.HfArgumentParser")
_CLASSES: Final = "@classes"
_MAX_DEPTH: Final = 4


def parsed(m: Machine, cls: Class, place: Place, depth: int = 0) -> Value:
    """An object of a dataclass, each field of which is an option."""
    keywords: list[tuple[str, Value]] = []
    outer = m.context
    for index, field in enumerate(declared(m, cls)):
        if not field.is_passed:
            continue
        kind = kind_of(m, field.frame, field.annotation)
        m.context = outer.at(place, index)
        if kind.cls is not None and has_fields(m, kind.cls) and depth < _MAX_DEPTH:
            keywords.append((field.name, parsed(m, kind.cls, place, depth + 1)))
        else:
            symbol = Symbol("option", cls.code.qualname, field.name)
            keywords.append((field.name, option(symbol, kind, default_of(m, field, place))))
    m.context = outer
    return m.call(cls, Arguments((), tuple(keywords)), place)


def _parse(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`tyro.cli(Config)` and its like; of a function, what it gives."""
    given = arguments.get("config_class") or arguments.get("f", 0) or arguments.get("cls")
    if isinstance(given, Function):
        return m.call(commands.configured(m, given), Arguments(), place)
    return parsed(m, given, place) if isinstance(given, Class) else UNKNOWN


def _parse_or_run(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`jsonargparse.CLI(component)`: a class of fields is filled, anything else is a command line."""
    first = arguments.args[0] if arguments.args else arguments.get("components")
    if isinstance(first, Class) and has_fields(m, first):
        return parsed(m, first, place)
    return fire.run(m, arguments, place)


def _wrap(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`@draccus.wrap()`: the first parameter of a function is parsed."""
    return _WRAPPING


_WRAPPING: Final = Partial(Api("mplint.dataclasses.wrapping"))


def _wrapping(m: Machine, arguments: Arguments, place: Place) -> Value:
    function = arguments.args[0] if arguments.args else UNKNOWN
    if not isinstance(function, Function) or not function.code.parameters:
        return function
    first = function.code.parameters[0]
    annotation = first.annotation.annotation if first.annotation is not None else None
    cls = kind_of(m, function.frame, annotation).cls
    return function if cls is None else commands.given(function, {first.name: parsed(m, cls, place)})


def _parser(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`HfArgumentParser(classes)`."""
    made = Instance(m.allocate(place, "parser"), PARSER)
    given = arguments.get("dataclass_types", 0)
    several = isinstance(given, (Tuple, List))
    classes = sequences.iterate(m, given, place) if given is not None and several else Tuple((given or UNKNOWN,))
    m.state.set((made.address, _CLASSES), classes)
    return made


def method(m: Machine, receiver: Instance, name: str, arguments: Arguments, place: Place) -> Value:
    """A method of such a parser: all that parse give an object of each class."""
    held = m.state.get((receiver.address, _CLASSES))
    if not name.startswith("parse_") or not isinstance(held, Tuple) or held.rest is not None:
        return UNKNOWN
    outer = m.context
    made: list[Value] = []
    for index, cls in enumerate(held.items):
        m.context = outer.at(place, index)
        made.append(parsed(m, cls, place) if isinstance(cls, Class) else UNKNOWN)
    m.context = outer
    if arguments.get("return_remaining_strings") is not None:
        made.append(UNKNOWN)
    return Tuple(tuple(made))


def _field(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`dataclasses.field(…)`, `attr.ib(…)`, `pydantic.Field(default, …)`."""
    named = dict(arguments.keywords)
    if arguments.args and arguments.args[0] != Const(...):
        named.setdefault("default", arguments.args[0])
    default = named.get("default")
    if isinstance(default, Partial) and default.callee == _FACTORY and default.args:  # `attr.Factory(list)`
        del named["default"]
        named["default_factory"] = default.args[0]
    return Partial(FIELD, (), tuple(named.items()))


_FACTORY: Final = Api("attr.Factory")


def _factory(m: Machine, arguments: Arguments, place: Place) -> Value:
    return Partial(_FACTORY, arguments.args)


HANDLERS: Final[dict[str, Callable[[Machine, Arguments, Place], Value]]] = {
    **dict.fromkeys(
        (
            "tyro.cli",
            "simple_parsing.parse",
            "draccus.parse",
            "pyrallis.parse",
            "datargs.parse",
            "chz.entrypoint",
        ),
        _parse,
    ),
    "jsonargparse.CLI": _parse_or_run,
    "jsonargparse.auto_cli": _parse_or_run,
    "draccus.wrap": _wrap,
    "pyrallis.wrap": _wrap,
    "mplint.dataclasses.wrapping": _wrapping,
    "transformers.HfArgumentParser": _parser,
    "trl.TrlParser": _parser,
    **dict.fromkeys(
        ("attr.ib", "attr.attrib", "attr.field", "attrs.field", "dataclasses.field", "pydantic.Field"), _field
    ),
    "attr.Factory": _factory,
    "attrs.Factory": _factory,
}
