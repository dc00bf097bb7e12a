"""Operations on tensors: the dtype of each result, as the table measured it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from mplint import keras_api
from mplint.interpreter import scalars
from mplint.interpreter.calls import Arguments
from mplint.interpreter.keras import variables, weights
from mplint.interpreter.keras.names import dtype_named
from mplint.interpreter.scaling import may_be_scaled
from mplint.interpreter.trace import Computed, Counted, DTypeTaken, Event, Reported, Settled, Updated
from mplint.interpreter.values import (
    FLOATS,
    HALF,
    NEVER,
    NONE,
    OUTER,
    UNKNOWN,
    WIDE,
    Api,
    ApiMethod,
    Array,
    Bound,
    Choice,
    Const,
    DType,
    Entries,
    Instance,
    List,
    Made,
    Place,
    Symbol,
    Tensor,
    Tuple,
    Unknown,
    Value,
    alternatives,
    choice,
    softmaxes,
)
from mplint.keras_api.arithmetic import COMPARES, CONSTANT, OVER, TAKES_IDS, TAKES_LABELS, TIMES
from mplint.keras_api.stability import is_heavy

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

_CASTS: Final = frozenset(
    {"tensorflow.cast", "keras.ops.cast", "keras.backend.cast", "tensorflow.dtypes.cast", "tensorflow.saturate_cast",
     "tensorflow.dtypes.saturate_cast", "keras.ops.convert_to_tensor", "tensorflow.convert_to_tensor"}
)  # fmt: skip
COUNTS: Final = frozenset({"tensorflow.range", "keras.ops.arange", "keras.backend.arange"})
"""Functions that make whole numbers one after the other."""
_ASSIGNS: Final = frozenset({"assign", "assign_add", "assign_sub"})
_BY_SYMBOL: Final = "operator."
"""What an operator does with a KerasTensor is an operation of `keras.ops`: the model runs that, not the operator."""
WITH_NUMBERS: Final = TIMES | OVER | {CONSTANT}
"""Functions of which it is noted which numbers they are given beside tensors."""
_MOST_PARTS: Final = 64
"""A tensor cut into more parts than this is a sequence of unknown length."""
_OPERATORS: Final = {
    "Add": "+",
    "Subtract": "-",
    "Multiply": "*",
    "Divide": "/",
    "FloorDivide": "//",
    "Modulo": "%",
    "Power": "**",
    "MatrixMultiply": "@",
    "Equal": "==",
    "NotEqual": "!=",
    "LessThan": "<",
    "LessThanEqual": "<=",
    "GreaterThan": ">",
    "GreaterThanEqual": ">=",
    "BitAnd": "&",
    "BitOr": "|",
    "BitXor": "^",
}


_REFLECTED: Final = frozenset({"*", "/", "//"})
"""Operators of which it is noted that the tensor is the right operand: `operator.r/` is `2 / x`, as `__rtruediv__`."""


_OF_PYTHON: Final = {"builtins.float": "float32", "builtins.int": "int64", "builtins.bool": "bool"}
"""Types of Python's that name a dtype."""


def dtype_of(m: Machine, value: Value) -> str | None:
    """The dtype that `value` names: a dtype object, a string, a NumPy scalar type."""
    match value:
        case DType(name=name):
            return name
        case Const(value=str(text)):
            return keras_api.dtype_name(text)
        case Api(path=path) if path in _OF_PYTHON:
            return _OF_PYTHON[path]
        case Api():
            return dtype_named(value)
        case Choice():
            found = {dtype_of(m, option) for option in value.options}
            return found.pop() if len(found) == 1 else None
        case _:
            return None


def symbolic_input(m: Machine, dtype: str | None, place: Place, layer: Instance | None = None) -> Tensor:
    """A KerasTensor that stands for the data of a model."""
    made = Made("input", place, m.context, by="keras.Input", layer=layer, computed_in=dtype)
    return Tensor(dtype, made, True)


