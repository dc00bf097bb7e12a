"""What goes wrong in half precision with numbers that are right in float32: what overflows, and what vanishes.

Each speaks of operations on tensors that are known to be float16; of bfloat16 only where that goes wrong there, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from mplint.interpreter import lengths
from mplint.interpreter.computations import Computations
from mplint.interpreter.ends import half_ends
from mplint.interpreter.half_losses import HalfLosses
from mplint.interpreter.keras.info import info_of
from mplint.interpreter.magnitudes import (
    CLIPS,
    FILLED,
    WHERE,
    autocast,
    infinite,
    is_at_least_one,
    is_lost,
    is_mask,
    is_negative,
    is_one,
    is_pattern,
    is_reduced,
    is_small,
    is_square,
    is_weight,
    numbers,
    overflows,
    passes_on,
    too_large,
)
from mplint.interpreter.trace import Computed, LayerMade
from mplint.interpreter.values import (
    HALF,
    NONE,
    WIDE,
    Const,
    Instance,
    List,
    Made,
    Place,
    Policy,
    Tensor,
    Tuple,
    Value,
    alternatives,
)
from mplint.keras_api import Kind, kind
from mplint.keras_api.arithmetic import ENDS, OVER, TIMES, UNDER
from mplint.keras_api.precision import LIMITS, in_float32, in_half
from mplint.keras_api.stability import INVERSES, ROOTS, SATURATING, Sensitivity, sensitivity

if TYPE_CHECKING:
    from mplint.interpreter.world import World

_SUMS: Final = frozenset({"operator.+", "tensorflow.math.add", "keras.ops.add"})
_DIFFERENCES: Final = frozenset({"operator.-", "tensorflow.math.subtract", "keras.ops.subtract"})
_MODULES: Final = ("tensorflow.math", "keras.ops", "keras.backend")
_BOUNDS: Final = CLIPS | {f"{module}.{name}" for module in _MODULES for name in ("maximum", "minimum")}
_LOWER: Final = frozenset({"tensorflow.math.maximum", "keras.ops.maximum", "keras.backend.maximum"}) | CLIPS
_FAR: Final = 16
"""More operations than these are not followed."""
_LEAST_DIVISOR: Final = 1 / LIMITS["float16"].max
"""What 1 cannot be divided by in float16."""
_DEFAULT_EPSILONS: Final = {
    "tensorflow.math.l2_normalize": 1e-12,
    "keras.ops.normalize": 1e-12,
    "keras.backend.l2_normalize": 1e-12,
}
_LAYER_EPSILONS: Final = {
    ("keras.layers.UnitNormalization", "2"): 1e-12,
    ("keras.layers.UnitNormalization", "3"): 1e-12,
    ("keras.layers.GroupNormalization", "2"): 1e-3,
}
"""Layers that add an epsilon in float16, by the generation, and the one that they add."""


@dataclass(frozen=True)
class Overflow:
    """A number that is infinite in float16, or in bfloat16."""

    event: Computed
    arguments: tuple[str, ...]
    """The parameters that are given such a number, or what holds it."""
    number: float
    is_multiplied: bool
    """Whether it is multiplied with a half mask: where that is 0 there is no number left."""
    is_bound: bool
    """Whether the operation holds tensors within bounds."""
    is_cast: bool
    """Whether a float32 tensor holds it, which is cast."""

    @property
    def at(self) -> Place:
        """Where it meets half precision."""
        return self.event.place

    @property
    def dtype(self) -> str:
        """What it is infinite in."""
        return _dtype(self.event)


@dataclass(frozen=True)
class Underflow:
    """An epsilon that does not keep an operation from 0."""

    event: Computed
    """Where the epsilon meets half precision."""
    argument: str
    number: float
    guarded: Computed
    """The operation that it should guard."""
    way: tuple[Place, ...]
    """The operations from where the epsilon meets half precision to that one."""
    is_lost: bool
    """Whether nothing is left of it; else it is too small to be divided by."""

    @property
    def at(self) -> Place:
        """Where the epsilon meets half precision."""
        return self.event.place

    @property
    def dtype(self) -> str:
        """In which it does not do what it is for."""
        return _dtype(self.event)


@dataclass(frozen=True)
class Unstable:
    """An operation of a layer that float16 is too small for."""

    event: Computed
    why: Sensitivity
    squared: bool = False
    """Whether squares are summed up."""
    count: int | None = None
    """How many elements are summed up along one axis, where they are many."""
    stays_wide: bool = False
    """Whether its result is to be float32, or is cast to it: the output of a model, what the program casts."""

    @property
    def at(self) -> Place:
        """Where it is."""
        return self.event.place


class Numerics:
    """The half-precision arithmetic of one finished world, without losses that are to be float32 as a whole."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._computations = world.once(Computations)
        found = [event for event in self._computations.events if _meets_half(event)]
        told = world.once(HalfLosses).told if found else frozenset[Made]()
        ends = _lambda_ends(world) if found else frozenset[Instance]()
        # one that is a model's end is to run in float32 as a whole
        self._events = [
            event
            for event in found
            if (event.result is None or event.result.made not in told)
            and (event.inside is None or event.inside not in ends)
        ]

    # -- overflow

    def overflows(self) -> Iterator[Overflow]:
        """Numbers beyond 65504 where they meet float16, and those beyond 3.39e38 where they meet bfloat16."""
        for event in self._events:
            dtype = _dtype(event)
            if event.by in ENDS or dtype not in HALF:
                continue
            given = [(name, value) for name, value in event.arguments if name in FILLED]
            if event.by in WHERE and is_pattern(event.arguments[0][1]):
                continue
            found = {
                name: number
                for name, value in given
                if (number := infinite(value, dtype)) is not None and not self._is_chosen(event, name, overflows)
            }
            held = {} if found else {name: number for name, value in given if (number := self._held(event, value))}
            for number in list((found or held).values())[:1]:
                times = event.by in TIMES and any(_is_half_mask(other) for _, other in event.arguments)
                yield Overflow(event, tuple(found or held), number, times, event.by in _BOUNDS, not found)

    def _held(self, event: Computed, value: Value) -> float | None:
        """A number that a float32 tensor holds which becomes half here, or what is not known but for its making."""
        is_cast = event.result is not None and event.result.made.kind == "cast"
        if isinstance(value, Tensor):
            given = value if is_cast else autocast(value) if event.by in _SUMS else None
            return too_large(given, _dtype(event), 1) if given is not None and given.dtype in WIDE else None
        return too_large(value, _dtype(event)) if event.by in _SUMS else None

    def _is_chosen(self, event: Computed, name: str, is_wrong: Callable[[float, str], bool]) -> bool:
        """Whether the same operation may take another number than the wrong one, as what is not known here decides.

        That may be the dtype.
        """
        for other in self._computations.at(event.place):
            if other is not event and other.context is event.context:
                known = list(numbers(dict(other.arguments).get(name, NONE)))
                if known and not all(is_wrong(number, _dtype(event)) for number in known):
                    return True
        return False

    # -- underflow

    def underflows(self) -> Iterator[Underflow]:
        """Epsilons that are nothing in float16, or too small to be divided by."""
        for event in self._events:
            dtype = _dtype(event)
            is_float16 = dtype == "float16"
            default = _DEFAULT_EPSILONS.get(event.by)
            if default is not None:
                if not is_float16:
                    continue
                given = dict(event.arguments).get("epsilon")
                known = [default] if given is None else list(numbers(given))
                if known and is_lost(known[0]) and not is_weight(event.arguments[0][1]):
                    yield Underflow(event, "epsilon", known[0], event, (), True)
                continue
            for name, number in self._epsilons(event):
                lost = _is_nothing(number, dtype)
                if not lost and (number >= _LEAST_DIVISOR or not is_float16):
                    continue
                if self._is_chosen(event, name, _is_nothing):
                    continue
                for guarded, divided, way in self._guarded(event, number):
                    if lost and divided is not None and self._is_never_zero(event):
                        continue
                    if lost or (divided is not None and _overflows(divided, number)):
                        yield Underflow(event, name, number, guarded, way, lost)
                        break

    def _is_never_zero(self, event: Computed) -> bool:
        """Whether the epsilon is added to what is no less than 1 anyway: the divisor of a softmax."""
        m = self._world.machine
        return event.by in _SUMS and any(is_at_least_one(m, value) for _, value in event.arguments)

    def _epsilons(self, event: Computed) -> Iterator[tuple[str, float]]:
        """The small numbers that keep what an operation gives away from 0, or from 1."""
        result = event.result
        if result is None or result.dtype not in HALF:
            return
        for name, value in event.arguments:
            known = list(numbers(value))
            if not known:
                continue
            above, number, least = name in _UPPER_BOUNDS, max(known), min(known)  # which of several may be chosen
            if 0 < number < 0.01 and (event.by in _SUMS or (event.by in _LOWER and not above)):
                yield name, number
            elif in_float32(least) != 1 and in_half(least, result.dtype) == 1:
                minuend = event.by in _DIFFERENCES and name in ("left", "x", "x1")
                if minuend or (event.by in CLIPS and above):
                    yield name, least

    def _guarded(self, event: Computed, number: float) -> Iterator[tuple[Computed, Value | None, tuple[Place, ...]]]:
        """The operations that an epsilon should keep from 0, of a division what is divided, and the way there.

        A `number` next to 1 does that for what is subtracted from 1.
        """
        if event.result is None:
            return
        bounded_above = number > 0.5
        stack: list[tuple[Made, bool, tuple[Place, ...]]]
        stack = [(event.result.made, event.by in _DIFFERENCES, (event.place,))]
        seen: set[int] = set()
        while stack:
            made, turned, way = stack.pop()
            if id(made) in seen or len(way) > _FAR:
                continue
            seen.add(id(made))
            for user, name in self._computations.users(made):
                divided = _divided(user, name)
                if not bounded_above or turned:
                    if _is_logarithm(user) or user.by in ROOTS or _is_root(user):
                        yield user, None, way
                    elif divided is not None:
                        yield user, divided, way
                        continue
                if user.result is None:
                    continue
                if user.by in _DIFFERENCES and name in ("right", "y", "x2") and not turned:
                    first = dict(user.arguments).get("left", dict(user.arguments).get("x"))
                    if first is not None and list(numbers(first)) == [1.0] and bounded_above:
                        stack.append((user.result.made, True, (*way, user.place)))
                elif user.result.made.kind == "cast" or user.by in _LOWER or passes_on(user.by):
                    stack.append((user.result.made, turned, (*way, user.place)))

    def lost_in_layers(self) -> Iterator[tuple[LayerMade, float]]:
        """Layers that add an epsilon in their own float16, where that is 0."""
        for event in self._world.trace.events:
            if not isinstance(event, LayerMade) or event.policy.name not in ("mixed_float16", "float16"):
                continue
            default = _LAYER_EPSILONS.get((event.base, self._world.generation))
            if default is None or not _is_of_library(event):
                continue
            given = dict(event.arguments).get("epsilon")
            known = [default] if given is None else list(numbers(given))
            if known and is_lost(known[0]):
                yield event, known[0]

    # -- instability

    def unstable(self) -> Iterator[Unstable]:
        """Operations in layers whose results overflow, or lose what counts, in float16."""
        for event in self._events:
            if event.inside is None or event.result is None or event.result.dtype != "float16":
                continue
            operands = event.result.made.operands
            why = sensitivity(event.by)
            if why is None or not operands or operands[0].dtype != "float16" or is_weight(operands[0]):
                continue
            found = self._why(event, why, operands[0])
            if found is not None:
                yield replace(found, stays_wide=self._stays_wide(event.result))

    def _stays_wide(self, result: Tensor) -> bool:
        """Whether nothing goes on with a result in half precision once it is computed in float32."""
        users = [user.result for user, _ in self._computations.users(result.made)]
        if any(user is None or user.made.kind != "cast" or user.dtype not in WIDE for user in users):
            return False
        return bool(users) or result.made in self._world.once(half_ends)

    def _why(self, event: Computed, why: Sensitivity, operand: Tensor) -> Unstable | None:
        m = self._world.machine
        match why:
            case Sensitivity.RUNNING:
                return Unstable(event, why)
            case Sensitivity.SPREAD | Sensitivity.NORM:
                return Unstable(event, why) if not is_small(m, operand) else None
            case Sensitivity.SUM | Sensitivity.MEAN:
                squared = [is_square(way.made) for way in alternatives(operand)]
                if any(square is not None and not is_small(m, square) for square in squared):
                    # keras.ops.mean adds up in float32, but the squares are made in float16
                    return Unstable(event, why, True)
                if why is Sensitivity.MEAN and m.program.device != "auto":
                    return None  # a CPU alone adds it up in float16
                small = is_small(m, operand)
                if self._is_long(event):
                    return Unstable(event, why) if why is Sensitivity.SUM or not small else None
                count = self._count(event, operand)
                many = count is not None and count >= _MANY and not small and not _is_weighted(operand)
                return Unstable(event, why, count=count) if many else None
            case Sensitivity.EXPONENTIAL:
                small = is_negative(m, operand) or is_small(m, operand)
                return Unstable(event, why) if not small and self._is_summed(event) else None
            case Sensitivity.POWER:
                return Unstable(event, why) if not is_small(m, operand) and self._is_steep(event) else None
            case _:
                return None

    def _is_long(self, event: Computed) -> bool:
        """Whether a sum or a mean is surely of many elements: of all of a tensor, or over several axes."""
        given = dict(event.arguments)
        if event.by in _IN_FLOAT32 or event.by.endswith("prod"):
            return False
        axis = given.get("axis")
        if axis is None or axis == Const(None):
            return not any(is_reduced(operand) for operand in event.result.made.operands) if event.result else False
        items = self._world.machine.items(axis) if isinstance(axis, List) else axis
        return isinstance(items, Tuple) and len(items.items) >= _SPATIAL

    def _count(self, event: Computed, operand: Tensor) -> int | None:
        """How many elements a sum or mean over one axis is of, where that is known."""
        axis = dict(event.arguments).get("axis")
        if event.by in _IN_FLOAT32 or event.by.endswith("prod") or not isinstance(axis, Const):
            return None
        return lengths.along(self._world.machine, operand, axis.value) if isinstance(axis.value, int) else None

    def _is_summed(self, event: Computed) -> bool:
        """Whether what an exponential gives is summed up: a softmax, or the logarithm of a sum, by hand."""
        assert event.result is not None
        users = self._computations.users(event.result.made)
        return any(sensitivity(user.by) in (Sensitivity.SUM, Sensitivity.MEAN) for user, _ in users)

    def _is_steep(self, event: Computed) -> bool:
        """Whether a power is larger than a square, and does not go into what levels it."""
        if len(event.arguments) != 2:
            return False
        exponents = list(numbers(event.arguments[1][1]))
        return bool(exponents) and exponents[0] > 2 and not self._is_levelled(event)

    def _is_levelled(self, event: Computed) -> bool:
        """Whether a result goes into tanh and the like alone, which infinity does no harm: GELU."""
        assert event.result is not None
        stack, seen = [event.result.made], set[int]()
        while stack:
            made = stack.pop()
            if id(made) in seen or len(seen) > _FAR:
                return False
            seen.add(id(made))
            users = self._computations.users(made)
            if not users:
                return False
            for user, _ in users:
                if user.by in SATURATING:
                    continue
                if user.result is None or not (user.by in TIMES or user.by in _SUMS):
                    return False
                stack.append(user.result.made)
        return True

    # -- for messages

    def policy_of(self, event: Computed) -> Policy | None:
        """The policy of the layer in whose `call` something is computed."""
        info = info_of(self._world.machine, event.inside) if event.inside is not None else None
        return info.policy if info is not None and info.policy.name is not None else None


