"""What loss scaling has done to a tensor: the way from a loss to a gradient, read off the graph of how it was made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from mplint.interpreter.values import Array, Const, Instance, Made, Place, Scaling, Symbol, Tensor, Unknown, Value
from mplint.keras_api.arithmetic import CHOOSES, CLIPS, CONSTANT, ENDS, OVER, READ, TIMES, UNDER, ZEROS

_TRAINED: Final = frozenset({"layer", "model", "composite", "variable"})
_NEAR: Final = 24
"""Steps of a computation that are looked at before more is asked of it."""


@dataclass(frozen=True)
class Factor:
    """The loss scale of `optimizer` that a tensor was multiplied with (`power` 1) or divided by (-1), and where."""

    optimizer: Instance | None
    power: int
    made: Made

    @property
    def place(self) -> Place | None:
        """Where that was done."""
        return self.made.place


@dataclass(frozen=True)
class Constant:
    """A number that a tensor was multiplied with in the program's own arithmetic; of a divisor the inverse."""

    value: float
    made: Made


@dataclass(frozen=True)
class Course:
    """What was done to a tensor on its way.

    `factors` are the multiplications with a loss scale, and the divisions by one, in their order; `gradients` those
    that were taken on the way, the last one last.  `trained` says that it depends on variables or models, `sure` that
    nothing unknown can have scaled it.  `mixed` is where a term was added to it that is not scaled alike.  `weights`
    are the variables of the program that it was computed from (1) or divided by (-1), and unknown numbers that it was
    multiplied with or divided by: one may be a scale made by hand.
    `number` is what it is where that is a number that the program names.
    """

    factors: tuple[Factor, ...] = ()
    gradients: tuple[Scaling, ...] = ()
    trained: bool = False
    sure: bool = True
    mixed: Made | None = None
    constants: tuple[Constant, ...] = ()
    weights: frozenset[tuple[Made | Symbol, int]] = frozenset()
    number: float | None = None

    @property
    def gradient(self) -> Scaling | None:
        """The gradient that it is, or is computed from."""
        return self.gradients[-1] if self.gradients else None

    @property
    def is_neutral(self) -> bool:
        """Whether it takes no part in what is trained: data, constants."""
        return not self.trained and not self.factors and not self.gradients

    def power(self, optimizer: Instance) -> int:
        """How often the scale of `optimizer` is in it."""
        return self.powers.get(optimizer, 0)

    @property
    def powers(self) -> dict[Instance | None, int]:
        """The same for each optimizer whose scale is in it."""
        found: dict[Instance | None, int] = {}
        for factor in self.factors:
            found[factor.optimizer] = found.get(factor.optimizer, 0) + factor.power
        return {optimizer: power for optimizer, power in found.items() if power}

    @property
    def is_scaled(self) -> bool:
        """Whether the scale of some optimizer is in it."""
        return any(power > 0 for power in self.powers.values())

    @property
    def is_weighed_back(self) -> bool:
        """Whether a variable of the program that it was multiplied with was divided out again: a scale made by hand."""
        return any((variable, -power) in self.weights for variable, power in self.weights)

    @property
    def holds(self) -> bool:
        """Whether it is computed from a variable of the program."""
        return any(isinstance(weight, Made) for weight, _ in self.weights)

    @property
    def is_number(self) -> bool:
        """Whether it is computed of a scale alone."""
        return not self.trained and all(factor.made.kind != "scaled" for factor in self.factors)

    @property
    def is_ever_scaled(self) -> bool:
        """Whether a scale was put in, be it taken out again or not."""
        return any(factor.power > 0 for factor in self.factors)


def behind(made: Made, counts: Callable[[Made], bool] = lambda _: True) -> Iterator[Made]:
    """What is so made and all that it is computed from, without what does not count, and what is behind that alone."""
    stack, seen = [made], set[Made]()
    while stack:
        here = stack.pop()
        if here not in seen and counts(here):
            seen.add(here)
            yield here
            stack.extend(operand.made for operand in reversed(here.operands))