def cast(m: Machine, value: Value, dtype: str | None, place: Place, by: str) -> Value:
    """`tf.cast(value, dtype)`: new dtype, the same numbers as far as they survive."""
    match value:
        case Tensor():
            value = weights.read_tensor(m, value)
            if dtype in WIDE:
                _settle(m, value)
            held = (variables.read(m, value),)
            made = Made("cast", place, m.context, by=by, operands=held, computed_in=dtype, arguments=(("x", value),))
            return _cast_to(m, Tensor(dtype, made, value.symbolic, value.softmax), value)
        case Choice():
            return choice([cast(m, option, dtype, place, by) for option in value.options])
        case Tuple() | List() if not by.endswith("convert_to_tensor"):
            if dtype in WIDE:
                for part in m.parts(value):
                    if isinstance(part, Tensor):
                        _settle(m, part)
            return UNKNOWN
        case _:
            others = (value,) if isinstance(value, Const) else ()
            given = (("x", value),)
            made = Made("cast", place, m.context, by=by, computed_in=dtype, others=others, arguments=given)
            return _cast_to(m, Tensor(dtype, made, False), value)


def _cast_to(m: Machine, result: Tensor, value: Value) -> Tensor:
    """The tensor `result`, which is `value` in another dtype."""
    made = result.made
    if made.place is not None and (result.dtype in HALF or (isinstance(value, Tensor) and value.dtype in HALF)):
        m.record(Computed(made.place, m.context, made.by, made.arguments, result, made.operands, m.caller))
    return result


def _note(m: Machine, by: str, made: Made, found: keras_api.Outcome, result: Tensor) -> None:
    """Record an operation of which half precision is a part."""
    if made.place is not None and (
        result.dtype in HALF
        or any(operand.dtype in HALF for operand in made.operands)
        or isinstance(found, keras_api.Clash)
        or (_is_asked_for_casts(made.by) and any(_is_cast_up(operand) for operand in made.operands))
        or is_noted(made.by)
    ):
        raises = isinstance(found, keras_api.Clash)
        given = None if raises else result
        m.record(Computed(made.place, m.context, by, made.arguments, given, made.operands, m.caller))


def _is_asked_for_casts(path: str) -> bool:
    """Whether it matters that operands which are not half precision any more were so before."""
    return path in TAKES_IDS or path in TAKES_LABELS or is_heavy(path)


def _is_cast_up(tensor: Tensor) -> bool:
    """Whether a tensor is a half-precision one, cast to another dtype and moved at most."""
    made = tensor.made
    while made.kind == "operation" and len(made.operands) == 1:
        made = made.operands[0].made
    return made.kind == "cast" and any(operand.dtype in HALF for operand in made.operands)


def is_noted(path: str) -> bool:
    """Whether an operation is recorded whatever the dtype of its operands: what they were before matters, too."""
    return path.endswith(("crossentropy", "Crossentropy"))


def _settle(m: Machine, value: Tensor) -> None:
    """The half-precision result of a model that its caller casts to float32 by itself."""
    for way in alternatives(value):
        if way.made.kind == "model" and way.made.layer is not None and way.dtype in HALF:
            m.record(Settled(way.made.layer))


def operator(m: Machine, name: str, left: Value, right: Value, place: Place) -> Value:
    """`left <op> right` where a tensor takes part."""
    left, right = weights.read(m, left), weights.read(m, right)
    tensors = [variables.read(m, value) for value in (left, right) if isinstance(value, Tensor)]
    meet(m, tensors, place)
    symbol = _OPERATORS.get(name)
    if symbol in COMPARES and any(map(_is_limit, (left, right))) and may_be_scaled(tensors[0].made):
        m.record(Reported(place, m.context, tuple(tensors), f"operator.{symbol}"))
    symbolic = _symbolic(tensors)
    found = measured(m, f"operator.{symbol}", [left, right], symbolic) if symbol is not None else None
    dtype = found if isinstance(found, str) else None
    if isinstance(found, keras_api.Clash):
        dtype = _mended(m, f"operator.{symbol}", (("left", left), ("right", right)), symbolic)
    others = tuple(value for value in (left, right) if not isinstance(value, Tensor))
    reflected = "r" if symbol in _REFLECTED and not isinstance(left, Tensor) else ""
    made = Made(
        "operation",
        place,
        m.context,
        by=f"operator.{reflected}{symbol}",
        operands=tuple(tensors),
        computed_in=dtype,
        others=others,
        arguments=(("left", left), ("right", right)),
    )
    m.trace.tensors.count(place, isinstance(found, str))
    result = Tensor(dtype, made, symbolic)
    _note(m, made.by, made, found, result)
    return result


