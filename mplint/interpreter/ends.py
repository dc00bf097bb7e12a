"""What is wrong with the ends of models: each end has one fault, the finest that describes it."""

from __future__ import annotations

import enum
from collections.abc import Iterator

from mplint.interpreter.history import History
from mplint.interpreter.ineffective import ineffective
from mplint.interpreter.values import HALF, Place
from mplint.interpreter.world import End, World


class EndFault(enum.Enum):
    """A way in which an end is wrong."""

    PURE_POLICY = enum.auto()
    """It is half precision because even the variables are: the policy is at fault."""
    SOFTMAX = enum.auto()
    """A softmax is computed in half precision."""
    SOFTMAX_CAST_AFTERWARDS = enum.auto()
    """A softmax is computed in half precision, and what it gives is cast up behind it."""
    INEFFECTIVE_FLOAT32 = enum.auto()
    """It is half precision although float32 was asked for, where it has no effect."""
    OUTPUT = enum.auto()
    """It is half precision."""


def faulty_ends(world: World, *faults: EndFault) -> Iterator[tuple[End, Place]]:
    """The ends of models with one of these faults, and the call or expression that brings each about."""
    in_vain = {end for asked in ineffective(world) for end in asked.ends}
    pure = {found.policy.name for found in History(world).half_variables()}
    for end in world.model_ends():
        at = _place(end)
        if at is not None and _fault(end, pure, asked_in_vain=end in in_vain) in faults:
            yield end, at


def _fault(end: End, pure: set[str | None], *, asked_in_vain: bool) -> EndFault | None:
    softmax = end.softmax_dtype in HALF
    if not softmax and end.dtype not in HALF:
        return None
    if end.world.feeds_another(end) or end.is_outdated:
        return None
    if not softmax and (end.world.has_escaped(end.model) or end.world.is_settled(end.model)):
        return None
    if end.policy.name in pure:
        return EndFault.PURE_POLICY
    if softmax:
        return EndFault.SOFTMAX_CAST_AFTERWARDS if end.dtype in ("float32", "float64") else EndFault.SOFTMAX
    return EndFault.INEFFECTIVE_FLOAT32 if asked_in_vain else EndFault.OUTPUT


def _place(end: End) -> Place | None:
    """The call that makes the layer to blame, else the expression that computes the end."""
    if end.softmax is not None and end.softmax_dtype in HALF:
        layer = end.softmax_layer
        return layer.place if layer is not None else end.softmax.place
    layer = end.layer
    return layer.place if layer is not None and not layer.of_program else end.place