_UPPER_BOUNDS: Final = frozenset({"clip_value_max", "x_max", "max_value"})
_IN_FLOAT32: Final = frozenset({"keras.ops.mean"})
"""What adds up in float32 by itself."""
_SPATIAL: Final = 2
"""So many axes at once are those of an image, or more."""


_MANY: Final = 2048
"""So many ones are all that float16 can count; the sum of more than these overflows from an average of 32 on."""


def _is_weighted(tensor: Tensor) -> bool:
    """Whether elements of a tensor are products of two others: weights, or a mask, may keep their sum small."""
    return any(
        way.made.by in TIMES and sum(isinstance(value, Tensor) for _, value in way.made.arguments) > 1
        for way in alternatives(tensor)
    )


def _lambda_ends(world: World) -> frozenset[Instance]:
    """The Lambda layers that give what models put out."""
    layers = (end.layer for end in world.model_ends())
    return frozenset(layer.instance for layer in layers if layer is not None and layer.base == "keras.layers.Lambda")


def _meets_half(event: Computed) -> bool:
    if event.result is None:
        return False
    return event.result.dtype in HALF or any(operand.dtype in HALF for operand in event.result.made.operands)


def _dtype(event: Computed) -> str:
    return (event.result.dtype if event.result is not None else None) or ""


