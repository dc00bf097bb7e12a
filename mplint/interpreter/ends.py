"""What is wrong with the ends of models: each end has one fault, the finest that describes it."""

from __future__ import annotations

import enum
from collections.abc import Iterator

from mplint.interpreter.history import History
from mplint.interpreter.ineffective import Ineffective, ineffective
from mplint.interpreter.sites import site_of
from mplint.interpreter.values import HALF, WIDE, Made, Place
from mplint.interpreter.world import End, World, core


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
    vain = {end for asked in world.once(in_vain) for end in asked.ends}
    for end, at, fault in world.once(_faulty):
        if (EndFault.INEFFECTIVE_FLOAT32 if fault is EndFault.OUTPUT and end in vain else fault) in faults:
            yield end, at


def half_ends(world: World) -> frozenset[Made]:
    """What computes the outputs of models that are half precision and should not be."""
    return frozenset(core(end.tensor).made for end, _ in faulty_ends(world, EndFault.OUTPUT))


def in_vain(world: World) -> tuple[Ineffective, ...]:
    """The float32 that was asked for in vain, where nothing finer is wrong with what it did not reach."""
    finer = {end for end, _, fault in world.once(_faulty) if fault in (EndFault.SOFTMAX, EndFault.PURE_POLICY)}
    return tuple(asked for asked in ineffective(world) if finer.isdisjoint(asked.ends))


def _faulty(world: World) -> tuple[tuple[End, Place, EndFault], ...]:
    """The ends that are wrong, whether or not float32 was asked for."""
    return tuple(_find(world))


def _find(world: World) -> Iterator[tuple[End, Place, EndFault]]:
    history = History(world)
    pure = {found.policy.name for found in history.half_variables()}
    for end in world.model_ends():
        at = _place(end)
        fault = _fault(end, pure)
        if fault is EndFault.OUTPUT and (
            not world.may_learn(end.model)
            or history.is_idle(end.model.instance)
            # weights that are half precision themselves, ready for use
            or (end.policy.name in HALF and history.trains_nothing)
        ):
            continue
        if at is not None and fault is not None:
            yield end, at, fault


def _fault(end: End, pure: set[str | None]) -> EndFault | None:
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
        return EndFault.SOFTMAX_CAST_AFTERWARDS if end.dtype in WIDE else EndFault.SOFTMAX
    return EndFault.OUTPUT


def _place(end: End) -> Place | None:
    """The call that makes the layer to blame, else the expression that computes the end."""
    if end.softmax is not None and end.softmax_dtype in HALF:
        layer = end.softmax_layer
        return layer.place if layer is not None else end.softmax.place
    site = site_of(end)
    if site is not None:
        return site.place
    layer = end.layer
    return layer.place if layer is not None and not layer.of_program else end.place
