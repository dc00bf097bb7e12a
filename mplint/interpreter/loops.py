"""The training loops of one run: what becomes of their losses and gradients on the way to an optimizer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from mplint.interpreter.keras import optimizers
from mplint.interpreter.keras.info import info_of
from mplint.interpreter.keras.precision import computes_in_float16
from mplint.interpreter.scaling import Course, Courses, Factor, behind
from mplint.interpreter.trace import (
    GradientsApplied,
    GradientTaken,
    OptimizerMade,
    OptimizerUsed,
    Reported,
)
from mplint.interpreter.values import (
    Instance,
    Made,
    Place,
    Policy,
    Scaling,
    Tensor,
    alternatives,
)
from mplint.interpreter.world import World
from mplint.keras_api.arithmetic import ASKS_FOR_OVERFLOWS, CHOOSES, CLIPS, COMPARES, MASKS

BY_HAND: Final = 16.0
"""A loss is multiplied with this or more to scale it; with less to weigh it."""


@dataclass(frozen=True)
class Step:
    """Gradients that an optimizer was given, all with one course."""

    event: GradientsApplied
    tensor: Tensor
    course: Course
    gradient: Scaling
    """Where the gradient was taken."""

    @property
    def optimizer(self) -> Instance:
        """The optimizer that was given it."""
        return self.event.optimizer

    @property
    def scales(self) -> bool:
        """Whether the optimizer is a LossScaleOptimizer."""
        return optimizers.scales(self.optimizer)

    @property
    def is_minimize(self) -> bool:
        """Whether the optimizer takes the gradient itself, and scales the loss for it."""
        return self.gradient.by.endswith(".minimize")

    @property
    def is_of_fit(self) -> bool:
        """Whether `fit` does, with what the program's own `compute_loss` gives."""
        return self.gradient.by == optimizers.BY_FIT


@dataclass(frozen=True)
class Use:
    """An operation on, or a report of, what is still scaled."""

    at: Place
    made: Made
    what: str
    """The function: `tensorflow.clip_by_norm`, `operator./`, `update_state`, `return`."""
    course: Course
    """That of what is used."""
    unscaled: Made | None = None
    """Where what comes out of the operation is unscaled."""

    @property
    def is_shown(self) -> bool:
        """Whether people are shown it; else it is an operation."""
        return self.what == "operator.%" or not (self.what in CLIPS or self.what.startswith("operator."))

    @property
    def is_decided_by(self) -> bool:
        """Whether it is held against a number."""
        return self.what.removeprefix("operator.") in COMPARES


