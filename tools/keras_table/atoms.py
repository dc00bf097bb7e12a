"""What an operand can be: a tensor of some dtype, a Python number, a NumPy array or scalar, a list of numbers."""

from __future__ import annotations

from typing import Any

from keras_table.packages import GENERATION, keras, np, tf

CODES = {
    "h": "float16",
    "b": "bfloat16",
    "f": "float32",
    "d": "float64",
    "i": "int32",
    "l": "int64",
    "u": "uint8",
    "?": "bool",
    "j": "int8",
    "k": "int16",
    "v": "uint16",
    "w": "uint32",
    "x": "uint64",
    "c": "complex64",
    "z": "complex128",
    "s": "string",
}
"""One letter for each dtype in the matrices of the table."""
LETTERS = {name: code for code, name in CODES.items()} | {"object": "s"}
RAISES = "!"
UNKNOWN = "."

TENSORS = tuple("hbfdilu?")
NUMBERS = {"pF": 0.5, "pI": 1}
ARRAYS = {"nh": "float16", "nf": "float32", "nd": "float64", "nl": "int64"}
SCALARS = {"sf": "float32", "sd": "float64"}
LISTS = {"LF": 0.5}
ATOMS = (*TENSORS, *NUMBERS, *ARRAYS, *SCALARS, *LISTS)
"""In the order of the rows and columns of a matrix."""

CONSTANTS = frozenset({"pF", "pI", "nf", "nd", "LF"})
"""What is paired with each other too, and not only with tensors."""


SAMPLE = (
    *(("h", "h"), ("b", "b"), ("f", "f"), ("i", "i"), ("?", "?"), ("h", "f"), ("f", "h"), ("h", "i"), ("i", "h")),
    *((constant, tensor) for constant in ("pF", "pI", "nf", "nd", "nl", "sf", "LF") for tensor in ("h", "f", "i")),
    *((tensor, constant) for constant in ("pF", "pI", "nf", "nd", "sf") for tensor in ("h", "i")),
)
"""Pairs on which two ways to call are compared before one of them is used for all."""


def is_measured(key: tuple[str, ...]) -> bool:
    """Whether operands of these kinds are tried together."""
    return len(key) < 2 or any(atom in TENSORS for atom in key) or all(atom in CONSTANTS for atom in key)


_inputs: dict[tuple[str, tuple[int, ...]], Any] = {}
_constants: dict[tuple[str, tuple[int, ...]], Any] = {}
_placeholders: dict[tuple[str, tuple[int, ...]], Any] = {}
_graph: Any = tf.__internal__.FuncGraph("atoms")


def graph() -> Any:
    """The graph that traced calls go into: making one takes longer than most calls."""
    return _graph


def forget_graph() -> None:
    """Begin a new one, since a full graph is slow too."""
    global _graph
    _graph = tf.__internal__.FuncGraph("atoms")
    _placeholders.clear()


def is_scalar(atom: str) -> bool:
    """Whether the atom has no shape of its own."""
    return atom in NUMBERS or atom in SCALARS


def numbers(shape: tuple[int, ...]) -> Any:
    """Different values between 0.1 and 0.9; in a square matrix such that it can be inverted and has a root."""
    size = int(np.prod(shape))
    values = (0.1 + 0.8 * ((np.arange(size) * 7919) % max(size, 1)) / max(size, 1)).reshape(shape)
    if len(shape) >= 2 and shape[-1] == shape[-2]:
        values = (values + np.swapaxes(values, -1, -2)) / 20 + np.eye(shape[-1]) * 0.5
    return values


def made(atom: str, shape: tuple[int, ...], how: str) -> Any:
    """An operand. `how` says what the tensors are: "traced", "eager", "symbolic"."""
    if atom in NUMBERS:
        return NUMBERS[atom]
    if atom in ARRAYS:
        values = numbers(shape) if atom != "nl" else numbers(shape) * 10 + 1
        return values.astype(ARRAYS[atom])
    if atom in SCALARS:
        return np.dtype(SCALARS[atom]).type(0.5)
    if atom in LISTS:
        return np.full(shape, LISTS[atom]).tolist()
    return tensor(CODES[atom], shape, how)


def tensor(dtype: str, shape: tuple[int, ...], how: str) -> Any:
    """A tensor of a dtype; a traced one belongs to `graph()`."""
    key = (dtype, shape)
    if how == "traced":
        if key not in _placeholders:
            _placeholders[key] = tf.compat.v1.placeholder(dtype, shape)
        return _placeholders[key]
    if how == "eager":
        if key not in _constants:
            if dtype == "string":
                _constants[key] = tf.fill(shape, "a")
            elif dtype == "bool":
                _constants[key] = tf.fill(shape, True)
            else:
                values = numbers(shape) if tf.as_dtype(dtype).is_floating else numbers(shape) * 10 + 1
                _constants[key] = tf.cast(tf.constant(values), dtype)
        return _constants[key]
    if key not in _inputs:
        if GENERATION == "3":
            _inputs[key] = keras.KerasTensor(shape, dtype)
        else:
            _inputs[key] = keras.Input(batch_shape=shape, dtype=dtype)
    return _inputs[key]
