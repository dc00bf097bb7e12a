"""What passes numbers on as they are: layers and functions that move them, casts, shifts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from mplint import keras_api
from mplint.interpreter.keras.info import LayerInfo, info_of
from mplint.interpreter.values import OUTER, Const, Made, Tensor, alternatives
from mplint.interpreter.world import World

LAMBDA: Final = "keras.layers.Lambda"
SHIFTS: Final = frozenset({"operator.+", "operator.-", "tensorflow.math.add", "tensorflow.math.subtract",
                           "keras.ops.add", "keras.ops.subtract"})  # fmt: skip
"""What makes other ids of ids."""
LOOKUPS: Final = frozenset(
    {"keras.backend.gather", "keras.ops.take", "keras.ops.take_along_axis", "tensorflow.gather", "tensorflow.gather_nd",
     "tensorflow.nn.embedding_lookup"}
)  # fmt: skip
"""Functions that choose among the elements of their first argument."""


def passes_on(path: str, variant: Mapping[str, object], generation: str) -> bool:
    """Whether a layer or function only moves elements, or puts those of several tensors together."""
    return keras_api.carries(path, variant, generation) or keras_api.joins(path, generation)


def constants(info: LayerInfo) -> dict[str, object]:
    """The arguments of a layer as the table takes them."""
    return {name: value.value if isinstance(value, Const) else keras_api.OPAQUE for name, value in info.arguments}


def carried(world: World, made: Made) -> tuple[Tensor, ...]:
    """The tensors whose numbers something passes on, as they are or shifted; none where it computes others."""
    if made.kind in ("cast", *OUTER) or made.by == LAMBDA:
        return made.operands
    if made.kind == "layer" and made.layer is not None:
        info = info_of(world.machine, made.layer)
        return made.operands if info is not None and passes_on(made.by, constants(info), world.generation) else ()
    if made.kind == "operation":
        if made.by in LOOKUPS:
            return made.operands[:1]  # the others say which
        moves = made.by == "part" or made.by in SHIFTS or passes_on(made.by, {}, world.generation)
        return made.operands if moves else ()
    return ()


def reaches(world: World, tensor: Tensor, origin: Made) -> bool:
    """Whether the numbers of `tensor` are those of `origin`."""
    return any(made.same(origin) for made in _before(world, tensor))


def sources(world: World, tensor: Tensor) -> Iterator[Made]:
    """The inputs of models whose numbers `tensor` holds."""
    return (made for made in _before(world, tensor) if made.kind == "input")


def _before(world: World, tensor: Tensor) -> Iterator[Made]:
    """How `tensor` was made, and all whose numbers it holds."""
    stack, seen = [tensor], set[int]()
    while stack:
        for way in alternatives(stack.pop()):
            if id(way.made) not in seen:
                seen.add(id(way.made))
                yield way.made
                stack.extend(carried(world, way.made))
