"""Variables of layers, which come in the compute dtype of the layer that reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mplint.interpreter.keras.info import info_of
from mplint.interpreter.values import FLOATS, Choice, Policy, Tensor, Value, choice, compute_dtype

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine


def read(m: Machine, value: Value) -> Value:
    """A value as the program reads it: a layer's own variable comes in the compute dtype inside a `call`."""
    if isinstance(value, Tensor):
        return read_tensor(m, value)
    if isinstance(value, Choice):
        return choice([read(m, option) for option in value.options])
    return value


def read_tensor(m: Machine, tensor: Tensor) -> Tensor:
    """The same for a tensor."""
    if tensor.autocast and tensor.dtype in FLOATS:
        caller = m.caller
        info = info_of(m, caller) if caller is not None else None
        dtype = compute_dtype(info.policy.name) if info is not None else tensor.dtype
        if dtype != tensor.dtype:
            return Tensor(dtype, tensor.made, False, None, True)
    return tensor


def lends_cast(m: Machine, policy: Policy) -> bool:
    """Whether other layers read the variables of a layer of `policy` in their own compute dtype.

    Keras 2 only casts those of mixed policies.
    """
    return m.generation == "3" or policy.name is None or policy.name.startswith("mixed_")