def _is_half_mask(value: Value) -> bool:
    return isinstance(value, Tensor) and value.dtype in HALF and is_mask(value) and not is_one(value)


def _divided(user: Computed, name: str) -> Value | None:
    """What an operation divides by its argument `name`."""
    given = dict(user.arguments)
    if user.by in INVERSES - ROOTS:
        return Const(1.0)
    divides = (user.by in OVER or user.by in UNDER) and not user.by.endswith("no_nan")
    return given.get("left", given.get("x", given.get("x1"))) if divides and name in ("right", "y", "x2") else None


def _overflows(divided: Value, epsilon: float) -> bool:
    """Whether a number is divided, and too large to be divided by an epsilon."""
    known = list(numbers(divided))
    return bool(known) and abs(known[0]) / epsilon > LIMITS["float16"].max


def _is_nothing(epsilon: float, dtype: str) -> bool:
    """Whether nothing is left of an epsilon in a half dtype, or of what is 1 but for one."""
    if dtype == "float16" and is_lost(epsilon):
        return True
    return in_float32(epsilon) != 1 and in_half(epsilon, dtype) == 1


def _is_logarithm(user: Computed) -> bool:
    return sensitivity(user.by) is Sensitivity.LOGARITHM and not user.by.endswith("log1p")


def _is_root(user: Computed) -> bool:
    """Whether an operation takes a root, or divides by one: `x ** -0.5`."""
    if sensitivity(user.by) is not Sensitivity.POWER or len(user.arguments) != 2:
        return False
    exponents = list(numbers(user.arguments[1][1]))
    return bool(exponents) and exponents[0] < 1


def _is_of_library(event: LayerMade) -> bool:
    return kind(event.base) is Kind.LAYER and event.layer.address.role != "object"
