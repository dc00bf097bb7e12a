"""Configuration files that a program loads: where the path is written out, what the file says is what it may find.

A file is there to be changed: its values are candidates, not facts.  Of a file that is not known, an item may be what
any configuration file of the project has under that name.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mplint.interpreter import candidates, containers, mappings, sequences
from mplint.interpreter.calls import unseen
from mplint.interpreter.configuration import objects
from mplint.interpreter.values import (
    NONE,
    UNKNOWN,
    Api,
    Const,
    Dict,
    Entries,
    Instance,
    List,
    Place,
    Symbol,
    Tuple,
    Unknown,
    Value,
    derived,
)
from mplint.project.data import Data, Tree

if TYPE_CHECKING:
    from mplint.interpreter.calls import Arguments
    from mplint.interpreter.machine import Machine
    from mplint.project.modules import Project


# -- which file


_JOINED: Final = frozenset({"pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath", "os.path.join"})
_THE_SAME: Final = frozenset(
    {"os.path.abspath", "os.path.realpath", "os.path.normpath", "os.path.expanduser", "os.fspath", "builtins.str",
     "builtins.open", "io.open", "codecs.open"}
)  # fmt: skip
_METHODS: Final = frozenset(
    {"resolve", "absolute", "expanduser", "as_posix", "open", "read", "read_text", "read_bytes", "__enter__"}
)
"""Methods of a path or a file that lead to the same file."""


def path_of(value: Value) -> str | None:
    """The path that a value stands for, or the file that was opened there; None where it is not known."""
    return _path(value.symbol if isinstance(value, Unknown) else value)


def _path(part: object) -> str | None:
    match part:
        case Const(value=str(text)) | str(text):
            return text
        case Symbol(parts=("file", str(text))):
            return text
        case Symbol(parts=("call", Api(path="os.path.dirname"), inner, *_)):
            return _parent(inner, 0)
        case Symbol(parts=("call", Api(path=callee), first, *others)):
            return _joined([first, *others]) if callee in _JOINED else _path(first) if callee in _THE_SAME else None
        case Symbol(parts=("call", Symbol(parts=("attribute", owner, str(name))), *others)):
            if name == "joinpath":
                return _joined([owner, *others])
            if name == "with_name":
                above = _parent(owner, 0)
                return _joined([above, *others]) if above is not None else None
            return _path(owner) if name in _METHODS else None
        case Symbol(parts=("attribute", owner, "parent")):
            return _parent(owner, 0)
        case Symbol(parts=("item", Symbol(parts=("attribute", owner, "parents")), Const(value=int(count)))):
            return _parent(owner, count)
        case Symbol(parts=("Divide", left, right)):
            return _joined([left, right])
        case Symbol(parts=("text", *parts)) | Symbol(parts=("Add", *parts)):
            texts = [_path(each) for each in parts]
            return None if None in texts else "".join(text for text in texts if text is not None)
        case Symbol(parts=("str", inner)):
            return _path(inner)
        case _:
            return None


def _parent(part: object, count: int) -> str | None:
    """The folder that is `count` above the one that a path is in."""
    inner = _path(part)
    parents = Path(inner).parents if inner else ()
    return str(parents[count]) if 0 <= count < len(parents) else None


def _joined(parts: Sequence[object]) -> str | None:
    texts = [_path(part) for part in parts]
    known = [text for text in texts if text is not None]
    return os.path.join(*known) if known and len(known) == len(texts) else None  # noqa: PTH118


def found_at(m: Machine, text: str) -> Iterator[Path]:
    """Where in the project the path `text` may lead, from where a program may be started."""
    m.note_open()
    script = m.stack[0].frame.source.path if m.stack else m.program.project.root
    here = m.stack[-1].frame.source.path if m.stack else script
    root = m.program.project.root
    for start in dict.fromkeys((script.parent, root, here.parent, *here.parents)):
        path = Path(os.path.normpath(start / text))  # as a path, whatever links there are
        if root in path.parents:
            yield path


# -- what it says


def _load(name: str, m: Machine, arguments: Arguments, place: Place) -> Value:
    """`yaml.safe_load(file)` and its like."""
    source = arguments.args[0] if arguments.args else None
    read = settings_at(m, source) if source is not None else None
    if read is None:
        return unseen(m, Api(name), arguments)
    path, data = read
    made = as_value(m, data.tree, file_symbol(path), place)
    if isinstance(made, Dict) and not data.whole:
        rest = candidates.values_of(Unknown(file_symbol(path)))
        m.put_entries(made.address, Entries(m.entries(made).pairs, rest))
    return made


def settings_at(m: Machine, source: Value) -> tuple[Path, Data] | None:
    """The configuration file that `source` is, or the path of, and what it says."""
    text = path_of(source)
    if text is None or "\n" in text or len(text) > _MAX_PATH:
        return None
    for path in found_at(m, text):
        data = m.program.project.settings(path)
        if data is not None:
            return path, data
    return None


_MAX_PATH: Final = 200


def file_symbol(path: Path) -> Symbol:
    """What is in the configuration file `path`."""
    return Symbol("settings", str(path))


def as_value(m: Machine, found: object, symbol: Symbol, place: Place, role: str = "loaded") -> Value:
    """What a program finds where a file has `found`: each value is what it is likely to be."""
    match found:
        case dict():
            address = m.allocate(place, role)
            pairs = []
            for key, value in found.items():
                inner = as_value(m, value, Symbol("item", symbol, Const(key)), place, f"{role}.{key}")
                pairs.append((Const(key), inner))
            m.put_entries(address, Entries(tuple(pairs)))
            return Dict(address)
        case list():
            address = m.allocate(place, role)
            items = tuple(
                as_value(m, value, Symbol("item", symbol, Const(index)), place, f"{role}.{index}")
                for index, value in enumerate(found)
            )
            m.put_items(address, Tuple(items))
            return List(address)
        case bool() | int() | float() | str() | None:
            return objects.leaf(symbol, Const(found))
        case _:
            return Unknown(symbol)


def _load_omega(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`OmegaConf.load(path)`."""
    made = _load("omegaconf.OmegaConf.load", m, arguments, place)
    return objects.make(m, objects.OMEGA, m.entries(made), place) if isinstance(made, Dict) else made


