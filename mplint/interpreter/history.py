"""What becomes of the global policy in one run: when it is set, what was made before it, what it does to variables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from mplint import keras_api
from mplint.interpreter.frames import Context
from mplint.interpreter.keras import models, strategies, training, wrappers
from mplint.interpreter.keras.info import info_of, spelled_of
from mplint.interpreter.trace import (
    Applied,
    Compiled,
    Escaped,
    Kept,
    LayerCalled,
    LayerMade,
    ModelMade,
    OptimizerMade,
    PolicyRefused,
    PolicyReset,
    PolicySet,
    Ran,
    ScopeEntered,
    ScopeLeft,
)
from mplint.interpreter.values import (
    FALSE,
    HALF,
    HALF_POLICIES,
    Address,
    Class,
    Instance,
    Place,
    Policy,
    Value,
)
from mplint.interpreter.world import World
from mplint.keras_api import Copy, Kind, are_separate, copy_of, half_variables, has_variables

_AROUND: Final = wrappers.WRAPPERS | wrappers.CELLS | {"keras.layers.StackedRNNCells"}
"""Layers around others: the variables are those of the layers inside, which have policies of their own."""
_BODY: Final = "keras.layers.Conv2D"
"""What stands for the layers inside a model of keras.applications: they have variables, in the policy of their time."""


@dataclass(frozen=True)
class LateSetting:
    """A half-precision policy that is set after what it is meant for was made.

    `at` is the call that comes too late, `before` the expression in the same body that makes the first of it (None
    where they have no body in common), `made` the construction itself; `whole` says that everything was made before.
    """

    at: Place
    before: Place | None
    made: Place
    policy: Policy
    whole: bool


@dataclass(frozen=True)
class HalfVariables:
    """Layers whose variables are half precision, by what gives them such a policy."""

    at: Place
    value: Value | None
    """The `dtype=` of the layers; None where the global policy is at fault."""
    policy: Policy
    layers: int


@dataclass(frozen=True)
class UnfitPolicy:
    """mixed_float16 under a distribution strategy that does not support it."""

    at: Place
    value: Value | None
    """The `dtype=` of a layer; None where the global policy is at fault."""
    policy: Policy
    strategy: str


@dataclass(frozen=True)
class StrayPolicy:
    """A half-precision policy set in one copy of Keras, where the layers come from another."""

    at: Place
    policy: Policy
    copy: Copy
    layers_from: Copy
    spelled: str
    """How the program writes the class of one of those layers."""


@dataclass(frozen=True)
class LostPolicy:
    """A half-precision policy that `clear_session` takes away before layers are made."""

    at: Place
    policy: Policy
    layer: Place


class History:
    """The policy in one finished world.

    A test sets policies to see what comes of them: of its runs there is nothing to say.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._m = world.machine
        self._events = () if world.is_test else tuple(world.trace.events)

    def _made(self) -> Iterator[LayerMade]:
        """What was made with variables, as far as it says so itself."""
        return (layer for event in self._events if (layer := _as_layer(event)) is not None)

    # -- what was asked for

    def refused(self) -> Iterator[PolicyRefused]:
        """Names of policies that do not work, where nothing catches the exception."""
        for event in self._events:
            if isinstance(event, PolicyRefused) and not event.guarded:
                yield event

    def half_variables(self) -> Iterator[HalfVariables]:
        """Layers with half-precision variables, unless the program only uses, or converts, weights that it has.

        Where not all of the program was seen, something must say that it trains.
        """
        in_part = self._world.trace.cut or self._world.borrowed
        if self.trains_nothing or (in_part and not self._shows_training):
            return
        found: dict[Place, list[tuple[Value | None, Policy]]] = {}
        for event in self._made():
            if event.policy.name not in HALF or event.base in _AROUND:
                continue
            arguments = dict(event.arguments)
            if not half_variables(event.base, self._world.generation) or arguments.get("trainable") == FALSE:
                continue
            value = _origin(arguments.get("dtype") if event.asked else None)
            set_by = value.set_by if isinstance(value, Policy) else event.policy.set_by if value is None else ()
            at: Place | None
            if set_by:
                at, value = set_by[0], None
            else:
                at = self._source(event, value) if value is not None else None
            if at is not None:
                found.setdefault(at, []).append((value, event.policy))
        for at, layers in found.items():
            yield HalfVariables(at, *layers[0], len(layers))

    def _source(self, event: LayerMade, value: Value) -> Place:
        """Where the dtype of a layer is written: in the call that makes it, or where the constant comes from."""
        written = self._m.program.literal_places.get(id(value))
        if written is None or written.source is not event.place.source:
            return written or event.place
        call, text = (written.source.span(place.node) for place in (event.place, written))
        return event.place if call.start <= text.start < call.end else written

    @cached_property
    def trains_nothing(self) -> bool:
        """Whether the program only uses weights that it has, or writes them down.

        Where weights are written down, an optimizer says nothing that no gradient is given to, and that the program
        does not make itself: every model of a library may come with one.
        """
        if self._changes_weights:
            return False
        if any(isinstance(event, Kept) for event in self._events):
            made = (event.place.source.path for event in self._events if isinstance(event, OptimizerMade))
            return self._world.path not in made
        return bool(self._methods & training.READS) and not self._shows_training

    def is_idle(self, model: Instance) -> bool:
        """Whether a program that only runs the models that it has leaves this one aside."""
        return self.trains_nothing and bool(self._working) and model.address not in self._working

    @cached_property
    def _working(self) -> frozenset[Address]:
        """The models that are run or written down, where any predicts."""
        if not self._methods & training.PREDICTS:
            return frozenset()
        found = {event.layer.address for event in self._events if isinstance(event, LayerCalled)}
        found |= {event.model.address for event in self._events if isinstance(event, Kept)}
        ran = (event for event in self._events if isinstance(event, Ran))
        return frozenset(found | {event.model.address for event in ran if event.method != "load_weights"})

    @cached_property
    def _methods(self) -> frozenset[str]:
        """The methods of models that run."""
        return frozenset(event.method for event in self._events if isinstance(event, Ran))

    @cached_property
    def _changes_weights(self) -> bool:
        """Whether something is trained, or made ready for that."""
        return bool(self._methods & training.TRAINS) or any(
            isinstance(event, (Compiled, Applied)) for event in self._events
        )

    @cached_property
    def _shows_training(self) -> bool:
        """Whether anything says that something is going to be trained."""
        return self._changes_weights or any(isinstance(event, OptimizerMade) for event in self._events)

    # -- the strategy

    def unfit(self) -> Iterator[UnfitPolicy]:
        """Layers made under mixed_float16 in the scope of a strategy that does not support it."""
        decided = self._world.decisions.keys()
        if decided & self._m.program.strategies and not decided <= self._m.program.strategies:
            return  # what else decides on the policy may well know the strategy
        scopes: list[str | None] = []
        seen: set[Place] = set()
        for event in self._events:
            match _as_layer(event) or event:
                case ScopeEntered(strategy=strategy):
                    scopes.append(strategy)
                case ScopeLeft():
                    scopes.pop()
                case LayerMade(policy=Policy(name="mixed_float16") as policy) as layer if scopes and scopes[-1]:
                    name = scopes[-1].rpartition(".")[2]
                    value = dict(layer.arguments).get("dtype") if layer.asked else None
                    at = layer.place if layer.asked else next(iter(policy.set_by), None)
                    if strategies.is_unfit(scopes[-1], self._world.generation) and at is not None and at not in seen:
                        seen.add(at)
                        yield UnfitPolicy(at, value, policy, name)
                case _:
                    pass

    # -- the copy of Keras

    def stray(self) -> Iterator[StrayPolicy]:
        """Policies that are set in a copy of Keras from which no layer is made, while another's are left in float32."""
        made: dict[Copy, str] = {}
        plain: dict[Copy, str] = {}
        for layer in self._made():
            if has_variables(layer.base):
                spelled = spelled_of(layer.layer)
                made.setdefault(copy_of(spelled), spelled)
                if not layer.asked and layer.policy.name == "float32" and not layer.policy.set_by:
                    plain.setdefault(copy_of(spelled), spelled)
        sets = [event for event in self._events if isinstance(event, PolicySet)]
        for event in sets:
            if event.policy.name not in HALF_POLICIES or any(not self._separate(event.copy, copy) for copy in made):
                continue
            for copy, spelled in plain.items():
                if not any(other.copy == copy for other in sets):
                    yield StrayPolicy(event.place, event.policy, event.copy, copy, spelled)
                    break

    def _separate(self, one: Copy, other: Copy) -> bool:
        return are_separate(one, other, self._world.generation, self._m.program.sets_legacy_switch)

    # -- clear_session

    def lost(self) -> Iterator[LostPolicy]:
        """Policies that a `clear_session` has put back before the next layers were made."""
        resets = {
            event.place: event
            for event in self._events
            if isinstance(event, PolicyReset) and event.before.name in HALF_POLICIES
        }
        for event in self._made():
            if not event.asked and has_variables(event.base) and event.policy.set_by:
                reset = resets.pop(event.policy.set_by[0], None)
                if reset is not None and event.policy.name not in HALF_POLICIES:
                    yield LostPolicy(reset.place, reset.before, event.place)

    # -- order

    def late(self) -> Iterator[LateSetting]:
        """The first half-precision policy, where layers that are used under it were made before it.

        Only where nothing was trained or run before: a program that switches between two phases knows what it does.
        """
        position = self._first_setting()
        if position is None:
            return
        setting = self._events[position]
        assert isinstance(setting, PolicySet)
        end = next(
            (
                index
                for index, event in enumerate(self._events)
                if index > position and isinstance(event, (PolicySet, PolicyReset))
            ),
            len(self._events),
        )
        window = self._events[position + 1 : end]
        if any(self._is_unclear(event) for event in window):
            return
        order = _Order(self._world, position, end, setting.policy)
        early = order.early_parts(window)
        if early:
            first = min(early, key=lambda part: part.made_at)
            at, before = self._meet(setting, first)
            if at is not setting.place and self._does_more(at):
                at, before = setting.place, None
            yield LateSetting(at, before, first.place, setting.policy, not order.has_late)

    def _first_setting(self) -> int | None:
        compiled: set[Address] = set()
        for index, event in enumerate(self._events):
            match event:
                case PolicySet(policy=policy):
                    return index if policy.name in HALF_POLICIES else None
                case PolicyReset():
                    return None
                case Compiled(model=model):
                    compiled.add(model.address)
                case Escaped(address=address) if address in compiled:  # who has it may train it
                    return None
                case Ran(method=method) if method in training.COMPUTES:
                    return None
                case _:
                    pass
        return None

    def _does_more(self, call: Place) -> bool:
        """Whether the call that leads to the setter makes or trains something as well: moving it would be wrong."""
        return any(
            call in event.context.sites()
            for event in self._events
            if isinstance(event, (LayerMade, ModelMade, Compiled))
        )

    @staticmethod
    def _is_unclear(event: object) -> bool:
        """Whether the policy is not known at some time: branches in which it differs were joined."""
        if isinstance(event, LayerMade):
            return event.policy.name is None and not event.asked
        return isinstance(event, (ModelMade, Compiled, Ran)) and event.policy.name is None

    @staticmethod
    def _meet(setting: PolicySet, made: _Part) -> tuple[Place, Place | None]:
        """The calls, in the innermost body that both stand in, that lead to the setter and to what was made.

        What an import has made stands in no body that the setter is in.
        """
        if made.context is None:
            return _chain(setting.context, setting.place)[0][0], None
        left, right = _chain(setting.context, setting.place), _chain(made.context, made.place)
        for one, other in zip(left, right, strict=False):
            if one != other:
                return (one[0], other[0]) if one[0] is not other[0] else (setting.place, None)
        return setting.place, None


