"""Modules and files that a program asks for at run time, by a name that is a value like any other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mplint.interpreter import strings
from mplint.interpreter.modules import find, load
from mplint.interpreter.values import (
    MAX_OPTIONS,
    UNKNOWN,
    Const,
    Module,
    Unknown,
    Value,
    choice,
)

if TYPE_CHECKING:
    from mplint.interpreter.calls import Arguments
    from mplint.interpreter.machine import Machine
    from mplint.interpreter.values import Place

_SETTERS: Final = (b"set_global_policy", b"set_policy", b"set_dtype_policy", b"set_floatx")
"""A module that holds these is not imported for one of several that may be meant."""


def import_module(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`importlib.import_module(name, package)`."""
    name = arguments.get("name", 0)
    package = arguments.get("package", 1)
    if isinstance(name, Unknown):
        return _any_of(m, strings.beginning(name), package)
    if not isinstance(name, Const) or not isinstance(name.value, str) or not name.value:
        return UNKNOWN
    return find(m, m.stack[-1].frame, *_absolute(m, name.value, package))


def _absolute(m: Machine, name: str, package: Value | None) -> tuple[str, int]:
    """The name of a module without its leading dots, and the level that is left of them."""
    bare = name.lstrip(".")
    level = len(name) - len(bare)
    own = m.program.project.module_name(m.stack[-1].frame.source.path)
    if level and isinstance(package, Const) and isinstance(package.value, str) and package.value != own:
        parts = package.value.split(".")
        return ".".join([*parts[: len(parts) - level + 1], bare]), 0
    return bare, level


def _any_of(m: Machine, beginning: str, package: Value | None) -> Value:
    """One of the modules whose names begin so, where they are few."""
    name, level = _absolute(m, beginning, package)
    above, _, start = name.rpartition(".")
    if not name and not level:
        return UNKNOWN
    project, here = m.program.project, m.stack[-1].frame.source.path
    found = project.below(above, level, here, start)
    if not found or len(found) > MAX_OPTIONS or any(project.mentions(path, *_SETTERS) for path in found):
        return UNKNOWN
    return choice([Module(load(m, path)) for path in found])


def import_top(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`__import__(name)`: the package that the module is in, or the module itself where names are asked of it."""
    name = arguments.get("name", 0)
    found = import_module(m, arguments, place)
    asked = arguments.get("fromlist", 3)
    if asked is not None and asked != Const(None):
        return found
    if not isinstance(name, Const) or not isinstance(name.value, str) or "." not in name.value:
        return found
    return find(m, m.stack[-1].frame, name.value.partition(".")[0], 0)
