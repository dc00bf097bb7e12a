"""The training loops of one run: what becomes of their losses and gradients on the way to an optimizer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from mplint.interpreter.keras import optimizers
from mplint.interpreter.keras.info import info_of
from mplint.interpreter.keras.precision import computes_in_float16
from mplint.interpreter.scaling import Course, Courses
from mplint.interpreter.trace import (
    Compiled,
    GradientsApplied,
    GradientTaken,
    LayerMade,
    OptimizerMade,
    OptimizerUsed,
    Reported,
)
from mplint.interpreter.values import (
    FALSE,
    NONE,
    Const,
    Instance,
    Made,
    Place,
    Policy,
    Scaling,
    Tensor,
    Value,
    alternatives,
    compute_dtype,
)
from mplint.interpreter.world import World

_CLIPS: Final = frozenset(
    {"tensorflow.clip_by_global_norm", "tensorflow.clip_by_norm", "tensorflow.clip_by_value", "keras.ops.clip"}
)
"""Operations that compare a gradient with a number."""
_MASKS: Final = frozenset(
    {"keras.ops.nan_to_num", "tensorflow.where", "keras.ops.where", "tensorflow.math.multiply_no_nan"}
)
"""Operations that may put another number where a gradient is inf or nan."""
_BY_HAND: Final = 16.0
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
    def is_minimize(self) -> bool:
        """Whether the optimizer takes the gradient itself, and scales the loss for it."""
        return self.gradient.by.endswith(".minimize")


@dataclass(frozen=True)
class Use:
    """An operation on, or a report of, what is still scaled."""

    at: Place
    made: Made
    what: str
    """The function: `tensorflow.clip_by_norm`, `update_state`, `return`."""


class Loops:
    """The training loops in one finished world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._m = world.machine
        self._courses = Courses()
        self._events = world.trace.events

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
    def _sure(self) -> tuple[Step, ...]:
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
        for step in self._sure:
            bare = not step.course.factors and not step.is_minimize and not self._is_scaled_by_hand(step)
            if bare and self._scales(step.optimizer):
                yield step

    def without_scaling(self) -> Iterator[Step]:
        """Gradients for the variables of float16 layers that reach an optimizer without any scaling."""
        for step in self._sure:
            plain = (
                not optimizers.scales(step.optimizer) and optimizers.has_fixed_scale(self._m, step.optimizer) is False
            )
            if plain and not step.course.factors and not self._is_scaled_by_hand(step) and self._is_float16(step):
                yield step

    def _is_scaled_by_hand(self, step: Step) -> bool:
        return any(abs(constant.value) >= _BY_HAND for constant in step.course.constants)

    def _is_float16(self, step: Step) -> bool:
        """Whether the gradient is taken with respect to variables of what computes in float16."""
        return any(computes_in_float16(self._m, layer) for layer in self._layers_of(step))

    def _layers_of(self, step: Step) -> Iterator[Instance]:
        """The layers and models whose variables the gradient of a step is taken with respect to."""
        for source in self._sources.get(step.gradient, ()):
            for way in alternatives(source):
                if way.made.layer is not None:
                    yield way.made.layer

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
        stack, seen = [made], set[Made]()
        while stack:
            here = stack.pop()
            if here in seen:
                continue
            seen.add(here)
            if here.layer is not None and computes_in_float16(self._m, here.layer):
                return True
            stack.extend(operand.made for operand in here.operands)
        return False

    # -- scaling that is done, and not undone, or too often

    def left_scaled(self) -> Iterator[Step]:
        """Gradients that still carry a scale where nobody takes it out any more."""
        for step in self.steps:
            powers = step.course.powers
            if step.is_minimize or not powers or any(power <= 0 for power in powers.values()):
                continue
            if optimizers.scales(step.optimizer):
                kept = self._world.generation == "2" and powers == {step.optimizer: 1}
            else:
                kept = any(self._is_inside(step.optimizer, scaling) for scaling in powers)
            if kept:
                yield step

    def _is_inside(self, optimizer: Instance, wrapper: Instance | None) -> bool:
        return wrapper is not None and optimizers.inner_of(self._m, wrapper) == optimizer

    def unscaled_twice(self) -> Iterator[tuple[Step, Place]]:
        """Gradients whose scale is taken out once more than it was put in, and where."""
        for step in self._sure:
            power = step.course.power(step.optimizer)
            divided = [
                factor for factor in step.course.factors if factor.power < 0 and factor.optimizer == step.optimizer
            ]
            least = 0 if self._world.generation == "3" else -1
            if optimizers.scales(step.optimizer) and divided and power <= least and divided[-1].place is not None:
                yield step, divided[-1].place

    def scaled_twice(self) -> Iterator[tuple[Step, Place]]:
        """Losses that are scaled once more than their gradients are unscaled, and where."""
        for step in self.steps:
            times = [
                factor for factor in step.course.factors if factor.power > 0 and factor.optimizer == step.optimizer
            ]
            if not optimizers.scales(step.optimizer) or not times:
                continue
            left = len(times) - sum(1 for factor in step.course.factors if factor.power < 0)
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
        """Gradients that are clipped or shown while they are scaled."""
        seen: set[Place] = set()
        for step in self.steps:
            for made in self.clips(step):
                if made.place is not None and made.place not in seen and self._compares(made):
                    seen.add(made.place)
                    yield Use(made.place, made, made.by)
        for event in self._reports():
            for tensor in event.values:
                course = self._courses.of(tensor)
                if course.gradients and course.is_scaled and course.sure and event.place not in seen:
                    seen.add(event.place)
                    yield Use(event.place, tensor.made, event.how)

    def clips(self, step: Step) -> Iterator[Made]:
        """The operations that clip a gradient on its way to the optimizer."""
        return (made for made in self._courses.behind_gradient(step.tensor) if made.by in _CLIPS)

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
                if made.by in _MASKS and made.place is not None:
                    yield step, Use(made.place, made, made.by)

    def scaled_losses_shown(self) -> Iterator[Use]:
        """Scaled losses that people are shown."""
        for event in self._reports():
            for tensor in event.values:
                course = self._courses.of(tensor)
                if not course.gradients and course.is_scaled and course.sure:
                    yield Use(event.place, tensor.made, event.how)

    def _reports(self) -> Iterator[Reported]:
        return (event for event in self._events if isinstance(event, Reported))

    # -- optimizers

    def nested(self) -> Iterator[OptimizerMade]:
        """LossScaleOptimizers around one."""
        for event in self._made():
            if optimizers.scales(event.optimizer) and optimizers.scales(optimizers.inner_of(self._m, event.optimizer)):
                yield event

    def needless(self) -> Iterator[OptimizerMade]:
        """LossScaleOptimizers in a program that computes in bfloat16, and nowhere in float16."""
        halves = {compute_dtype(event.policy.name) for event in self._events if isinstance(event, LayerMade)}
        if "bfloat16" not in halves or "float16" in halves or None in halves:
            return
        for event in self._made():
            if optimizers.scales(event.optimizer) and event.place not in self._m.program.scaled_for_float16:
                yield event

    def fixed_scales(self) -> Iterator[tuple[Place, float | None]]:
        """Scales that stay what they are: where, and how large where that is known."""
        for event in self._made():
            given = dict(event.arguments)
            if optimizers.scales(event.optimizer) and given.get("dynamic") == FALSE:
                yield event.place, _number(given.get("initial_scale"))
            elif given.get("loss_scale_factor", NONE) != NONE and self.uses_float16:
                yield event.place, _number(given["loss_scale_factor"])
        for step in self._sure:
            for constant in step.course.constants:
                undone = any(abs(constant.value * other.value - 1) < 1e-6 for other in step.course.constants)
                if constant.value >= _BY_HAND and undone and constant.made.place is not None and self._is_float16(step):
                    yield constant.made.place, constant.value

    def compiled_without_scaling(self) -> Iterator[Compiled]:
        """Models that `fit` trains in float16 with an optimizer that does not scale."""
        for event in self._events:
            if not isinstance(event, Compiled) or not optimizers.is_optimizer(event.optimizer):
                continue
            if not optimizers.scales(event.optimizer) and computes_in_float16(self._m, event.model):
                yield event

    def used(self) -> Iterator[OptimizerUsed]:
        """The methods of optimizers that are called, and the attributes that have to do with the scale."""
        return (event for event in self._events if isinstance(event, OptimizerUsed))

    def made(self, optimizer: Instance) -> OptimizerMade | None:
        """The call that made an optimizer."""
        return next((event for event in self._made() if event.optimizer == optimizer), None)

    def inner_of(self, optimizer: Instance) -> Value:
        """The optimizer inside a LossScaleOptimizer."""
        return optimizers.inner_of(self._m, optimizer)

    @cached_property
    def uses_float16(self) -> bool:
        """Whether anything in the run computes in float16."""
        return any(
            compute_dtype(event.policy.name) == "float16" for event in self._events if isinstance(event, LayerMade)
        )

    def _made(self) -> Iterator[OptimizerMade]:
        return (event for event in self._events if isinstance(event, OptimizerMade))

    def policy_of(self, step: Step) -> Policy | None:
        """The policy under which the gradient is computed, for a message."""
        infos = (info_of(self._m, layer) for layer in self._layers_of(step))
        return next((info.policy for info in infos if info is not None and info.policy.name is not None), None)


def _number(value: Value | None) -> float | None:
    return float(value.value) if isinstance(value, Const) and isinstance(value.value, (int, float)) else None