def _origin(value: Value | None) -> Value | None:
    """What a `dtype=` was made from: the policy of another layer is the name that this one was given."""
    return value.named_by or value if isinstance(value, Policy) else value


def _as_layer(event: object) -> LayerMade | None:
    """A layer that was made, or a model of keras.applications as one layer: nobody sees those inside made."""
    if isinstance(event, ModelMade) and keras_api.kind(spelled_of(event.model)) is Kind.APPLICATION:
        return LayerMade(event.model, event.place, event.context, _BODY, (), event.policy, False)
    return event if isinstance(event, LayerMade) else None


def _is_within(context: Context | None, outer: Context, site: Place) -> bool:
    """Whether the calls that lead to `context` go through the one at `site` in the context `outer`."""
    here = context
    while here is not None:
        if here.site is site and here.parent is outer:
            return True
        here = here.parent
    return False


def _chain(context: Context | None, place: Place) -> list[tuple[Place, int]]:
    """The calls and passes of loops from the outermost to `place`."""
    found = [(place, 0)]
    here: Context | None = context
    while here is not None:
        if here.site is not None:
            found.append((here.site, here.index))
        here = here.parent
    return found[::-1]


@dataclass(frozen=True)
class _Part:
    """Something with variables that was made: a layer, or a whole model of keras.applications."""

    made_at: int
    instance: Instance
    place: Place
    context: Context | None
    """None of what an imported module has made before, which this run does not show."""
    policy: Policy
    asked: bool


