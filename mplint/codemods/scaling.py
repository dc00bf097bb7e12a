"""Loss scaling for a training loop: a wrapped optimizer, a scaled loss, and in Keras 2 unscaled gradients."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from mplint.codemods import losses
from mplint.codemods.loss_scale import wrapped
from mplint.codemods.rewrite import Evidence, Rewrite, only_shown
from mplint.findings import Applicability, Edit, Fix
from mplint.interpreter.keras import optimizers
from mplint.interpreter.loops import Loops, Step
from mplint.interpreter.scaling import behind
from mplint.interpreter.trace import Compiled, GradientsApplied, OptimizerMade, OptimizerUsed
from mplint.interpreter.values import Instance, Place
from mplint.interpreter.world import World
from mplint.keras_api.optimizers import SCALE_METHODS

_NOT_APPLIED: Final = ": the gradient that is taken for it is given to no optimizer"
_KEPT: Final = re.compile(
    rb"\b(Checkpoint|CheckpointManager|pickle|joblib|(save|load)_own_variables)\b"
    rb"|(optimizer|opt)\w*\.((get|set)_weights|variables)\b"
)
"""What may save or restore the state of an optimizer: of a wrapped one it has another structure."""
_KEPT_WITH_MODEL: Final = re.compile(
    rb"\b(BackupAndRestore|ModelCheckpoint|load_model|load_weights|save_model|save_weights)\b"
    rb"|(?<!np)(?<!numpy)\.save\("
)
"""What may save or restore that of an optimizer which a model holds."""
_OWN: Final = re.compile(rb"\.(beta_1|beta_2|rho|amsgrad|nesterov|momentum)\b(?!\s*=[^=])")
"""What a LossScaleOptimizer of Keras 3 does not pass on from the one inside."""


@dataclass(frozen=True)
class ScaleLoss(Rewrite):
    """Scale the loss whose gradient a step is, by its optimizer."""

    world: World
    step: Step

    def plan(self, evidence: Evidence) -> Fix | None:
        """Inside the tape; in Keras 2 the gradients are unscaled behind it."""
        scaled = losses.scaled(evidence, self.world, self.step, frozenset())
        if scaled is None:
            return None
        what = "Scale the loss"
        if scaled.elsewhere is not None:
            return only_shown(what, evidence.row_of(scaled.elsewhere), scaled.edits, _NOT_APPLIED)
        return Fix(what, scaled.applicability, scaled.edits)


@dataclass(frozen=True)
class AddLossScaling(Rewrite):
    """Wrap the optimizer of a step, and scale each loss that it, or one that shares a loop with it, minimizes."""

    world: World
    step: Step

    def plan(self, evidence: Evidence) -> Fix | None:
        """All of the loops at once: a wrapped optimizer stalls where a loss is not scaled."""
        worlds = evidence.worlds_of(self.world.generation)
        made, steps = _connected(worlds, self.step)
        edits: list[Edit] = []
        handed_on, elsewhere = False, None
        for place in made:
            around = wrapped(self.world, place)
            if around is None or any(_is_wrapped(world, place) for world in worlds):
                return None
            edits += around
        for world, step in steps:
            if step.is_minimize or _is_scaled_once_wrapped(world, step):
                continue
            scaled = losses.scaled(evidence, world, step, made.keys())
            if scaled is None:
                return None
            edits += scaled.edits
            handed_on = handed_on or scaled.applicability is Applicability.UNSAFE
            elsewhere = elsewhere or scaled.elsewhere
        what, whole = "Wrap the optimizer and scale the loss", tuple(dict.fromkeys(edits))
        unseen = next((place for world in worlds for place in _unseen(world, made.keys())), None)
        if unseen is not None:
            return only_shown(
                what, evidence.row_of(unseen), whole, ": gradients of a loss that is not scaled are divided"
            )
        if elsewhere is not None:
            return only_shown(what, evidence.row_of(elsewhere), whole, _NOT_APPLIED)
        held = any(_is_held(world, made.keys()) for world in worlds)
        words = (_KEPT, _KEPT_WITH_MODEL) if held else (_KEPT,)
        kept = any(evidence.mentions(place.source.path, word) for place in made for word in words)
        own = self.world.generation == "3" and any(evidence.mentions(place.source.path, _OWN) for place in made)
        return Fix(what, Applicability.UNSAFE if kept or own or handed_on else Applicability.SAFE, whole)


def _connected(worlds: Sequence[World], first: Step) -> tuple[dict[Place, None], list[tuple[World, Step]]]:
    """The optimizers that share a loop with that of `first`, by where they are made, and a step for each gradient."""
    made = {first.optimizer.address.place: None}
    taken: dict[tuple[Place | None, Place], tuple[World, Step]] = {}
    before = -1
    while before != len(made) + len(taken):
        before = len(made) + len(taken)
        for world in worlds:
            for step in world.once(Loops).steps:
                key = step.gradient.place, step.event.place
                if step.optimizer.address.place in made:
                    taken.setdefault(key, (world, step))
                if key in taken and not optimizers.scales(step.optimizer):
                    made.setdefault(step.optimizer.address.place)
    return made, list(taken.values())


def _unseen(world: World, made: Container[Place]) -> Iterator[Place]:
    """Where one of the optimizers is given gradients of which it is not known what loss they are taken of."""
    known = {step.event for step in world.once(Loops).steps}
    for event in world.trace.events:
        if isinstance(event, GradientsApplied) and event not in known and event.optimizer.address.place in made:
            yield event.place


def _is_held(world: World, made: Container[Place]) -> bool:
    """Whether a model has one of the optimizers as an attribute, or is compiled with it."""
    given = [event.given for event in world.trace.events if isinstance(event, Compiled)]
    fields = [held for model in world.models for held in world.machine.fields(model.instance.address).values()]
    return any(
        isinstance(part, Instance) and part.address.place in made and optimizers.is_optimizer(part)
        for value in (*given, *fields)
        for part in world.machine.parts(value)
    )


def _is_wrapped(world: World, made: Place) -> bool:
    """Whether the program puts a LossScaleOptimizer around what the call at `made` gives, in some other case."""
    for event in world.trace.events:
        if isinstance(event, OptimizerMade) and optimizers.scales(event.optimizer):
            inner = optimizers.inner_of(world.machine, event.optimizer)
            if isinstance(inner, Instance) and inner.address.place is made:
                return True
    return False


def _is_scaled_once_wrapped(world: World, step: Step) -> bool:
    """Whether the program calls `scale_loss` of the plain optimizer on the loss: of a wrapped one that scales it."""
    scaled = {
        id(argument.made)
        for event in world.trace.events
        if isinstance(event, OptimizerUsed) and event.optimizer == step.optimizer and event.name == SCALE_METHODS["3"]
        for argument in event.arguments
        if hasattr(argument, "made")
    }
    return bool(scaled) and any(id(made) in scaled for made in behind(step.gradient))
