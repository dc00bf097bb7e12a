"""`hydra`: the configuration that a main function is given; of a registered dataclass, every field is an option.

What a function is given otherwise comes from files, by the names under which it reads them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from mplint.interpreter.calls import Arguments
from mplint.interpreter.configuration import commands, dataclasses
from mplint.interpreter.values import (
    NONE,
    Api,
    Class,
    Const,
    Function,
    Instance,
    Partial,
    Place,
    Value,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

_STORE: Final = Api("mplint.hydra.store")
_MAIN: Final = Api("mplint.hydra.main")


def _instance(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`ConfigStore.instance()`."""
    return _STORE


def _store(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`store.store(name=…, node=…)`."""
    name, node, group = arguments.get("name", 0), arguments.get("node", 1), arguments.get("group", 2) or NONE
    if isinstance(name, Const) and isinstance(node, (Class, Instance)) and group == NONE:
        m.state.set((_STORE.path, str(name.value)), node)
    return NONE


def _main(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`@hydra.main(config_name=…)`."""
    name = arguments.get("config_name", 1)
    return Partial(_MAIN, (name if name is not None else NONE,))


def _give(m: Machine, arguments: Arguments, place: Place) -> Value:
    name, function = arguments.args
    node = m.state.get((_STORE.path, str(name.value))) if isinstance(name, Const) else None
    if isinstance(node, Instance) and isinstance(node.cls, Class):
        node = node.cls
    if not isinstance(function, Function) or not isinstance(node, Class) or not function.code.parameters:
        return function
    return commands.given(function, {function.code.parameters[0].name: dataclasses.parsed(m, node, place)})


HANDLERS: Final[dict[str, Callable[[Machine, Arguments, Place], Value]]] = {
    "hydra.core.config_store.ConfigStore.instance": _instance,
    "hydra.main": _main,
    f"{_STORE.path}.store": _store,
    _MAIN.path: _give,
}
