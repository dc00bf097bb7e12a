"""Layers that prepare data in half precision, inside a model or in front of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from mplint import keras_api
from mplint.interpreter.scalars import is_power_of_two
from mplint.interpreter.trace import LayerCalled
from mplint.interpreter.values import HALF, Api, Const, Tensor, alternatives
from mplint.interpreter.world import Layer, World

_RESCALING: Final = "keras.layers.Rescaling"


def half_preprocessing(world: World) -> Iterator[Layer]:
    """The layers that compute something of the data in half precision, and lose some of it."""
    seen = set()
    for event in world.trace.events:
        if not isinstance(event, LayerCalled) or event.layer in seen or not isinstance(event.layer.cls, Api):
            continue
        if not keras_api.prepares_data(event.layer.cls.path):
            continue
        layer = world.layer(event.layer)
        dtype = layer.computes_in if layer is not None else None
        if layer is None or dtype is None or dtype not in HALF or layer.hidden or not is_data(event.inputs):
            continue
        if keras_api.loses_in_half(layer.base, dtype, world.generation) and not _is_exact(layer):
            seen.add(event.layer)
            yield layer


def _is_exact(layer: Layer) -> bool:
    """Whether all that a Rescaling does is to multiply with a power of two."""
    moved = layer.argument("offset") not in (None, Const(0), Const(0.0))
    return layer.base == _RESCALING and not moved and is_power_of_two(layer.argument("scale"))


def is_data(tensors: Iterable[Tensor]) -> bool:
    """Whether nothing that learns stands between the data and these tensors, as far as they can be followed."""
    stack, seen = [way for tensor in tensors for way in alternatives(tensor)], set[int]()
    while stack:
        made = stack.pop().made
        if id(made) in seen:
            continue
        seen.add(id(made))
        if made.kind == "variable":
            return False
        if made.kind == "layer" and not keras_api.prepares_data(made.by) and keras_api.has_variables(made.by):
            return False
        stack += [way for operand in made.operands for way in alternatives(operand)]
    return True
