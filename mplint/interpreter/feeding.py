"""Data on their way to a model: where they are made half precision, and what is computed of them from there on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import libcst as cst

from mplint.interpreter.carrying import passes_on
from mplint.interpreter.preprocessing import is_data
from mplint.interpreter.scalars import is_power_of_two
from mplint.interpreter.trace import Computed, Fed, LayerCalled, Piped
from mplint.interpreter.values import FLOATS, HALF, Array, Const, Made, Place, Tensor, Tuple, alternatives
from mplint.interpreter.world import World

_ASKS: Final = frozenset(f"operator.{symbol}" for symbol in ("==", "!=", "<", "<=", ">", ">="))
_CONVERTS: Final = "tensorflow.image.convert_image_dtype"
_CHOOSES: Final = frozenset(
    {"tensorflow.clip_by_value", "tensorflow.math.abs", "tensorflow.math.maximum", "tensorflow.math.minimum",
     "tensorflow.math.negative", "tensorflow.math.round", "tensorflow.math.floor", "tensorflow.math.ceil",
     "tensorflow.where", "tensorflow.random.shuffle"}
    | {f"tensorflow.image.{name}" for name in (
        "central_crop", "crop_to_bounding_box", "extract_patches", "flip_left_right", "flip_up_down",
        "grayscale_to_rgb", "pad_to_bounding_box", "random_crop", "random_flip_left_right", "random_flip_up_down",
        "resize_with_crop_or_pad", "rot90", "stateless_random_crop", "stateless_random_flip_left_right",
        "stateless_random_flip_up_down", "transpose")}
)  # fmt: skip
"""Functions whose results are exact where what they are given is: they move pixels, choose, or bound them."""
_FILLERS: Final = frozenset({"ones", "zeros", "empty", "full", "eye", "identity"})
_PRODUCTS: Final = frozenset({"operator.*", "operator./"})


@dataclass(frozen=True)
class Origin:
    """A call that makes half precision of something else."""

    at: Place
    by: str
    """What is called, as in the table; nothing for an array."""
    dtype: str
    is_data: bool
    """Whether that something are data, and no constant or noise."""


@dataclass(frozen=True)
class HalfData:
    """Data that are made half precision."""

    origin: Origin
    computed: Place | None
    """The first operation that they go through in half precision; None where there is none."""
    together: tuple[Origin, ...] | None
    """All that is made half precision and meets them in operations; None where something always was."""


class Feeding:
    """The data of a world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._maps: set[Place] = set()
        self._computed: dict[int, Computed] = {}
        for event in world.trace.events:
            if isinstance(event, Piped):
                self._maps.add(event.place)
            elif isinstance(event, Computed) and event.result is not None:
                self._computed[id(event.result.made)] = event

    def half_data(self) -> tuple[HalfData, ...]:
        """The calls that make data half precision in front of a model, each once."""
        found: dict[Place, HalfData] = {}
        meetings = [self._behind(event) for event in self._operations()]
        for at, origins, _ in meetings:
            for origin in origins:
                if origin.is_data and origin.at not in found:
                    found[origin.at] = HalfData(origin, at, _together(origin, meetings))
        for origin, computed in (*self._arrays(), *self._last()):
            found.setdefault(origin.at, HalfData(origin, computed, (origin,)))
        return tuple(found.values())

    # -- what is computed of them

    def _operations(self) -> Iterator[Computed]:
        """The operations on data that compute in half precision."""
        for event in self._computed.values() if self._maps else ():
            if not self._maps.isdisjoint(event.context.sites()) and self._is_arithmetic(event):
                yield event
        for called in self._world.trace.events:
            if isinstance(called, LayerCalled) and not called.inner:
                for tensor in called.inputs:
                    if _has_source(tensor) and is_data([tensor]):
                        yield from self._before(tensor)

    def _before(self, tensor: Tensor) -> Iterator[Computed]:
        """Those through which the data went that a model is called on."""
        for made in _computations(tensor):
            event = self._computed.get(id(made))
            if event is not None and self._is_arithmetic(event):
                yield event

    def _is_arithmetic(self, event: Computed) -> bool:
        """Whether numbers are computed in half precision, and may be rounded."""
        result = event.result
        if result is None or result.dtype not in HALF or result.made.kind != "operation" or event.by in _ASKS:
            return False
        if event.by == _CONVERTS:
            return any(operand.dtype not in (None, *FLOATS) for operand in result.made.operands)
        if not result.made.operands or event.by in _CHOOSES or passes_on(event.by, {}, self._world.generation):
            return False
        others = result.made.others
        return not (event.by in _PRODUCTS and others and all(map(is_power_of_two, others)))

    def _behind(self, event: Computed) -> tuple[Place, tuple[Origin, ...], bool]:
        """Where something is computed, what made its operands half precision, and whether that is all."""
        assert event.result is not None
        piped = bool(self._maps) and not self._maps.isdisjoint(event.context.sites())
        found = [self._origin(tensor, piped) for tensor in _first_halves(event.result)]
        origins = tuple(origin for origin in found if origin is not None)
        return event.place, origins, len(origins) == len(found)

    def _origin(self, tensor: Tensor, piped: bool) -> Origin | None:
        """How a tensor became half precision that is computed from nothing of it; None where it always was."""
        made = tensor.made
        array = next((other for other in made.others if isinstance(other, Array)), None)
        if made.kind == "data" and array is not None and array.rounded is not None and array.dtype in HALF:
            return Origin(array.rounded, "", array.dtype, True)
        if made.place is None or made.kind not in ("cast", "operation"):
            return None
        return Origin(made.place, made.by, tensor.dtype or "", self._takes_data(made, piped))

    def _takes_data(self, made: Made, piped: bool) -> bool:
        """Whether it is data that are made half precision here."""
        if made.kind != "cast" and made.by != _CONVERTS:
            return False
        if any(operand.dtype == "bool" for operand in made.operands):
            return False  # 0 and 1
        if made.operands:
            if all(map(_is_made_up, made.operands)) or not is_data(made.operands):
                return False
            return piped or any(map(_has_source, made.operands))
        event = self._computed.get(id(made))
        given = event.arguments[0][1] if event is not None and event.arguments else None
        return piped and given is not None and not isinstance(given, (Const, Array, Tuple))

    # -- arrays, and last casts

    def _arrays(self) -> Iterator[tuple[Origin, Place | None]]:
        """The arrays that are given to a model or a dataset."""
        for event in self._world.trace.events:
            for value in self._world.machine.parts(event.inputs) if isinstance(event, Fed) else ():
                if not isinstance(value, Array) or value.rounded is None or value.exact:
                    continue
                if value.computed is not None or not _fills(value.rounded):
                    dtype = value.dtype if value.dtype in HALF else None
                    yield Origin(value.rounded, "", dtype or "float16", True), value.computed

    def _last(self) -> Iterator[tuple[Origin, None]]:
        """What the functions of pipelines cast to half precision at their end, or cast back from it."""
        for event in self._world.trace.events:
            if not isinstance(event, Piped):
                continue
            element = event.element
            inputs = element.items[0] if isinstance(element, Tuple) and element.items else element
            for value in self._world.machine.parts(inputs):
                for tensor in _halves(value) if isinstance(value, Tensor) else ():
                    origin = self._origin(tensor, True)
                    if origin is not None and origin.is_data and origin.by and _may_round(tensor.made):
                        yield origin, None


