"""What a program about numbers may be about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tests.generator.author import Author
from tests.generator.numerics import casts, epsilons, losses, masks, prepared, sizes, statistics

_SUBJECTS: Final[list[tuple[int, Callable[[Author], str]]]] = [
    (3, masks.model),
    (3, epsilons.model),
    (4, casts.model),
    (2, statistics.model),
    (3, losses.model),
    (2, prepared.layers),
    (2, prepared.pipeline),
    (3, sizes.model),
]


def model(a: Author) -> str:
    """Write a model about one of them; gives its name."""
    with a.choices.part("model"):
        return a.choices.weighted(_SUBJECTS)(a)
