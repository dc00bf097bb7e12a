"""Functions of JAX on tensors of Keras: what is computed of a loss and of gradients is followed, not in which dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mplint import keras_api
from mplint.interpreter.calls import Arguments
from mplint.interpreter.keras import structures, tensors, variables, weights
from mplint.interpreter.values import Array, Const, Made, Place, Tensor, Unknown, Value
from mplint.keras_api import Kind
from mplint.keras_api.arithmetic import OVER

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

_MODULES: Final = ("jax.numpy.", "jax.nn.", "jax.lax.")
_OTHERWISE: Final = {"jax.lax.stop_gradient": "keras.ops.stop_gradient", "jax.lax.select": "keras.ops.where"}
"""Functions that Keras has under another name."""
_OF_NUMBERS: Final = frozenset({"jax.numpy.array", "jax.numpy.asarray"})
"""Functions that make an array of a number."""


def call(m: Machine, path: str, arguments: Arguments, place: Place) -> Value | None:
    """What a function of JAX computes of the tensors that it is given; None where it is given none, or is unknown.

    Keras has its functions by the same names.
    """
    dtype = keras_api.dtype_name(path)
    if dtype is not None or path in _OF_NUMBERS:
        return Array(dtype, True) if isinstance(arguments.get("object", 0), Const) else None
    name = _OTHERWISE.get(path) or f"keras.ops.{path.rpartition('.')[2]}"
    if not path.startswith(_MODULES) or keras_api.kind(name) not in (Kind.FUNCTION, Kind.ACTIVATION):
        return None
    values = [weights.read(m, value) for value in arguments.values()]
    operands = [variables.read(m, tensor) for value in values for tensor in structures.flatten(m, value)]
    if not operands:
        return None
    is_number_over = name in OVER and isinstance(values[0], Const)
    others = tuple(
        value for value in values if isinstance(value, (Unknown, Const) if name in tensors.WITH_NUMBERS else Unknown)
    )
    made = Made(
        "operation",
        place,
        m.context,
        by="operator.r/" if is_number_over else name,
        operands=tuple(operands),
        others=others,
    )
    return Tensor(None, made, False)