# -- configparser


def _parser(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`configparser.ConfigParser()`."""
    made = Instance(m.allocate(place, "parser"), mappings.PARSER)
    m.put_entries(made.address, Entries())
    return made


def method(m: Machine, receiver: Instance, name: str, arguments: Arguments, place: Place) -> Value:
    """A method of a `ConfigParser`, which holds sections as a dict holds dicts."""
    held = Dict(receiver.address)
    match name, arguments.args:
        case (("read" | "read_file"), _):
            found = _load("configparser.read", m, arguments, place)
            entries = m.entries(found) if isinstance(found, Dict) else Entries((), candidates.values_of(found))
            m.put_entries(held.address, sequences.updated(m.entries(held), entries))
            return UNKNOWN
        case "read_dict", (given,):
            m.put_entries(held.address, sequences.updated(m.entries(held), containers.mapping(m, given, place)))
            return NONE
        case (("get" | "getboolean" | "getint" | "getfloat"), (section, key, *_)):
            found = sequences.lookup(m.entries(held), section) or UNKNOWN
            if isinstance(found, Dict):
                found = sequences.lookup(m.entries(found), key) or arguments.get("fallback") or UNKNOWN
            else:
                found = candidates.or_else(derived("item", found, key), arguments.get("fallback"))
            return candidates.as_switch(found) if name == "getboolean" else found
        case "add_section", (section,):
            added = sequences.entry(section, m.new_dict(place, Entries()))
            m.put_entries(held.address, sequences.updated(m.entries(held), added))
            return NONE
        case "set", (section, key, value):
            within = sequences.lookup(m.entries(held), section)
            if isinstance(within, Dict):
                m.put_entries(within.address, sequences.updated(m.entries(within), sequences.entry(key, value)))
            return NONE
        case (("has_option" | "has_section" | "sections" | "options"), _):
            return UNKNOWN
        case _:
            return containers.dict_method(m, held, name, arguments, place)


# -- what files say of a name


@dataclass(frozen=True)
class Keys:
    """Names, one inside the other; those at the top of a file alone where it is read `whole`."""

    names: tuple[str, ...]
    whole: bool = False


def named(project: Project, keys: Keys) -> Iterator[Const]:
    """The texts that the configuration files of the project have under `keys`."""
    for path, data in project.precise_settings.items():
        yield from _under(data.tree, keys, () if keys.whole else (path.parent.name,))


def keys_of(symbol: Symbol) -> Keys | None:
    """The names under which a configuration file may have what `symbol` stands for; None where it has none."""
    match symbol.parts:
        case ("item", Api(path="os.environ"), Const(value=str(key))):
            return Keys((key,), whole=True)
        case ("call", Api(path="os.environ.get"), Const(value=str(key))):
            return Keys((key,), whole=True)
        case ("item", Symbol(parts=("settings", _)), _):
            return None  # it has been read
        case ("item" | "attribute", inner, Const(value=str(key)) | str(key)):
            if isinstance(inner, Symbol) and inner.parts[0] in ("item", "attribute"):
                outer = keys_of(inner)
                return None if outer is None else Keys((*outer.names, key), outer.whole)
            loaded = isinstance(inner, Symbol) and inner.parts[0] == "call" and inner.parts[1] in _LOADERS
            return Keys((key,), loaded)
        case ("option" | "parameter" | "field", _, str(key)):
            return Keys((key,))
        case ("name", str(path)) if path.startswith("absl.flags."):
            return Keys((path.rpartition(".")[2],))
        case _:
            return None


def _under(tree: Tree, keys: Keys, above: tuple[str, ...]) -> Iterator[Const]:
    for key, value in tree.items():
        here = (*above, key)
        if isinstance(value, dict):
            yield from _under(value, keys, here)
        elif isinstance(value, str) and (here if keys.whole else here[-len(keys.names) :]) == keys.names:
            yield Const(value)


_NAMES: Final = (
    "yaml.safe_load",
    "yaml.load",
    "yaml.full_load",
    "yaml.unsafe_load",
    "json.load",
    "json.loads",
    "toml.load",
    "toml.loads",
    "tomllib.load",
    "tomllib.loads",
    "tomli.load",
    "tomli.loads",
)
_LOADERS: Final = frozenset(map(Api, (*_NAMES, "omegaconf.OmegaConf.load", "configparser.read")))


HANDLERS: Final[dict[str, Callable[[Machine, Arguments, Place], Value]]] = {
    **{name: partial(_load, name) for name in _NAMES},
    "omegaconf.OmegaConf.load": _load_omega,
    "configparser.ConfigParser": _parser,
    "configparser.RawConfigParser": _parser,
    "configparser.SafeConfigParser": _parser,
}
