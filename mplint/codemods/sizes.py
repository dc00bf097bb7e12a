"""Sizes rounded up, where they are written: with all that is computed from them, and all that must be equal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mplint.codemods.rewrite import Evidence, Rewrite, only_shown
from mplint.codemods.uses import Uses
from mplint.findings import Applicability, Edit, Fix
from mplint.interpreter.origins import again, literals, value_of
from mplint.interpreter.sizes import Size, Sizes
from mplint.interpreter.values import Const, Place
from mplint.interpreter.world import World

_FARTHEST: Final = 128
"""A number that would have to grow by more than this is left as it is."""
_MOST: Final = 200
"""More sizes than these that go together are not looked at."""


@dataclass(frozen=True)
class RoundUp(Rewrite):
    """Make the sizes of the layers that the call at `at` makes multiples of `step`."""

    at: Place
    step: int
    of_words: bool = False
    """Whether the sizes are those of a vocabulary, which what a model gives goes along with."""

    def plan(self, evidence: Evidence) -> Fix | None:
        """Other literals; only shown where something else reads one of them, too."""
        group = _Group(evidence, self.step, self.of_words)
        start = [size for size in group.known if size.layer.place is self.at and group.is_unaligned(size)]
        if not start or not all(map(group.add, start)):
            return None
        numbers = group.numbers()
        if numbers is None:
            return None
        edits = [
            Edit(place.source.path, place.source.span(place.node), str(number)) for place, number in numbers.items()
        ]
        changes = sorted({f"{value_of(group.literals[place])} up to {number}" for place, number in numbers.items()})
        what = f"round {', '.join(changes)}"
        stray = group.stray()
        if stray is not None:
            return only_shown(what, evidence.row_of(stray), edits)
        return Fix(what, Applicability.UNSAFE, tuple(edits))


class _Group:
    """Sizes that change together."""

    def __init__(self, evidence: Evidence, step: int, of_words: bool) -> None:
        self._evidence = evidence
        self._program = evidence.worlds[0].machine.program
        self._step = step
        self._of_words = of_words
        self.known = [size for world in evidence.worlds for size in _sizes(world, of_words)]
        self.literals: dict[Place, Const] = {}
        self._changed: list[Size] = []

    def is_unaligned(self, size: Size) -> bool:
        """Whether the size is one of those to change."""
        return size.number > self._step and size.number % self._step != 0

    def add(self, size: Size) -> bool:
        """Take a size in, and all that goes with it; false where one of them cannot change."""
        stack = [size]
        while stack:
            here = stack.pop()
            place = self._source(here)
            if place is None or not self._may_change(here) or len(self._changed) > _MOST:
                return False
            if place in self.literals:
                continue
            self.literals[place] = self._literals(here)[place]
            for other in self.known:
                if place in self._literals(other):
                    self._changed.append(other)
                    stack.append(other)
                    stack += [each for each in self.known if each.goes_with(other)]
        return True

    def _may_change(self, size: Size) -> bool:
        return size.is_hidden or self._of_words

    def _literals(self, size: Size) -> dict[Place, Const]:
        return literals(self._program, size.value) or {}

    def _source(self, size: Size) -> Place | None:
        """The literal to change for a size: the greatest one that it is computed from."""
        found = self._literals(size)
        most = max(map(value_of, found.values()), default=0)
        greatest = [place for place, literal in found.items() if value_of(literal) == most]
        return greatest[0] if len(greatest) == 1 else None

    def numbers(self) -> dict[Place, int] | None:
        """What to write for each literal; None where no number is right for all sizes."""
        found: dict[Place, int] = {}
        for place, literal in self.literals.items():
            number = self._number(place, value_of(literal))
            if number is None:
                return None
            found[place] = number
        made = [(size, again(self._program, size.value, found)) for size in self._changed]
        for size, number in made:
            if any(size.goes_with(other) and number != value for other, value in made):
                return None
        return found

    def _number(self, place: Place, now: int) -> int | None:
        sizes = [size for size in self._changed if place in self._literals(size)]
        for number in range(now, now + _FARTHEST + 1):
            if all(self._is_right(size, again(self._program, size.value, {place: number})) for size in sizes):
                return number
        return None

    def _is_right(self, size: Size, number: object) -> bool:
        step = self._step if size.number > self._step else 8 if size.number > 8 else 1
        return isinstance(number, int) and number % step == 0

    def stray(self) -> Place | None:
        """Where one of the literals goes that is not known."""
        known: dict[int, set[tuple[str, str]]] = {}
        for size in self._changed:
            known.setdefault(id(size.layer.place.node), set()).add((size.layer.base, size.parameter))
        for literal in self.literals:
            found = Uses(self._evidence.files_naming, known).stray(literal)
            if found is not None:
                return found
        return None


def _sizes(world: World, of_words: bool) -> Iterator[Size]:
    sizes = world.once(Sizes)
    if of_words:
        for unaligned in sizes.vocabularies():
            yield from unaligned.sizes
    else:
        yield from sizes.all
