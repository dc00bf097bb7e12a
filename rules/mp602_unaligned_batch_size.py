"""The number of examples in a batch should be a multiple of 8.
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Applicability, Batches, Fault, RoundUpBatch, Rule, Severity, World


class UnalignedBatchSize(Rule):
    """MP602."""

    code = "MP602"
    name = "unaligned-batch-size"
    severity = Severity.ADVICE
    fixes = (Applicability.UNSAFE,)

    def check(self, world: World) -> Iterator[Fault]:
        """Batches that a model is trained with in half precision."""
        for batched, policy in world.once(Batches).unaligned():
            says = (
                f"{batched.size.value} examples in a batch: not a multiple of 8, so that matrices are padded or slower "
                "on Tensor Cores"
            )
            yield Fault(batched.place, Severity.ADVICE, says, policy, RoundUpBatch(world, batched.size))
