"""Gradients that are clipped together: each keeps its way, beside the norm of all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mplint.interpreter import sequences
from mplint.interpreter.calls import Arguments
from mplint.interpreter.keras import structures, variables
from mplint.interpreter.keras.binding import bind
from mplint.interpreter.values import UNKNOWN, Choice, List, Made, Place, Tensor, Tuple, Unknown, Value

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

BY_GLOBAL_NORM: Final = "tensorflow.clip_by_global_norm"
_NORM: Final = "tensorflow.linalg.global_norm"


def by_global_norm(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`tf.clip_by_global_norm(t_list, clip_norm)`."""
    given = bind(m, BY_GLOBAL_NORM, arguments)
    gradients = given.get("t_list", UNKNOWN)
    beside = tuple(value for name, value in given.items() if name in ("clip_norm", "use_norm"))
    limits = tuple(value for value in beside if isinstance(value, Tensor))
    unknown = tuple(value for value in beside if isinstance(value, Unknown))

    def clipped(tensor: Tensor) -> Tensor:
        gradient = variables.read(m, tensor)
        made = Made(
            "operation", place, m.context, by=BY_GLOBAL_NORM, operands=(gradient, *limits), computed_in=tensor.dtype,
            others=unknown,
        )  # fmt: skip
        return Tensor(tensor.dtype, made, tensor.symbolic)

    held = sequences.iterate(m, gradients, place) if isinstance(gradients, (List, Choice)) else gradients
    tensors = tuple(variables.read(m, tensor) for tensor in structures.flatten(m, held))
    if not tensors:
        return UNKNOWN
    dtype = tensors[0].dtype
    norm = Tensor(dtype, Made("operation", place, m.context, by=_NORM, operands=tensors, computed_in=dtype), False)
    changed = structures.changed(m, held, place, clipped)
    return Tuple((m.new_list(place, changed) if isinstance(changed, Tuple) else changed, norm))
