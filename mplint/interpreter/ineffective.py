"""float32 that the program asks for where it has no effect.

A dtype does not reach the layers inside: a model or a layer of the program that is float32 gives half precision where
its own layers keep the global policy, and of a wrapper and the layer inside only one counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from mplint.interpreter.keras import policies, wrappers
from mplint.interpreter.keras.info import LayerInfo, info_of
from mplint.interpreter.trace import LayerCalled
from mplint.interpreter.values import FLOATS, HALF, WIDE, Api, Instance, Made, Place, Policy, Tensor, alternatives
from mplint.interpreter.world import End, Layer, World, core, outputs_of, tensors_of


@dataclass(frozen=True)
class Ineffective:
    """A layer or model that was given float32 in vain."""

    layer: Layer
    at: Place
    """The argument, where it is written in the call; else the call."""
    dtype: str
    """What comes out."""
    policy: Policy
    """The policy that decides that."""
    why: str
    """What decides instead, in words."""
    wrapper: Layer | None
    """The wrapper that is, or holds, the layer."""
    ends: tuple[End, ...]
    """The ends of models that are half precision for it."""


def ineffective(world: World) -> Iterator[Ineffective]:
    """Every float32 that was asked for in vain, once for each layer or model."""
    if world.trace.cut:
        return
    ends = [(end, core(end.tensor).made) for end in world.model_ends() if end.dtype in HALF]
    calls: dict[Instance, list[LayerCalled]] = {}
    for event in world.trace.events:
        if isinstance(event, LayerCalled):
            calls.setdefault(event.layer, []).append(event)
    for model in world.models:
        info = _asks_float32(world, model.instance)
        takes_it = model.form == "subclass" or (model.form == "functional" and world.generation == "3")
        if info is not None and takes_it and not world.is_settled(model):
            own = tuple(end for end, _ in ends if end.model is model)
            # what is no class of the program has nobody to hand its dtype on to the layers
            given = None if isinstance(model.instance.cls, Api) else _given(calls.get(model.instance, ()))
            yield from _without_reach(world, info, model.instance, outputs_of(world, model), given, own)
    models = {model.instance for model in world.models}
    for instance, events in calls.items():
        if instance in models:
            continue
        info = info_of(world.machine, instance)
        own_class = not isinstance(instance.cls, Api)
        if info is None or not (info.base in wrappers.WRAPPERS or (own_class and _asks_float32(world, instance))):
            continue
        outputs = [tensor for event in events for tensor in tensors_of(world, event.output)]
        own = tuple(end for end, made in ends if any(made.same(core(tensor).made) for tensor in outputs))
        if own_class:
            yield from _without_reach(world, info, instance, outputs, _given(events), own)
        else:
            yield from _wrong_side(world, info, instance, outputs, own)


def _given(events: Sequence[LayerCalled]) -> tuple[Made, ...]:
    """What a layer was called on."""
    return tuple(way.made for event in events for tensor in event.inputs for way in alternatives(tensor))


def _asks_float32(world: World, instance: Instance) -> LayerInfo | None:
    """What is known of a layer to which the program gave float32."""
    info = info_of(world.machine, instance)
    if info is None:
        return None
    given = info.argument("dtype")  # which Keras 3 overlooks where it is a Functional model's
    named = policies.as_policy(world.machine, given, Policy(None)).name
    return info if "float32" in (named, info.policy.name if info.asked else None) else None


def _without_reach(
    world: World,
    info: LayerInfo,
    instance: Instance,
    outputs: list[Tensor],
    given: tuple[Made, ...] | None,
    ends: tuple[End, ...],
) -> Iterator[Ineffective]:
    """A model, or a layer of the program, nothing of which computes in its float32."""
    layer = world.layer(instance)
    dtype = _half(outputs)
    if layer is None or dtype is None or layer.constant("autocast") is False:
        return
    makers = [maker for tensor in outputs for maker in world.makers(tensor)]
    if not makers or any(maker.asked for maker in makers):
        return  # half precision is the program's own wish, too
    if given is None or not any(map(_may_be_float32, _inside(outputs, given))):
        why = "it does not reach the layers within"
        yield Ineffective(layer, _argument(world, info), dtype, makers[0].policy, why, None, ends)


def _wrong_side(
    world: World, info: LayerInfo, instance: Instance, outputs: list[Tensor], ends: tuple[End, ...]
) -> Iterator[Ineffective]:
    """A wrapper, or the layer inside, whichever does not count in this generation."""
    dtype = _half(outputs)
    wrapper = world.layer(instance)
    inner = info.argument("layer")
    if dtype is None or wrapper is None or not isinstance(inner, Instance):
        return
    if world.generation == "2":
        held = world.layer(inner)
        if held is not None and not held.asked and _asks_float32(world, instance) is not None:
            why = "in Keras 2 the layer inside decides"
            yield Ineffective(wrapper, _argument(world, info), dtype, held.policy, why, wrapper, ends)
        return
    held_info, held = _asks_float32(world, inner), world.layer(inner)
    # a layer inside that is not entered computes in float32 all the same, and only its result is rounded
    if held_info is not None and held is not None and not info.asked and (ends or info.base in wrappers.ENTERING):
        why = f"in Keras 3 the {wrapper.base.rpartition('.')[2]} around it decides"
        yield Ineffective(held, _argument(world, held_info), dtype, wrapper.policy, why, wrapper, ends)


def _half(outputs: list[Tensor]) -> str | None:
    """The half precision that all of the floating outputs are; None where they are not."""
    found = {way.dtype for tensor in outputs for way in alternatives(tensor)}
    floating = {dtype for dtype in found if dtype is None or dtype in FLOATS}
    return floating.pop() if len(floating) == 1 and floating <= HALF else None


def _inside(outputs: list[Tensor], given: tuple[Made, ...]) -> Iterator[Made]:
    """The computations between what a layer was `given` and its outputs."""
    seen = {id(made) for made in given}
    stack = list(outputs)
    while stack:
        for way in alternatives(stack.pop()):
            if id(way.made) not in seen:
                seen.add(id(way.made))
                yield way.made
                stack.extend(way.made.operands)


def _may_be_float32(made: Made) -> bool:
    """Whether a computation may owe its dtype to the float32 that was asked for; so may a cast that was written out."""
    if made.kind == "cast":
        return made.by != "autocast" and (made.computed_in is None or made.computed_in in FLOATS)
    if made.kind in ("layer", "operation") and made.by != "part":
        return made.computed_in is None or made.computed_in in WIDE
    return False


def _argument(world: World, info: LayerInfo) -> Place:
    """Where `dtype=` is written: in the call that makes the object, else in the one of its class to the library."""
    calls = [place for place in (info.place, info.asked_at) if place is not None]
    for place in calls:
        for arg in place.node.args if isinstance(place.node, cst.Call) else ():
            if arg.keyword is not None and arg.keyword.value == "dtype":
                return world.machine.program.place(place.source, arg)
    return calls[-1]