def in_doubt(m: Machine, ways: Sequence[Callable[[], Value]]) -> list[Value]:
    """What an operation gives in each of several ways that it may go: it raises for sure where it does so in all."""
    events = m.trace.events
    first = len(events)
    values: list[Value] = []
    is_sure = True
    for way in ways:
        before = len(events)
        values.append(way())
        is_sure = is_sure and any(map(_raises, events[before:]))
    if not is_sure:
        events[first:] = [event for event in events[first:] if not _raises(event)]
    return values


def _raises(event: Event) -> bool:
    return isinstance(event, Computed) and event.result is None


def _mended(m: Machine, path: str, arguments: tuple[tuple[str, Value], ...], symbolic: bool | None) -> str | None:
    """The dtype of what raises for its operands' dtypes, once those that are wider have been cast to the half one.

    Nothing runs behind it before that is done; what would go wrong there then is told at once. A KerasTensor of Keras 3
    is refused for another reason.
    """
    if m.generation == "3" and symbolic is not False:
        return None
    half = {part.dtype for _, value in arguments for part in m.parts(value) if isinstance(part, Tensor)} & HALF
    if len(half) != 1:
        return None
    dtype = half.pop()

    def narrowed(value: Value) -> Value:
        if isinstance(value, Tensor) and value.dtype in WIDE:
            return replace(value, dtype=dtype)
        items = m.items(value) if isinstance(value, List) else value
        return Tuple(tuple(map(narrowed, items.items)), items.rest) if isinstance(items, Tuple) else value

    found = [narrowed(value) for _, value in arguments]
    if path.startswith(_BY_SYMBOL):
        result = outcome(m, path, found, symbolic)
    else:
        result = outcome(m, path, dict(zip([name for name, _ in arguments], found, strict=True)), symbolic)
    return result if isinstance(result, str) else None


def _is_limit(value: Value) -> bool:
    """Whether a number says how large something may be: nothing is as small as 0 or as large as inf."""
    number = value.value if isinstance(value, Const) else None
    return isinstance(number, (int, float)) and number != 0 and math.isfinite(number)


def meet(m: Machine, tensors: list[Tensor], place: Place) -> None:
    """Note which layers' results, and which softmaxes of functions, meet another half-precision tensor here."""
    for tensor in tensors:
        if not any(other.dtype in HALF for other in tensors if other is not tensor):
            continue
        for way in alternatives(tensor):
            for maker in _makers(m, way.made):
                m.trace.mixed.setdefault(maker, {})[place] = None


def _makers(m: Machine, made: Made) -> Iterator[Instance | Place]:
    """The layers, and the calls of softmax functions, whose results a tensor still is, put together or not."""
    stack = [made]
    while stack:
        here = stack.pop()
        if here.kind in OUTER or (here.kind == "operation" and here.by == "part") or here.by == "autocast":
            stack.extend(operand.made for operand in here.operands[:1])
        elif here.kind == "joined" or (here.kind == "operation" and keras_api.joins(here.by, m.generation)):
            stack.extend(operand.made for operand in here.operands)
        elif here.kind == "layer" and here.layer is not None:
            yield here.layer
        elif here.kind == "operation" and here.place is not None and keras_api.activation_of(here.by) == "softmax":
            yield here.place


def unary(m: Machine, name: str, value: Value, place: Place) -> Value:
    """`-value`, `+value`, `~value`."""
    if not isinstance(value, Tensor):
        return scalars.unary(name, value) if isinstance(value, Array) else value
    value = weights.read_tensor(m, value)
    made = Made(
        "operation",
        place,
        m.context,
        by=f"operator.{name}",
        operands=(variables.read(m, value),),
        computed_in=value.dtype,
        arguments=(("x", value),),
    )
    return Tensor(value.dtype, made, value.symbolic, value.softmax if name == "Plus" else None)