class Loops:
    """The training loops in one finished world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._m = world.machine
        self._courses = Courses()
        self._events = world.trace.events

    def course_of(self, made: Made) -> Course:
        """What was done on the way to what is made so."""
        return self._courses.of_made(made)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The gradients that optimizers of the library are given, as far as they are known."""
        found: list[Step] = []
        for event in self._events:
            if not isinstance(event, GradientsApplied):
                continue
            for tensor in event.gradients:
                course = self._courses.of(tensor)
                if course.gradient is not None:
                    found.append(Step(event, tensor, course, course.gradient))
        return tuple(found)

    @cached_property
    def sure(self) -> tuple[Step, ...]:
        """Those of which it is known what was not done to them, in runs that were seen to their end."""
        if self._world.trace.cut:
            return ()
        return tuple(step for step in self.steps if step.course.sure and step.event.whole)

    def _scales(self, optimizer: Instance) -> bool:
        """Whether `optimizer` divides the gradients that it is given by a scale (Keras 3), or helps to (Keras 2)."""
        return optimizers.scales(optimizer) or optimizers.has_fixed_scale(self._m, optimizer) is True

    # -- scaling that is missing

    def unscaled_losses(self) -> Iterator[Step]:
        """Losses that nobody scales, though the optimizer counts on it."""
        for step in self.sure:
            bare = self._is_never_scaled(step) and not step.is_minimize and not self._is_scaled_by_hand(step)
            if bare and self._scales(step.optimizer):
                yield step

    def _is_never_scaled(self, step: Step) -> bool:
        """Whether the loss is not scaled, and the gradients are left as they are, be it on a way there and back."""
        return not step.course.powers and not self._courses.of_made(step.gradient).factors

    def without_scaling(self) -> Iterator[Step]:
        """Gradients for the variables of float16 layers that reach an optimizer without any scaling."""
        for step in self.sure:
            plain = not step.scales and optimizers.has_fixed_scale(self._m, step.optimizer) is False
            if plain and not step.course.factors and not self._is_scaled_by_hand(step) and self.is_float16(step):
                yield step

    def _is_scaled_by_hand(self, step: Step) -> bool:
        large = any(abs(constant.value) >= BY_HAND for constant in step.course.constants)
        return large or step.course.is_weighed_back

    def is_float16(self, step: Step) -> bool:
        """Whether the gradient is taken with respect to variables of what computes in float16."""
        return any(computes_in_float16(self._m, layer) for layer in self._layers_of(step))

    def _layers_of(self, step: Step) -> Iterator[Instance]:
        """The layers and models whose variables the gradient of a step is taken with respect to."""
        for source in self._sources.get(step.gradient, ()):
            for way in alternatives(source):
                if way.made.layer is not None:
                    yield way.made.layer

    def is_of_several(self, place: Place) -> bool | None:
        """Whether the gradients that are taken at `place` are always a sequence, or never; None where that differs."""
        found = {event.several for event in self._events if isinstance(event, GradientTaken) and event.place is place}
        return found.pop() if len(found) == 1 else None

    @cached_property
    def _sources(self) -> dict[Scaling, tuple[Tensor, ...]]:
        return {event.made: event.sources for event in self._events if isinstance(event, GradientTaken)}

    def inner_gradients(self) -> Iterator[tuple[Step, Scaling]]:
        """Gradients inside a scaled loss (a gradient penalty) that are taken of what is not scaled, in float16."""
        for step in self.steps:
            for inner in step.course.gradients[:-1]:
                course = self._courses.of_made(inner)
                reaches = any(self._reaches_float16(operand.made) for operand in inner.operands)
                if self._scales(step.optimizer) and course.sure and not course.factors and reaches:
                    yield step, inner

    def _reaches_float16(self, made: Made) -> bool:
        return any(one.layer is not None and computes_in_float16(self._m, one.layer) for one in behind(made))

    # -- scaling that is done, and not undone, or too often

    def left_scaled(self) -> Iterator[Step]:
        """Gradients that still carry a scale where nobody takes it out any more."""
        for step in self.steps if not self._world.trace.cut else ():
            powers = step.course.powers
            if not step.course.sure or step.is_minimize or not powers or any(power <= 0 for power in powers.values()):
                continue
            if step.scales:
                kept = self._world.generation == "2" and powers == {step.optimizer: 1} and len(step.course.factors) == 1
            else:
                kept = any(self._is_inside(step.optimizer, scaling) for scaling in powers)
            if kept:
                yield step

    def _is_inside(self, optimizer: Instance, wrapper: Instance | None) -> bool:
        return wrapper is not None and optimizers.inner_of(self._m, wrapper) == optimizer

    def unscaled_twice(self) -> Iterator[tuple[Step, Factor]]:
        """Gradients whose scale is taken out once more than it was put in, and what does it last."""
        for step in self.sure:
            power = step.course.power(step.optimizer)
            divided = [
                factor for factor in step.course.factors if factor.power < 0 and factor.optimizer == step.optimizer
            ]
            if not step.scales or not divided or power > self._least or divided[-1].place is None:
                continue
            if self._is_never_scaled(step):  # divided and multiplied again, to clip them: it is the loss that lacks it
                continue
            if self._courses.divisor(divided[-1].made) is None:  # else it is by their own norm
                yield step, divided[-1]

    @property
    def _least(self) -> int:
        """A scale that is so often in gradients when they are applied is taken out once more than it was put in."""
        return 0 if self._world.generation == "3" else -1

    def scaled_twice(self) -> Iterator[tuple[Step, Place]]:
        """Losses that are scaled once more than their gradients are unscaled, and where."""
        for step in self.steps:
            if not step.scales or step.course.mixed is not None:  # else only some terms are
                continue
            own = [factor for factor in step.course.factors if factor.optimizer == step.optimizer]
            times = [factor for factor in own if factor.power > 0]
            left = len(times) - (len(own) - len(times))
            at = step.event.place if step.is_minimize else times[-1].place if len(times) > 1 else None
            # Keras 3 takes one out when it applies them; in Keras 2 the program has to do that
            undone = self._world.generation == "3" and not step.is_minimize
            if at is not None and left > undone:
                yield step, at

    def scaled_outside(self) -> Iterator[tuple[Step, Place]]:
        """Losses that are scaled where the tape does not record it, and where."""
        for step in self.steps:
            for factor in step.course.factors:
                made = factor.made
                if (
                    not isinstance(made, Scaling)
                    or made.kind != "scaled"
                    or made.place is None
                    or not step.gradient.tapes
                ):
                    continue
                if self._courses.of_made(made).gradients or set(made.tapes) & set(step.gradient.tapes):
                    continue
                yield step, made.place

    def stale_scales(self) -> Iterator[tuple[Step, Scaling]]:
        """Losses that are scaled by what the scale was when JAX compiled the step, which divides by what it is now."""
        for step in self.sure:
            own = [factor.made for factor in step.course.factors if factor.optimizer == step.optimizer]
            if step.event.stateless and step.scales and len(own) == 1:
                made = own[0]
                if isinstance(made, Scaling) and made.kind == "scaled" and made.stale:
                    yield step, made

    def mixed_terms(self) -> Iterator[tuple[Step, Place]]:
        """Losses with a term that is not scaled as the others are, and where it is added."""
        for step in self.steps:
            mixed = step.course.mixed
            if mixed is not None and mixed.place is not None and step.course.sure:
                yield step, mixed.place

    def not_scaled_alike(self, mixed: Made) -> tuple[int, ...]:
        """Which operands of an operation whose terms are not scaled alike are not scaled at all, by their positions."""
        courses = [self._courses.of(operand) for operand in mixed.operands]
        return tuple(position for position, course in enumerate(courses) if not course.factors)

    # -- what is done to gradients, and what is shown

    def scaled_uses(self) -> Iterator[Use]:
        """Gradients that are clipped, divided by their norm, or shown while they are scaled."""
        seen: set[Place] = set()
        twice = [step for step, _ in self.scaled_twice()]  # where that is what is wrong
        for step in self.steps:
            unscaled: Made | None = None
            for made in self._courses.behind_gradient(step.tensor) if step not in twice else ():
                unscaled = made if made.kind == "unscaled" else unscaled
                used = self._limited(made, step)
                if used is not None and made.place is not None and made.place not in seen:
                    seen.add(made.place)
                    yield Use(made.place, used, made.by, self._courses.of_made(used), unscaled)
        for event in self._reports():
            for tensor in event.values:
                course = self._courses.of(tensor)
                if course.gradients and course.is_scaled and course.sure and event.place not in seen:
                    seen.add(event.place)
                    yield Use(event.place, tensor.made, event.how, course)

    def _limited(self, made: Made, step: Step) -> Made | None:
        """What is clipped by the operation `made`, or the norm that it divides by."""
        if made.by in CLIPS and self._compares(made):
            return made.operands[0].made
        normal = self._courses.divisor(made)
        if normal is None or not step.scales:
            return None
        # where it is not always divided, what comes of the division itself tells
        course = step.course if step.course.sure else self._courses.of_made(made)
        return normal if course.sure and course.gradients and course.power(step.optimizer) <= self._least else None

    def clips(self, step: Step) -> Iterator[Made]:
        """The operations that clip a gradient on its way to the optimizer."""
        return (made for made in self._courses.behind_gradient(step.tensor) if made.by in CLIPS)

    def _compares(self, made: Made) -> bool:
        """Whether a clipping operation holds a scaled gradient against a number that is not scaled."""
        gradient, *limits = (self._courses.of(operand) for operand in made.operands)
        if not gradient.is_scaled or not gradient.sure or made.others:
            return False
        return not any(limit.is_scaled or not limit.sure for limit in limits)

    def hidden_overflows(self) -> Iterator[tuple[Step, Use]]:
        """Operations that take inf and nan out of gradients before the optimizer, which looks for them, sees them."""
        for step in self.steps:
            if not self._scales(step.optimizer):
                continue
            for made in self._courses.behind_gradient(step.tensor):
                if self._hides(made) and made.place is not None:
                    yield step, Use(made.place, made, made.by, self._courses.of_made(made))

    def _hides(self, made: Made) -> bool:
        """Whether an operation gives finite numbers for inf or nan."""
        if made.by in MASKS:
            return True
        return made.by in CHOOSES and any(_asks_for_overflows(operand.made) for operand in made.operands)

    def scaled_losses_shown(self) -> Iterator[Use]:
        """Scaled losses that people are shown."""
        for event in self._reports():
            for tensor in event.values:
                course = self._courses.of(tensor)
                compared = event.how.removeprefix("operator.") in COMPARES
                if not course.gradients and course.is_scaled and course.sure and not course.is_number and not compared:
                    yield Use(event.place, tensor.made, event.how, course)

    def _reports(self) -> Iterator[Reported]:
        return (event for event in self._events if isinstance(event, Reported))

    # -- optimizers

    def used(self) -> Iterator[OptimizerUsed]:
        """The methods of optimizers that are called, and the attributes that have to do with the scale."""
        return (event for event in self._events if isinstance(event, OptimizerUsed))

    def made(self, optimizer: Instance) -> OptimizerMade | None:
        """The call that made an optimizer."""
        made = (event for event in self._events if isinstance(event, OptimizerMade))
        return next((event for event in made if event.optimizer == optimizer), None)

    def policy_of(self, step: Step) -> Policy | None:
        """The policy under which the gradient is computed, for a message."""
        infos = (info_of(self._m, layer) for layer in self._layers_of(step))
        return next((info.policy for info in infos if info is not None and info.policy.name is not None), None)


def _asks_for_overflows(made: Made) -> bool:
    """Whether what is so made says where something is inf or nan."""
    computed = behind(made, lambda one: one.kind in ("operation", "cast") and one.by not in CHOOSES)
    return any(one.by in ASKS_FOR_OVERFLOWS for one in computed)
