"""NumPy: what its functions make, and what can be asked of an array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mplint import keras_api
from mplint.interpreter.keras import chains, tensors
from mplint.interpreter.values import FLOATS, UNKNOWN, ApiMethod, Array, Bound, Const, DType, Value

if TYPE_CHECKING:
    from mplint.interpreter.calls import Arguments
    from mplint.interpreter.machine import Machine

_MAKERS: Final = {"ones": 1, "zeros": 1, "empty": 1, "full": 2, "eye": 3, "array": 1, "asarray": 1, "identity": 1,
                  "linspace": 5, "arange": 3}  # fmt: skip
"""NumPy's functions that make arrays, and where their dtype stands."""
_DOUBLE: Final = frozenset({"ones", "zeros", "empty", "eye", "identity", "linspace"})
"""Those that make float64 where no dtype is asked for, whatever they are given."""
_OF_NUMBERS: Final = frozenset({"sqrt", "exp", "log", "log2", "log10", "sin", "cos", "tanh"})
"""NumPy's functions of one number: of a number of Python's they give a float64."""
_RANDOM: Final = frozenset(
    {"normal", "uniform", "rand", "randn", "random", "random_sample", "standard_normal", "beta", "gamma", "exponential"}
)
"""Functions of `numpy.random` that give float64."""
_MOVING: Final = frozenset({"copy", "reshape", "squeeze", "flatten", "ravel", "transpose"})
"""Methods that give the same elements in an array of their own."""


def call(m: Machine, path: str, arguments: Arguments) -> Value:
    """A call of one of NumPy's functions or types."""
    dtype = keras_api.dtype_name(path)
    if dtype is not None:
        return Array(dtype, True)
    for value in arguments.values():
        m.escape(value)
    name = path.rpartition(".")[2]
    if name == "dtype":
        named = tensors.dtype_of(m, arguments.args[0]) if arguments.args else None
        return DType(named) if named is not None else UNKNOWN
    if name in _OF_NUMBERS and arguments.sure and all(isinstance(value, Const) for value in arguments.values()):
        return Array("float64", True)
    computed = chains.carried(m, arguments.values())
    if computed.symbol is not None:
        return computed
    if name in _MAKERS:
        wanted = arguments.get("dtype", _MAKERS[name])
        if wanted is not None:
            return Array(tensors.dtype_of(m, wanted), False)
        return Array("float64" if name in _DOUBLE else None, False)
    if path.startswith("numpy.random.") and name in _RANDOM:
        return Array("float64")
    given = [value for value in arguments.values() if isinstance(value, Array)]
    if name in _OF_NUMBERS and len(given) == 1 and given[0].dtype in FLOATS:
        return Array(given[0].dtype, given[0].scalar)
    return Array(None)


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


def method(m: Machine, value: Array, name: str, arguments: Arguments) -> Value:
    """A method of an array."""
    if name == "astype":
        wanted = arguments.get("dtype", 0)
        return Array(tensors.dtype_of(m, wanted) if wanted is not None else None, value.scalar)
    return Array(value.dtype) if name in _MOVING else UNKNOWN
