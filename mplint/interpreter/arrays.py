"""NumPy: what its functions make, and what can be asked of an array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mplint import keras_api
from mplint.interpreter import scalars
from mplint.interpreter.keras import chains, tensors
from mplint.interpreter.values import UNKNOWN, Api, ApiMethod, Array, Bound, Const, DType, Instance, Place, Value
from mplint.keras_api.precision import LIMITS

if TYPE_CHECKING:
    from mplint.interpreter.calls import Arguments
    from mplint.interpreter.machine import Machine

_MAKERS: Final = {"ones": 1, "zeros": 1, "empty": 1, "full": 2, "eye": 3, "array": 1, "asarray": 1, "identity": 1}
"""NumPy's functions that make arrays, and where their dtype stands."""
_DOUBLE: Final = frozenset({"ones", "zeros", "empty", "eye", "identity"})
"""Those that make float64 where no dtype is asked for, whatever they are given."""
_OF_NUMBERS: Final = frozenset({"sqrt", "exp", "log", "log2", "log10", "sin", "cos", "tanh"})
"""NumPy's functions of one number: of a number of Python's they give a float64."""
_MOVING: Final = frozenset({"copy", "reshape", "squeeze", "flatten", "ravel", "transpose"})
"""Methods that give the same elements in an array of their own."""


def call(m: Machine, path: str, arguments: Arguments) -> Value:
    """A call of one of NumPy's functions or types."""
    dtype = keras_api.dtype_name(path)
    if dtype is not None:
        return scalars.scalar(dtype, arguments.args[0] if len(arguments.args) == 1 and arguments.sure else None)
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
    if name in _MAKERS:
        wanted = arguments.get("dtype", _MAKERS[name])
        filled = _filled(name, arguments)
        if wanted is not None:
            return Array(tensors.dtype_of(m, wanted), False, filled)
        of_float = name in _DOUBLE or (filled is not None and isinstance(arguments.get("fill_value", 1), Const))
        return Array("float64" if of_float else None, False, filled)
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


def method(value: Array, name: str) -> Value:
    """A method of an array."""
    return Array(value.dtype) if name in _MOVING else Array(None) if name == "astype" else UNKNOWN
