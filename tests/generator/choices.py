"""Decisions that a seed makes, on record: an edited record makes a smaller program."""

from __future__ import annotations

import copy
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")

Record = Mapping[str, int]
"""Decisions by where they were made ("model/head/3"); those that are missing are 0, the simplest."""


class Choices:
    """A source of decisions, from a seed or from the record of an earlier run.

    Each is known by the part of the program that it is made for, so that another decision elsewhere does not shift it.
    Only `Random.random` is asked, whose sequence is the same in every version of Python.
    """

    def __init__(self, seed: int, given: Record | None = None) -> None:
        self._random = random.Random(seed)
        self._given = given
        self._path = ""
        self._made: Counter[str] = Counter()
        self.record: dict[str, int] = {}
        """What was decided, without the zeros."""

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """The decisions made meanwhile are for a part of the program of their own."""
        outer = self._path
        self._made[f"{outer}{name}"] += 1
        self._path = f"{outer}{name}{self._made[f'{outer}{name}']}/"
        yield
        self._path = outer

    def aside(self, name: str) -> Choices:
        """The same source for decisions that are kept by themselves, whatever the part."""
        found = copy.copy(self)
        found._path = f"{name}/"
        return found

    def below(self, count: int) -> int:
        """A number from 0 to count - 1."""
        return self._decide(count, int(self._random.random() * count))

    def chance(self, share: float) -> bool:
        """Yes in `share` of the cases; no is the simpler answer."""
        return bool(self._decide(2, int(self._random.random() < share)))

    def pick(self, options: Sequence[T]) -> T:
        """One of them; the first is the simplest."""
        return options[self.below(len(options))]

    def weighted(self, options: Sequence[tuple[int, T]]) -> T:
        """One of them, each as often as its weight says; the first is the simplest."""
        at = self._random.random() * sum(weight for weight, _ in options)
        chosen = 0
        for number, (weight, _) in enumerate(options):
            if at < weight:
                chosen = number
                break
            at -= weight
        return options[self._decide(len(options), chosen)][1]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """The items in another order."""
        left, taken = list(items), []
        while left:
            taken.append(left.pop(self.below(len(left))))
        return taken

    def _decide(self, count: int, drawn: int) -> int:
        self._made[self._path] += 1
        key = f"{self._path}{self._made[self._path]}"
        if self._given is not None:
            drawn = self._given.get(key, 0)
            drawn = drawn if drawn < count else 0
        if drawn:
            self.record[key] = drawn
        return drawn