def part_of(m: Machine, tensor: Tensor, place: Place) -> Tensor:
    """A slice, element or other part of a tensor: the same numbers, so the same dtype and the same softmax."""
    tensor = weights.read_tensor(m, tensor)
    held = (variables.read(m, tensor),)
    made = Made("operation", place, m.context, by="part", operands=held, computed_in=tensor.dtype)
    return Tensor(tensor.dtype, made, tensor.symbolic, tensor.softmax)


def _symbolic(tensors: list[Tensor]) -> bool | None:
    if any(tensor.symbolic for tensor in tensors):
        return True
    return None if any(tensor.symbolic is None for tensor in tensors) else False


def outcome(
    m: Machine, path: str, operands: Sequence[Value] | dict[str, Value], symbolic: bool | None
) -> str | tuple[str, ...] | None:
    """The dtype of an operation's result, or of each of its results; None when not measured, or when it raises."""
    found = measured(m, path, operands, symbolic)
    return None if isinstance(found, keras_api.Clash) else found


def measured(
    m: Machine, path: str, operands: Sequence[Value] | dict[str, Value], symbolic: bool | None
) -> keras_api.Outcome:
    """The same, with a Clash where it raises."""
    operation = keras_api.operation(path, m.generation)
    if operation is None:
        return None
    if isinstance(operands, dict):
        wanted = operands.get(operation.dtype or "", NONE)
        if wanted != NONE and dtype_of(m, wanted) is None:
            return None  # which is not the same as none
        named = tuple([(name, _argument(m, value)) for name, value in operands.items()])
        return _measured(operation, path, None, named, bool(symbolic))
    return _measured(operation, path, tuple([_operand(m, value) for value in operands]), (), bool(symbolic))


@lru_cache(maxsize=16384)
def _measured(
    operation: keras_api.Operation,
    path: str,
    operands: tuple[keras_api.Operand | None, ...] | None,
    named: tuple[tuple[str, object], ...],
    symbolic: bool,
) -> keras_api.Outcome:
    """The same for the positional `operands`, or where there are none for the `named` ones."""
    given = dict(named) if operands is None else operands
    result = operation.result(given, symbolic=symbolic)
    if symbolic and isinstance(result, str) and not path.startswith(_BY_SYMBOL):
        real = operation.result(given, symbolic=False)
        if isinstance(real, str) and real != result:
            return None  # a KerasTensor says one thing, and what the model computes is another
    return result


def _argument(m: Machine, value: Value) -> object:
    """An argument as the table takes it: an operand, a constant, or None."""
    found = _operand(m, value)
    if found is not None and not isinstance(value, Const):
        return found
    if isinstance(value, Const):
        return value.value if isinstance(value.value, (str, bool, type(None))) else found
    return dtype_of(m, value)


def _operand(m: Machine, value: Value) -> keras_api.Operand | None:
    """A value as the table's rules see an operand; None when not known."""
    match value:
        case Tensor():
            dtype = weights.read_tensor(m, value).dtype
            return keras_api.tensor(dtype) if dtype is not None else None
        case Array(dtype=dtype, scalar=scalar):
            return keras_api.array(dtype, scalar)
        case Const(value=bool()):
            return keras_api.python("bool")
        case Const(value=int()):
            return keras_api.python("int")
        case Const(value=float()):
            return keras_api.python("float")
        case Unknown(symbol=Symbol() as symbol) if scalars.is_whole(symbol):
            return keras_api.python("int")
        case Unknown(symbol=Symbol() as symbol) if scalars.is_number(symbol):
            return keras_api.python("number")
        case Unknown(symbol=Symbol() as symbol) if scalars.is_computed(symbol):
            return keras_api.NUMERIC
        case Tuple() | List():
            items = value if isinstance(value, Tuple) else m.items(value)
            found = [_operand(m, item) for item in items.items]
            if items.rest is not None:  # that there are more of them makes no difference where all are alike
                found.append(_operand(m, items.rest))
                return keras_api.sequence(found) if found[0] is not None and len(set(found)) == 1 else None
            return keras_api.sequence(found) if any(item is not None for item in found) else None
        case _:
            return None


