"""A loss must be computed in float32."""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import (
    Applicability,
    Fault,
    HalfLosses,
    KeepLogits,
    LossInFloat32,
    Probabilities,
    Rewrite,
    Rule,
    Severity,
    Together,
    World,
)


class LowPrecisionLoss(Rule):
    """MP103."""

    code = "MP103"
    name = "low-precision-loss"
    severity = Severity.WARNING
    fixes = (Applicability.SAFE, Applicability.UNSAFE, Applicability.DISPLAY)

    def check(self, world: World) -> Iterator[Fault]:
        """Losses with something that does not go well in float16."""
        probabilities = world.once(Probabilities)
        rounded = {loss.at for loss in probabilities.rounded()}
        for loss in world.once(HalfLosses).all:
            if any(event.place in rounded for event in loss.operations):
                continue
            rewrite: Rewrite = LossInFloat32(world, loss)
            of_probabilities = [given for event in loss.operations for given in probabilities.of(event)]
            if of_probabilities:  # a cast alone would hide the logits, which Keras finds behind what it is given
                rewrite = Together((*(KeepLogits(world, given) for given in of_probabilities), rewrite))
            for event, why in loss.faults:
                says = f"`{_name(event.by)}` of a loss runs in float16, where {why.value}: cast to float32 before it"
                yield Fault(event.place, Severity.WARNING, says, loss.policy, rewrite)


def _name(path: str) -> str:
    return path.rpartition(".")[2]
