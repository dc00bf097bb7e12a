"""Sizes rounded up, where they are written: with all that is computed from them, and all that must be equal."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import libcst as cst

from mplint.codemods.calls import argument_at, argument_of
from mplint.codemods.rewrite import Evidence, Rewrite, only_shown
from mplint.codemods.uses import Uses
from mplint.findings import Applicability, Edit, Fix
from mplint.interpreter.batches import Batches
from mplint.interpreter.origins import again, literals, value_of
from mplint.interpreter.sizes import TENSOR_CORES, Size, Sizes, next_multiple
from mplint.interpreter.values import Const, Place
from mplint.interpreter.world import World

_MOST_GROWTH: Final = 4 / 3
"""A number that would have to grow by more than this, and by more than to the next multiple, is left as it is."""
_STEPS: Final = ("steps_per_epoch", "validation_steps", "validation_batch_size")
"""Arguments that count batches, or the examples in one."""
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


@dataclass(frozen=True)
class RoundUpBatch(Rewrite):
    """Make the number of examples in a batch, `value`, a multiple of 8."""

    world: World
    value: Const

    def plan(self, evidence: Evidence) -> Fix | None:
        """Another literal; only shown where something reads it that does not count batches."""
        program = self.world.machine.program
        found = literals(program, self.value)
        if found is None or len(found) != 1:
            return None
        (place, literal), *_ = found.items()
        now = value_of(literal)
        wanted = (
            number
            for number in range(now, int(now * _MOST_GROWTH) + TENSOR_CORES)
            if _is_aligned(again(program, self.value, {place: number}))
        )
        number = next(wanted, None)
        if number is None:
            return None
        edit = Edit(place.source.path, place.source.span(place.node), str(number))
        what = f"round {now} up to {number}"
        stray = stray_use(evidence, found, [arg for world in evidence.worlds for arg in _counting(world)])
        if stray is not None:
            return only_shown(what, evidence.row_of(stray), [edit])
        return Fix(what, Applicability.UNSAFE, (edit,))


def _is_aligned(number: object) -> bool:
    """Whether it is a multiple of 8."""
    return isinstance(number, int) and number % TENSOR_CORES == 0


def _counting(world: World) -> Iterator[cst.Arg]:
    """The arguments that say how large batches are, or how many there are."""
    for batched in world.once(Batches).all:
        call = batched.place.node
        if isinstance(call, cst.Call):
            for name, position in ((batched.parameter, batched.position), *((name, -1) for name in _STEPS)):
                arg = argument_at(call, name, position)
                if arg is not None:
                    yield arg


class _Group:
    """Sizes that change together."""

    def __init__(self, evidence: Evidence, step: int, of_words: bool) -> None:
        self._evidence = evidence
        self._program = evidence.worlds[0].machine.program
        self._step = step
        self._of_words = of_words
        self.known = [size for world in evidence.worlds for size in _sizes(world, of_words)]
        self.literals: dict[Place, Const] = {}
        self._asked: list[Size] = []
        self._changed: list[Size] = []

    def is_unaligned(self, size: Size) -> bool:
        """Whether the size is one of those to change."""
        return size.number > self._step and size.number % self._step != 0

    def add(self, size: Size) -> bool:
        """Take a size in, and all that goes with it; false where one of them cannot change."""
        self._asked.append(size)
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
        """What to write for each literal; None where no number near the present one is right for the sizes."""
        return self._solved(self._changed) or self._solved([size for size in self._changed if self._is_due(size)])

    def _is_due(self, size: Size) -> bool:
        """Whether the size must be right afterwards: one that is not, and is not to be changed, may stay so."""
        return size in self._asked or not self.is_unaligned(size)

    def _solved(self, sizes: Sequence[Size]) -> dict[Place, int] | None:
        """The least numbers that make all `sizes` right; literals that are equal stay so."""
        found: dict[Place, int] = {}
        for now in sorted({value_of(literal) for literal in self.literals.values()}):
            places = [place for place, literal in self.literals.items() if value_of(literal) == now]
            here = [size for size in sizes if not self._literals(size).keys().isdisjoint(places)]
            most = max(next_multiple(now, self._step), int(now * _MOST_GROWTH))
            for number in range(now, most + 1):
                tried = found | dict.fromkeys(places, number)
                if all(self._is_right(size, again(self._program, size.value, tried)) for size in here):
                    found = tried
                    break
            else:
                return None
        made = [(size, again(self._program, size.value, found)) for size in self._changed]
        fits = all(number == value for size, number in made for other, value in made if size.goes_with(other))
        return found if fits else None

    def _is_right(self, size: Size, number: object) -> bool:
        step = self._step if size.number > self._step else TENSOR_CORES if size.number > TENSOR_CORES else 1
        return isinstance(number, int) and number % step == 0

    def stray(self) -> Place | None:
        """Where one of the literals goes that is not known."""
        known = [arg for size in self._changed if (arg := _argument(size)) is not None]
        return stray_use(self._evidence, self.literals, known)


def stray_use(evidence: Evidence, literals: Iterable[Place], known: Collection[cst.Arg]) -> Place | None:
    """A use of one of the literals that is none of the arguments `known`; None where there is no other."""
    found = (Uses(evidence.files_naming, known).stray(literal) for literal in literals)
    return next((place for place in found if place is not None), None)


def _argument(size: Size) -> cst.Arg | None:
    """The argument of the call that makes the layer which is its size."""
    call = size.layer.place.node
    if not isinstance(call, cst.Call) or size.layer.of_program:
        return None
    found = (argument_of(call, size.layer.base, size.parameter, generation) for generation in ("3", "2"))
    return next((arg for arg in found if arg is not None), None)


def _sizes(world: World, of_words: bool) -> Iterator[Size]:
    sizes = world.once(Sizes)
    if of_words:
        for unaligned in sizes.vocabularies():
            yield from unaligned.sizes
    else:
        yield from sizes.all
