"""Modules and files that a program asks for at run time, by a name that is a value like any other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mplint.interpreter import strings
from mplint.interpreter.modules import find, load
from mplint.interpreter.values import (
    MAX_OPTIONS,
    NONE,
    UNKNOWN,
    Api,
    Const,
    Fields,
    Module,
    Symbol,
    Unknown,
    Value,
    choice,
)
from mplint.project.dynamic import file_of_magic

if TYPE_CHECKING:
    from mplint.interpreter.calls import Arguments
    from mplint.interpreter.frames import Frame
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


# -- files that are run


def run_path(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`runpy.run_path(path, run_name=…)`: the variables that the file leaves, as a dict."""
    name = arguments.get("run_name", 2)
    frame = _run_file(m, arguments.get("path_name", 0), str(name.value) if isinstance(name, Const) else "<run_path>")
    return UNKNOWN if frame is None else Fields(frame)


def run_line_magic(m: Machine, arguments: Arguments, place: Place) -> Value:
    """IPython's magics, as they are written in Python: `%run file.py` leaves the file's variables here.

    With `-i` it starts with those that are here, and with `-n` it is run under its own name.
    """
    texts = [value.value for value in arguments.args if isinstance(value, Const) and isinstance(value.value, str)]
    name, _, line = " ".join(texts).removeprefix("%").partition(" ")
    if name == "run":
        given = line.split()
        _run_here(m, Const(file_of_magic(line)), as_module="-n" in given, shares="-i" in given)
    return NONE


def runs_file(m: Machine, text: Value) -> bool:
    """`exec(open("file.py").read())`: whether `text` is what a file of the project holds, which then has been run."""
    match text:
        case Unknown(symbol=Symbol(parts=("call", Symbol(parts=("attribute", Symbol(parts=opened), "read"))))):
            is_open = len(opened) > 2 and opened[0] == "call" and opened[1] == Api("builtins.open")
            return is_open and isinstance(opened[2], Const) and _run_here(m, opened[2])
        case _:
            return False


def _run_here(m: Machine, path: Value | None, *, as_module: bool = False, shares: bool = False) -> bool:
    """Run a file, and bind its variables in the module that runs it."""
    here = m.stack[-1].frame.module
    frame = _run_file(m, path, None if as_module else "__main__", here if shares else None)
    if frame is None:
        return False
    _bind(m, frame, here)
    return True


def _bind(m: Machine, source: Frame, target: Frame) -> None:
    for name in tuple(source.bound):
        value = m.variable(source, name)
        if value is not None and name != "__name__":
            target.bound[name] = None
            m.bind(target, name, value)


def _run_file(m: Machine, path: Value | None, name: str | None, shared: Frame | None = None) -> Frame | None:
    """The namespace of a file of the project that has been run as `name`, once more if need be.

    It starts with the variables of `shared`.
    """
    if not isinstance(path, Const) or not isinstance(path.value, str):
        return None
    file = m.program.project.file_at(path.value, m.stack[-1].frame.source.path)
    if file is None or any(activation.frame.source.path == file for activation in m.stack):
        return None
    m.imported.pop(file, None)
    if shared is not None:
        _bind(m, shared, m.program.module_frame(file))
    return load(m, file, name)
