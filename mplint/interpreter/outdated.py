"""What a program uses that the Keras it runs with has no more, or has not yet."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Final

import libcst as cst

from mplint import keras_api
from mplint.interpreter.trace import DTypeTaken, EnvironmentSet, LibraryCalled, NameRead, OptimizerUsed, PolicySet
from mplint.interpreter.values import (
    HALF_POLICIES,
    Api,
    Choice,
    Const,
    Instance,
    Place,
    Unknown,
    Value,
    options,
)
from mplint.interpreter.world import World
from mplint.keras_api import Copy, Kind, Retired, copy_of
from mplint.keras_api.optimizers import LOSS_SCALE, has_member, scales_losses


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


def old_names(world: World) -> Iterator[OldName]:
    """The names that are gone, once for each expression or import."""
    called = {argument.at.node for argument in old_arguments(world)}
    reads = {event.place.node: event for event in world.trace.events if isinstance(event, NameRead)}
    imports: dict[Place, dict[Retired, None]] = {}
    for event in reads.values():
        node, source = event.place.node, event.place.source
        found = _retired(event.name)
        if found is None or _is_of_its_time(world, event.place, found):
            continue
        parent = source.parent(node)
        if isinstance(node, cst.ImportAlias):
            if isinstance(parent, cst.ImportFrom) and found.is_of_module:
                imports.setdefault(world.machine.program.place(source, parent), {})[found] = None
            else:
                yield OldName(event.place, (found,))
        elif isinstance(node, cst.Attribute):
            inner = reads.get(node.value)
            outer = reads.get(parent) if isinstance(parent, cst.Attribute) else None
            written_out = inner is not None and _retired(inner.name) is not None
            if not (found.is_renamed or written_out or found.is_module):
                continue
            if (outer is not None and _retired(outer.name) is not None) or _is_in_call(event.place, called):
                continue  # that speaks of it
            yield OldName(event.place, (found,))
    for place, names in imports.items():
        yield OldName(place, tuple(names))


def _is_in_call(place: Place, calls: Collection[cst.CSTNode]) -> bool:
    """Whether the expression is what one of these calls calls, or one of its arguments."""
    node: cst.CSTNode | None = place.node
    while isinstance(node, (cst.Attribute, cst.Call, cst.Arg)):
        if node in calls:
            return True
        node = place.source.parent(node)
    return False


def _retired(name: Api) -> Retired | None:
    return keras_api.retired(name.spelled or name.path)


def _is_of_its_time(world: World, place: Place, name: Retired) -> bool:
    """Whether the project asks for a release that has the name, and not yet what replaces it."""
    return name.was_there and world.machine.program.runs_before(place.source.path, keras_api.STABLE_SINCE)


def is_deprecated(world: World, at: Place) -> bool:
    """Whether the project asks for a release that still has the old names."""
    return world.machine.program.runs_before(at.source.path, keras_api.GONE_SINCE)


def old_arguments(world: World) -> tuple[OldArgument, ...]:
    """The calls that say how the loss is to be scaled as it was said once."""
    return world.once(_old_arguments)


def _old_arguments(world: World) -> tuple[OldArgument, ...]:
    found: dict[Place, OldArgument] = {}
    for event in world.trace.events:
        if not isinstance(event, LibraryCalled) or not isinstance(event.place.node, cst.Call):
            continue
        value = _loss_scale(event, world.generation)
        if value is None or world.machine.program.runs_before(event.place.source.path, keras_api.STABLE_SINCE):
            continue
        old = keras_api.retired(event.callee.spelled or event.callee.path)
        if old is not None and not _is_written_out(world, event.place.node.func):
            old = None
        is_policy = keras_api.kind(event.callee.path) is Kind.POLICY
        argument = OldArgument(event.place, value, is_policy, old)
        before = found.get(event.place)
        if before is not None and before != argument:
            argument = replace(argument, value=_UNLIKE)
        found[event.place] = argument
    return tuple(found.values())


_UNLIKE: Final = Const("")
"""A value that is another in each call."""


def _is_written_out(world: World, func: cst.BaseExpression) -> bool:
    """Whether the function is called by a name that has to change, or by one that holds what has."""
    reads = {event.place.node for event in world.trace.events if isinstance(event, NameRead)}
    return func in reads and isinstance(func, cst.Attribute) and func.value in reads


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


@dataclass(frozen=True)
class Dynamic:
    """`dynamic=` in the call at `at` of a LossScaleOptimizer of Keras 3, whose scale always is."""

    at: Place
    value: Value


def dynamics(world: World) -> Iterator[Dynamic]:
    """The LossScaleOptimizers of Keras 3 that are told whether their scale is dynamic."""
    for event in world.trace.events:
        if not isinstance(event, LibraryCalled) or event.callee.path != LOSS_SCALE:
            continue
        given = event.arguments.get("dynamic")
        if given is not None and _generation(world, event.callee.spelled or "keras") == "3":
            yield Dynamic(event.place, given)


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


def graph_rewrites(world: World) -> Iterator[Rewriting]:
    """The calls that have TensorFlow rewrite graphs to half precision, where they raise."""
    has_policy = any(
        isinstance(event, PolicySet) and event.policy.name in HALF_POLICIES for event in world.trace.events
    )
    for event in world.trace.events:
        if not isinstance(event, LibraryCalled) or not keras_api.is_graph_rewrite(event.callee.path):
            continue
        gone = not keras_api.generations(event.callee.spelled or event.callee.path)
        oldest = keras_api.STABLE_SINCE if gone else _TENSORFLOW_2
        if world.machine.program.runs_before(event.place.source.path, oldest):
            continue
        optimizer = event.arguments.get("opt", 0)
        if gone or _is_refused(optimizer):
            deprecated = gone and is_deprecated(world, event.place)
            cls = optimizer.cls if isinstance(optimizer, Instance) else None
            copy = copy_of(cls.spelled) if isinstance(cls, Api) and cls.spelled else "tensorflow.keras"
            yield Rewriting(event.place, gone, deprecated, has_policy, copy)


def _is_refused(optimizer: Value | None) -> bool:
    """Whether the graph rewrite surely does not take the optimizer: it takes those of TensorFlow 1, and older ones."""
    cls = optimizer.cls if isinstance(optimizer, Instance) else None
    if not isinstance(cls, Api) or keras_api.kind(cls.path) is not Kind.OPTIMIZER:
        return False
    return cls.path.startswith("keras.") and not keras_api.is_legacy(cls.path)


@dataclass(frozen=True)
class HalfOption:
    """A switch by which TensorFlow rewrites graphs to half precision, set to `value`: at the option itself."""

    at: Place
    name: str
    call: Place
    """The call or assignment that sets it."""
    beside: bool
    """Whether a half-precision policy is set, too."""


_OPTION: Final = "auto_mixed_precision"
_TENSORFLOW_2: Final = (2, 0)


def half_options(world: World) -> Iterator[HalfOption]:
    """The options of TensorFlow's graph optimizer, and variables of the environment, that switch half precision on."""
    beside = any(policy.name in HALF_POLICIES for policy in world.policies)
    for event in world.trace.events:
        if not isinstance(event, (EnvironmentSet, LibraryCalled)):
            continue
        if world.machine.program.runs_before(event.place.source.path, _TENSORFLOW_2):
            continue  # which has no policies
        if isinstance(event, EnvironmentSet) and _is_on(world, event.value):
            yield HalfOption(event.place, event.name, event.place, beside)
        if not isinstance(event, LibraryCalled) or event.callee.path != keras_api.OPTIONS:
            continue
        for key, value in event.options:
            if isinstance(key, Const) and key.value == _OPTION and _is_on(world, value):
                at = world.machine.program.literal_places.get(id(key), event.place)
                yield HalfOption(at, _OPTION, event.place, beside)


