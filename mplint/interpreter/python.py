"""Python's own library: builtin functions, methods of containers and strings, what programs use for configuration."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from mplint import keras_api
from mplint.interpreter import sequences
from mplint.interpreter.calls import Arguments
from mplint.interpreter.classes import class_attribute, library_bases
from mplint.interpreter.conditions import truth
from mplint.interpreter.values import (
    NONE,
    UNKNOWN,
    Api,
    Array,
    Bound,
    Choice,
    Class,
    Const,
    Dict,
    DType,
    Entries,
    Fields,
    Function,
    Instance,
    List,
    Partial,
    Place,
    Policy,
    Range,
    Tensor,
    Tuple,
    Unknown,
    Value,
    choice,
    derived,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

BUILTINS: Final = frozenset(dir(builtins)) - {"True", "False", "None", "__name__", "__doc__", "__spec__", "__loader__"}

_PURE: Final[dict[str, Callable[..., object]]] = {
    "abs": abs,
    "bool": bool,
    "float": float,
    "int": int,
    "str": str,
    "round": lambda number, digits=None: round(number, digits) if digits is None or abs(digits) < 64 else None,
    "min": min,
    "max": max,
    "sum": sum,
    "len": len,
    "divmod": divmod,
    "ord": ord,
    "chr": chr,
    "pow": lambda a, b: a**b if abs(b) < 64 else None,
}
_MATH: Final = frozenset(
    {"sqrt", "ceil", "floor", "log", "log2", "log10", "exp", "pow", "prod", "gcd", "sin", "cos", "tanh", "fabs"}
)
_STRING_METHODS: Final = frozenset(
    {"lower", "upper", "strip", "lstrip", "rstrip", "split", "rsplit", "partition", "rpartition", "startswith",
     "endswith", "replace", "removeprefix", "removesuffix", "title", "capitalize", "casefold", "swapcase", "isdigit",
     "isalpha", "count", "find"}
)  # fmt: skip


def call(m: Machine, name: str, arguments: Arguments, place: Place) -> Value | None:
    """A builtin function; None where it is not modelled (the arguments stay here, all the same)."""
    args = arguments.args
    handler = _FUNCTIONS.get(name)
    if handler is not None:
        return handler(m, arguments, place)
    if name in _PURE and args and not arguments.keywords and arguments.sure:
        return _pure(m, name, args, place)
    return None


def _pure(m: Machine, name: str, args: tuple[Value, ...], place: Place) -> Value:
    if all(isinstance(value, Const) for value in args):
        return _folded(_PURE[name], [value.value for value in args if isinstance(value, Const)])
    first = args[0]
    if isinstance(first, Choice) and len(args) == 1:
        return choice([_pure(m, name, (option,), place) for option in first.options])
    if name == "len":
        return _length(m, first)
    if name == "bool":
        outcome = truth(m, first)
        return Const(outcome) if outcome is not None else derived("bool", first)
    if name in ("min", "max", "sum") and len(args) == 1:
        items = sequences.iterate(m, first, place)
        if items.rest is None and items.items and all(isinstance(item, Const) for item in items.items):
            return _folded(_PURE[name], [[item.value for item in items.items if isinstance(item, Const)]])
    if name == "sum":
        return _sum(m, args, place)
    if name in ("min", "max") and len(args) == 1:
        return UNKNOWN
    if name == "str" and isinstance(first, Policy) and first.name:
        return UNKNOWN
    return derived(name, *args)


def _sum(m: Machine, args: tuple[Value, ...], place: Place) -> Value:
    """`sum(items, start)`: `+` from left to right."""
    items = sequences.iterate(m, args[0], place)
    if items.rest is not None or len(args) > 2:
        return UNKNOWN
    total = args[1] if len(args) == 2 else Const(0)
    if isinstance(total, List):  # one list is made, however many are put together
        held = m.items(total)
        for item in items.items:
            held = sequences.concatenate(held, sequences.iterate(m, item, place))
        return m.new_list(place, held)
    for item in items.items:
        total = m.binary("Add", total, item, place)
    return total


def _folded(function: Callable[..., object], args: list[object]) -> Value:
    try:
        result = function(*args)
    except Exception:  # noqa: BLE001  (the program's own error)
        return UNKNOWN
    if isinstance(result, (bool, int, float, complex, str, bytes)) and not (
        isinstance(result, str) and len(result) > 10_000
    ):
        return Const(result)
    if isinstance(result, (list, tuple)) and all(isinstance(part, str) for part in result):
        return Tuple(tuple(Const(part) for part in result))
    return UNKNOWN


def _length(m: Machine, value: Value) -> Value:
    match value:
        case Tuple() | List():
            items = value if isinstance(value, Tuple) else m.items(value)
            return Const(len(items.items)) if items.rest is None else UNKNOWN
        case Dict():
            entries = m.entries(value)
            return Const(len(entries.pairs)) if entries.rest is None else UNKNOWN
        case Range():
            return Const(len(range(value.start, value.stop, value.step)))
        case Instance(cls=Class()):
            method = class_attribute(m, value.cls, "__len__") if isinstance(value.cls, Class) else None
            return m.call(Bound(value, method), Arguments(), value.address.place) if method is not None else UNKNOWN
        case _:
            return derived("len", value)


def _range(m: Machine, arguments: Arguments, place: Place) -> Value:
    numbers = [value.value for value in arguments.args if isinstance(value, Const) and isinstance(value.value, int)]
    if len(numbers) == len(arguments.args) and arguments.rest is None:
        try:
            made = range(*numbers)
        except (TypeError, ValueError):
            return UNKNOWN
        return Range(made.start, made.stop, made.step)
    return m.new_list(place, Tuple((), UNKNOWN), "range")


def _sequence(kind: str) -> Callable[[Machine, Arguments, Place], Value]:
    def make(m: Machine, arguments: Arguments, place: Place) -> Value:
        items = sequences.iterate(m, arguments.args[0], place) if arguments.args else Tuple(())
        return items if kind == "tuple" else m.new_list(place, Tuple(items.items, items.rest), kind)

    return make


def _dict(m: Machine, arguments: Arguments, place: Place) -> Value:
    entries = Entries()
    if arguments.args:
        first = arguments.args[0]
        if isinstance(first, Dict):
            entries = m.entries(first)
        else:
            pairs = sequences.iterate(m, first, place)
            for pair in pairs.items:
                parts = sequences.iterate(m, pair, place, want=2)
                entries = sequences.updated(entries, Entries(((sequences.item(parts, 0), sequences.item(parts, 1)),)))
            if pairs.rest is not None:
                entries = Entries(entries.pairs, UNKNOWN)
    keywords = Entries(tuple((Const(key), value) for key, value in arguments.keywords), arguments.more)
    return m.new_dict(place, sequences.updated(entries, keywords))


def _zip(m: Machine, arguments: Arguments, place: Place) -> Value:
    columns = [sequences.iterate(m, value, place) for value in arguments.args]
    if not columns:
        return m.new_list(place, Tuple(()))
    if all(column.rest is None for column in columns):
        rows = zip(*(column.items for column in columns), strict=False)
        return m.new_list(place, Tuple(tuple(Tuple(tuple(row)) for row in rows)), "zip")
    row = Tuple(tuple(sequences.anything(column) for column in columns))
    return m.new_list(place, Tuple((), row), "zip")


def _enumerate(m: Machine, arguments: Arguments, place: Place) -> Value:
    if not arguments.args:
        return UNKNOWN
    items = sequences.iterate(m, arguments.args[0], place)
    start = arguments.get("start", 1) or Const(0)
    first = start.value if isinstance(start, Const) and isinstance(start.value, int) else None
    if items.rest is None and first is not None:
        rows = tuple(Tuple((Const(first + i), item)) for i, item in enumerate(items.items))
        return m.new_list(place, Tuple(rows), "enumerate")
    return m.new_list(place, Tuple((), Tuple((UNKNOWN, sequences.anything(items)))), "enumerate")


def _reversed(m: Machine, arguments: Arguments, place: Place) -> Value:
    if not arguments.args:
        return UNKNOWN
    items = sequences.iterate(m, arguments.args[0], place)
    turned = Tuple(items.items[::-1]) if items.rest is None else Tuple((), sequences.anything(items))
    return m.new_list(place, turned)


def _sorted(m: Machine, arguments: Arguments, place: Place) -> Value:
    if not arguments.args:
        return UNKNOWN
    items = sequences.iterate(m, arguments.args[0], place)
    constants = [item.value for item in items.items if isinstance(item, Const)]
    if items.rest is None and len(constants) == len(items.items) and arguments.get("key") is None:
        backwards = arguments.get("reverse") == Const(True)
        try:
            return m.new_list(place, Tuple(tuple(Const(c) for c in sorted(constants, reverse=backwards))))  # type: ignore[type-var]
        except TypeError:
            pass
    return m.new_list(place, Tuple((), sequences.anything(items)) if items.items or items.rest else items)


def _map(m: Machine, arguments: Arguments, place: Place) -> Value:
    if len(arguments.args) < 2:
        return UNKNOWN
    function, *columns = arguments.args
    found = [sequences.iterate(m, column, place) for column in columns]
    if all(column.rest is None for column in found):
        context = m.context
        results = []
        for index, row in enumerate(zip(*(column.items for column in found), strict=False)):
            m.context = context.at(place, index)
            results.append(m.call(function, Arguments(tuple(row)), place))
        m.context = context
        return m.new_list(place, Tuple(tuple(results)), "map")
    result = m.call(function, Arguments(tuple(sequences.anything(column) for column in found)), place)
    return m.new_list(place, Tuple((), result), "map")


def _filter(m: Machine, arguments: Arguments, place: Place) -> Value:
    if len(arguments.args) != 2:
        return UNKNOWN
    function, items = arguments.args[0], sequences.iterate(m, arguments.args[1], place)
    kept: list[Value] = []
    sure = items.rest is None
    for item in items.items:
        outcome = truth(m, item if function == NONE else m.call(function, Arguments((item,)), place))
        if outcome is not False:
            kept.append(item)
        sure = sure and outcome is not None
    if sure:
        return m.new_list(place, Tuple(tuple(kept)), "filter")
    return m.new_list(place, Tuple((), choice(kept) if kept else UNKNOWN), "filter")


def _isinstance(m: Machine, arguments: Arguments, place: Place) -> Value:
    if len(arguments.args) != 2:
        return UNKNOWN
    value, classes = arguments.args
    wanted = sequences.iterate(m, classes, place).items if isinstance(classes, (Tuple, List)) else (classes,)
    outcomes = [is_instance(m, value, cls) for cls in wanted]
    if True in outcomes:
        return Const(True)
    if None in outcomes:
        return derived("isinstance", value, *wanted)
    return Const(False)


_TYPES: Final = {bool: "bool", int: "int", float: "float", complex: "complex", str: "str", bytes: "bytes"}


def is_instance(m: Machine, value: Value, cls: Value) -> bool | None:
    """Whether `value` is an instance of `cls`; None when not known."""
    path = cls.path if isinstance(cls, Api) else ""
    match value:
        case Const(value=None):
            return path in ("builtins.object", "types.NoneType") if path else False
        case Const(value=constant):
            kind = _TYPES.get(type(constant), "")
            if not path.startswith("builtins."):
                return None if path in ("typing.Any", "numbers.Number", "numbers.Integral") else False
            return path == f"builtins.{kind}" or (kind == "bool" and path == "builtins.int")
        case Tuple():
            return _builtin(path, {"tuple", "object"}, "collections.abc.Sequence", "typing.Sequence")
        case List():
            kinds = {value.kind, "object"} if value.kind in ("list", "set") else {"object"}
            return _builtin(path, kinds, "collections.abc.Sequence", "typing.Sequence")
        case Dict():
            return _builtin(path, {"dict", "object"}, "collections.abc.Mapping", "typing.Mapping")
        case Function():
            return False if isinstance(cls, Class) or path.startswith(("builtins.", "keras.")) else None
        case Instance(cls=Class() as own):
            if isinstance(cls, Class):
                if any(entry == cls for entry in own.mro):
                    return True
                return None if any(isinstance(entry, Unknown) for entry in own.mro) else False
            bases = set(library_bases(own))
            if path in bases or path == "builtins.object":
                return True
            if any(keras_api.kind(base) is not None for base in bases):
                return _keras_is(next(base for base in bases if keras_api.kind(base) is not None), path)
            return False if path.startswith("builtins.") and not bases else None
        case Instance(cls=Api(path=own_path)):
            if isinstance(cls, Class):
                return False
            return True if own_path == path else _keras_is(own_path, path)
        case Tensor() | DType() | Policy():
            if isinstance(cls, Class) or path.startswith("builtins."):
                return False
            return None
        case _:
            return None


def _keras_is(own: str, wanted: str) -> bool | None:
    from mplint.interpreter.keras.info import is_layer_path

    if wanted == "keras.Layer":
        return is_layer_path(own)
    if wanted.startswith("builtins."):
        return False
    if wanted == "keras.Model":
        return keras_api.kind(own) is keras_api.Kind.MODEL
    if wanted == "keras.optimizers.LossScaleOptimizer":
        return False
    if keras_api.kind(wanted) is not None and is_layer_path(own) != is_layer_path(wanted):
        return False
    return None


def _builtin(path: str, kinds: set[str], *abstract: str) -> bool | None:
    if path.startswith("builtins."):
        return path.removeprefix("builtins.") in kinds
    if path in abstract or path.startswith(("collections.", "typing.")):
        return True if path in abstract else None
    return False if path == "" or keras_api.kind(path) is not None else None


def _getattr(m: Machine, arguments: Arguments, place: Place) -> Value:
    match arguments.args:
        case (value, Const(value=str(name)), *default):
            found = m.attribute(value, name, place)
            if default and found == UNKNOWN:
                return choice([found, default[0]])
            return found
        case (value, Choice() as names, *_):
            return choice([_getattr(m, Arguments((value, name)), place) for name in names.options])
        case (value, name, *_):
            return derived("getattr", value, name)
        case _:
            return UNKNOWN


def _hasattr(m: Machine, arguments: Arguments, place: Place) -> Value:
    match arguments.args:
        case (Instance(address=address, cls=cls) as value, Const(value=str(name))):
            if m.field(address, name) is not None:
                return Const(True)
            if isinstance(cls, Class) and class_attribute(m, cls, name) is not None:
                return Const(True)
            return derived("hasattr", UNKNOWN, str(value))
        case (Api(path=path), Const(value=str(name))):
            living = keras_api.generations(f"{path}.{name}")
            if living and keras_api.kind(path) is not None:
                return Const(m.generation in living)
            return derived("hasattr", Api(path), name)
        case _:
            return UNKNOWN


def _setattr(m: Machine, arguments: Arguments, place: Place) -> Value:
    match arguments.args:
        case (target, Const(value=str(name)), value):
            m.set_attribute(target, name, value, place)
        case (_, _, value):
            m.escape(value)
        case _:
            pass
    return NONE


def _type(m: Machine, arguments: Arguments, place: Place) -> Value:
    match arguments.args:
        case (Instance(cls=cls),):
            return cls
        case _:
            return UNKNOWN


def _any_all(name: str) -> Callable[[Machine, Arguments, Place], Value]:
    def run(m: Machine, arguments: Arguments, place: Place) -> Value:
        if not arguments.args:
            return UNKNOWN
        items = sequences.iterate(m, arguments.args[0], place)
        outcomes = [truth(m, item) for item in items.items]
        if name == "any" and True in outcomes:
            return Const(True)
        if name == "all" and False in outcomes:
            return Const(False)
        if None in outcomes or items.rest is not None:
            return UNKNOWN
        return Const(name == "all")

    return run


def _next(m: Machine, arguments: Arguments, place: Place) -> Value:
    return sequences.anything(sequences.iterate(m, arguments.args[0], place)) if arguments.args else UNKNOWN


def _iter(m: Machine, arguments: Arguments, place: Place) -> Value:
    return arguments.args[0] if arguments.args else UNKNOWN


def _print(m: Machine, arguments: Arguments, place: Place) -> Value:
    return NONE


def _super(m: Machine, arguments: Arguments, place: Place) -> Value:
    from mplint.interpreter.values import Super

    match arguments.args:
        case (Class() as cls, Instance() as receiver):
            return Super(receiver, cls)
        case _:
            return UNKNOWN


def _namespace(m: Machine, arguments: Arguments, place: Place) -> Value:
    match arguments.args:
        case (Instance() as instance,):
            return Fields(instance)
        case _:
            return UNKNOWN


_FUNCTIONS: Final[dict[str, Callable[[Machine, Arguments, Place], Value]]] = {
    "range": _range,
    "list": _sequence("list"),
    "tuple": _sequence("tuple"),
    "set": _sequence("set"),
    "frozenset": _sequence("set"),
    "dict": _dict,
    "zip": _zip,
    "enumerate": _enumerate,
    "reversed": _reversed,
    "sorted": _sorted,
    "map": _map,
    "filter": _filter,
    "isinstance": _isinstance,
    "getattr": _getattr,
    "hasattr": _hasattr,
    "setattr": _setattr,
    "type": _type,
    "any": _any_all("any"),
    "all": _any_all("all"),
    "next": _next,
    "iter": _iter,
    "print": _print,
    "super": _super,
    "vars": _namespace,
    "callable": lambda m, arguments, place: (
        Const(True) if arguments.args and isinstance(arguments.args[0], (Function, Class, Partial, Bound)) else UNKNOWN
    ),
}


def math_call(name: str, arguments: Arguments) -> Value:
    """A function of the module math."""
    numbers = [value.value for value in arguments.args if isinstance(value, Const)]
    if name in _MATH and len(numbers) == len(arguments.args) and arguments.sure:
        return _folded(getattr(math, name), numbers)
    return derived(f"math.{name}", *arguments.args)


# -- methods


def method(m: Machine, receiver: Value, name: str, arguments: Arguments, place: Place) -> Value:
    """A method of a container, string or array."""
    match receiver:
        case List():
            return _list_method(m, receiver, name, arguments, place)
        case Dict():
            return _dict_method(m, receiver, name, arguments, place)
        case Fields():
            return _fields_method(m, receiver, name, arguments, place)
        case Const(value=str(text)):
            return _string_method(m, text, name, arguments, place)
        case Array():
            if name == "astype":
                return Array(None)
            return (
                Array(receiver.dtype)
                if name in ("copy", "reshape", "squeeze", "flatten", "ravel", "transpose")
                else UNKNOWN
            )
        case Tuple() if name in {"index", "count"}:
            return UNKNOWN
        case _:
            return UNKNOWN


def _list_method(m: Machine, receiver: List, name: str, arguments: Arguments, place: Place) -> Value:
    items = m.items(receiver)
    first = arguments.args[0] if arguments.args else UNKNOWN
    match name:
        case "append" | "add":
            m.put_items(receiver.address, sequences.concatenate(items, Tuple((first,))))
        case "extend" | "update":
            m.put_items(receiver.address, sequences.concatenate(items, sequences.iterate(m, first, place)))
        case "insert" if len(arguments.args) == 2:
            value = arguments.args[1]
            if isinstance(first, Const) and isinstance(first.value, int) and items.rest is None:
                changed = list(items.items)
                changed.insert(first.value, value)
                m.put_items(receiver.address, Tuple(tuple(changed)))
            else:
                m.put_items(receiver.address, Tuple((), choice([sequences.anything(items), value])))
        case "pop":
            index = first.value if isinstance(first, Const) else -1
            if items.rest is None and isinstance(index, int) and -len(items.items) <= index < len(items.items):
                changed = list(items.items)
                gone = changed.pop(index)
                m.put_items(receiver.address, Tuple(tuple(changed)))
                return gone
            m.put_items(receiver.address, Tuple((), sequences.anything(items)) if items.items or items.rest else items)
            return sequences.anything(items)
        case "reverse":
            turned = Tuple(items.items[::-1]) if items.rest is None else Tuple((), sequences.anything(items))
            m.put_items(receiver.address, turned)
        case "clear":
            m.put_items(receiver.address, Tuple(()))
        case "remove":
            kept = tuple(item for item in items.items if item != first)
            sure = items.rest is None and len(kept) == len(items.items) - 1
            m.put_items(receiver.address, Tuple(kept) if sure else Tuple((), sequences.anything(items)))
        case "copy":
            return m.new_list(place, items, receiver.kind)
        case "sort":
            if not all(isinstance(item, Const) for item in items.items) or items.rest is not None:
                m.put_items(
                    receiver.address, Tuple((), sequences.anything(items)) if items.items or items.rest else items
                )
        case _:
            return UNKNOWN
    return NONE


def _dict_method(m: Machine, receiver: Dict, name: str, arguments: Arguments, place: Place) -> Value:
    entries = m.entries(receiver)
    match name:
        case "get" | "pop" | "setdefault" if arguments.args:
            key = arguments.args[0]
            default = arguments.args[1] if len(arguments.args) > 1 else NONE
            found = sequences.lookup(entries, key)
            if name == "pop":
                m.put_entries(receiver.address, Entries(tuple(p for p in entries.pairs if p[0] != key), entries.rest))
            if name == "setdefault" and found is None:
                m.put_entries(receiver.address, sequences.updated(entries, Entries(((key, default),))))
            if found is None:
                return default
            return found if any(k == key for k, _ in entries.pairs) else choice([found, default])
        case "items":
            rows = tuple(Tuple((key, value)) for key, value in entries.pairs)
            rest = Tuple((UNKNOWN, entries.rest)) if entries.rest is not None else None
            return m.new_list(place, Tuple(rows, rest), "items")
        case "keys":
            return m.new_list(place, sequences.iterate(m, receiver, place), "keys")
        case "values":
            return m.new_list(place, Tuple(tuple(value for _, value in entries.pairs), entries.rest), "values")
        case "update":
            more = Entries(tuple((Const(key), value) for key, value in arguments.keywords), arguments.more)
            for value in arguments.args:
                held = m.entries(value) if isinstance(value, Dict) else m.entries(_as_dict(m, value, place))
                more = sequences.updated(held, more)
            m.put_entries(receiver.address, sequences.updated(entries, more))
            return NONE
        case "copy":
            return m.new_dict(place, entries)
        case "clear":
            m.put_entries(receiver.address, Entries())
            return NONE
        case _:
            return UNKNOWN


def _fields_method(m: Machine, receiver: Fields, name: str, arguments: Arguments, place: Place) -> Value:
    """A method of `obj.__dict__`: what it holds beside the fields that are asked for by name is not known."""
    match name, arguments.args:
        case "keys", _:
            return receiver
        case "get" | "pop" | "setdefault", (Const(value=str(field)), *_):
            held = m.field(receiver.of.address, field)
            return UNKNOWN if held is None else held
        case "update", _:
            given = [m.entries(value).pairs for value in arguments.args if isinstance(value, Dict)]
            named = [(Const(key), value) for key, value in arguments.keywords]
            for key, value in (*(pair for pairs in given for pair in pairs), *named):
                if isinstance(key, Const) and isinstance(key.value, str):
                    m.put(receiver.of.address, key.value, value)
            return NONE
        case _:
            return UNKNOWN


def _as_dict(m: Machine, value: Value, place: Place) -> Dict:
    made = _dict(m, Arguments((value,)), place)
    return made if isinstance(made, Dict) else m.new_dict(place, Entries((), UNKNOWN))


def _string_method(m: Machine, text: str, name: str, arguments: Arguments, place: Place) -> Value:
    constants = [value.value for value in arguments.args if isinstance(value, Const)]
    if name == "join" and arguments.args:
        parts = sequences.iterate(m, arguments.args[0], place)
        words = [item.value for item in parts.items if isinstance(item, Const) and isinstance(item.value, str)]
        return Const(text.join(words)) if parts.rest is None and len(words) == len(parts.items) else UNKNOWN
    if name == "format" and len(constants) == len(arguments.args) and not arguments.keywords and arguments.sure:
        return _folded(text.format, constants) if len(text) < 200 and "{:" not in text else UNKNOWN
    if name in _STRING_METHODS and len(constants) == len(arguments.args) and arguments.sure and not arguments.keywords:
        return _folded(getattr(text, name), constants)
    return derived(f"str.{name}", Const(text), *arguments.args)
