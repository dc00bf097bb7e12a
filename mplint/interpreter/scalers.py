"""The optimizers of one run that scale a loss, or should: what they are put around, and how they do it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from mplint.interpreter.history import History
from mplint.interpreter.keras import optimizers, training
from mplint.interpreter.keras.precision import float16_layers
from mplint.interpreter.loops import BY_HAND, Loops, Step
from mplint.interpreter.scaling import Constant
from mplint.interpreter.trace import (
    Compiled,
    LayerMade,
    ModelMade,
    OptimizerMade,
    OptimizerWrapped,
    Ran,
    ScopeEntered,
    ScopeLeft,
)
from mplint.interpreter.values import FALSE, Const, Instance, Place, Value, compute_dtype
from mplint.interpreter.world import World

_SAME: Final = 1e-6
"""Two factors cancel each other where their product is 1 up to this."""


@dataclass(frozen=True)
class FixedScale:
    """A scale of a loss that stays what it is: an argument of the call `at`, or a product `at` in the program.

    Of a product, `step` is the gradient, and `over` where that is divided by the same number.  Where the scale is the
    optimizer's own, as it was when JAX compiled the `step`, it has no `value`.
    """

    at: Place
    value: float | None
    step: Step | None = None
    times: Constant | None = None
    over: Constant | None = None


def _undone(constants: Sequence[Constant]) -> Iterator[tuple[Constant, Constant]]:
    """Large factors that are divided out again, and where."""
    for times in constants:
        over = next((other for other in constants if abs(times.value * other.value - 1) < _SAME), None)
        if times.value >= BY_HAND and over is not None:
            yield times, over


class Scalers:
    """The optimizers in one finished world that scale, or should."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._m = world.machine
        self._loops = world.once(Loops)
        self._events = world.trace.events

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

    def fixed_scales(self) -> Iterator[FixedScale]:
        """Scales that stay what they are."""
        for event in self._made():
            given = dict(event.arguments)
            fixed = optimizers.scales(event.optimizer) and given.get("dynamic") == FALSE
            number = _number(given.get("initial_scale" if fixed else "loss_scale_factor"))
            if number is not None and (fixed or self._uses_float16):  # one that is asked for is the user's choice
                yield FixedScale(event.place, number)
        adapted = self._adapted
        for step in self._loops.sure:
            for times, over in _undone(step.course.constants):
                if times.made.place is not None and step.event.place not in adapted and self._loops.is_float16(step):
                    yield FixedScale(times.made.place, times.value, step, times, over)
        for step, made in self._loops.stale_scales():
            if made.place is not None:
                yield FixedScale(made.place, None, step)

    @cached_property
    def _adapted(self) -> frozenset[Place]:
        """Where gradients are applied that were multiplied with one number at one time, and with another later."""
        numbers: dict[Place, set[tuple[float, ...] | None]] = {}
        for step in self._loops.steps:
            large = tuple(times.value for times, _ in _undone(step.course.constants))
            numbers.setdefault(step.event.place, set()).add(large if step.course.sure else None)
        return frozenset(place for place, found in numbers.items() if len(found) > 1)

    def compiled_without_scaling(self) -> Iterator[Compiled]:
        """Models that `fit` trains in float16 with an optimizer that does not scale.

        Without those that have a loop of their own, those of pure float16, and those whose layers only have the policy
        because it was set behind the model: others speak of them.
        """
        looped = {step.optimizer for step in self._loops.steps}
        fitted = {event.model for event in self._events if isinstance(event, Ran) and event.method in training.TRAINS}
        late = any(True for _ in History(self._world).late())
        for event in self._events:
            if not isinstance(event, Compiled) or not isinstance(event.optimizer, Instance):
                continue
            if not optimizers.is_optimizer(event.optimizer) or optimizers.scales(event.optimizer):
                continue
            if event.optimizer in looped or not (event.chosen or event.model in fitted):
                continue
            layers = [
                info for info in float16_layers(self._m, event.model) if info.policy.name == optimizers.SCALE_POLICY
            ]
            if any(info.asked or event.unscaled or not late for info in layers):
                yield event

    def foreign_wrappers(self) -> Iterator[tuple[Place, str]]:
        """What other libraries put around a LossScaleOptimizer, or have inside one, and where."""
        for event in self._events:
            if isinstance(event, OptimizerWrapped) and optimizers.scales(event.optimizer):
                yield event.place, event.wrapper
            elif isinstance(event, OptimizerMade) and optimizers.scales(event.optimizer):
                wrapper = optimizers.wrapper_of(optimizers.inner_of(self._m, event.optimizer))
                if wrapper is not None:
                    yield event.place, wrapper

    def mirrored_with_xla(self) -> Iterator[Compiled]:
        """Models of a MirroredStrategy whose steps are compiled by XLA, and scale their loss."""
        scopes: list[str | None] = []
        mirrored: set[Instance] = set()
        for event in self._events:
            inside = bool(scopes) and (scopes[-1] or "").endswith("MirroredStrategy")
            match event:
                case ScopeEntered(strategy=strategy):
                    scopes.append(strategy)
                case ScopeLeft():
                    scopes.pop()
                case ModelMade(model=model) if inside:
                    mirrored.add(model)
                case LayerMade(layer=layer) if inside:
                    mirrored.add(layer)
                case Compiled(jit=True) if inside or event.model in mirrored:
                    if optimizers.scales(event.optimizer):
                        yield event
                case _:
                    pass

    @cached_property
    def _uses_float16(self) -> bool:
        """Whether anything in the run computes in float16."""
        return any(
            compute_dtype(event.policy.name) == "float16" for event in self._events if isinstance(event, LayerMade)
        )

    def _made(self) -> Iterator[OptimizerMade]:
        return (event for event in self._events if isinstance(event, OptimizerMade))


def _number(value: Value | None) -> float | None:
    return float(value.value) if isinstance(value, Const) and isinstance(value.value, (int, float)) else None
