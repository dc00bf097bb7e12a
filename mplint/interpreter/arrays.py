"""NumPy: what its functions make, and what can be asked of an array."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mplint import keras_api
from mplint.interpreter import scalars
from mplint.interpreter.keras import chains, tensors
from mplint.interpreter.values import (
    FLOATS,
    HALF,
    UNKNOWN,
    Api,
    ApiMethod,
    Array,
    Bound,
    Const,
    DType,
    Instance,
    List,
    Place,
    Tuple,
    Unknown,
    Value,
    models_behind,
)
from mplint.keras_api.precision import LIMITS

if TYPE_CHECKING:
    from mplint.interpreter.calls import Arguments
    from mplint.interpreter.machine import Machine

_MAKERS: Final = {
    "ones": 1, "zeros": 1, "empty": 1, "full": 2, "eye": 3, "array": 1, "asarray": 1, "ascontiguousarray": 1,
    "identity": 1, "linspace": 5, "arange": 3,
}  # fmt: skip
"""NumPy's functions that make arrays, and where their dtype stands."""
_DOUBLE: Final = frozenset({"ones", "zeros", "empty", "eye", "identity", "linspace"})
"""Those that make float64 where no dtype is asked for, whatever they are given."""
_OF_NUMBERS: Final = frozenset({"sqrt", "exp", "log", "log2", "log10", "sin", "cos", "tanh"})
"""NumPy's functions of one number: of a number of Python's they give a float64."""
_RANDOM: Final = frozenset(
    {"normal", "uniform", "rand", "randn", "random", "random_sample", "standard_normal", "beta", "gamma", "exponential"}
)
"""Functions of `numpy.random` that give float64, where no dtype is asked for."""
_RANDOM_INTEGERS: Final = frozenset({"randint", "integers", "random_integers"})
_GENERATORS: Final = frozenset({"RandomState", "default_rng", "Generator"})
"""What makes generators of random numbers: their methods are what the functions of `numpy.random` are."""
_MOVING: Final = frozenset({"copy", "reshape", "squeeze", "flatten", "ravel", "transpose", "swapaxes", "repeat"})
"""Methods that give the same elements in an array of their own."""
_MOVERS: Final = _MOVING | {
    "array", "asarray", "ascontiguousarray", "atleast_1d", "atleast_2d", "concatenate", "expand_dims", "flip", "fliplr",
    "flipud", "hstack", "moveaxis", "pad", "roll", "rollaxis", "rot90", "stack", "take", "tile", "vstack",
}  # fmt: skip
"""Functions that move elements, or put those of several arrays together."""
_COMPUTING: Final = frozenset({"mean", "std", "var", "sum", "cumsum", "prod", "clip", "round", "dot"})
"""Methods that compute numbers of the same dtype, where that is a floating one."""
_COMPUTERS: Final = _COMPUTING | {
    "abs", "add", "average", "cos", "divide", "exp", "expm1", "interp", "log", "log10", "log1p", "log2", "maximum",
    "median", "minimum", "multiply", "power", "sin", "sqrt", "square", "subtract", "tanh", "true_divide",
}  # fmt: skip
"""Functions that do so."""
_COMPARES: Final = frozenset({"Equal", "NotEqual", "LessThan", "LessThanEqual", "GreaterThan", "GreaterThanEqual"})
_SMALL: Final = frozenset({"int8", "uint8", "bool"})
"""What float16 holds: NumPy stays with it where it meets these."""
_MEDIUM: Final = _SMALL | {"int16", "uint16"}
"""What float32 holds."""


