"""The operations of which half precision is a part: where they are, what they are given, who goes on from there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from mplint.interpreter.trace import Computed
from mplint.interpreter.values import Made, Place, Tensor, Value, alternatives

if TYPE_CHECKING:
    from mplint.interpreter.world import World


class Computations:
    """Those of one finished world."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.events: Sequence[Computed] = tuple(event for event in world.trace.events if isinstance(event, Computed))

    @cached_property
    def _at(self) -> dict[Place, list[Computed]]:
        found: dict[Place, list[Computed]] = {}
        for event in self.events:
            found.setdefault(event.place, []).append(event)
        return found

    def at(self, place: Place) -> Sequence[Computed]:
        """What is computed at a place, in all contexts."""
        return self._at.get(place, ())

    @cached_property
    def _users(self) -> dict[int, list[tuple[Computed, str]]]:
        found: dict[int, list[tuple[Computed, str]]] = {}
        for event in self.events:
            for name, value in event.arguments:
                for made in self.makers(value):
                    found.setdefault(id(made), []).append((event, name))
        return found

    def makers(self, value: Value) -> Iterator[Made]:
        """How the tensors came to be that a value is or holds."""
        for part in self.world.machine.parts(value):
            if isinstance(part, Tensor):
                for way in alternatives(part):
                    yield _behind_parts(way.made)

    def users(self, made: Made) -> Sequence[tuple[Computed, str]]:
        """The operations on what is made so, or on a part of it, each with the parameter that takes it."""
        return self._users.get(id(_behind_parts(made)), ())


def _behind_parts(made: Made) -> Made:
    """The operation whose result something is a part of."""
    while made.by == "part" and made.operands:
        made = made.operands[0].made
    return made
