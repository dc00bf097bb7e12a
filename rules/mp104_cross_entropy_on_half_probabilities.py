"""A cross-entropy must be given logits, not probabilities of half precision."""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Applicability, Fault, KeepLogits, Probabilities, Rule, Severity, World


class CrossEntropyOnHalfProbabilities(Rule):
    """MP104."""

    code = "MP104"
    name = "cross-entropy-on-half-probabilities"
    severity = Severity.WARNING
    fixes = (Applicability.UNSAFE, Applicability.DISPLAY)

    def check(self, world: World) -> Iterator[Fault]:
        """Cross-entropies that are computed of what half precision has left of the probabilities."""
        for rounded in world.once(Probabilities).rounded():
            dtype = rounded.maker.computed_in
            says = f"this cross-entropy is computed of what a {rounded.activation} has put out in {dtype}"
            lost = "there a probability of 1e-8 is 0" if dtype == "float16" else "three digits are left of them"
            rewrite = KeepLogits(world, rounded) if rounded.event is not None else None
            yield Fault(
                rounded.at, Severity.WARNING, f"{says}, and {lost}: give it the logits", rounded.policy, rewrite
            )