def call(m: Machine, path: str, arguments: Arguments, place: Place) -> Value:
    """A call of one of NumPy's functions or types."""
    dtype = keras_api.dtype_name(path)
    if dtype is not None:
        given = arguments.args[0] if len(arguments.args) == 1 and arguments.sure else None
        return cast(given, dtype, place) if isinstance(given, Array) else scalars.scalar(dtype, given)
    for value in arguments.values():
        m.escape(value)
    name = path.rpartition(".")[2]
    if name == "dtype":
        named = tensors.dtype_of(m, arguments.args[0]) if arguments.args else None
        return DType(named) if named is not None else UNKNOWN
    if name in _OF_NUMBERS and arguments.sure and all(isinstance(value, Const) for value in arguments.values()):
        return Array("float64", True, scalars.computed(name, arguments.values()))
    computed = chains.carried(m, arguments.values())
    if computed.symbol is not None:
        return computed
    given = arguments.args[0] if arguments.args else None
    if name in _MAKERS:
        wanted = arguments.get("dtype", _MAKERS[name])
        filled = _filled(name, arguments)
        if wanted is not None:
            return replace(cast(given, tensors.dtype_of(m, wanted), place), number=filled)
        if name in _DOUBLE or (filled is not None and isinstance(arguments.get("fill_value", 1), Const)):
            return Array("float64", False, filled)
    if path.startswith("numpy.random."):
        if name in _GENERATORS:
            return Api("numpy.random")
        if name in _RANDOM or name in _RANDOM_INTEGERS:
            wanted = arguments.get("dtype", 3 if name == "randint" else None)
            default = "float64" if name in _RANDOM else "int64"
            return Array(default if wanted is None else tensors.dtype_of(m, wanted))
    if name in _MOVERS and given is not None:
        return _together(m, _arrays(m, given))
    if name in _COMPUTERS:
        wanted = arguments.get("dtype")
        found = _combined(m, arguments.args, place)
        return found if wanted is None else cast(found, tensors.dtype_of(m, wanted), place)
    return Array(None)


def _filled(name: str, arguments: Arguments) -> float | None:
    """The number that all elements of a new array are."""
    if name in ("ones", "zeros"):
        return float(name == "ones")
    given = arguments.get("fill_value", 1) if name == "full" else None
    return scalars.number(given) if given is not None else None


