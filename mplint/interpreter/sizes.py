"""The sizes of layers: which are hidden, so that nothing outside knows them, and which are multiples of nothing.

Hidden is a size on which only layers depend that take whatever they get, and others that can change with it.  What a
model gives, a number of classes, the features of data and what is computed from them are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from mplint import keras_api
from mplint.interpreter.history import History
from mplint.interpreter.keras import training
from mplint.interpreter.origins import literals, number, value_of
from mplint.interpreter.trace import LayerMade, Ran, ScopeEntered
from mplint.interpreter.values import HALF, Const, Instance, Place, Policy, Value
from mplint.interpreter.widths import Width, Widths
from mplint.interpreter.world import Layer, World

TENSOR_CORES: Final = 8
"""Tensor Cores work on tiles of which this is a side, in half precision."""
TPU: Final = 128
"""The side of the matrices that a TPU multiplies."""
_MOST: Final = 4 / 3
"""On a TPU, a size that would have to grow by so much is as it is for a reason."""
_LARGE: Final = 1000
"""A vocabulary of fewer words is multiplied too fast to matter."""
_SMALL: Final = 16
"""A size that is computed from another one, and less than this, is meant to be small."""
_PROJECTION: Final = "keras.layers.Dense"


@dataclass(frozen=True)
class Size:
    """An argument of a layer that is a size."""

    layer: Layer
    parameter: str
    value: Const
    width: Width | None
    """The width that it decides; None where nothing outside the layer sees it."""

    @property
    def number(self) -> int:
        """The size."""
        return value_of(self.value)

    @property
    def is_hidden(self) -> bool:
        """Whether nothing depends on it but what can change with it."""
        return self.width is None or not self.width.root.fixed

    @property
    def is_multiplied(self) -> bool:
        """Whether it is a side of matrices that are multiplied."""
        return self.width is None or self.width.root.multiplied

    def goes_with(self, other: Size) -> bool:
        """Whether both must be equal."""
        return self.width is not None and other.width is not None and self.width.root is other.width.root


@dataclass(frozen=True)
class Unaligned:
    """Sizes of what the call at `place` makes that are no multiples of what the hardware works in."""

    place: Place
    sizes: tuple[Size, ...]

    @property
    def policy(self) -> Policy:
        """The policy that has them multiplied in half precision."""
        return self.sizes[0].layer.policy

    @property
    def says(self) -> str:
        """What they are: `filters=30 and filters=60`."""
        *others, last = dict.fromkeys(f"{size.parameter}={size.number}" for size in self.sizes)
        return f"{', '.join(others)} and {last}" if others else last


class Sizes:
    """The sizes in one finished run."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._program = world.machine.program

    @cached_property
    def all(self) -> tuple[Size, ...]:
        """The sizes of all layers that are called, hidden or not; none where no half precision is in play."""
        world = self._world
        if world.is_test or world.trace.cut or not any(map(_is_concerned, world.trace.events)):
            return ()
        if History(world).trains_nothing or self._begins_with_weights():
            return ()
        return tuple(self._find())

    def _find(self) -> Iterator[Size]:
        made: dict[Instance, set[Value | None]] = {}
        for event in self._world.trace.events:
            if isinstance(event, LayerMade):
                parameter = keras_api.given_features(event.base)
                if parameter is not None:
                    made.setdefault(event.layer, set()).add(dict(event.arguments).get(parameter))
        for instance, parameter, value, width in self._world.once(Widths).sizes:
            if width is not None and len(made.get(instance, ())) > 1:  # it stands for several layers
                width.root.fixed = True
            layer = self._world.layer(instance)
            if layer is not None and not layer.hidden:
                yield Size(layer, parameter, value, width)

    def _begins_with_weights(self) -> bool:
        """Whether weights are loaded before anything is trained: they have the shapes that they have."""
        ran = [event.method for event in self._world.trace.events if isinstance(event, Ran)]
        return next((method for method in ran if method in (*training.TRAINS, "load_weights")), "") == "load_weights"

    @cached_property
    def _is_on_tpu(self) -> bool:
        if self._program.device != "auto":
            return self._program.device == "tpu"
        entered = (event.strategy for event in self._world.trace.events if isinstance(event, ScopeEntered))
        return any(strategy is not None and strategy.endswith("TPUStrategy") for strategy in entered)

    # -- what is not aligned

    def for_tensor_cores(self) -> Iterator[Unaligned]:
        """Hidden sizes that are no multiples of what Tensor Cores work in."""
        if not self._is_on_tpu:
            yield from self._hidden(lambda size: size > TENSOR_CORES and size % TENSOR_CORES != 0)

    def for_tpu(self) -> Iterator[Unaligned]:
        """Hidden sizes that are no multiples of what a TPU works in, and near one."""
        if self._is_on_tpu:
            yield from self._hidden(lambda size: size > TPU and 1 < next_multiple(size, TPU) / size < _MOST)

    def _hidden(self, is_unaligned: Callable[[int], bool]) -> Iterator[Unaligned]:
        yield from _by_place(
            size
            for size in self.all
            if size.parameter != "target_shape"
            and is_unaligned(size.number)
            and (size.value.parts is None or size.number >= _SMALL)
            and size.is_hidden
            and size.is_multiplied
            and self._is_told(size)
        )

    def _is_told(self, size: Size) -> bool:
        """Whether the program says how large it is, of a layer that computes in half precision."""
        return size.layer.computes_in in HALF and literals(self._program, size.value) is not None

    def vocabularies(self) -> Iterator[Unaligned]:
        """The layers that have as many features as there are words, and the embeddings of these words."""
        words = [size for size in self._embedded() if self._is_unaligned_vocabulary(size)]
        numbers = {size.number for size in words}
        projections = [
            size
            for size in self.all
            if size.layer.base == _PROJECTION and size.number in numbers and self._is_told(size)
        ]
        projected = {size.number for size in projections}
        yield from _by_place(size for size in (*words, *projections) if size.number in projected)

    def _is_unaligned_vocabulary(self, size: Size) -> bool:
        return size.number >= _LARGE and size.number % TENSOR_CORES != 0 and self._is_told(size)

    def _embedded(self) -> Iterator[Size]:
        seen: set[Instance] = set()
        for size in self.all:
            for parameter in keras_api.vocabulary_parameters(size.layer.base):
                told = number(size.layer.argument(parameter))
                if told is not None and size.layer.instance not in seen:
                    seen.add(size.layer.instance)
                    yield Size(size.layer, parameter, told, None)


def next_multiple(size: int, step: int) -> int:
    """The least multiple of `step` that is not below `size`."""
    return -(-size // step) * step


def _is_concerned(event: object) -> bool:
    """Whether a layer is made with a size that is a multiple of nothing."""
    if not isinstance(event, LayerMade):
        return False
    names = (*keras_api.size_parameters(event.base), *keras_api.vocabulary_parameters(event.base))
    told = [number(value) for name, value in event.arguments if name in names] if names else ()
    return any(size is not None and value_of(size) % TPU != 0 for size in told)


def _by_place(sizes: Iterator[Size]) -> Iterator[Unaligned]:
    found: dict[Place, list[Size]] = {}
    for size in sizes:
        found.setdefault(size.layer.place, []).append(size)
    for place, here in found.items():
        yield Unaligned(place, tuple(here))