_OFF: Final = frozenset({"0", "false", "False", ""})


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


def other_names(world: World, generation: str) -> Iterator[OtherName]:
    """The names that only the other generation has, where the copy of Keras is of this one."""
    for event in world.trace.events:
        if not isinstance(event, NameRead):
            continue
        spelled = event.name.spelled or event.name.path
        only = keras_api.only_in(spelled)
        if only is not None and only != generation and _generation(world, spelled) == generation:
            yield OtherName(event.place, spelled, event.name.path)


def _generation(world: World, spelled: str) -> str | None:
    """The generation of the copy of Keras that a name is written from; None where that may be either."""
    copy = copy_of(spelled)
    if copy == "keras" and world.generation == "2" and world.machine.program.has_several_kerases:
        return None  # beside tf_keras it may be either
    return "2" if copy == "tf_keras" else world.generation


def optimizer_uses(world: World, generation: str) -> tuple[OptimizerUse, ...]:
    """The methods and attributes that optimizers of the other generation have, and these, of this one, have not."""
    other = "3" if generation == "2" else "2"
    found: dict[Place, OptimizerUse] = {}
    for event in world.trace.events:
        if not isinstance(event, OptimizerUsed) or not isinstance(event.optimizer.cls, Api):
            continue
        cls = event.optimizer.cls
        if _generation(world, cls.spelled or "keras") != generation:
            continue
        if has_member(cls.path, event.name, generation) is False and has_member(LOSS_SCALE, event.name, other):
            use = _use(world, event)
            found[use.at] = use
    return tuple(found.values())


def called_scales(world: World) -> Iterator[OptimizerUse]:
    """`optimizer.loss_scale()`: it has been no function for long."""
    found: dict[Place, OptimizerUse] = {}
    for event in world.trace.events:
        if isinstance(event, OptimizerUsed) and event.name == "loss_scale":
            use = _use(world, event)
            found.setdefault(use.at, use)
    for use in found.values():
        before = world.machine.program.runs_before(use.at.source.path, keras_api.STABLE_SINCE)
        if use.scales and use.called and not before:
            yield use


def _use(world: World, event: OptimizerUsed) -> OptimizerUse:
    """What was used, at the call where it is called."""
    source, node = event.place.source, event.place.node
    call: cst.CSTNode | None = node if isinstance(node, cst.Call) else source.parent(node)
    called = isinstance(call, cst.Call) and (call is node or call.func is node)
    at = world.machine.program.place(source, call) if called and call is not None else event.place
    cls = event.optimizer.cls
    return OptimizerUse(at, event.name, called, isinstance(cls, Api) and scales_losses(cls.path))


def attributes_of_text(world: World) -> Iterator[DTypeTaken]:
    """What is asked of dtypes that are strings in this generation, and were objects in the other."""
    found = {event.place: event for event in world.trace.events if isinstance(event, DTypeTaken)}
    yield from found.values()
