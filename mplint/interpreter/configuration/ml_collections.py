"""`ml_collections.config_flags`: a flag that is what a module of the project gives, each part of which can be set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mplint.interpreter import containers, mappings, modules, namespaces
from mplint.interpreter.calls import Arguments
from mplint.interpreter.configuration import absl, files, objects
from mplint.interpreter.values import (
    NONE,
    UNKNOWN,
    Api,
    Const,
    Fields,
    Function,
    Instance,
    Place,
    Unknown,
    Value,
    choice,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

_CONFIG: Final = Api("ml_collections.ConfigDict")
_MAX_FILES: Final = 6
"""Of more files that a flag may name, the first."""


def _define_file(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`config_flags.DEFINE_config_file(name, default)`: where no file is named, any that looks like one."""
    name, default = arguments.get("name", 0), arguments.get("default", 1) or NONE
    if not isinstance(name, Const) or not isinstance(name.value, str):
        return UNKNOWN
    paths = list(_named(m, default)) if default != NONE else list(_likely(m))
    return _define(m, name.value, [_given_by(m, path, place) for path in paths[:_MAX_FILES]], place)


def _define_dict(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`config_flags.DEFINE_config_dict(name, config)`."""
    name, given = arguments.get("name", 0), arguments.get("config", 1)
    if not isinstance(name, Const) or not isinstance(name.value, str):
        return UNKNOWN
    return _define(m, name.value, [given or UNKNOWN], place)


def _define(m: Machine, name: str, given: list[Value], place: Place) -> Value:
    """A flag that is one of the configurations `given`."""
    known = [value for value in given if isinstance(value, Instance) and mappings.is_of_library(value)]
    symbol = absl.symbol_of(name)
    value: Value = Unknown(symbol)
    if known:
        made = objects.make(m, _CONFIG, namespaces.contents(m, Fields(known[0])), place, "flag")
        for other in known[1:]:
            _add(m, made, other, place)
        objects.opened(m, made, symbol)
        value = made
    m.patch(absl.FLAGS, name, value)
    return absl.item(Const(name))


def _add(m: Machine, made: Instance, other: Instance, place: Place, depth: int = 0) -> None:
    """What another file gives is possible, too."""
    for key, value in containers.mapping(m, other, place).pairs:
        field = str(key.value) if isinstance(key, Const) else ""
        held = m.field(made.address, field)
        if isinstance(held, Instance) and isinstance(value, Instance) and depth < objects.MAX_DEPTH:
            _add(m, held, value, place, depth + 1)
        elif held is None:
            objects.put(m, made, field, value, place, f"flag.{field}")
        else:
            m.put(made.address, field, choice([held, value]))


def _named(m: Machine, default: Value) -> Iterator[Path]:
    """The module that the default of the flag is the path of; behind a colon comes an argument for it."""
    text = files.path_of(default)
    for path in files.found_at(m, text.partition(":")[0]) if text is not None else ():
        if path in m.program.project.files:
            yield path
            return


def _likely(m: Machine) -> Iterator[Path]:
    """The modules that give such a configuration."""
    project = m.program.project
    found = [path for path in project.files if project.mentions(path, b"def get_config(") and not project.is_test(path)]
    yield from (path for path in found if project.mentions(path, b"ConfigDict", b"import get_config"))


def _given_by(m: Machine, path: Path, place: Place) -> Value:
    """What `get_config()` of a module gives."""
    function = m.variable(modules.load(m, path), "get_config")
    return m.call(function, Arguments(), place) if isinstance(function, Function) else UNKNOWN


HANDLERS: Final[dict[str, Callable[[Machine, Arguments, Place], Value]]] = {
    f"ml_collections.{module}.{name}": handler
    for module in ("config_flags", "config_flags.config_flags")
    for name, handler in (("DEFINE_config_file", _define_file), ("DEFINE_config_dict", _define_dict))
}
