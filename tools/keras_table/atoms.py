"""Makes operands of every kind, for calls that are traced, run, or made on KerasTensors."""

from __future__ import annotations

from typing import Any

from keras_table.kinds import ARRAYS, CODES, LISTS, NUMBERS, SCALARS
from keras_table.packages import GENERATION, keras, np, tf

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


def index(dtype: str, shape: tuple[int, ...]) -> Any:
    """A tensor that selects: places from 0 to 3, or a mask."""
    if dtype in ("bool", "string"):
        return tensor(dtype, shape, "eager")
    return tf.constant((np.arange(int(np.prod(shape))) % 4).reshape(shape), dtype)


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
