"""What a program uses that the other generation of Keras has, and the one that it runs with has not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mplint import keras_api
from mplint.interpreter import surroundings
from mplint.interpreter.trace import DTypeTaken, LibraryCalled, NameRead, OptimizerUsed
from mplint.interpreter.values import Api, Place, Value
from mplint.interpreter.world import World
from mplint.keras_api import copy_of
from mplint.keras_api.optimizers import LOSS_SCALE, has_member, scales_losses


@dataclass(frozen=True)
class OptimizerUse:
    """A method or an attribute of an optimizer that is not there in this generation."""

    at: Place
    name: str
    called: bool
    scales: bool
    """Whether it is a LossScaleOptimizer."""


@dataclass(frozen=True)
class OtherName:
    """A name that only the other generation has; `spelled` as the program writes it."""

    at: Place
    spelled: str
    path: str

    @property
    def label(self) -> str:
        """What to call it in a message."""
        return keras_api.without_prefix(self.spelled)


@dataclass(frozen=True)
class Dynamic:
    """`dynamic=` in the call at `at` of a LossScaleOptimizer of Keras 3, whose scale always is."""

    at: Place
    value: Value


class OtherGeneration:
    """What one finished world shows of it, for copies of Keras of a `generation`: a program may have both."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._events = world.trace.events

    def names(self, generation: str) -> Iterator[OtherName]:
        """The names that only the other generation has."""
        for event in self._events:
            if not isinstance(event, NameRead):
                continue
            spelled = event.name.spelled or event.name.path
            only = keras_api.only_in(spelled)
            if only is not None and only != generation and self._generation(spelled) == generation:
                yield OtherName(event.place, spelled, event.name.path)

    def optimizer_uses(self, generation: str) -> tuple[OptimizerUse, ...]:
        """The methods and attributes that only optimizers of the other generation have."""
        other = "3" if generation == "2" else "2"
        found: dict[Place, OptimizerUse] = {}
        for event in self._events:
            if not isinstance(event, OptimizerUsed) or not isinstance(event.optimizer.cls, Api):
                continue
            cls = event.optimizer.cls
            if self._generation(cls.spelled or "keras") != generation:
                continue
            if has_member(cls.path, event.name, generation) is False and has_member(LOSS_SCALE, event.name, other):
                use = use_of(self._world, event)
                found[use.at] = use
        return tuple(found.values())

    def dynamics(self) -> Iterator[Dynamic]:
        """The LossScaleOptimizers of Keras 3 that are told whether their scale is dynamic."""
        for event in self._events:
            if not isinstance(event, LibraryCalled) or event.callee.path != LOSS_SCALE:
                continue
            given = event.arguments.get("dynamic")
            if given is not None and self._generation(event.callee.spelled or "keras") == "3":
                yield Dynamic(event.place, given)

    def attributes_of_text(self) -> Iterator[DTypeTaken]:
        """What is asked, in Keras 3, of dtypes that are strings there, and objects in Keras 2."""
        found = {event.place: event for event in self._events if isinstance(event, DTypeTaken)}
        yield from found.values() if self._world.generation == "3" else ()

    def _generation(self, spelled: str) -> str | None:
        """That of the copy of Keras that a name is written from; None where it may be either."""
        copy = copy_of(spelled)
        if copy == "keras" and self._world.generation == "2" and self._world.machine.program.has_several_kerases:
            return None  # beside tf_keras it may be either
        return "2" if copy == "tf_keras" else self._world.generation


def use_of(world: World, event: OptimizerUsed) -> OptimizerUse:
    """What was used of an optimizer, at the call where it is called."""
    call, cls = surroundings.call_of(world.machine.program, event.place), event.optimizer.cls
    scales = isinstance(cls, Api) and scales_losses(cls.path)
    return OptimizerUse(call or event.place, event.name, call is not None, scales)
