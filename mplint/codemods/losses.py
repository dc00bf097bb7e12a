"""Losses that are scaled where a gradient is taken of them."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

import libcst as cst

from mplint.codemods import receivers, scaled_gradients, variables
from mplint.codemods.differentiated import Differentiated
from mplint.codemods.handing_on import hand_on
from mplint.codemods.rewrite import Evidence
from mplint.codemods.tapes import Taken
from mplint.findings import Applicability, Edit
from mplint.interpreter.frames import Context
from mplint.interpreter.keras import optimizers
from mplint.interpreter.keras.tapes import BY_FUNCTION
from mplint.interpreter.loops import Loops, Step
from mplint.interpreter.trace import GradientTaken
from mplint.interpreter.values import Place
from mplint.interpreter.world import World


@dataclass(frozen=True)
class Scaled:
    """A loss that is scaled."""

    edits: tuple[Edit, ...]
    applicability: Applicability
    elsewhere: Place | None
    """Where the same gradient is taken for another purpose."""


def scaled(evidence: Evidence, world: World, step: Step, wrapped: Container[Place]) -> Scaled | None:
    """The loss of a step, scaled; `wrapped` are the optimizers that will be LossScaleOptimizers."""
    if step.gradient.by == BY_FUNCTION:
        function = Differentiated.of(evidence, world, step)
        edits = function.scaled() if function is not None else None
        # who else calls the function, or what gives its gradient, must know what it takes and gives now
        return Scaled(tuple(edits), Applicability.UNSAFE, None) if edits is not None else None
    loss = _Loss.of(evidence, world, step)
    return loss.scaled(wrapped) if loss is not None else None


@dataclass(frozen=True)
class _Loss:
    """The loss of a step of one world, and all steps whose gradient is taken at the same place."""

    evidence: Evidence
    world: World
    step: Step
    taken: Taken
    place: Place
    alike: Sequence[tuple[World, Step]]

    @classmethod
    def of(cls, evidence: Evidence, world: World, step: Step) -> _Loss | None:
        """The loss of `step`; None where its gradient is not taken as it can be written anew."""
        taken, place = Taken.of(step.gradient), step.gradient.place
        if taken is None or place is None:
            return None
        alike = [
            (other, one)
            for other in evidence.worlds_of(world.generation)
            for one in other.once(Loops).steps
            if one.gradient.place is place
        ]
        return cls(evidence, world, step, taken, place, alike)

    def scaled(self, wrapped: Container[Place]) -> Scaled | None:
        """What scales it; `wrapped` are the optimizers that will be LossScaleOptimizers."""
        if any(step.course.factors for _, step in self.alike):
            return None
        ways = {receivers.optimizer_at(world, step, step.gradient) for world, step in self.alike}
        optimizer, handed = ways.pop() if len(ways) == 1 else None, None
        if optimizer is None:
            handed = hand_on(self.evidence, self.taken, self.alike)
            if handed is None:
                return None
            optimizer = handed.name
        source, call = self.taken.source, self.taken.call
        start, end = source.span(self.taken.block.body).start, source.span(call).start
        if variables.is_bound_between(source, optimizer, start, end):
            return None
        is_scaling = self._is_always_for_one_that_scales(wrapped)
        edits = scaled_gradients.written(self.world, self.step, self.taken, optimizer, self.alike, is_scaling)
        if edits is None:
            return None
        elsewhere = self._not_applied()
        if handed is None:
            return Scaled(tuple(edits), Applicability.SAFE, elsewhere)
        return Scaled((*edits, *handed.edits), Applicability.UNSAFE, elsewhere)

    def _is_always_for_one_that_scales(self, wrapped: Container[Place]) -> bool:
        """Whether the optimizer is a LossScaleOptimizer, or will be one, in every run."""
        if any(world.once(Loops).made(step.optimizer) is None for world, step in self.alike):
            return False  # it is what `compile` has made of it: without the policy that is a plain one
        known = all(optimizers.scales(one.optimizer) or one.optimizer.address.place in wrapped for _, one in self.alike)
        return known and not self._is_recorded_for_plain()

    def _is_recorded_for_plain(self) -> bool:
        """Whether in another run, that takes the gradient elsewhere, the same tape records for a plain optimizer."""
        places = {tape.address.place for _, step in self.alike for tape in step.gradient.tapes}
        taken_in = {world for world, _ in self.alike}
        return any(
            tape.address.place in places and not optimizers.scales(step.optimizer)
            for world in self.evidence.worlds_of(self.world.generation)
            if world not in taken_in
            for step in world.once(Loops).steps
            for tape in step.gradient.tapes
        )

    def _not_applied(self) -> Place | None:
        """Where a gradient that is taken there goes to no optimizer: the call that leads there, or the place."""
        applied = {(world, _calls_to(step.gradient.context)) for world, step in self.alike}
        for world in self.evidence.worlds_of(self.world.generation):
            for event in world.trace.events:
                if isinstance(event, GradientTaken) and event.place is self.place:
                    sites = _calls_to(event.context)
                    if (world, sites) not in applied:
                        return sites[-1] if sites else self.place
        return None


def _calls_to(context: Context | None) -> tuple[Place, ...]:
    """The calls that lead to a context, without the passes of loops between them."""
    return tuple(site for site in context.sites() if isinstance(site.node, cst.Call)) if context is not None else ()
