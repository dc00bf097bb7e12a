"""Hidden sizes of layers should be multiples of 8.
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Applicability, Fault, RoundUp, Rule, Severity, Sizes, World


class UnalignedLayerSize(Rule):
    """MP601."""

    code = "MP601"
    name = "unaligned-layer-size"
    severity = Severity.ADVICE
    fixes = (Applicability.UNSAFE,)
    gives_way_to = ("MP603",)

    def check(self, world: World) -> Iterator[Fault]:
        """Hidden sizes of layers that compute in half precision."""
        for unaligned in world.once(Sizes).for_tensor_cores():
            says = f"{unaligned.says}: not a multiple of 8, so that it is padded or slower on Tensor Cores"
            yield Fault(unaligned.place, Severity.ADVICE, says, unaligned.policy, RoundUp(unaligned.place, 8))
