"""A whole random program."""

from __future__ import annotations

from tests.generator.choices import Choices
from tests.generator.language import containers, dynamic, functions, objects, records
from tests.generator.language.author import INT, INTS, MAPPING, TEXT, Author
from tests.generator.language.expressions import literal
from tests.generator.language.statements import block

TOPICS = (*functions.TOPICS, *objects.TOPICS, *records.TOPICS, *containers.TOPICS, *dynamic.TOPICS)


def write(seed: int) -> str:
    """The program of a seed."""
    a = Author(Choices(seed))
    for kind in (INT, INT, TEXT, INTS, MAPPING):
        a.bind(kind, literal(a, kind))
    for _ in range(1 + a.choices.below(3)):
        if a.chance(0.35):
            block(a, 2 + a.choices.below(5))
        else:
            a.choices.weighted(TOPICS)(a)
    if a.chance(0.2):
        with a.inside('if __name__ == "__main__":'):
            block(a, 2, 1)
    return a.text()
