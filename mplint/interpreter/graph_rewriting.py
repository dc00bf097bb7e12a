"""Where a program has TensorFlow rewrite its graphs to half precision, beside Keras or instead of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mplint import keras_api
from mplint.interpreter.trace import EnvironmentSet, LibraryCalled, PolicySet
from mplint.interpreter.values import HALF_POLICIES, Api, Choice, Const, Instance, Place, Unknown, Value
from mplint.interpreter.world import World
from mplint.keras_api import Copy, Kind, Release, copy_of

_OPTION: Final = "auto_mixed_precision"
_TENSORFLOW_2: Final[Release] = (2, 0)
_OFF: Final = frozenset({"0", "false", "False", ""})


@dataclass(frozen=True)
class Rewriting:
    """A call that switches the graph rewrite on."""

    at: Place
    gone: bool
    """Whether no release of today has the function by this name."""
    deprecated: bool
    """Whether the project asks for a release that still has it."""
    has_policy: bool
    """Whether a half-precision policy is set, too."""
    copy: Copy
    """The copy of Keras that the optimizer is of."""


@dataclass(frozen=True)
class HalfOption:
    """A switch by which TensorFlow rewrites graphs to half precision, set to `value`: at the option itself."""

    at: Place
    name: str
    call: Place
    """The call or assignment that sets it."""
    beside: bool
    """Whether a half-precision policy is set, too."""


class GraphRewriting:
    """What one finished world shows of it."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._program = world.machine.program
        self._events = world.trace.events

    def calls(self) -> Iterator[Rewriting]:
        """The calls that have TensorFlow rewrite graphs to half precision, where they raise."""
        has_policy = any(isinstance(event, PolicySet) and event.policy.name in HALF_POLICIES for event in self._events)
        for event in self._events:
            if not isinstance(event, LibraryCalled) or not keras_api.is_graph_rewrite(event.callee.path):
                continue
            path = event.place.source.path
            gone = not keras_api.generations(event.callee.spelled or event.callee.path)
            if self._program.runs_before(path, keras_api.STABLE_SINCE if gone else _TENSORFLOW_2):
                continue
            optimizer = event.arguments.get("opt", 0)
            if gone or _is_refused(optimizer):
                deprecated = gone and self._program.runs_before(path, keras_api.GONE_SINCE)
                cls = optimizer.cls if isinstance(optimizer, Instance) else None
                copy = copy_of(cls.spelled) if isinstance(cls, Api) and cls.spelled else "tensorflow.keras"
                yield Rewriting(event.place, gone, deprecated, has_policy, copy)

    def options(self) -> Iterator[HalfOption]:
        """The options of TensorFlow's graph optimizer, and variables of the environment, that switch it on."""
        beside = any(policy.name in HALF_POLICIES for policy in self._world.policies)
        for event in self._events:
            if not isinstance(event, (EnvironmentSet, LibraryCalled)):
                continue
            if self._program.runs_before(event.place.source.path, _TENSORFLOW_2):
                continue  # which has no policies
            if isinstance(event, EnvironmentSet):
                if _is_on(self._world, event.value):
                    yield HalfOption(event.place, event.name, event.place, beside)
            elif event.callee.path == keras_api.OPTIONS:
                for key, value in event.options:
                    if isinstance(key, Const) and key.value == _OPTION and _is_on(self._world, value):
                        at = self._program.literal_places.get(id(key), event.place)
                        yield HalfOption(at, _OPTION, event.place, beside)


def _is_refused(optimizer: Value | None) -> bool:
    """Whether the graph rewrite surely does not take the optimizer: it takes those of TensorFlow 1, and older ones."""
    cls = optimizer.cls if isinstance(optimizer, Instance) else None
    if not isinstance(cls, Api) or keras_api.kind(cls.path) is not Kind.OPTIMIZER:
        return False
    return cls.path.startswith("keras.") and not keras_api.is_legacy(cls.path)


def _is_on(world: World, value: Value) -> bool:
    """Whether a switch is on, or may be."""
    match value:
        case Const(value=str(text)):
            return text not in _OFF
        case Const(value=constant):
            return bool(constant)
        case Choice(options=found):
            return any(_is_on(world, option) for option in found)
        case Unknown():
            return any(_is_on(world, candidate.value) for candidate in world.machine.likely(value))
        case _:
            return False
