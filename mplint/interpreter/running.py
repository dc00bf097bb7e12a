"""Running sums and averages that a layer keeps in a variable, and continues in half precision."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mplint.interpreter.keras.info import info_of
from mplint.interpreter.magnitudes import numbers
from mplint.interpreter.trace import Updated
from mplint.interpreter.values import HALF, Made, Place, Policy, Tensor, Value, alternatives, variable_dtype
from mplint.interpreter.world import World
from mplint.keras_api.arithmetic import TIMES

_SUMS: Final = frozenset(
    {"operator.+", "operator.-", "tensorflow.math.add", "tensorflow.math.subtract", "keras.ops.add",
     "keras.ops.subtract"}
)  # fmt: skip
_LEAST_DECAY: Final = 0.9
"""What keeps less of the old value than this forgets it before much is lost."""
_FAR: Final = 12


@dataclass(frozen=True)
class LostUpdate:
    """A variable to which small numbers are added in half precision."""

    at: Place
    dtype: str
    policy: Policy


def lost_updates(world: World) -> Iterator[LostUpdate]:
    """Where a layer adds to a variable that it reads in half precision.

    In Keras 2 `assign_add` adds to the float32 variable itself; in Keras 3 it adds to what the layer reads.
    """
    for event in world.trace.events:
        if not isinstance(event, Updated):
            continue
        continued = event.method != "assign" and world.generation == "3"
        if continued or (event.method == "assign" and _is_continued(event.given, event.variable.made, False, 0)):
            info = info_of(world.machine, event.inside) if event.inside is not None else None
            if info is not None and variable_dtype(info.policy.name) not in HALF:  # else the variable is at fault
                yield LostUpdate(event.place, event.variable.dtype or "", info.policy)


def _is_continued(value: Value, variable: Made, added: bool, depth: int) -> bool:
    """Whether a value is a sum of which one term is what the variable holds, or nearly all of it."""
    if not isinstance(value, Tensor) or depth > _FAR:
        return False
    return any(_continues(way.made, variable, added, depth + 1) for way in alternatives(value))


def _continues(made: Made, variable: Made, added: bool, depth: int) -> bool:
    if made is variable:
        return added
    given = [argument for _, argument in made.arguments]
    if made.kind == "cast":
        return any(_is_continued(each, variable, added, depth) for each in given)
    if made.by in _SUMS:
        terms = given[:1] if made.by.endswith(("-", "subtract")) else given
        return any(_is_continued(each, variable, True, depth) for each in terms)
    if made.by in TIMES and len(given) == 2:
        factors = [number for each in given for number in numbers(each)]
        kept = len(factors) == 1 and _LEAST_DECAY <= factors[0] <= 1
        return kept and any(_is_continued(each, variable, added, depth) for each in given)
    return False
