"""What a program is tried on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

Subject = Literal["masks", "epsilons", "casts", "statistics", "losses", "preprocessing", "pipelines", "sizes"]
Watch = Literal["off", "gradient", "products"]
"""What is looked at beside whether all numbers are finite: whether they are about right, the gradient towards the
inputs, and what the products of matrices are computed in."""
SUBJECTS: Final[tuple[Subject, ...]] = (
    "masks", "epsilons", "casts", "statistics", "losses", "preprocessing", "pipelines", "sizes",
)  # fmt: skip


@dataclass(frozen=True)
class Trial:
    """A model of a program, the data on which it shows what it is about, and what is to be looked at."""

    subject: Subject
    model: str
    probes: tuple[tuple[str, ...], ...] = ()
    """For each call how its inputs are filled: "all 0", "ramp 3", "alternate 300", "bits"."""
    watches: tuple[Watch, ...] = ()
    unaligned: bool = False
    """Of sizes: whether one that is hidden is no multiple of 8."""

    def job(self) -> Mapping[str, Any]:
        """As the process is told of it in which Keras runs."""
        return asdict(self)
