"""The kinds of operands: a tensor of some dtype, a Python number, a NumPy array or scalar, a list of numbers.

Nothing is imported here, so that the table can be written without TensorFlow.
"""

from __future__ import annotations

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


def is_scalar(atom: str) -> bool:
    """Whether the atom has no shape of its own."""
    return atom in NUMBERS or atom in SCALARS
