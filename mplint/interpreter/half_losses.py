"""Losses that are computed in half precision outside of a model: which operations, and of what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import libcst as cst

from mplint.interpreter.ends import EndFault, faulty_ends
from mplint.interpreter.frames import Context
from mplint.interpreter.keras.info import info_of
from mplint.interpreter.trace import Computed, GradientTaken, LayerCalled, LossGiven, Reported
from mplint.interpreter.values import (
    HALF,
    WIDE,
    Class,
    Instance,
    Made,
    Place,
    Policy,
    Tensor,
    alternatives,
)
from mplint.interpreter.world import World, core, tensors_of
from mplint.keras_api.stability import Sensitivity, is_heavy, sensitivity

_FOLLOWED: Final = frozenset({"operation", "cast", "joined", "scaled"})
"""How a loss is computed of what models and layers give."""
_SHOWN: Final = frozenset({"update_state", "return"})
_SAME: Final = frozenset({"part", "operator.Minus", "operator.Plus"})
"""Operations of which there is no event: they are where their operand is."""
_WORST: Final = tuple(Sensitivity)
_FLOAT16: Final = "float16"
OF_CLASS: Final = "keras.losses.Loss"
"""What an object of a class of losses of the program does to what its `call` gives."""


@dataclass(frozen=True, eq=False)
class HalfLoss:
    """Operations of a loss that hang together: all that meets in them would have to be float32 with them."""

    operations: tuple[Computed, ...]
    sources: tuple[Tensor, ...]
    """The half-precision tensors that they are computed of."""
    policy: Policy | None
    trained: bool
    """Whether it is trained, and not only shown."""

    @property
    def unstable(self) -> tuple[tuple[Computed, Sensitivity], ...]:
        """Those that do not go well in float16, in the order of the program."""
        return tuple(
            (event, why)
            for event in self.operations
            if event.result is not None
            and event.result.made.computed_in == _FLOAT16
            and event.by != OF_CLASS
            and (why := sensitivity(event.by)) is not None
        )

    @property
    def faults(self) -> tuple[tuple[Computed, Sensitivity], ...]:
        """The worst of these in each function, and the first of several."""
        found: dict[cst.CSTNode, tuple[Computed, Sensitivity]] = {}
        for event, why in sorted(self.unstable, key=lambda pair: _WORST.index(pair[1])):
            source = event.place.source
            found.setdefault(source.enclosing(event.place.node, cst.FunctionDef) or source.module, (event, why))
        return tuple(found.values())


class HalfLosses:
    """The losses of one finished world that are computed in half precision."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._events = world.trace.events
        self._computed: dict[Made, Computed] = {
            event.result.made: event
            for event in self._events
            if isinstance(event, Computed) and event.result is not None
        }

    @cached_property
    def followed(self) -> dict[Made, None]:
        """All operations on the way from what models and layers give to what is trained, or told to a metric."""
        return {**self._trained, **self._follow(self._shown())} if self._computed else {}

    @cached_property
    def _trained(self) -> dict[Made, None]:
        return self._follow(self._losses())

    @cached_property
    def last(self) -> frozenset[Made]:
        """The operations of all losses, trained or shown, behind the last product of matrices or convolution."""
        return frozenset(self._follow((*self._losses(), *self._shown()), past_heavy=False))

    def _follow(
        self, sinks: Iterable[tuple[Sequence[Tensor], Context]], *, past_heavy: bool = True
    ) -> dict[Made, None]:
        found: dict[Made, None] = {}
        for tensors, context in sinks:
            stack = [tensor.made for tensor in tensors]
            while stack:
                made = stack.pop()
                if made in found or made.kind not in _FOLLOWED or not self._is_outside(made, context):
                    continue
                if not past_heavy and is_heavy(made.by):
                    continue
                found[made] = None
                stack.extend(operand.made for operand in made.operands)
        return found

    def _losses(self) -> Iterator[tuple[Sequence[Tensor], Context]]:
        """What is trained."""
        for event in self._events:
            match event:
                case GradientTaken(made=made, sources=sources) if any(map(_is_trained, sources)):
                    yield made.operands, event.context
                case LossGiven(values=values):
                    yield values, event.context
                case _:
                    pass

    def _shown(self) -> Iterator[tuple[Sequence[Tensor], Context]]:
        """What metrics are told, and what is logged."""
        for event in self._events:
            if isinstance(event, Reported) and event.how in _SHOWN:
                yield event.values, event.context

    @cached_property
    def _calls(self) -> frozenset[Context]:
        """The contexts in which layers and models compute."""
        return frozenset(event.context.at(event.place) for event in self._events if isinstance(event, LayerCalled))

    def _is_outside(self, made: Made, context: Context) -> bool:
        """Whether an operation is not a layer's or a model's own, or that of the one in which the loss is computed."""
        here = made.context
        while here is not None:
            if here in self._calls:
                return context.is_within(here)
            here = here.parent
        return True

    # -- what hangs together

    @cached_property
    def members(self) -> dict[Made, None]:
        """The half-precision operations of losses whose results go nowhere else in half precision."""
        found = {
            made: None
            for made in self.followed
            if made in self._computed and made.kind == "operation" and made.computed_in in HALF
            and any(operand.dtype in HALF for operand in made.operands)
        }  # fmt: skip
        others = [
            event
            for event in self._events
            if isinstance(event, Computed) and (event.result is None or event.result.made not in found)
        ]
        given_on = self._given_on if found else ()
        while True:
            used = {made for event in others if not _takes_any(event) for made in self._given(event) if made in found}
            used |= {made for made in given_on if made in found}
            if not used:
                return found
            for made in used:
                del found[made]
            others = [self._computed[made] for made in used]

    @cached_property
    def _given_on(self) -> frozenset[Made]:
        """What layers of the program give: whoever calls them counts on its dtype."""
        calls = (event for event in self._events if isinstance(event, LayerCalled))
        own = (event.output for event in calls if isinstance(event.layer.cls, Class))
        given = (core(tensor) for output in own for tensor in tensors_of(self._world, output))
        return frozenset(made for tensor in given for made in _makers(tensor))

    def _given(self, event: Computed) -> Iterator[Made]:
        """What an operation is done to, signs and parts seen through."""
        values = [value for _, value in event.arguments]
        tensors = list(event.result.made.operands) if event.result is not None else []
        tensors += [value for value in values if isinstance(value, Tensor)]
        for tensor in tensors:
            yield from _makers(tensor)

    def is_member(self, tensor: Tensor) -> bool:
        """Whether all the ways in which a tensor may be made are among them."""
        return all(made in self.members for made in _makers(tensor))

    @cached_property
    def all(self) -> tuple[HalfLoss, ...]:
        """The losses with something that does not go well in float16, without those that other rules mend."""
        return tuple(loss for loss in map(self._loss, self._groups()) if loss.unstable and not self._is_spoken_of(loss))

    @cached_property
    def told(self) -> frozenset[Made]:
        """The operations of these losses: a cast of what they are computed of mends whatever goes wrong in them."""
        return frozenset(
            event.result.made for loss in self.all for event in loss.operations if event.result is not None
        )

    def _groups(self) -> Iterable[list[Made]]:
        """The members that hang together."""
        leader = {made: made for made in self.members}

        def lead(made: Made) -> Made:
            while leader[made] is not made:
                leader[made] = leader[leader[made]]
                made = leader[made]
            return made

        for made in self.members:
            for other in self._given(self._computed[made]):
                if other in leader:
                    leader[lead(other)] = lead(made)
        groups: dict[Made, list[Made]] = {}
        for made in self.members:
            groups.setdefault(lead(made), []).append(made)
        return groups.values()

    def _loss(self, group: list[Made]) -> HalfLoss:
        events = sorted((self._computed[made] for made in group), key=_position)
        sources: dict[Made, Tensor] = {}
        for made in group:
            for operand in made.operands:
                for way in alternatives(operand):
                    if way.dtype in HALF and not self.is_member(way):
                        sources.setdefault(way.made, way)
        trained = any(made in self._trained for made in group)
        return HalfLoss(tuple(events), tuple(sources.values()), self._policy(events, sources.values()), trained)

    def _policy(self, events: Iterable[Computed], sources: Iterable[Tensor]) -> Policy | None:
        """The policy of the layer that has cast them for its own `call`, or of the nearest one that they come from."""
        if any(source.made.by == "autocast" for source in sources):
            inside = next((event.inside for event in events if event.inside is not None), None)
            info = info_of(self._world.machine, inside) if inside is not None else None
            if info is not None and info.policy.name is not None:
                return info.policy
        ahead, seen = [core(_whole(source)).made for source in sources], set[Made]()
        while ahead:
            made = ahead.pop(0)
            info = info_of(self._world.machine, made.layer) if made.layer is not None else None
            if info is not None and info.policy.name is not None:
                return info.policy
            if made not in seen:
                seen.add(made)
                ahead.extend(operand.made for operand in made.operands)
        return None

    # -- what is said elsewhere

    def _is_spoken_of(self, loss: HalfLoss) -> bool:
        """Whether all that makes it half precision is an output of a model that has a finding of its own."""
        given = [root for source in loss.sources for root in _roots(source)]
        return not given or all(map(self.is_of_end, given))

    def is_of_end(self, tensor: Tensor) -> bool:
        """Whether a tensor is an output of a model, which other rules speak of, or has half-precision variables."""
        outer = _whole(tensor).made
        made = core(_whole(tensor)).made
        info = info_of(self._world.machine, made.layer) if made.layer is not None else None
        if info is not None and info.policy.name in HALF:
            return True
        if outer.kind == "model" and outer.layer is not None and self._world.gives_results(outer.layer):
            return True
        return _key(made) in self._ends

    @cached_property
    def _ends(self) -> frozenset[tuple[str, Place | None, Instance | None]]:
        found: set[tuple[str, Place | None, Instance | None]] = set()
        for end, _ in faulty_ends(self._world, *EndFault):
            found.add(_key(core(end.tensor).made))
            if end.softmax is not None:
                found.add(_key(end.softmax))
        return frozenset(found)


