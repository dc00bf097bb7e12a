"""`absl.flags`: what a flag was defined with says which values it may have.

All flags of a program live in one object, `flags.FLAGS`, whichever module defines or reads them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from mplint.interpreter import candidates
from mplint.interpreter.calls import Arguments
from mplint.interpreter.configuration import choices
from mplint.interpreter.values import (
    NONE,
    TRUE,
    UNKNOWN,
    Api,
    Const,
    Entries,
    Instance,
    Maybe,
    Place,
    Symbol,
    Tuple,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

FLAGS: Final = Api("absl.flags.FLAGS")
_HOLDER: Final = "absl.flags.FlagHolder."
_VALUES: Final = Api("absl.flags.FlagValues")
_MODULES: Final = (
    "absl.flags",
    "tensorflow.flags",
    "tensorflow.app.flags",
    "tensorflow.compat.v1.flags",
    "tensorflow.compat.v1.app.flags",
)
"""Where flags are defined; TensorFlow hands absl's on."""
ALIASES: Final = {f"{module}.FLAGS": FLAGS for module in _MODULES[1:]}
_METHODS: Final = frozenset(
    {"append_flags_into_file", "find_module_defining_flag", "flag_values_dict", "flags_into_string", "is_parsed",
     "key_flags_by_module_dict", "mark_as_parsed", "read_flags_from_files", "set_default", "set_gnu_getopt",
     "unparse_flags", "validate_all_flags"}
)  # fmt: skip


def attribute(m: Machine, name: str) -> Value:
    """`FLAGS.name`."""
    if name in _METHODS or name.startswith("__"):
        return Api(f"{FLAGS.path}.{name}")
    held = m.patched(FLAGS, name)
    if isinstance(held, Maybe) or held is None:
        return Unknown(symbol_of(name))
    return held


def item(name: Value) -> Value:
    """`FLAGS["name"]`: the flag itself."""
    return Api(f"{_HOLDER}{name.value}") if isinstance(name, Const) and isinstance(name.value, str) else UNKNOWN


def of_holder(m: Machine, holder: Api, name: str) -> Value | None:
    """An attribute of what defining a flag gives; None of any other name."""
    if not holder.path.startswith(_HOLDER):
        return None
    flag = holder.path.removeprefix(_HOLDER)
    return attribute(m, flag) if name == "value" else Const(flag) if name == "name" else UNKNOWN


def symbol_of(name: str) -> Symbol:
    """The value of the flag `name`."""
    return Symbol("name", f"{FLAGS.path}.{name}")


_Kind = Callable[["Machine", Symbol, "Arguments", Value, Place], Value]


def _define(kind: _Kind, m: Machine, arguments: Arguments, place: Place) -> Value:
    """`flags.DEFINE_…(name, default, …)`."""
    name = arguments.get("name", 0)
    if not isinstance(name, Const) or not isinstance(name.value, str):
        return UNKNOWN
    default = arguments.get("default", 1) or NONE
    values = arguments.get("flag_values")
    if isinstance(values, Instance):
        made = kind(m, Symbol("flag", values.address, name.value), arguments, default, place)
        m.put(values.address, name.value, made)
        holder = Instance(m.allocate(place, "flag"), Api("absl.flags.FlagHolder"))
        m.put(holder.address, "value", made)
        return holder
    m.patch(FLAGS, name.value, kind(m, symbol_of(name.value), arguments, default, place))
    return item(name)


def _any(m: Machine, symbol: Symbol, arguments: Arguments, default: Value, place: Place) -> Value:
    return candidates.likely(symbol, [default] if default != NONE else [])


def _boolean(m: Machine, symbol: Symbol, arguments: Arguments, default: Value, place: Place) -> Value:
    return candidates.switch_or_none(symbol, default)


def _enum(m: Machine, symbol: Symbol, arguments: Arguments, default: Value, place: Place) -> Value:
    found = _listed(m, arguments, place)
    if found is None:
        return _any(m, symbol, arguments, default, place)
    may_be_none = default == NONE and arguments.get("required") != TRUE
    return candidates.likely(symbol, [*found, *([NONE] if may_be_none else [])], closed=True)


def _several(m: Machine, symbol: Symbol, arguments: Arguments, default: Value, place: Place) -> Value:
    element = candidates.likely(Symbol("element", symbol), _listed(m, arguments, place) or ())
    return m.new_list(place, Tuple((), element))


def _listed(m: Machine, arguments: Arguments, place: Place) -> tuple[Value, ...] | None:
    """The values that a flag is said to take; None where they are not known."""
    found = choices.listed(m, arguments.get("enum_values", 2) or arguments.get("enum_class", 2), place)
    known = found is not None and found.rest is None and all(map(candidates.is_plain, found.items))
    return found.items if found is not None and known else None


def _unknown(m: Machine, symbol: Symbol, arguments: Arguments, default: Value, place: Place) -> Value:
    return Unknown(symbol)


_KINDS: Final[dict[str, _Kind]] = {
    "bool": _boolean,
    "boolean": _boolean,
    "string": _any,
    "integer": _any,
    "float": _any,
    "enum": _enum,
    "enum_class": _enum,
    "multi_enum": _several,
    "multi_enum_class": _several,
    "list": _unknown,
    "spaceseplist": _unknown,
    "multi_string": _unknown,
    "multi_integer": _unknown,
    "multi_float": _unknown,
}


def _set_default(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`FLAGS.set_default(name, value)`, and `flags.set_default(holder, value)`."""
    name, value = arguments.get("name", 0) or arguments.get("flag_holder"), arguments.get("value", 1)
    if isinstance(name, Api):
        name = Const(name.path.removeprefix(_HOLDER))
    if not isinstance(name, Const) or not isinstance(name.value, str) or value is None:
        return NONE
    held = attribute(m, name.value)
    if isinstance(held, Unknown) and not held.closed and value != NONE:
        m.patch(FLAGS, name.value, candidates.widened(held, [value]))
    return NONE


def _as_dict(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`FLAGS.flag_values_dict()`."""
    held = m.state.of(FLAGS.path)
    pairs = tuple((Const(name), value) for name, value in held.items() if isinstance(value, Value))
    return m.new_dict(place, Entries(tuple(pair for pair in pairs if not isinstance(pair[1], Maybe)), UNKNOWN))


def _own_values(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`flags.FlagValues()`."""
    return Instance(m.allocate(place, "flags"), _VALUES)


def _nothing(m: Machine, arguments: Arguments, place: Place) -> Value:
    return NONE


def _run(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`app.run(main)`: calls what it is given, else the `main` of the module, with what is left of the command line."""
    main = arguments.get("main", 0)
    if main is None or main == NONE:
        main = m.variable(m.stack[-1].frame.module, "main")
    return UNKNOWN if main is None else m.call(main, Arguments((), (), UNKNOWN, None), place)


HANDLERS: Final[dict[str, Callable[[Machine, Arguments, Place], Value]]] = {
    **{f"{module}.DEFINE_{kind}": partial(_define, make) for module in _MODULES for kind, make in _KINDS.items()},
    **{
        f"{module}.{name}": _nothing
        for module in _MODULES
        for name in ("mark_flag_as_required", "mark_flags_as_required", "declare_key_flag", "adopt_module_key_flags")
    },
    **{f"{module}.FlagValues": _own_values for module in _MODULES},
    **dict.fromkeys(("absl.app.run", "tensorflow.app.run", "tensorflow.compat.v1.app.run"), _run),
    "absl.flags.set_default": _set_default,
    f"{FLAGS.path}.set_default": _set_default,
    f"{FLAGS.path}.flag_values_dict": _as_dict,
}