def converted(m: Machine, value: Value) -> str | None:
    """The dtype of the tensor that is made of a value where none is asked for."""
    match value:
        case Tensor(dtype=dtype) | Array(dtype=dtype):
            return dtype
        case Const(value=bool()):
            return "bool"
        case Const(value=int()):
            return "int32"
        case Const(value=float()):
            return "float32"
        case Unknown(symbol=Symbol() as symbol) if scalars.is_whole(symbol):
            return "int32"
        case Tuple() | List():
            items = value if isinstance(value, Tuple) else m.items(value)
            found = {converted(m, item) for item in items.items} if items.rest is None else set()
            return found.pop() if len(found) == 1 else "float32" if found == {"int32", "float32"} else None
        case _:
            return None


def apply(m: Machine, path: str, bound: dict[str, Value], place: Place) -> Value:
    """A function of the library on tensors."""
    if path in _CASTS:
        given = list(bound.values())
        wanted = bound.get("dtype")
        if not given:
            return UNKNOWN
        if wanted is None or wanted == NONE:
            if isinstance(given[0], Tensor):
                return given[0]
            return Tensor(converted(m, given[0]), Made("cast", place, m.context, by=path), False)
        return cast(m, given[0], dtype_of(m, wanted), place, path)
    bound = {name: weights.read(m, value) for name, value in bound.items()}
    parts = (part for value in bound.values() for part in m.parts(value))
    tensors = [variables.read(m, weights.read_tensor(m, part)) for part in parts if isinstance(part, Tensor)]
    meet(m, tensors, place)
    symbolic = _symbolic(tensors) if tensors else False
    found = measured(m, path, bound, symbolic)
    arguments = tuple(bound.items())
    kinds = (Unknown, Const) if path in WITH_NUMBERS else Unknown
    computed = found[0] if isinstance(found, tuple) and found else found
    if isinstance(found, keras_api.Clash):
        computed = _mended(m, path, arguments, symbolic)
    made = Made(
        "operation",
        place,
        m.context,
        by="operator.r/" if path in OVER and bound and type(next(iter(bound.values()))) is Const else path,
        operands=tuple(tensors),
        computed_in=computed if isinstance(computed, str) else None,
        others=tuple(value for value in bound.values() if isinstance(value, kinds)),
        arguments=arguments,
    )
    softmax: Made | None = None
    if keras_api.activation_of(path) == "softmax":
        softmax = made
    elif keras_api.carries(path, generation=m.generation) and len(tensors) == 1:
        softmax = tensors[0].softmax
    elif keras_api.joins(path, m.generation):
        softmax = softmax_of_all(tensors)
    m.trace.tensors.count(place, not (found is None or isinstance(found, keras_api.Clash)))
    template = Tensor(None, made, symbolic, softmax)
    if path in COUNTS:
        m.record(Counted(made, _last_number(bound)))
    _note(m, path, made, found, Tensor(made.computed_in, made, symbolic, softmax))
    operation = keras_api.operation(path, m.generation)
    if operation is not None and operation.many:
        part = Tensor(found if isinstance(found, str) else None, made, symbolic, softmax)
        count = _parts(m, bound)
        return Tuple((part,) * count) if count is not None else Tuple((), part)
    return structured(m, made.computed_in if isinstance(found, keras_api.Clash) else found, template, place)


def _last_number(bound: Mapping[str, Value]) -> int | None:
    """Where the numbers of a range end."""
    stop = bound.get("limit", bound.get("stop", NONE))
    last = bound.get("start") if stop == NONE else stop
    return int(last.value) if isinstance(last, Const) and isinstance(last.value, (int, float)) else None


def softmax_of_all(tensors: Sequence[Tensor]) -> Made | None:
    """The softmax that tensors which are put together still are, where each of them is one."""
    found = dict.fromkeys(leaf for tensor in tensors for leaf in softmaxes(tensor))
    if not found or not all(tensor.softmax is not None for tensor in tensors):
        return None
    return next(iter(found)) if len(found) == 1 else Made("softmaxes", None, None, operands=tuple(tensors))


