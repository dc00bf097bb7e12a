"""Operations that raise because a float32 tensor meets a half-precision one: what is float32, and what meets it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import libcst as cst

from mplint import keras_api
from mplint.interpreter.code import dotted
from mplint.interpreter.frames import Context
from mplint.interpreter.half_losses import HalfLosses
from mplint.interpreter.trace import Computed, LayerMade
from mplint.interpreter.values import (
    HALF,
    HALF_POLICIES,
    Made,
    Place,
    Policy,
    Tensor,
    alternatives,
    compute_dtype,
)
from mplint.interpreter.world import World

_WIDE: Final = "float32"
"""What a program that was written for float32 has everywhere; another dtype clashes under any policy."""
_CATCHING: Final = frozenset({"", "Exception", "BaseException", "TypeError", "ValueError", "InvalidArgumentError"})
"""The exceptions of which a clash is one, and what catches any."""
_LONGEST: Final = 64
_UNBOUNDED: Final = frozenset(
    {"reduce_sum", "sum", "reduce_prod", "prod", "reduce_variance", "var", "norm", "cumsum", "reduce_euclidean_norm"}
)
"""Functions, by their last names, whose results may be far larger than the numbers that they are computed of."""


@dataclass(frozen=True)
class Meeting:
    """One operation in which the two meet."""

    event: Computed
    wide: Tensor
    half: Tensor
    in_loss: bool = False
    """Whether the result is a part of a loss, which is to be float32."""

    @property
    def at(self) -> Place:
        """The operation."""
        return self.event.place


@dataclass(frozen=True)
class Mismatch:
    """A float32 tensor, and all operations of one function in which it meets half precision, in their order."""

    meetings: tuple[Meeting, ...]
    maker: Made
    """What makes the float32 tensor, behind operations that move its elements or compute with nothing else."""
    policy: Policy | None

    @property
    def at(self) -> Place:
        """The operation that raises first."""
        return self.meetings[0].at

    @property
    def half(self) -> str:
        """The half-precision dtype."""
        return self.meetings[0].half.dtype or ""

    @property
    def in_loss(self) -> bool:
        """Whether they meet first in a loss: it is the half-precision one that is to be cast."""
        return self.meetings[0].in_loss

    @property
    def is_assignment(self) -> bool:
        """Whether half precision is assigned to a float32 variable."""
        return self.meetings[0].event.arguments[:1] == (("ref", self.meetings[0].wide),)

    @property
    def label(self) -> str:
        """What is float32, in words."""
        made = self.maker
        if made.kind == "variable":
            return "the variable"
        if made.kind == "layer":
            return f"what {made.by.rpartition('.')[2]} gives"
        if keras_api.kind(made.by) is None:
            return "the other operand"
        return f"what {keras_api.without_prefix(made.by)} gives"


def mismatches(world: World) -> tuple[Mismatch, ...]:
    """The float32 tensors that meet half precision where an operation does not take both."""
    groups: dict[tuple[object, ...], list[Meeting]] = {}
    for meeting in _meetings(world):
        maker = root(meeting.wide)
        function = meeting.at.source.enclosing(meeting.at.node, cst.FunctionDef)
        key = (maker.place or maker, function, meeting.at.source)
        if all(other.at is not meeting.at for other in groups.setdefault(key, [])):
            groups[key].append(meeting)
    return tuple(
        Mismatch(tuple(meetings), root(meetings[0].wide), policy)
        for meetings in groups.values()
        if (policy := _policy(world, meetings[0])) is not None
    )


def _policy(world: World, meeting: Meeting) -> Policy | None:
    """The policy that makes the half operand so; of one that a layer casts for its own `call`, that layer's."""
    layer = world.layer(meeting.event.inside) if meeting.event.inside is not None else None
    found = policy_of(world, [meeting.half])
    return found if found is not None or layer is None or layer.computes_in != meeting.half.dtype else layer.policy


