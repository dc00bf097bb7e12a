"""Heavy operations of half-precision layers that run in float32 all the same: what makes them, and where it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mplint import keras_api
from mplint.interpreter.mismatches import policy_of, root
from mplint.interpreter.trace import Computed, LayerCalled
from mplint.interpreter.values import HALF, OUTER, WIDE, Array, Class, Made, Place, Policy, Tensor, alternatives
from mplint.interpreter.world import World, outputs_of, tensors_of
from mplint.keras_api.stability import is_heavy

_LONGEST: Final = 256
_SOFTMAX: Final = frozenset({"softmax", "log_softmax"})


@dataclass(frozen=True)
class Heavy:
    """One product of matrices, or convolution, and its operands that are not half precision."""

    event: Computed
    wides: tuple[Tensor, ...]


@dataclass(frozen=True)
class Defeat:
    """What makes heavy operations of one function run in float32, or float64."""

    at: Place
    """The cast, or the operation that promotes; else the heavy operation."""
    is_cast: bool
    operations: tuple[Heavy, ...]
    policy: Policy

    @property
    def dtype(self) -> str:
        """What the operations run in."""
        result = self.operations[0].event.result
        return (result.dtype if result is not None else None) or "float32"

    @property
    def half(self) -> str:
        """What they would run in."""
        return (self.policy.name or "").removeprefix("mixed_")


def defeats(world: World) -> tuple[Defeat, ...]:
    """What makes heavy operations wide, the first first."""
    groups: dict[Place, list[tuple[Heavy, Made]]] = {}
    kept: _Kept | None = None
    for heavy, cause in _heavies(world):
        result = heavy.event.result
        kept = kept or _Kept(world)
        place = cause.place
        if result is not None and place is not None and kept.is_open(result.made):
            found = groups.setdefault(place, [])
            if all(other.event.place is not heavy.event.place for other, _ in found):
                found.append((heavy, cause))
    return tuple(
        Defeat(place, found[0][1].kind == "cast", tuple(heavy for heavy, _ in found), policy)
        for place, found in groups.items()
        if (policy := policy_of(world, found[0][0].event.operands)) is not None
    )


def _heavies(world: World) -> Iterator[tuple[Heavy, Made]]:
    """The heavy operations that are wide, and what makes each of them so."""
    for event in world.trace.events:
        if not isinstance(event, Computed) or event.result is None or event.result.dtype not in WIDE:
            continue
        if not is_heavy(event.by):
            continue
        wides = tuple(tensor for tensor in event.operands if tensor.dtype in WIDE)
        halves = [tensor for tensor in event.operands if tensor.dtype in HALF]
        if not halves and not any(_is_weight(tensor) for tensor in wides):
            continue
        causes = [_cause(world, tensor) for tensor in wides if not (_is_weight(tensor) and not halves)]
        arrays = any(isinstance(value, Array) for _, value in event.arguments)
        if not causes and arrays:
            yield Heavy(event, wides), Made("operation", event.place, event.context, by=event.by)
        elif causes and all(cause is not None for cause in causes):
            first = causes[0]
            assert first is not None
            here = Made("operation", event.place, event.context, by=event.by)
            yield Heavy(event, wides), first if first.kind in ("cast", "promoted") else here


def _is_weight(tensor: Tensor) -> bool:
    """Whether a wide tensor is a variable that its layer would read in half precision, cast up."""
    made = _moved(tensor)
    return made.kind == "cast" and any(
        operand.dtype in HALF and root(operand).kind == "variable" for operand in made.operands
    )


def _moved(tensor: Tensor) -> Made:
    """What made the elements of a tensor, behind operations that move them."""
    made = tensor.made
    while made.kind == "operation" and len(made.operands) == 1 and (made.by == "part" or keras_api.carries(made.by)):
        made = made.operands[0].made
    return made


def _cause(world: World, tensor: Tensor) -> Made | None:
    """What makes a tensor wide: the cast of a half one, the operation that promotes one, or the constant itself.

    None where it is the choice of a layer, or not known.
    """
    stack, seen = [tensor], 0
    constant: Made | None = None
    while stack and seen < _LONGEST:
        seen += 1
        made = stack.pop().made
        if made.kind == "cast":
            if any(operand.dtype in HALF for operand in made.operands):
                return made
            constant = constant or made
            stack.extend(made.operands)
        elif made.kind == "operation":
            if any(operand.dtype in HALF for operand in made.operands):
                return _promoted(made)
            constant = constant or made
            stack.extend(made.operands)
        else:
            return None
    return constant


def _promoted(made: Made) -> Made | None:
    """The operation as a cause, unless what promotes is chosen: a variable, or what a float32 layer gives."""
    others = [operand for operand in made.operands if operand.dtype in WIDE]
    if any(operand.made.kind not in ("operation", "cast") for operand in others):
        return None
    return Made("promoted", made.place, made.context, by=made.by, operands=made.operands)


class _Kept:
    """Which wide results a layer gives on, and which are for a softmax or for the end of a model."""

    def __init__(self, world: World) -> None:
        self._open: set[int] = set()
        self._ends: set[int] = set()
        for event in world.trace.events:
            if isinstance(event, LayerCalled) and isinstance(event.layer.cls, Class):
                for tensor in tensors_of(world, event.output):
                    self._follow(tensor, self._open)
        ends = {id(end.tensor) for end in world.model_ends()}
        for model in world.models:
            for tensor in outputs_of(world, model):
                if any(id(way) in ends for way in (tensor, *alternatives(tensor))) or not world.is_part(model):
                    self._follow(tensor, self._ends)

    def is_open(self, made: Made) -> bool:
        """Whether what was computed by `made` is given on."""
        return id(made) in self._open and id(made) not in self._ends

    def _follow(self, tensor: Tensor, found: set[int]) -> None:
        stack = [tensor]
        while stack:
            made = stack.pop().made
            if id(made) in found or made.by.rpartition(".")[2] in _SOFTMAX:
                continue
            found.add(id(made))
            if made.kind in ("operation", "cast", "joined", *OUTER):
                stack.extend(made.operands)