class _Order:
    """What was made before a policy, what under it, and what of both comes together in one model."""

    def __init__(self, world: World, position: int, end: int, policy: Policy) -> None:
        self._world = world
        self._m = world.machine
        self._position = position
        self._end = end
        self._policy = policy
        self._parts: dict[Address, _Part] = {}
        self._models: dict[Address, _Part] = {}
        for index, event in enumerate(world.trace.events):
            match event:
                case LayerMade(layer=layer) if has_variables(event.base):
                    self._parts[layer.address] = _Part(
                        index, layer, event.place, event.context, event.policy, event.asked
                    )
                case ModelMade(model=model):
                    info = info_of(self._m, model)
                    part = _Part(
                        index, model, event.place, event.context, event.policy, info is not None and info.asked
                    )
                    self._models[model.address] = part
                    if _as_layer(event) is not None:
                        self._parts[model.address] = part
                case _:
                    pass

    @cached_property
    def has_late(self) -> bool:
        """Whether something with variables is made under the policy, too."""
        return any(self._is_late(part) for part in self._parts.values())

    @cached_property
    def _imports_run(self) -> bool:
        """Whether importing a module trains or runs something."""
        return any(
            isinstance(event, Ran) and event.method in training.COMPUTES
            for _, machine in self._m.program.imports
            for event in machine.trace.events
        )

    def early_parts(self, window: Sequence[object]) -> list[_Part]:
        """What was made before and is used under the policy: with what is made then, or when there is nothing such.

        A model that was made before and gets its layers then counts, too: `compile` looks at its own policy.
        """
        found: dict[Address, _Part] = {}
        if self.has_late:
            found.update((part.instance.address, part) for part in self._applications(window))
        for model, compiled in self._used(window):
            parts = [part for each in self._inside(model) if (part := self._part(each)) is not None]
            early = [part for part in parts if self._is_early(part)]
            mixed = any(self._is_late(part) for part in parts)
            whole = self._models.get(model.address)
            if compiled and mixed and whole is not None and self._is_early(whole):
                early.append(whole)
            if early and (mixed or not self.has_late):
                found.update({part.instance.address: part for part in early})
        return list(found.values())

    def _part(self, instance: Instance) -> _Part | None:
        """A layer as a part, by this run or, where it is not in it, by the import that has made it.

        That counts where nothing is made under the policy, and no import has run anything.
        """
        known = self._parts.get(instance.address)
        if known is not None or self.has_late or self._imports_run or instance.address in self._models:
            return known
        info = info_of(self._m, instance)
        if info is None or keras_api.kind(info.base) is not Kind.LAYER or not has_variables(info.base):
            return None
        if self._m.has_made(instance.address):
            return None
        return _Part(-1, instance, info.place, None, info.policy, info.asked)

    def _applications(self, window: Sequence[object]) -> Iterator[_Part]:
        """Models of keras.applications that become parts of other models in the window.

        What such a model gives need not be known, so that the model around it does not show it.
        """
        for event in window:
            if isinstance(event, LayerCalled) and event.inner and event.layer.address in self._models:
                part = self._parts.get(event.layer.address)
                if part is not None and self._is_early(part):
                    yield part

    def _used(self, window: Sequence[object]) -> Iterator[tuple[Instance, bool]]:
        """The models that are used in the window, and whether they are compiled under mixed_float16."""
        for event in window:
            match event:
                case Compiled(model=model, policy=policy) if policy.name == self._policy.name:
                    yield model, policy.name == "mixed_float16"
                case Ran(model=model, policy=policy) if policy.name == self._policy.name:
                    yield model, False
                case ModelMade(model=model):
                    yield model, False
                case LayerCalled(layer=layer, inner=False):
                    yield layer, False
                case _:
                    pass

    def _is_early(self, part: _Part) -> bool:
        default = not part.asked and part.policy.name == "float32" and not part.policy.set_by
        return part.made_at < self._position and default

    def _is_late(self, part: _Part) -> bool:
        within = self._position < part.made_at < self._end
        return within and not part.asked and part.policy.name == self._policy.name

    def _inside(self, model: Instance) -> list[Instance]:
        """The layers and models in `model`, and itself."""
        found: dict[Instance, None] = {}
        stack = [model]
        while stack:
            here = stack.pop()
            if here not in found:
                found[here] = None
                stack.extend(self._held(here))
        return list(found)

    def _held(self, owner: Instance) -> Iterator[Instance]:
        info = info_of(self._m, owner)
        if info is None:
            return
        for _, value in info.arguments:
            if isinstance(value, Instance):
                yield value
        if isinstance(owner.cls, Class):  # what its constructor makes; the same call makes others in other contexts
            for part in self._parts.values():
                if _is_within(part.context, owner.address.context, info.place):
                    yield part.instance
        if models.form_of(self._m, owner) == "sequential":
            for item in models.layers_of(self._m, owner).items:
                if isinstance(item, Instance):
                    yield item
        yield from models.layers_of_graph(self._m, owner)
