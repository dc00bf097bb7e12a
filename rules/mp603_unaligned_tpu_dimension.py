"""Hidden sizes of layers on a TPU should be multiples of 128.
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Applicability, Fault, RoundUp, Rule, Severity, Sizes, World


class UnalignedTpuDimension(Rule):
    """MP603."""

    code = "MP603"
    name = "unaligned-tpu-dimension"
    severity = Severity.ADVICE
    fixes = (Applicability.UNSAFE,)

    def check(self, world: World) -> Iterator[Fault]:
        """Hidden sizes of layers that compute in half precision on a TPU."""
        for unaligned in world.once(Sizes).for_tpu():
            says = f"{unaligned.says}: not a multiple of 128, so that a TPU pads it"
            yield Fault(unaligned.place, Severity.ADVICE, says, unaligned.policy, RoundUp(unaligned.place, 128))