_NOTHING: Final = Course()
_UNKNOWN: Final = Course(sure=False)


class Courses:
    """The courses of the tensors of one run, each followed once.

    What was assigned to a variable is in its course: it may hold gradients.  No gradient goes back through that, so
    inside of what one is taken of (`is_inside`) it is a variable like others.
    """

    def __init__(self, *, is_inside: bool = False) -> None:
        self._known: dict[Made, Course] = {}
        self._inside = self if is_inside else Courses(is_inside=True)

    def of(self, tensor: Tensor) -> Course:
        """The course of a tensor."""
        return self.of_made(tensor.made)

    def of_made(self, made: Made) -> Course:
        """The course of what was made so."""
        found = self._known.get(made)
        if found is None:
            self._known[made] = _UNKNOWN  # while it is followed: a loop's variable may be made of itself
            found = self._known[made] = self._follow(made)
        return found

    def behind_gradient(self, tensor: Tensor) -> Iterator[Made]:
        """The operations on a gradient that `tensor` has gone through since it was taken, the last one first."""
        return behind(tensor.made, lambda made: made.kind != "gradient" and bool(self.of_made(made).gradients))

    def divisor(self, made: Made) -> Made | None:
        """What a division divides by, where that is computed from gradients with a scale in them: their norm."""
        below = made.operands if made.by in UNDER else made.operands[1:] if made.by in OVER else ()
        for operand in below:
            course = self.of(operand)
            if course.gradients and course.is_scaled:
                return operand.made
        return None

    def _follow(self, made: Made) -> Course:
        if isinstance(made, Scaling):
            return self._step(made)
        match made.kind:
            case kind if kind in _TRAINED:
                own = made.kind == "variable" and made.layer is None
                return Course(trained=True, weights=frozenset({(made, 1)} if own else ()))
            case "argument":
                return _UNKNOWN
            case "operation" if made.by in ENDS:
                return _NOTHING
            case "operation" if made.by == READ:
                return self._content(made)
            case "operation" if made.by in TIMES or made.by in OVER or made.by in UNDER:
                return self._product(made)
            case "operation" if made.by in CHOOSES:
                return self._joined(made)
            case "operation" | "cast":
                return self._combined(made)
            case "joined":
                return self._joined(made)
            case _:
                return _NOTHING

    def _content(self, made: Made) -> Course:
        """What a variable of the program holds: gradients, or else it is one that may be trained."""
        variable, *content = map(self.of, made.operands)
        for other in made.others:
            if isinstance(other, Const):
                return replace(variable, number=_as_number(other))
            return variable if self._inside is self else replace(variable, sure=False)
        if self._inside is self:
            return variable
        if is_zero(made.operands[-1].made):
            return _NOTHING
        course = content[0]
        return course if course.gradients or course.factors or not course.sure else variable

    def _step(self, made: Scaling) -> Course:
        base = (self._inside if made.kind == "gradient" else self)._combined(made)
        match made.kind:
            case "scale":
                return Course(factors=(Factor(made.optimizer, 1, made),))
            case "scaled":
                return replace(base, factors=(*base.factors, Factor(made.optimizer, 1, made)))
            case "unscaled":
                return replace(base, factors=(*base.factors, Factor(made.optimizer, -1, made)))
            case _:
                return replace(base, gradients=(*base.gradients, made), trained=True)

    def _product(self, made: Made) -> Course:
        """A product or quotient: the scales in its factors are multiplied, too."""
        courses = [self.of_made(operand.made) for operand in made.operands]
        over = made.by in OVER
        factors: list[Factor] = []
        weights: set[tuple[Made | Symbol, int]] = {
            (other.symbol, -1 if over else 1)
            for other in made.others
            if isinstance(other, Unknown) and other.symbol is not None
        }
        numbers: list[float] = []
        for position, course in enumerate(courses):
            inverted = made.by in UNDER or (over and position > 0)
            weights.update((variable, -power if inverted else power) for variable, power in course.weights)
            only_scale = course.is_number
            for factor in course.factors:
                by_hand = inverted or only_scale
                power = -factor.power if inverted else factor.power
                factors.append(Factor(factor.optimizer, power, made if by_hand else factor.made))
            if course.number:
                numbers.append(1 / course.number if inverted else course.number)
        given = filter(None, map(_as_number, made.others))
        numbers += [1 / number if over else number for number in given]
        constants = (
            *(constant for course in courses for constant in course.constants),
            *(Constant(number, made) for number in numbers),
        )
        taking_part = [course for course in courses if not course.is_neutral]
        return Course(
            tuple(factors),
            next((course.gradients for course in courses if course.gradients), ()),
            any(course.trained for course in courses),
            all(course.sure for course in taking_part) and not any(map(_may_scale, made.others)),
            next((course.mixed for course in courses if course.mixed is not None), None),
            constants,
            frozenset(weights),
        )

    def _combined(self, made: Made) -> Course:
        """Anything else that is computed of tensors: a sum, where they are several."""
        operands = [self.of_made(operand.made) for operand in made.operands[: 1 if made.by in CLIPS else None]]
        courses = [course for course in operands if not course.is_neutral]
        kept = made.kind == "cast" or made.by == CONSTANT
        number = (
            next(iter([course.number for course in operands] or map(_as_number, made.others)), None) if kept else None
        )
        if not courses:
            told = all(course.sure for course in operands) if operands else not any(map(_is_unknown, made.others))
            return _UNKNOWN if not told else Course(number=number) if number is not None else _NOTHING
        most = max(courses, key=lambda course: len(course.factors))
        mixed = next((course.mixed for course in courses if course.mixed is not None), None)
        # what an accumulator has held before the first gradient is not known, and most likely nothing
        terms = [course for course in courses if course.gradients or not (most.gradients and course.holds)]
        if mixed is None and any(course.powers != most.powers for course in terms):
            mixed = made
        return Course(
            most.factors,
            next((course.gradients for course in courses if course.gradients), ()),
            any(course.trained for course in courses),
            all(course.sure for course in courses),
            mixed,
            most.constants,
            frozenset[tuple[Made | Symbol, int]]().union(*(course.weights for course in courses)),
            number,
        )

    def _joined(self, made: Made) -> Course:
        """One of several ways: what they have in common, without those that are only where it starts."""
        ways = [self.of_made(operand.made) for operand in made.operands]
        courses = [course for course in ways if not course.is_neutral or not course.sure]
        if not courses:
            return _NOTHING
        first = courses[0]
        same = all(course.powers == first.powers and course.sure for course in courses)
        return first if same else replace(first, sure=False)


