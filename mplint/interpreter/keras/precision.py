"""In which precision a layer or model computes, with all that is inside it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from mplint import keras_api
from mplint.interpreter.keras import models
from mplint.interpreter.keras.info import LayerInfo, info_of
from mplint.interpreter.values import Instance, compute_dtype
from mplint.keras_api import Kind

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

_DEEPEST: Final = 6
"""Layers inside layers that are looked into."""


def computes_in_float16(m: Machine, layer: Instance) -> bool:
    """Whether `layer` is known to compute in float16, or something inside it is."""
    return next(float16_layers(m, layer), None) is not None


def float16_layers(m: Machine, layer: Instance, depth: int = 0) -> Iterator[LayerInfo]:
    """What is known of those that compute in float16, among `layer` and all that is inside it."""
    info = info_of(m, layer)
    if info is None or depth > _DEEPEST:
        return
    inside = [
        value for held in m.fields(layer.address).values() for value in m.parts(held) if isinstance(value, Instance)
    ]
    if keras_api.kind(info.base) is Kind.MODEL:
        inside += models.layers_of_graph(m, layer) if models.form_of(m, layer) == "functional" else []
        inside += [held for held in models.layers_of(m, layer).items if isinstance(held, Instance)]
    known = [value for value in inside if value != layer and info_of(m, value) is not None]
    for value in known:
        yield from float16_layers(m, value, depth + 1)
    if not known and compute_dtype(info.policy.name) == "float16":
        yield info
