"""What Python itself brings: its builtin functions, the module `math`, and the methods of values of its own types."""

from __future__ import annotations

import ast
import builtins
import functools
import math
from collections.abc import Callable
from types import NoneType
from typing import TYPE_CHECKING, Any, Final

from mplint import keras_api
from mplint.interpreter import (
    arrays,
    candidates,
    containers,
    late_imports,
    mappings,
    namespaces,
    sequences,
    strings,
    versions,
)
from mplint.interpreter.calls import Arguments, each
from mplint.interpreter.classes import MADE_TUPLE, class_attribute, is_open, library_bases, method_of, tuple_fields
from mplint.interpreter.concrete import MAX_TEXT, concrete
from mplint.interpreter.conditions import truth
from mplint.interpreter.folding import NotKnown
from mplint.interpreter.keras.info import is_subclass
from mplint.interpreter.keras.names import is_callable
from mplint.interpreter.state import is_attribute
from mplint.interpreter.values import (
    FALSE,
    NONE,
    TRUE,
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
    Maybe,
    Module,
    Partial,
    Place,
    Policy,
    Range,
    Super,
    Tensor,
    Tuple,
    Unknown,
    Value,
    Varying,
    choice,
    derived,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

BUILTINS: Final = frozenset({*dir(builtins), "get_ipython"}) - {
    *("True", "False", "None", "__name__", "__doc__", "__spec__", "__loader__")
}
"""The names that are there without an import; the last of them in a notebook."""

_PURE: Final[dict[str, Callable[..., object]]] = {
    "abs": abs,
    "bool": bool,
    "float": float,
    "int": int,
    "str": str,
    "round": lambda number, digits=None: round(number, digits) if digits is None or abs(digits) < 64 else None,
    "repr": repr,
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
    if isinstance(first, Varying):
        return versions.apply(m, _PURE[name], args, place, name)
    if isinstance(first, Choice) and len(args) == 1:
        return choice([_pure(m, name, (option,), place) for option in first.options])
    if name == "len":
        return _length(m, first)
    if name == "bool":
        outcome = truth(m, first)
        if outcome is not None:
            return Const(outcome)
        return candidates.through(first, derived("bool", first), lambda value: _pure(m, name, (value,), place))
    if name == "sum":
        return _sum(m, args, place)
    if name in ("str", "repr"):
        return _written(m, name, first)
    result: Value = derived(name, *args)
    return candidates.through(first, result, lambda value: _pure(m, name, (value, *args[1:]), place))


def _written(m: Machine, name: str, value: Value) -> Value:
    """`str` and `repr` of a container."""
    try:
        held = concrete(m, value)
    except NotKnown:
        return derived(name, value) if isinstance(value, Unknown) else UNKNOWN
    if not isinstance(held, (tuple, list, dict)) or isinstance(value, Instance):
        return UNKNOWN
    return Const(str(held)) if len(str(held)) <= MAX_TEXT and "frozenset" not in str(held) else UNKNOWN


def _extreme(name: str) -> Callable[[Machine, Arguments, Place], Value]:
    function = {"min": min, "max": max}[name]

    def run(m: Machine, arguments: Arguments, place: Place) -> Value:
        if not arguments.args or not arguments.sure:
            return UNKNOWN
        several = len(arguments.args) > 1
        items = Tuple(arguments.args) if several else elements(m, arguments.args[0], place)
        default = arguments.get("default")
        if items.rest is None and not items.items:
            return UNKNOWN if default is None else default
        known = _constants(items)
        if known is not None and arguments.get("key") is None:
            return _folded(function, [known])
        key = Arguments((), tuple(pair for pair in arguments.keywords if pair[0] == "key"))
        ordered = containers.in_order(m, items, key, place)
        if ordered.rest is not None or name == "max":  # the last of several greatest need not be the first
            return sequences.anything(items) if items.items else UNKNOWN
        return ordered.items[0]

    return run


def _constants(items: Tuple) -> list[Any] | None:
    constants = [item.value for item in items.items if isinstance(item, Const)]
    return constants if items.rest is None and len(constants) == len(items.items) else None


def elements(m: Machine, value: Value, place: Place) -> Tuple:
    """The elements for a function to which their order is all one."""
    if isinstance(value, List) and value.kind == "set":
        return m.items(value)
    return sequences.iterate(m, value, place, whole=True)


def _sum(m: Machine, args: tuple[Value, ...], place: Place) -> Value:
    """`sum(items, start)`: `+` from left to right."""
    items = elements(m, args[0], place)
    if len(args) > 2 or not (items.rest is None or isinstance(items.rest, Tensor)):
        return UNKNOWN
    known = _constants(items)
    if known is not None and len(args) == 1:
        return _folded(sum, [known])
    total = args[1] if len(args) == 2 else Const(0)
    if isinstance(total, List):  # one list is made, however many are put together
        held = m.items(total)
        for item in items.items:
            held = sequences.concatenate(held, sequences.iterate(m, item, place))
        return m.new_list(place, held)
    for item in (*items.items, *(() if items.rest is None else (items.rest,))):
        total = m.binary("Add", total, item, place)
    return total


def _folded(function: Callable[..., object], args: list[object]) -> Value:
    try:
        result = function(*args)
    except Exception:  # noqa: BLE001  (the program's own error)
        return UNKNOWN
    if isinstance(result, (bool, int, float, complex, str, bytes)) and not (
        isinstance(result, str) and len(result) > MAX_TEXT
    ):
        return Const(result)
    if isinstance(result, tuple) and all(isinstance(part, (int, float)) for part in result):
        return Tuple(tuple(Const(part) for part in result))
    return UNKNOWN


def _length(m: Machine, value: Value) -> Value:
    match value:
        case Tuple() | List():
            items = value if isinstance(value, Tuple) else m.items(value)
            return Const(len(items.items)) if items.rest is None else UNKNOWN
        case Dict():
            entries = m.entries(value)
            return Const(len(entries.pairs)) if entries.rest is None and not entries.optional else UNKNOWN
        case Fields():
            size = namespaces.size(m, value)
            return UNKNOWN if size is None else Const(size)
        case Range():
            return Const(len(range(value.start, value.stop, value.step)))
        case Instance() if tuple_fields(m, value) is not None:
            return _length(m, sequences.iterate(m, value, value.address.place))
        case Instance(cls=Class()):
            method = method_of(m, value, "__len__")
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
        if kind == "set":
            items = elements(m, arguments.args[0], place) if arguments.args else Tuple(())
            return m.new_list(place, containers.as_set(items.items, items.rest), kind)
        items = sequences.iterate(m, arguments.args[0], place, whole=True) if arguments.args else Tuple(())
        return items if kind == "tuple" else m.new_list(place, items)

    return make


def _dict(m: Machine, arguments: Arguments, place: Place) -> Value:
    entries = containers.mapping(m, arguments.args[0], place) if arguments.args else Entries()
    keywords = arguments.named()
    return m.new_dict(place, sequences.updated(entries, keywords))


def _of_dict(name: str) -> Callable[[Machine, Arguments, Place], Value]:
    """A method of `dict`, called as a function: `dict.get(mapping, key)`."""

    def run(m: Machine, arguments: Arguments, place: Place) -> Value:
        if not arguments.args:
            return UNKNOWN
        held = mappings.view(arguments.args[0])
        others = Arguments(arguments.args[1:], arguments.keywords, arguments.rest, arguments.more)
        return containers.dict_method(m, held, name, others, place) if isinstance(held, Dict) else UNKNOWN

    return run


def _from_keys(m: Machine, arguments: Arguments, place: Place) -> Value:
    if not arguments.args or not arguments.sure:
        return UNKNOWN
    keys = sequences.iterate(m, arguments.args[0], place, whole=True)
    value = arguments.args[1] if len(arguments.args) > 1 else NONE
    entries = Entries((), value if keys.rest is not None else None)
    for key in keys.items:
        entries = sequences.updated(entries, sequences.entry(key, value))
    return m.new_dict(place, entries)


def _zip(m: Machine, arguments: Arguments, place: Place) -> Value:
    if arguments.rest is not None:  # rows, of which it is not known how many there are: their columns
        given = [*arguments.args, arguments.rest]
        known = [row for row in given if isinstance(row, Tuple) and row.rest is None]
        if len(known) < len(given) or len({len(row.items) for row in known}) > 1:
            return m.new_list(place, Tuple((), UNKNOWN), "iterator")
        held = (Tuple((), choice(list(items))) for items in zip(*(row.items for row in known), strict=True))
        return m.new_list(place, Tuple(tuple(held)), "iterator")
    columns = [sequences.iterate(m, value, place) for value in arguments.args]
    if not columns:
        return m.new_list(place, Tuple(()), "iterator")
    if all(column.rest is None for column in columns):
        rows = zip(*(column.items for column in columns), strict=False)
        return m.new_list(place, Tuple(tuple(Tuple(tuple(row)) for row in rows)), "iterator")
    row = Tuple(tuple(sequences.anything(column) for column in columns))
    return m.new_list(place, Tuple((), row), "iterator")


def _enumerate(m: Machine, arguments: Arguments, place: Place) -> Value:
    if not arguments.args:
        return UNKNOWN
    items = sequences.iterate(m, arguments.args[0], place)
    start = arguments.get("start", 1) or Const(0)
    first = start.value if isinstance(start, Const) and isinstance(start.value, int) else None
    if items.rest is None and first is not None:
        rows = tuple(Tuple((Const(first + i), item)) for i, item in enumerate(items.items))
        return m.new_list(place, Tuple(rows), "iterator")
    return m.new_list(place, Tuple((), Tuple((UNKNOWN, sequences.anything(items)))), "iterator")


def _reversed(m: Machine, arguments: Arguments, place: Place) -> Value:
    if not arguments.args:
        return UNKNOWN
    items = sequences.iterate(m, arguments.args[0], place)
    return m.new_list(place, sequences.backwards(items), "iterator")


def _sorted(m: Machine, arguments: Arguments, place: Place) -> Value:
    if not arguments.args:
        return UNKNOWN
    return m.new_list(place, containers.in_order(m, elements(m, arguments.args[0], place), arguments, place))


def _map(m: Machine, arguments: Arguments, place: Place) -> Value:
    if len(arguments.args) < 2:
        return UNKNOWN
    function, *columns = arguments.args
    found = [sequences.iterate(m, column, place) for column in columns]
    if all(column.rest is None for column in found):
        rows = zip(*(column.items for column in found), strict=False)
        return m.new_list(place, Tuple(tuple(sequences.mapped(m, function, rows, place))), "iterator")
    result = m.call(function, Arguments(tuple(sequences.anything(column) for column in found)), place)
    return m.new_list(place, Tuple((), result), "iterator")


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
        return m.new_list(place, Tuple(tuple(kept)), "iterator")
    if items.rest is not None:
        kept.append(items.rest)
    return m.new_list(place, Tuple((), choice(kept) if kept else UNKNOWN), "iterator")


def _isinstance(m: Machine, arguments: Arguments, place: Place) -> Value:
    if len(arguments.args) != 2:
        return UNKNOWN
    value, classes = arguments.args
    wanted = sequences.iterate(m, classes, place).items if isinstance(classes, (Tuple, List)) else (classes,)
    outcomes = [is_instance(value, cls) for cls in wanted]
    if True in outcomes:
        return TRUE
    if None in outcomes:
        return derived("isinstance", value, *wanted)
    return FALSE


_TYPES: Final = {bool: "bool", int: "int", float: "float", complex: "complex", str: "str", bytes: "bytes"}


def is_instance(value: Value, cls: Value) -> bool | None:
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
            if value.kind == "set" and path in ("builtins.set", "builtins.frozenset"):
                return None
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
            bases = library_bases(own)
            if path in bases or path == "builtins.object":
                return True
            known = next((base for base in bases if keras_api.kind(base) is not None), None)
            if known is not None:
                return is_subclass(known, path)
            return False if path.startswith("builtins.") and not bases else None
        case Instance(cls=Api(path=own_path)):
            if isinstance(cls, Class):
                return False
            if value.cls == MADE_TUPLE:
                return path in ("builtins.tuple", "builtins.object") or None
            return True if own_path == path else is_subclass(own_path, path)
        case DType(text=True):
            return path in ("builtins.str", "builtins.object")
        case Tensor() | DType() | Policy():
            if isinstance(cls, Class) or path.startswith("builtins."):
                return False
            return None
        case _:
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
            there = m.has_attribute(value, name)
            if default and there is False:
                return default[0]
            found = m.attribute(value, name, place)
            return candidates.or_else(found, default[0]) if default and there is None else found
        case (value, Choice() as names, *_):
            return choice([_getattr(m, Arguments((value, name)), place) for name in names.options])
        case (Module(frame=frame), name, *_):
            return namespaces.looked_up(m, frame, name)
        case (value, Unknown() as name, *_) if name.candidates:
            likely = [_getattr(m, Arguments((value, candidate.value)), place) for candidate in name.candidates]
            known = [held for held in likely if isinstance(held, (Api, Class, Function, Bound))]
            return choice(list(known)) if known else derived("getattr", value, name)
        case (value, name, *_):
            return derived("getattr", value, name)
        case _:
            return UNKNOWN


def _hasattr(m: Machine, arguments: Arguments, place: Place) -> Value:
    match arguments.args:
        case (value, Const(value=str(name))):
            there = m.has_attribute(value, name)
            if there is None and isinstance(value, Api):
                return derived("hasattr", Api(value.path), name)
            return derived("hasattr", UNKNOWN, str(value)) if there is None else Const(there)
        case _:
            return UNKNOWN


def _setattr(m: Machine, arguments: Arguments, place: Place) -> Value:
    match arguments.args:
        case (target, Const(value=str(name)), value) if is_attribute(name):
            m.set_attribute(target, name, value, place)
        case (Instance() as target, _, value):
            m.escape(value)
            namespaces.loosen(m, Fields(target))
        case (_, _, value):
            m.escape(value)
        case _:
            pass
    return NONE


def _delattr(m: Machine, arguments: Arguments, place: Place) -> Value:
    match arguments.args:
        case (target, Const(value=str(name))):
            m.delete_attribute(target, name, place)
        case (Instance() as target, _):
            namespaces.loosen(m, Fields(target))
        case _:
            pass
    return NONE


def _type(m: Machine, arguments: Arguments, place: Place) -> Value:
    match arguments.args:
        case (Instance(cls=cls),):
            return cls
        case (Const(value=constant),) if type(constant) in _TYPES:
            return Api(f"builtins.{_TYPES[type(constant)]}")
        case (Tuple(),):
            return Api("builtins.tuple")
        case (Dict(address=address),) if m.state.get((address, sequences.FACTORY)) is None:
            return Api("builtins.dict")
        case (List(kind="list"),):
            return Api("builtins.list")
        case _:
            return UNKNOWN


def _any_all(name: str) -> Callable[[Machine, Arguments, Place], Value]:
    def run(m: Machine, arguments: Arguments, place: Place) -> Value:
        if not arguments.args:
            return UNKNOWN
        items = sequences.iterate(m, arguments.args[0], place)  # not all is taken
        outcomes = [truth(m, item) for item in items.items]
        if name == "any" and True in outcomes:
            return TRUE
        if name == "all" and False in outcomes:
            return FALSE
        if items.rest is not None:
            return UNKNOWN
        left = [item for item, outcome in zip(items.items, outcomes, strict=True) if outcome is None]
        if not left:
            return Const(name == "all")
        first, *others = left
        word = "and" if name == "all" else "or"
        return functools.reduce(lambda one, other: derived(word, one, other), others, derived("bool", first))

    return run


def _next(m: Machine, arguments: Arguments, place: Place) -> Value:
    if not arguments.args:
        return UNKNOWN
    value, *default = arguments.args
    if not (isinstance(value, List) and value.kind == "iterator"):
        return choice([sequences.anything(sequences.iterate(m, value, place)), *default])
    items = sequences.first_of(m, value, place)
    if items.items:
        return items.items[0]
    return choice([*([items.rest] if items.rest is not None else []), *default]) if default else items.rest or UNKNOWN


def _iter(m: Machine, arguments: Arguments, place: Place) -> Value:
    match arguments.args:
        case ((List(kind="iterator") as value),):
            return value
        case ((Tuple() | List() | Dict() | Range() | Const() | Fields()) as value,):
            return m.new_list(place, sequences.iterate(m, value, place), "iterator")
        case (value, *_):
            return value
        case _:
            return UNKNOWN


def _set_plainly(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`object.__setattr__(obj, name, value)`."""
    match arguments.args:
        case (Instance() as target, Const(value=str(name)), value) if is_attribute(name):
            m.set_attribute(target, name, value, place, plainly=True)
        case (Instance() as target, _, _):
            namespaces.loosen(m, Fields(target))
        case (Choice(options=found), *others):
            each(m, found, lambda option: _set_plainly(m, Arguments((option, *others)), place))
        case _:
            pass
    return NONE


def _get_plainly(m: Machine, arguments: Arguments, place: Place) -> Value:
    match arguments.args:
        case (Instance() as target, Const(value=str(name))):
            return m.attribute(target, name, place, plainly=True)
        case _:
            return UNKNOWN


def _delete_plainly(m: Machine, arguments: Arguments, place: Place) -> Value:
    match arguments.args:
        case (Instance() as target, name):
            namespaces.delete(m, Fields(target), name)
        case _:
            pass
    return NONE


def _callable(m: Machine, value: Value) -> Value:
    match value:
        case Function() | Class() | Partial() | Bound(callee=Function()):
            return TRUE
        case Const() | Tuple() | List() | Dict():
            return FALSE
        case Instance(cls=Class() as cls) if class_attribute(m, cls, "__call__") is not None:
            return TRUE
        case Instance(cls=Class() as cls) if not library_bases(cls) and not is_open(cls):
            return FALSE
        case Api() if is_callable(value.path):
            return TRUE
        case _:
            return derived("callable", value)


def _print(m: Machine, arguments: Arguments, place: Place) -> Value:
    return NONE


def _super(m: Machine, arguments: Arguments, place: Place) -> Value:
    match arguments.args:
        case (Class() as cls, Instance() as receiver):
            return Super(receiver, cls)
        case _:
            return UNKNOWN


def _vars(m: Machine, arguments: Arguments, place: Place) -> Value:
    match arguments.args:
        case (Instance() as instance,):
            return m.attribute(instance, "__dict__", place)
        case (Choice(options=found),):
            return choice([_vars(m, Arguments((option,)), place) for option in found])
        case (Module(frame=frame),):
            return Fields(frame)
        case ():
            return _locals(m, arguments, place)
        case _:
            return UNKNOWN


def _globals(m: Machine, arguments: Arguments, place: Place) -> Value:
    return Fields(m.stack[-1].frame.module)


def _locals(m: Machine, arguments: Arguments, place: Place) -> Value:
    frame = m.stack[-1].frame
    return Fields(frame) if frame.kind == "module" else UNKNOWN


def _exec(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`exec` and `eval`: what the text may change is not known behind them."""
    frame = m.stack[-1].frame.module
    text = arguments.args[0] if arguments.args else UNKNOWN
    if late_imports.runs_file(m, text):
        return NONE
    names = _stored(text.value) if isinstance(text, Const) and isinstance(text.value, str) else None
    for value in arguments.args[1:]:
        m.escape(value)
        if isinstance(value, Dict):
            m.put_entries(value.address, Entries((), UNKNOWN))
    if len(arguments.args) > 1 and not isinstance(arguments.args[1], Fields):
        return UNKNOWN
    for name in frame.bound if names is None else names:
        held = m.variable(frame, name)
        if isinstance(held, Class):
            for field in m.fields(held.frame):
                m.bind(held.frame, field, Maybe(UNKNOWN))
        elif names is not None or not isinstance(held, (Function, Module, Api, NoneType)):
            frame.bound[name] = None
            m.bind(frame, name, UNKNOWN)
    return UNKNOWN


def _stored(text: str) -> set[str] | None:
    """The variables that a piece of source may write, or whose attributes; None where it may do anything."""
    try:
        tree = ast.parse(text.strip()) if len(text) <= MAX_TEXT else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    nodes = list(ast.walk(tree)) if tree is not None else []
    if not nodes or any(isinstance(node, (ast.Call, ast.Import, ast.ImportFrom, ast.Subscript)) for node in nodes):
        return None
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return names if any(isinstance(node, (ast.Assign, ast.AugAssign, ast.Delete)) for node in nodes) else set()


_FUNCTIONS: Final[dict[str, Callable[[Machine, Arguments, Place], Value]]] = {
    "range": _range,
    "list": _sequence("list"),
    "tuple": _sequence("tuple"),
    "set": _sequence("set"),
    "frozenset": _sequence("set"),
    "dict": _dict,
    "dict.fromkeys": _from_keys,
    **{f"dict.{name}": _of_dict(name) for name in ("get", "__getitem__", "__setitem__")},
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
    "min": _extreme("min"),
    "max": _extreme("max"),
    "delattr": _delattr,
    "object.__setattr__": _set_plainly,
    "object.__getattribute__": _get_plainly,
    "object.__delattr__": _delete_plainly,
    "vars": _vars,
    "globals": _globals,
    "locals": _locals,
    "exec": _exec,
    "eval": _exec,
    "callable": lambda m, arguments, place: _callable(m, arguments.args[0]) if arguments.args else UNKNOWN,
}


def default_dict(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`collections.defaultdict(factory, …)`."""
    first, *others = arguments.args or (NONE,)
    made = _dict(m, Arguments(tuple(others), arguments.keywords, arguments.rest, arguments.more), place)
    if isinstance(made, Dict) and first != NONE:
        m.state.set((made.address, sequences.FACTORY), first)
    return made


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
            return containers.list_method(m, receiver, name, arguments, place)
        case Dict():
            return containers.dict_method(m, receiver, name, arguments, place)
        case Fields():
            return containers.namespace_method(m, receiver, name, arguments, place)
        case Const(value=str(text)):
            return strings.method(m, text, name, arguments, place)
        case Tuple():
            return containers.tuple_method(m, receiver, name, arguments)
        case Array():
            return arrays.method(m, receiver, name, arguments, place)
        case Varying():
            return versions.method(m, receiver, name, arguments, place)
        case _:
            return UNKNOWN