def may_be_scaled(made: Made) -> bool:
    """Whether a loss scale may be in what is made so, or a gradient is: as far as one quickly sees."""
    stack = [made]
    for _ in range(_NEAR):
        if not stack:
            return False
        here = stack.pop()
        if isinstance(here, Scaling):
            return True
        if here.kind in ("operation", "cast", "joined"):
            stack.extend(operand.made for operand in here.operands)
    return False


def is_zero(made: Made) -> bool:
    """Whether what is made so is nothing but zeros."""
    if made.kind in ("cast", "joined"):
        return bool(made.operands) and all(is_zero(operand.made) for operand in made.operands)
    return made.kind == "operation" and (
        made.by in ZEROS or (made.by == READ and len(made.operands) > 1 and is_zero(made.operands[1].made))
    )


def _as_number(value: Value) -> float | None:
    return float(value.value) if isinstance(value, Const) and isinstance(value.value, (int, float)) else None


def _is_unknown(value: Value) -> bool:
    return isinstance(value, Unknown)


def _may_scale(value: Value) -> bool:
    """Whether a factor of which nothing is known may be a loss scale made by hand."""
    if isinstance(value, Array):
        return value.scalar is True
    if not isinstance(value, Unknown):
        return False
    return value.symbol is None or any("scal" in word.lower() for word in _words(value.symbol))


def _words(symbol: Symbol) -> Iterator[str]:
    for part in symbol.tree:
        yield from (word for word in part.parts if isinstance(word, str))
