"""A loss must be computed in float32.

"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Applicability, Fault, HalfLosses, LossInFloat32, Probabilities, Rule, Severity, World


class LowPrecisionLoss(Rule):
    """MP103."""

    code = "MP103"
    name = "low-precision-loss"
    severity = Severity.WARNING
    fixes = (Applicability.SAFE, Applicability.DISPLAY)

    def check(self, world: World) -> Iterator[Fault]:
        """Losses with something that does not go well in float16."""
        probabilities = world.once(Probabilities)
        rounded = {loss.at for loss in probabilities.rounded()}
        for loss in world.once(HalfLosses).all:
            if any(event.place in rounded for event in loss.operations):
                continue
            # a cast would hide the logits, which Keras finds behind what it is given
            casts = not any(True for event in loss.operations for _ in probabilities.of(event))
            for event, why in loss.faults:
                says = f"`{_name(event.by)}` of a loss runs in float16, where {why.value}: cast to float32 before it"
                yield Fault(event.place, Severity.WARNING, says, loss.policy, LossInFloat32(world, loss) if casts else None)


def _name(path: str) -> str:
    return path.rpartition(".")[2]
