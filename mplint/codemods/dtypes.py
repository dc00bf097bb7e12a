"""The dtype of a layer, given where the layer is made."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from mplint.codemods import calls
from mplint.codemods.layout import quoted
from mplint.findings import Edit
from mplint.interpreter.keras.wrappers import CELLS, WRAPPERS
from mplint.interpreter.values import Class, Instance
from mplint.interpreter.world import Layer, World
from mplint.keras_api import Kind, kind


def inside(world: World, wrapper: Layer) -> Layer | None:
    """The layer that a wrapper is around; None of any other layer."""
    inner = wrapper.argument("layer") if wrapper.base in WRAPPERS else None
    return world.layer(inner) if isinstance(inner, Instance) else None


def is_model(layer: Layer) -> bool:
    """Whether the layer is a whole model: a dtype given to it does not reach its layers."""
    return kind(layer.base) is Kind.MODEL


def float32(world: World, layer: Layer) -> Iterator[Edit]:
    """Edits that give `layer` float32, and with a wrapper the layer inside: one of them counts, by the generation."""
    for each in nested(world, layer):
        yield from own_float32(each)


def to_change(world: World, layer: Layer) -> Iterator[str]:
    """The names of those classes, of a layer and of what it is around, that are not given float32 yet."""
    for each in nested(world, layer):
        if each.constant("dtype") != "float32":
            cls = each.instance.cls
            yield cls.code.qualname if isinstance(cls, Class) else each.base.rpartition(".")[2]


def own_float32(layer: Layer) -> Iterator[Edit]:
    """The edit that gives the call that makes `layer` float32; none where the call cannot take it."""
    source, call = layer.place.source, layer.place.node
    if isinstance(call, cst.Call) and _takes_dtype(layer):
        yield calls.set_argument(source, call, "dtype", quoted(source, "float32"))


def nested(world: World, layer: Layer) -> Iterator[Layer]:
    """The layer, and what it is around, from the outside in."""
    yield layer
    held = inside(world, layer)
    if held is not None:
        yield from nested(world, held)


def misses_a_part(world: World, layer: Layer) -> bool:
    """Whether a dtype given to the layer misses something that computes in it: a cell, an activation, a model."""
    held = inside(world, layer)
    return (
        layer.base in CELLS  # in Keras 2 the dtype does not reach the cell, and the call fails
        or isinstance(layer.argument("activation"), Instance)
        or is_model(layer)
        or (held is not None and (held.of_program or misses_a_part(world, held)))
    )


def _takes_dtype(layer: Layer) -> bool:
    """Whether `dtype=` can be given to the call that makes the layer."""
    return not is_passed_on(layer) and not layer.assigned


def is_passed_on(layer: Layer) -> bool:
    """Whether the dtype of the layer comes out of the keywords that the call which makes it passes on."""
    call = layer.place.node
    return (
        isinstance(call, cst.Call)
        and calls.has_star(call, "**")
        and layer.argument("dtype") is not None
        and calls.argument(call, "dtype") is None
    )