def _meetings(world: World) -> Iterator[Meeting]:
    losses: frozenset[tuple[Place | None, Context | None]] | None = None
    for event in world.trace.events:
        if not isinstance(event, Computed) or event.result is not None:
            continue
        # what Keras 3 does not take because it is symbolic it takes in no dtype
        if world.generation == "3" and any(tensor.symbolic is not False for tensor in event.operands):
            continue
        half = next((tensor for tensor in event.operands if tensor.dtype in HALF), None)
        wide = next((tensor for tensor in event.operands if tensor.dtype == _WIDE), None)
        if half is not None and wide is not None and not _is_caught(event.place):
            if losses is None:
                losses = frozenset((made.place, made.context) for made in world.once(HalfLosses).last)
            yield Meeting(event, wide, half, (event.place, event.context) in losses)


def root(tensor: Tensor) -> Made:
    """What made the elements of a tensor, behind operations on nothing else that keep its dtype."""
    made = tensor.made
    for _ in range(_LONGEST):
        operands = made.operands
        if made.kind != "operation" or len(operands) != 1 or operands[0].dtype != tensor.dtype:
            break
        made = operands[0].made
    return made


def _is_caught(place: Place) -> bool:
    """Whether the function goes on in another way where the operation raises."""
    here: cst.CSTNode = place.node
    parent = place.source.parent(here)
    while parent is not None and not isinstance(parent, (cst.FunctionDef, cst.Lambda)):
        if isinstance(parent, (cst.Try, cst.TryStar)) and here is parent.body and _catches(parent.handlers):
            return True
        here, parent = parent, place.source.parent(parent)
    return False


def _catches(handlers: Sequence[cst.ExceptHandler | cst.ExceptStarHandler]) -> bool:
    caught: list[str] = []
    for handler in handlers:
        named = handler.type
        parts = [part.value for part in named.elements] if isinstance(named, cst.Tuple) else [named]
        caught += ["" if part is None else dotted(part).rpartition(".")[2] for part in parts]
    return not _CATCHING.isdisjoint(caught)


def policy_of(world: World, tensors: Sequence[Tensor]) -> Policy | None:
    """The policy that makes one of the tensors half precision; None where the program casts it by itself."""
    dtypes = {tensor.dtype for tensor in tensors if tensor.dtype in HALF}
    for made in (made for tensor in tensors for made in _makers(tensor)):
        layer = world.layer(made.layer) if made.layer is not None else None
        if layer is not None and layer.policy.name in HALF_POLICIES and layer.computes_in in (dtypes or HALF):
            return layer.policy
    asked = (event.policy for event in world.trace.events if isinstance(event, LayerMade))
    known = (*world.policies, *asked)
    return next((policy for policy in known if compute_dtype(policy.name) in (dtypes or HALF)), None)


def _makers(tensor: Tensor) -> Iterator[Made]:
    """What a tensor was computed by, the nearest first."""
    queue, seen = [tensor], 0
    while queue and seen < _LONGEST:
        seen += 1
        here = queue.pop(0)
        for way in alternatives(here):
            yield way.made
            queue.extend(way.made.operands)


def may_overflow(tensor: Tensor) -> bool:
    """Whether a float32 tensor is a sum, or the like, of half-precision numbers that the program casts up for it."""
    made = tensor.made
    for _ in range(_LONGEST):
        if made.by.rpartition(".")[2] in _UNBOUNDED:
            return any(_is_cast_up(operand) for operand in made.operands)
        if made.kind != "operation" or len(made.operands) != 1 or not (made.by == "part" or _keeps_size(made.by)):
            return False
        made = made.operands[0].made
    return False


def _keeps_size(by: str) -> bool:
    return by in ("operator.+", "tensorflow.math.maximum", "keras.ops.maximum") or keras_api.carries(by)


def _is_cast_up(tensor: Tensor) -> bool:
    """Whether a half-precision tensor that was cast up is behind it."""
    stack, seen = [tensor], 0
    while stack and seen < _LONGEST:
        seen += 1
        made = stack.pop().made
        if made.kind == "cast" and any(operand.dtype in HALF for operand in made.operands):
            return True
        if made.kind in ("operation", "joined", "cast"):
            stack.extend(made.operands)
    return False