def _makers(tensor: Tensor) -> Iterator[Made]:
    """What makes a tensor, in each way, signs and parts seen through."""
    for way in alternatives(tensor):
        if way.made.kind == "operation" and way.made.by in _SAME and way.made.operands:
            yield from _makers(way.made.operands[0])
        else:
            yield way.made


def _whole(tensor: Tensor) -> Tensor:
    """The tensor of which this is a part, or the negative."""
    while tensor.made.kind == "operation" and tensor.made.by in _SAME and tensor.made.operands:
        tensor = tensor.made.operands[0]
    return tensor


def _roots(tensor: Tensor) -> Iterator[Tensor]:
    """What a half-precision tensor is computed of that no operation has made: what layers and models give."""
    stack, seen = [tensor], set[Made]()
    while stack:
        for way in alternatives(stack.pop()):
            made = way.made
            if way.dtype not in HALF or made in seen:
                continue
            seen.add(made)
            if made.kind == "operation":
                stack.extend(made.operands)
            elif made.kind != "cast" or made.by == "autocast" or any(each.dtype in HALF for each in made.operands):
                yield way


def _takes_any(event: Computed) -> bool:
    """Whether an operation does not mind whether what it is done to is float32: a cast, the shape."""
    if event.result is None:
        return False
    alone = len([operand for operand in event.result.made.operands if operand.dtype in HALF]) <= 1
    return event.result.dtype in WIDE or (alone and event.result.dtype not in (*HALF, None))


def _is_trained(source: Tensor) -> bool:
    """Whether a gradient is taken with respect to weights."""
    return any(way.made.kind == "variable" or way.made.layer is not None for way in alternatives(source))


def _key(made: Made) -> tuple[str, Place | None, Instance | None]:
    """What a computation is, whatever call of the model it is done in."""
    return made.kind, made.place, made.layer


def _position(event: Computed) -> tuple[str, int]:
    place: Place = event.place
    return str(place.source.path), place.source.span(place.node).start