def _together(origin: Origin, meetings: Sequence[tuple[Place, tuple[Origin, ...], bool]]) -> tuple[Origin, ...] | None:
    """All that is made half precision and meets `origin`, or what meets that, in an operation."""
    found, grown = {origin: None}, True
    while grown:
        grown = False
        for _, origins, is_all in meetings:
            if not found.keys().isdisjoint(origins):
                if not is_all:
                    return None
                grown = grown or not found.keys() >= set(origins)
                found.update(dict.fromkeys(origins))
    return tuple(found)


def _first_halves(tensor: Tensor) -> Iterator[Tensor]:
    """The tensors behind one in half precision that are so themselves, and are computed from none that is."""
    stack, seen = [tensor], set[int]()
    while stack:
        for way in alternatives(stack.pop()):
            made = way.made
            if id(made) in seen or way.dtype not in HALF:
                continue
            seen.add(id(made))
            before = [operand for operand in made.operands if operand.dtype in HALF]
            if made.kind in ("operation", "cast") and before:
                stack.extend(before)
            else:
                yield way


def _halves(tensor: Tensor) -> Iterator[Tensor]:
    """The tensors that were made half precision on the way to one."""
    if tensor.dtype in HALF:
        yield from _first_halves(tensor)
        return
    for made in _computations(tensor):
        for operand in made.operands if made.kind == "cast" else ():
            if operand.dtype in HALF:
                yield from _first_halves(operand)


def _computations(tensor: Tensor) -> Iterator[Made]:
    """What computes `tensor` from data, from the last step back."""
    stack, seen = [tensor], set[int]()
    while stack:
        for way in alternatives(stack.pop()):
            if id(way.made) not in seen and way.made.kind in ("operation", "cast"):
                seen.add(id(way.made))
                yield way.made
                stack.extend(way.made.operands)


def _has_source(tensor: Tensor) -> bool:
    """Whether a tensor is known to come from data."""
    before = [operand for made in _computations(tensor) for operand in made.operands]
    return any(way.made.kind == "data" for each in (tensor, *before) for way in alternatives(each))


def _is_made_up(tensor: Tensor) -> bool:
    """Whether a tensor is computed of nothing: constants, noise."""
    steps = list(_computations(tensor))
    return bool(steps) and all(
        made.kind == "operation" and not made.others and all(_is_step(operand) for operand in made.operands)
        for made in steps
    )


def _is_step(tensor: Tensor) -> bool:
    return all(way.made.kind in ("operation", "cast") for way in alternatives(tensor))


def _fills(place: Place) -> bool:
    """Whether a call makes an array of one number."""
    node = place.node
    called = node.func if isinstance(node, cst.Call) else None
    return isinstance(called, cst.Attribute) and called.attr.value in _FILLERS


def _may_round(made: Made) -> bool:
    """Whether a cast is not one of whole numbers: pixels are exact in half precision."""
    given: Iterable[str | None] = (operand.dtype for operand in made.operands)
    return all(dtype is None or dtype in FLOATS for dtype in given)