def _parts(m: Machine, bound: Mapping[str, Value]) -> int | None:
    """Into how many parts `split` or `unstack` cuts a tensor, where its arguments say so."""
    for name, more in (("num_or_size_splits", 0), ("indices_or_sections", 1), ("num", 0)):
        value = bound.get(name)
        if isinstance(value, Const) and isinstance(value.value, int):
            return value.value if 0 < value.value <= _MOST_PARTS else None
        items = m.items(value) if isinstance(value, List) else value
        if isinstance(items, Tuple):
            return len(items.items) + more if items.rest is None else None
    return None


def structured(m: Machine, found: keras_api.Result | None, template: Tensor, place: Place) -> Value:
    """A measured result as a value: `template` with its dtypes, in the structure that the call returns."""
    match found:
        case tuple():
            return Tuple(tuple(structured(m, part, template, place) for part in found))
        case str() | None:
            return Tensor(found, template.made, template.symbolic, template.softmax)
        case _:
            pairs = tuple((Const(key), structured(m, part, template, place)) for key, part in found.items())
            return m.new_dict(place, Entries(pairs))


def attribute(m: Machine, value: Tensor, name: str, place: Place) -> Value:
    """An attribute of a tensor."""
    match name:
        case "dtype":
            value = weights.read_tensor(m, value)
            return UNKNOWN if value.dtype is None else DType(value.dtype, _says_dtype_as_text(m, value))
        case "shape":
            return Unknown(Symbol(scalars.SHAPE, value.made.place or place))
        case "T":
            return part_of(m, value, place)
        case "value" if (
            value.made.kind == "variable" and m.generation == "3" and value.made.by != variables.OF_TENSORFLOW
        ):
            return variables.read(m, value)
        case _:
            return Bound(value, ApiMethod(name))


def _says_dtype_as_text(m: Machine, value: Tensor) -> bool:
    """Whether the dtype of a tensor is a string: what belongs to Keras 3, not to its backend, has no other."""
    own = value.made.kind == "variable" and value.made.layer is not None
    return m.generation == "3" and (value.symbolic is True or own)


def of_dtype(m: Machine, value: DType, name: str, place: Place) -> Value:
    """An attribute of a dtype object; a string has none of them."""
    if value.text and not hasattr(str, name):
        m.record(DTypeTaken(place, m.context, name))
        if m.guards:
            m.throw()
            return NEVER
    return dtype_attribute(value, name)


def dtype_attribute(value: DType, name: str) -> Value:
    """An attribute of a dtype object."""
    match name:
        case "name":
            return Const(value.name)
        case "is_floating":
            return Const(value.name in FLOATS)
        case "is_integer":
            return Const(value.name.startswith(("int", "uint")))
        case "base_dtype" | "as_numpy_dtype" | "real_dtype":
            return value
        case "min" | "max":
            return scalars.limit(value.name, name)
        case _:
            return UNKNOWN


def _assigned(m: Machine, variable: Tensor, name: str, arguments: Arguments, place: Place) -> None:
    """Note that half precision is assigned to a float32 variable of TensorFlow, which does not take it.

    Those that Keras makes take any: of these it is noted where a layer changes one that it reads in half precision.
    """
    given = arguments.get("value", 0) or arguments.get("delta", 0)
    is_plain = variable.made.kind == "variable" and variable.made.by == "tensorflow.Variable"
    if is_plain and variable.dtype == "float32" and isinstance(given, Tensor) and given.dtype in HALF:
        m.record(Computed(place, m.context, name, (("ref", variable), ("value", given)), None, (variable, given)))
    if given is not None and variable.autocast and variable.dtype in HALF:
        m.record(Updated(place, m.context, name, variable, given, m.caller))


def method(m: Machine, value: Tensor, name: str, arguments: Arguments, place: Place) -> Value:
    """A method of a tensor."""
    if name == "astype":
        wanted = arguments.get("dtype", 0)
        return cast(m, value, dtype_of(m, wanted) if wanted is not None else None, place, "astype")
    if name == "numpy":
        held = variables.read(m, value)
        return Array(value.dtype, of=held if may_be_scaled(held.made) else None)
    if name in _ASSIGNS:
        _assigned(m, value, name, arguments, place)
    if name in variables.METHODS:
        return variables.method(m, value, name, arguments, place)
    return value if name == "set_shape" else UNKNOWN
