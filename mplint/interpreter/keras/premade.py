"""Models that the library makes whole, of Keras 2: a linear one, and one that adds what two others give.

A dtype given to such a model, or its own policy, does not decide what it puts out: what is inside it does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mplint.interpreter.calls import Arguments
from mplint.interpreter.keras import layers, policies
from mplint.interpreter.keras.binding import bind
from mplint.interpreter.keras.info import LayerInfo, info_of, spelled_of
from mplint.interpreter.values import (
    NONE,
    UNKNOWN,
    Api,
    Const,
    Instance,
    List,
    Made,
    Tensor,
    Tuple,
    Value,
    compute_dtype,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

_LINEAR: Final = "keras.experimental.LinearModel"
_WIDE_AND_DEEP: Final = "keras.experimental.WideDeepModel"
MODELS: Final = frozenset({_LINEAR, _WIDE_AND_DEEP})


def keep(m: Machine, model: Instance, base: str, arguments: Arguments) -> None:
    """Keep what `model`, one of `MODELS`, is made of."""
    if arguments.sure:
        for name, value in bind(m, base, arguments).items():
            m.state.set((model.address, _field(name)), value)


def outputs(m: Machine, model: Instance, inputs: Value) -> Value:
    """What `model`, one of `MODELS`, gives for `inputs`."""
    info = info_of(m, model)
    if info is None:
        return UNKNOWN
    computed = _sum_of_two(m, model, info, inputs) if info.base == _WIDE_AND_DEEP else _linear(m, model, info)
    return _activated(m, model, info, computed) if isinstance(computed, Tensor) else UNKNOWN


def _sum_of_two(m: Machine, model: Instance, info: LayerInfo, inputs: Value) -> Value:
    """What the linear model and the deep one give, added."""
    given = m.items(inputs) if isinstance(inputs, List) else inputs
    pair = (given, given)
    if isinstance(given, Tuple):
        if given.rest is not None:
            pair = (UNKNOWN, UNKNOWN)
        elif len(given.items) == 2:
            pair = (given.items[0], given.items[1])
    parts: list[Value] = []
    for name, value in zip(("linear_model", "dnn_model"), pair, strict=True):
        part = m.state.get((model.address, _field(name)))
        parts.append(m.call(part, Arguments((value,)), info.place) if isinstance(part, Value) else UNKNOWN)
    wide, deep = parts
    # no other tensors can be added than such of one dtype
    known = next((part for part in (deep, wide) if isinstance(part, Tensor) and part.dtype is not None), None)
    if known is None or any(_other_dtype(part, known) for part in parts):
        return UNKNOWN
    made = Made("operation", info.place, m.context, by="operator.+", computed_in=known.dtype,
                operands=tuple(part for part in parts if isinstance(part, Tensor)))  # fmt: skip
    return Tensor(known.dtype, made, known.symbolic)


def _other_dtype(part: Value, known: Tensor) -> bool:
    return isinstance(part, Tensor) and part.dtype not in (None, known.dtype)


def _linear(m: Machine, model: Instance, info: LayerInfo) -> Value:
    """What the layers give that the model makes when it is built, under the policy then, with its own bias."""
    compute = compute_dtype(info.policy.name)
    if compute is None or compute_dtype(policies.current(m, spelled_of(model)).name) != compute:
        return UNKNOWN  # where they differ, the bias cannot be added
    return Tensor(compute, Made("operation", info.place, m.context, by="operator.+", computed_in=compute), False)


def _activated(m: Machine, model: Instance, info: LayerInfo, computed: Tensor) -> Value:
    """What the model's activation makes of it: a function of the library as its own work, any other as what it is."""
    held = m.state.get((model.address, _field("activation")))
    activation = layers.activation_function(held) if isinstance(held, Value) and held != NONE else None
    result = computed if activation is None else m.call(activation, Arguments((computed,)), info.place)
    if not isinstance(result, Tensor) or not (activation is None or isinstance(activation, (Api, Const))):
        return result
    made = Made("layer", info.place, m.context, by=info.base, layer=model, operands=(computed,),
                computed_in=result.dtype)  # fmt: skip
    return Tensor(result.dtype, made, result.symbolic, made if result.softmax is not None else None)


def _field(name: str) -> str:
    return f"@{name}"
