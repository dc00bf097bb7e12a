"""A vocabulary that is projected to should be padded to a multiple of 8.
"""

from __future__ import annotations

from collections.abc import Iterator

from mplint.api import Applicability, Fault, RoundUp, Rule, Severity, Sizes, World


class UnalignedVocabulary(Rule):
    """MP604."""

    code = "MP604"
    name = "unaligned-vocabulary"
    severity = Severity.ADVICE
    fixes = (Applicability.UNSAFE,)

    def check(self, world: World) -> Iterator[Fault]:
        """Embeddings of words, and the layers that say which word it is."""
        for unaligned in world.once(Sizes).vocabularies():
            says = (
                f"{unaligned.says} is the size of a vocabulary and not a multiple of 8, so that the projection to it "
                "is padded or slower on Tensor Cores"
            )
            yield Fault(
                unaligned.place, Severity.ADVICE, says, unaligned.policy, RoundUp(unaligned.place, 8, of_words=True)
            )
