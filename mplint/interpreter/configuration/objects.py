"""Configuration objects of libraries: `ConfigDict`, `OmegaConf`, `EasyDict`, `Munch`, `Box`, `CfgNode`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from mplint.interpreter import candidates, containers, mappings, namespaces, sequences
from mplint.interpreter.calls import Arguments
from mplint.interpreter.values import (
    NONE,
    UNKNOWN,
    Api,
    Choice,
    Class,
    Const,
    Dict,
    Entries,
    Fields,
    Instance,
    Place,
    Symbol,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

OMEGA: Final = Api("omegaconf.DictConfig")
MAX_DEPTH: Final = 6
"""Deeper inside each other, configuration objects stay what they are."""


def make(m: Machine, cls: Api, held: Entries, place: Place, role: str = "mapping", depth: int = 0) -> Instance:
    """A configuration object with these items; a dict among them becomes one, too."""
    made = Instance(m.allocate(place, role), cls)
    for key, value in held.pairs:
        if isinstance(key, Const) and isinstance(key.value, str):
            put(m, made, key.value, value, place, f"{role}.{key.value}", depth)
    if held.rest is not None:
        namespaces.note_loose(m, Fields(made))
    return made


def put(
    m: Machine, target: Instance, name: str, value: Value, place: Place, role: str = "item", depth: int = 0
) -> None:
    """`config.name = value`."""
    other = isinstance(value, Instance) and mappings.is_of_library(value) and target.cls != value.cls
    if isinstance(target.cls, Api) and depth < MAX_DEPTH and (other or isinstance(value, Dict)):
        value = make(m, target.cls, containers.mapping(m, value, place), place, role, depth + 1)
    namespaces.write(m, Fields(target), Const(name), value)


def _construct(path: str, m: Machine, arguments: Arguments, place: Place) -> Value:
    """`ConfigDict(…)` of a mapping, or of keywords."""
    held = Entries()
    given = arguments.args[0] if arguments.args else arguments.get("initial_dictionary")
    if given is not None and given != NONE:
        held = containers.mapping(m, given, place)
    named = Arguments((), tuple(pair for pair in arguments.keywords if pair[0] not in _NOT_ITEMS), None, arguments.more)
    return make(m, Api(path), sequences.updated(held, named.named()), place)


_NOT_ITEMS: Final = frozenset(
    {"initial_dictionary", "type_safe", "convert_dict", "allow_dotted_keys", "sort_keys", "new_allowed", "default_box"}
)


def method(m: Machine, receiver: Instance, name: str, arguments: Arguments, place: Place) -> Value:
    """A method of a configuration object."""
    assert isinstance(receiver.cls, Api)
    fields = Fields(receiver)
    match name:
        case "update" | "merge_from_other_cfg" | "update_from_flattened_dict":
            more = arguments.named()
            for value in arguments.args:
                more = sequences.updated(containers.mapping(m, value, place), more)
            merge(m, receiver, more, place)
            return NONE
        case "copy_and_resolve_references" | "copy" | "clone" | "to_dict" | "toDict":
            copied = make(m, receiver.cls, namespaces.contents(m, fields), place)
            return m.new_dict(place, namespaces.contents(m, Fields(copied))) if "dict" in name.lower() else copied
        case "merge_from_file" | "merge_from_list":
            opened(m, receiver, Symbol("opened", receiver.address))
            return NONE
        case "get" | "pop" | "setdefault" | "items" | "keys" | "values" | "clear":
            return containers.namespace_method(m, fields, name, arguments, place)
        case _:  # lock, unlock, freeze and such, and `with config.unlocked()`
            return UNKNOWN


def merge(m: Machine, target: Instance, more: Entries, place: Place) -> None:
    """Put `more` into a configuration object, what is nested into what is nested there."""
    for key, value in more.pairs:
        if not isinstance(key, Const) or not isinstance(key.value, str):
            continue
        if key in more.optional:
            namespaces.update(m, Fields(target), Entries(((key, value),), None, more.optional))
            continue
        held = m.field(target.address, key.value)
        if mappings.is_of_library(held or UNKNOWN) and isinstance(held, Instance):
            merge(m, held, containers.mapping(m, value, place), place)
        else:
            put(m, target, key.value, value, place, f"merged.{key.value}")
    if more.rest is not None:
        symbol = candidates.source_of(more.rest)
        opened(m, target, symbol if symbol is not None else Symbol("opened", target.address))


def opened(m: Machine, target: Instance, symbol: Symbol, depth: int = 0) -> None:
    """Anything in a configuration object may be set from outside: what it holds is what it is likely to hold."""
    for name, value in m.fields(target.address).items():
        inner = Symbol("item", symbol, Const(name))
        if mappings.is_of_library(value) and isinstance(value, Instance) and depth < MAX_DEPTH:
            opened(m, value, inner, depth + 1)
        else:
            namespaces.write(m, Fields(target), Const(name), leaf(inner, value))
    namespaces.note_loose(m, Fields(target))


def leaf(symbol: Symbol, value: Value) -> Value:
    """What `symbol` is, which is probably `value`, and may be set to another."""
    match value:
        case Const(value=bool()):
            return candidates.switch(symbol)
        case Const(value=None):
            return Unknown(symbol)
        case Choice():
            return candidates.likely(symbol, value.options)
        case _ if candidates.is_plain(value):
            return candidates.likely(symbol, [value])
        case _:
            return value


def _placeholder(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`config_dict.placeholder(type)`: what has to be set from outside."""
    return Unknown(Symbol("placeholder", place))