def finfo(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`np.finfo(dtype)`: its limits."""
    dtype = tensors.dtype_of(m, arguments.args[0]) if len(arguments.args) == 1 else None
    if dtype not in LIMITS:
        return UNKNOWN
    made = Instance(m.allocate(place, "object"), Api("numpy.finfo"))
    for name in ("min", "max", "eps", "tiny"):
        m.put(made.address, name, scalars.limit(dtype, name))
    return made


def attribute(value: Array, name: str) -> Value:
    """An attribute of an array."""
    match name:
        case "T" | "flat" | "real":
            return value
        case "dtype" if value.dtype:
            return DType(value.dtype)
        case "shape" | "size" | "ndim" | "__class__":
            return UNKNOWN
        case _:
            return Bound(value, ApiMethod(name))


def method(m: Machine, value: Array, name: str, arguments: Arguments, place: Place) -> Value:
    """A method of an array."""
    if name == "astype":
        wanted = arguments.get("dtype", 0)
        return cast(value, tensors.dtype_of(m, wanted) if wanted is not None else None, place)
    if name in _MOVING:
        return value
    if name in _COMPUTING:
        found = _combined(m, (value,), place)
        return Array(
            found.dtype if found.dtype in FLOATS else None, None, rounded=found.rounded, computed=found.computed
        )
    return UNKNOWN


def of_unknown(m: Machine, value: Unknown, arguments: Arguments, place: Place) -> Array | None:
    """`value.astype(…)` to half precision: an array, whatever `value` was; None of any other dtype."""
    wanted = arguments.get("dtype", 0)
    dtype = tensors.dtype_of(m, wanted) if wanted is not None else None
    return cast(value, dtype, place) if dtype in HALF and not any(models_behind(value)) else None


def cast(value: Value | None, dtype: str | None, place: Place) -> Array:
    """`value` as an array of `dtype`."""
    before = value if isinstance(value, Array) else Array(None, False)
    number = scalars.scalar(dtype, before).number if dtype is not None else None
    if dtype in HALF and before.dtype != dtype:
        return Array(dtype, before.scalar, number, place, exact=before.dtype in _SMALL)
    if before.computed is None or before.dtype == "bfloat16":
        return Array(dtype, before.scalar, number)
    return Array(dtype, before.scalar, number, before.rounded, before.computed)  # it stays as wrong as it is


def operator(m: Machine, name: str, left: Value, right: Value, place: Place) -> Value:
    """`left <name> right` where an array takes part, and no tensor."""
    computed = chains.carried(m, (left, right))
    if computed.symbol is not None:
        return computed
    if name in _COMPARES:
        return Array("bool")
    scaled = next((value for value in (left, right) if isinstance(value, Array) and value.exact), None)
    if scaled is not None and name == "Multiply" and any(map(scalars.is_power_of_two, (left, right))):
        return replace(scaled, number=scalars.operator(name, left, right))
    found = _combined(m, (left, right), place)
    if name == "Divide" and (_is_whole(found.dtype) or found.dtype == "bool"):
        return Array("float64")
    return replace(found, number=scalars.operator(name, left, right))


def _combined(m: Machine, values: Iterable[Value], place: Place) -> Array:
    """What is computed of arrays and numbers at `place`."""
    given = [part for value in values for part in _arrays(m, value)]
    found = _together(m, given)
    marked = next((part for part in given if isinstance(part, Array) and part.rounded is not None), None)
    if marked is None or (found.dtype not in HALF and marked.computed is None):
        return found
    return Array(found.dtype, found.scalar, rounded=marked.rounded, computed=marked.computed or place)


def _arrays(m: Machine, value: Value) -> list[Value]:
    """The arrays in a list or tuple; any other value by itself."""
    if isinstance(value, List):
        value = m.items(value)
    if isinstance(value, Tuple):
        return [*value.items, *([value.rest] if value.rest is not None else [])]
    return [value]


def _together(m: Machine, values: list[Value]) -> Array:
    """An array of the dtype that NumPy gives to what holds, or is computed from, all of `values`."""
    if not values:
        return Array(None)
    found = values[0] if isinstance(values[0], Array) else Array(None)
    dtype = _of(values[0])
    scalar = found.scalar
    for value in values[1:]:
        dtype = _common(dtype, scalar, _of(value), value.scalar if isinstance(value, Array) else None)
        if isinstance(value, Array):
            scalar = False if False in (scalar, value.scalar) else value.scalar if scalar is not False else scalar
            found = value if found.rounded is None else found
    exact = all(isinstance(value, Array) and value.exact for value in values)
    return Array(
        dtype if dtype not in _NUMBERS else None, scalar, rounded=found.rounded, computed=found.computed, exact=exact
    )


_NUMBERS: Final = frozenset({"a float", "an int"})
"""Numbers of Python's own: an array keeps its dtype beside them."""


def _of(value: Value) -> str | None:
    match value:
        case Array(dtype=dtype):
            return dtype
        case Const(value=bool() | int()):
            return "an int"
        case Const(value=float()):
            return "a float"
        case _:
            return None


def _common(left: str | None, left_scalar: bool | None, right: str | None, right_scalar: bool | None) -> str | None:
    """The dtype of what two operands make; None where it is not known, or depends on the release of NumPy."""
    if left in _NUMBERS:
        left, left_scalar, right, right_scalar = right, right_scalar, left, left_scalar
    if left is None or right is None:
        return None
    if right in _NUMBERS:
        if left in _NUMBERS:
            return "a float" if "a float" in (left, right) else left
        if right == "an int":
            return left if left != "bool" else None
        return left if left in FLOATS else "float64"
    found = _promoted(left, right)
    if found in (left, right) and left != right:  # of a scalar NumPy 1 asks for its value
        loser_is_scalar = left_scalar if found == left else right_scalar
        winner_is_scalar = right_scalar if found == right else left_scalar
        if winner_is_scalar is not False and loser_is_scalar is not True:
            return None
    return found


def _promoted(left: str, right: str) -> str | None:
    if left == right:
        return left
    if "bfloat16" in (left, right):
        return None
    if left in FLOATS and right in FLOATS:
        return max(left, right)  # float16, float32, float64: as their names are ordered
    if left in FLOATS or right in FLOATS:
        floating, other = (left, right) if left in FLOATS else (right, left)
        if not _is_whole(other) and other != "bool":
            return None
        fits = _SMALL if floating == "float16" else _MEDIUM
        return floating if other in fits or floating == "float64" else "float32" if other in _MEDIUM else "float64"
    return None


def _is_whole(dtype: str | None) -> bool:
    return dtype is not None and dtype.startswith(("int", "uint"))
