"""Objects that are mappings: configuration objects of libraries, and classes of the program that derive from `dict`.

An object of a library's class (a `ConfigDict`, say) keeps its items as attributes; one of the program's own keeps them
as a dict does, beside its attributes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mplint.interpreter import namespaces
from mplint.interpreter.classes import library_bases
from mplint.interpreter.state import is_attribute
from mplint.interpreter.values import (
    TRUE,
    Api,
    Class,
    Const,
    Dict,
    Entries,
    Fields,
    Instance,
    Symbol,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

LIBRARY: Final = frozenset(
    {
        "addict.Dict",
        "attrdict.AttrDict",
        "box.Box",
        "box.ConfigBox",
        "dotmap.DotMap",
        "easydict.EasyDict",
        "fvcore.common.config.CfgNode",
        "ml_collections.ConfigDict",
        "ml_collections.FrozenConfigDict",
        "ml_collections.config_dict.ConfigDict",
        "ml_collections.config_dict.FrozenConfigDict",
        "ml_collections.config_dict.config_dict.ConfigDict",
        "ml_collections.config_dict.config_dict.FrozenConfigDict",
        "munch.Munch",
        "omegaconf.DictConfig",
        "yacs.config.CfgNode",
    }
)
"""Classes whose objects are read by item and by attribute."""
PARSER: Final = Api("configparser.ConfigParser")
"""It holds sections as a dict holds dicts."""
METHODS: Final = frozenset(
    {"clear", "clone", "copy", "copy_and_resolve_references", "defrost", "eval", "freeze", "get", "get_ref",
     "get_type", "is_locked", "items", "keys", "lock", "merge_from_file", "merge_from_list", "merge_from_other_cfg",
     "pop", "setdefault", "to_dict", "to_yaml", "toDict", "unfreeze", "unlock", "unlocked", "update",
     "update_from_flattened_dict", "values"}
)  # fmt: skip
"""What those objects have beside their items."""
_DICTS: Final = frozenset({"builtins.dict", "collections.OrderedDict", "collections.UserDict"})
_ALIASED: Final = "@aliased"


def is_of_library(value: Value) -> bool:
    """Whether `value` is a configuration object of a library."""
    return isinstance(value, Instance) and isinstance(value.cls, Api) and value.cls.path in LIBRARY


def derives_from_dict(cls: Class) -> bool:
    """Whether objects of `cls` are dicts."""
    return not _DICTS.isdisjoint(library_bases(cls))


def view(value: Value) -> Value:
    """What an object holds as a mapping; `value` itself where it is none."""
    if isinstance(value, Instance):
        if is_of_library(value):
            return Fields(value)
        if value.cls == PARSER or (isinstance(value.cls, Class) and derives_from_dict(value.cls)):
            return Dict(value.address)
    return value


def missing(m: Machine, of: Instance, name: str) -> Value | None:
    """An attribute or item that an object may have, though nobody was seen to put it there; None where it has none."""
    if is_attribute(name) and not name.startswith("__") and namespaces.is_loose(m, Fields(of)):
        return Unknown(Symbol("item", of.address, Const(name)))
    return None


def alias(m: Machine, value: Instance) -> None:
    """`self.__dict__ = self`: the items are the attributes."""
    m.program.aliases = True
    m.state.set((value.address, _ALIASED), TRUE)


def aliased(m: Machine, value: Instance) -> Entries | None:
    """The items of an object whose attributes they are; None of others."""
    if not m.program.aliases or m.state.get((value.address, _ALIASED)) is None:
        return None
    return m.entries(Dict(value.address))