# -- OmegaConf


def _create(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`OmegaConf.create(…)` and `OmegaConf.structured(…)`."""
    given = arguments.args[0] if arguments.args else None
    if given is None:
        return make(m, OMEGA, Entries(), place)
    if isinstance(given, Class):
        given = m.call(given, Arguments(), place)
    if isinstance(given, Instance) and isinstance(given.cls, Class):
        return given
    return make(m, OMEGA, containers.mapping(m, given, place), place)


def _merge(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`OmegaConf.merge(…)`."""
    made = make(m, OMEGA, Entries((), arguments.rest), place)
    for value in arguments.args:
        if isinstance(value, Instance) and isinstance(value.cls, Class):  # of a structured configuration
            fields = namespaces.contents(m, Fields(value))
            merge(m, made, Entries(fields.pairs), place)
        else:
            merge(m, made, containers.mapping(m, value, place), place)
    return made


def _select(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`OmegaConf.select(config, "a.b", default=…)`."""
    value, key = arguments.get("cfg", 0), arguments.get("key", 1)
    if value is None or not isinstance(key, Const) or not isinstance(key.value, str):
        return UNKNOWN
    for name in key.value.split("."):
        value = m.attribute(value, name, place)
    return candidates.or_else(value, arguments.get("default"))


def _container(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`OmegaConf.to_container(config)`: the same, read by item."""
    return arguments.args[0] if arguments.args else UNKNOWN


HANDLERS: Final[dict[str, Callable[[Machine, Arguments, Place], Value]]] = {
    **{path: partial(_construct, path) for path in mappings.LIBRARY},
    "ml_collections.config_dict.placeholder": _placeholder,
    "ml_collections.config_dict.config_dict.placeholder": _placeholder,
    "ml_collections.config_dict.required_placeholder": _placeholder,
    "omegaconf.OmegaConf.create": _create,
    "omegaconf.OmegaConf.structured": _create,
    "omegaconf.OmegaConf.merge": _merge,
    "omegaconf.OmegaConf.unsafe_merge": _merge,
    "omegaconf.OmegaConf.select": _select,
    "omegaconf.OmegaConf.to_container": _container,
    "omegaconf.OmegaConf.to_object": _container,
}
