"""What a program uses of the API of mixed precision when it was on trial, which the Keras it runs with has no more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from mplint import keras_api
from mplint.interpreter import surroundings
from mplint.interpreter.other_generation import OptimizerUse, use_of
from mplint.interpreter.trace import LibraryCalled, NameRead, OptimizerUsed
from mplint.interpreter.values import Api, Const, Instance, Place, Value, options
from mplint.interpreter.world import World
from mplint.keras_api import Kind, Release, Retired
from mplint.keras_api.optimizers import LOSS_SCALE, scales_losses

_UNLIKE: Final = Const("")
"""A value that is another in each call."""


@dataclass(frozen=True)
class OldName:
    """A name that no release of today has: where an import asks for it, or where it is written out."""

    at: Place
    names: tuple[Retired, ...]
    """The name; all that one import asks for."""


@dataclass(frozen=True)
class OldArgument:
    """`loss_scale=`, or what is taken for it, in the call at `at` of LossScaleOptimizer or of a policy."""

    at: Place
    value: Value
    of_policy: bool
    old: Retired | None
    """The name that is called, where that is one that there is no more."""


class Outdated:
    """What one finished world shows of it."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._program = world.machine.program
        self._events = world.trace.events
        self._reads = {event.place.node: event for event in self._events if isinstance(event, NameRead)}

    def is_deprecated(self, at: Place) -> bool:
        """Whether the project asks for a release that still has the old names."""
        return self._runs_before(at, keras_api.GONE_SINCE)

    def _runs_before(self, at: Place, release: Release) -> bool:
        return self._program.runs_before(at.source.path, release)

    def names(self) -> Iterator[OldName]:
        """The names that are gone, once for each expression or import."""
        gone = {node: name for node, event in self._reads.items() if (name := _retired(event.name)) is not None}
        called = {argument.at.node for argument in self.arguments}
        imports: dict[Place, dict[Retired, None]] = {}
        for node, name in gone.items():
            at = self._reads[node].place
            if name.was_there and self._runs_before(at, keras_api.STABLE_SINCE):
                continue  # what replaces it is not there yet
            statement, owner = surroundings.import_from(self._program, at), surroundings.owner(node)
            if statement is not None and name.is_of_module:
                imports.setdefault(statement, {})[name] = None
            elif surroundings.is_imported(at):
                yield OldName(at, (name,))
            elif surroundings.member(at) in gone or not called.isdisjoint(surroundings.whole(at)):
                continue  # that speaks of it
            elif owner is not None and (name.is_renamed or name.is_module or owner in gone):
                yield OldName(at, (name,))
        for place, names in imports.items():
            yield OldName(place, tuple(names))

    @cached_property
    def arguments(self) -> tuple[OldArgument, ...]:
        """The calls that say how the loss is to be scaled as it was said once."""
        found: dict[Place, OldArgument] = {}
        for event in self._events:
            callee = surroundings.callee(event.place) if isinstance(event, LibraryCalled) else None
            if not isinstance(event, LibraryCalled) or callee is None:
                continue
            value = _loss_scale(event, self._world.generation)
            if value is None or self._runs_before(event.place, keras_api.STABLE_SINCE):
                continue
            # the function is called by a name that has to change, or by one that holds what has
            is_written_out = callee in self._reads and surroundings.owner(callee) in self._reads
            old = _retired(event.callee) if is_written_out else None
            argument = OldArgument(event.place, value, keras_api.kind(event.callee.path) is Kind.POLICY, old)
            if found.setdefault(event.place, argument) != argument:
                argument = replace(argument, value=_UNLIKE)
            found[event.place] = argument
        return tuple(found.values())

    def called_scales(self) -> Iterator[OptimizerUse]:
        """`optimizer.loss_scale()`: it has been no function for long."""
        found: dict[Place, OptimizerUse] = {}
        for event in self._events:
            if isinstance(event, OptimizerUsed) and event.name == "loss_scale":
                use = use_of(self._world, event)
                found.setdefault(use.at, use)
        for use in found.values():
            if use.scales and use.called and not self._runs_before(use.at, keras_api.STABLE_SINCE):
                yield use


def _retired(name: Api) -> Retired | None:
    return keras_api.retired(name.spelled or name.path)


def _loss_scale(event: LibraryCalled, generation: str) -> Value | None:
    """What a call gives as the scale of the loss, where no release of today takes it so."""
    kind = keras_api.kind(event.callee.path)
    given = event.arguments
    if kind is Kind.POLICY:
        return given.get("loss_scale", 1)
    if not scales_losses(event.callee.path):
        return None
    named = given.get("loss_scale")
    if named is not None:
        return named
    second = given.get("loss_scale", 1)
    if second is None:
        return None
    if event.callee.path != LOSS_SCALE:
        return second
    return second if all(_is_scale(option, generation) for option in options(second)) else None


def _is_scale(value: Value, generation: str) -> bool:
    """Whether a second argument is a scale as it was given once: 'dynamic', an object, in Keras 2 a number."""
    match value:
        case Const(value=str()):
            return True
        case Const(value=bool()):
            return False
        case Const(value=int() | float()):
            return generation == "2"
        case Instance(cls=Api(path=path)):
            return path.rpartition(".")[2] in keras_api.LOSS_SCALES
        case _:
            return False
