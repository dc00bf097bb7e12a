"""What a finished run shows to the rules: models and their ends, in one consistent world."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from mplint.interpreter.activations import Activation
from mplint.interpreter.classes import has_class_attribute
from mplint.interpreter.frames import Context, Frame
from mplint.interpreter.keras import models, policies, training, wrappers
from mplint.interpreter.keras.info import LayerInfo, info_of, is_hidden
from mplint.interpreter.trace import (
    Compiled,
    Escaped,
    LayerCalled,
    LayerMade,
    ModelMade,
    ModelUsed,
    Opened,
    OptimizerMade,
    PolicySet,
    Ran,
    Returned,
    Settled,
    Trace,
)
from mplint.interpreter.values import (
    HALF,
    HALF_POLICIES,
    OUTER,
    Address,
    Api,
    Choice,
    Class,
    Const,
    Dict,
    Instance,
    List,
    Made,
    Place,
    Policy,
    Symbol,
    Tensor,
    Tuple,
    Value,
    alternatives,
    choice,
    compute_dtype,
    softmaxes,
)
from mplint.keras_api import Kind, carries, has_variables, joins, kind

if TYPE_CHECKING:
    import libcst as cst

    from mplint.interpreter.machine import Machine

_T = TypeVar("_T")


@dataclass(frozen=True)
class Layer:
    """A layer as the rules see it."""

    instance: Instance
    base: str
    """Its library class (`keras.layers.Dense`), or the one that its class derives from."""
    place: Place
    """The call that constructs it."""
    policy: Policy
    asked: bool
    """Whether the program gave it a dtype of its own."""
    arguments: tuple[tuple[str, Value], ...]
    of_program: bool
    """Whether its class is the program's own."""
    assigned: bool = False
    """Whether its policy is not that of its construction, but assigned afterwards."""
    constructed_by_program: bool = False
    """Whether a constructor of the program makes it, which may not take what that of the library does."""

    @property
    def hidden(self) -> bool:
        """Whether a function of the library makes it, inside the call at `place`."""
        return is_hidden(self.instance)

    @property
    def computes_in(self) -> str | None:
        """The dtype that it computes in; None when not known."""
        return compute_dtype(self.policy.name)

    def argument(self, name: str) -> Value | None:
        """The constructor's argument `name`, where it was given."""
        return next((value for key, value in self.arguments if key == name), None)

    @property
    def inside(self) -> Instance | None:
        """The layer that a wrapper is around, or that another layer has as its activation."""
        held = (self.argument("layer"), self.argument("activation"))
        return next((value for value in held if isinstance(value, Instance)), None)

    def constant(self, name: str) -> object:
        """The constant given as `name`; None where it is none."""
        value = self.argument(name)
        return value.value if isinstance(value, Const) else None


@dataclass(frozen=True)
class Model:
    """A model that the program makes."""

    instance: Instance
    place: Place
    form: str
    """functional, sequential, subclass, premade (by the library), backbone (an application without its top), or other.

    Of the last it is not known what is inside.
    """
    policy: Policy
    outputs: Value
    name: str | None


@dataclass(frozen=True, eq=False)
class End:
    """One output of a model that is the end of the computation."""

    world: World = field(repr=False)
    model: Model
    tensor: Tensor
    key: str | None
    """The name of the output in a dict of outputs."""
    softmax: Made | None
    """The softmax whose values the output carries: one of `beside` where several were put together."""

    @property
    def beside(self) -> tuple[End, ...]:
        """The same output for each softmax that it carries."""
        return tuple(replace(self, softmax=each) for each in softmaxes(self.tensor))

    @property
    def dtype(self) -> str | None:
        """The dtype of the output."""
        return self.tensor.dtype

    @property
    def is_outdated(self) -> bool:
        """Whether a layer of its model was given another policy when the graph was there: it runs otherwise since."""
        layers_of_end = (core(self.tensor).made.layer, self.softmax.layer if self.softmax is not None else None)
        m = self.world.machine
        return any(
            each is not None and policies.is_reassigned(m, each) for each in (self.model.instance, *layers_of_end)
        )

    @property
    def layer(self) -> Layer | None:
        """The layer that makes the output, if a layer makes it."""
        return self.world.layer_of(self.tensor)

    @property
    def softmax_layer(self) -> Layer | None:
        """The layer whose activation the softmax is."""
        made = self.softmax
        return self.world.layer(made.layer) if made is not None and made.layer is not None else None

    @property
    def softmax_dtype(self) -> str | None:
        """The dtype in which the softmax was computed; None where there is none, or it is not known."""
        return self.softmax.computed_in if self.softmax is not None else None

    @property
    def policy(self) -> Policy:
        """The policy that decides the dtype of the softmax, else of the output."""
        layer = self.softmax_layer or next(self.world.makers(self.tensor), None)
        while layer is not None and self.softmax_layer and layer.computes_in not in (None, self.softmax_dtype):
            inner = layer.inside  # the one that computes the softmax
            layer = self.world.layer(inner) if inner is not None else None
        return layer.policy if layer is not None else self.model.policy

    @property
    def place(self) -> Place | None:
        """The call or expression that makes the output."""
        made = core(self.tensor).made
        while made.place is None and made.operands:
            made = core(made.operands[0]).made
        return made.place

    @property
    def label(self) -> str:
        """What to call the output in a message."""
        if self.key is not None:
            return f"`{self.key}`"
        layer = self.layer
        name = layer.constant("name") if layer is not None else None
        return f"`{name}`" if isinstance(name, str) else "this"


class World:
    """One finished run: what it made and did under one policy, one generation and one outcome of each condition."""

    def __init__(
        self, machine: Machine, decisions: dict[Symbol, bool], entry: str, path: Path, borrowed: bool = False
    ) -> None:
        self.borrowed = borrowed
        """Whether the entry is a function that nobody was seen to call, under a policy that is not its own module's."""
        self.path = path
        """The file of the entry point."""
        self.generation = machine.generation
        self.decisions = decisions
        self.entry = entry
        self.policies = machine.policies
        """The global policy at the end; where nothing in the run depends on which, those of which it is one."""
        self.trace: Trace = machine.trace
        self.machine = machine
        self.models: tuple[Model, ...] = tuple(self._finish())
        self._told: dict[Callable[[World], object], object] = {}
        self._share()

    def once(self, ask: Callable[[World], _T]) -> _T:
        """What `ask` finds in this world, in which it looks once: several rules ask for the same."""
        if ask not in self._told:
            self._told[ask] = ask(self)
        return cast(_T, self._told[ask])

    @cached_property
    def calls(self) -> dict[tuple[Place, Context | None], list[LayerCalled | Returned]]:
        """The calls of layers and functions that gave something, by where and in which context."""
        found: dict[tuple[Place, Context | None], list[LayerCalled | Returned]] = {}
        for event in self.trace.events:
            if isinstance(event, (LayerCalled, Returned)):
                found.setdefault((event.place, event.context), []).append(event)
        return found

    # -- models

    def _finish(self) -> Iterator[Model]:
        made: dict[Address, ModelMade] = {}
        for event in self.trace.events:
            if isinstance(event, ModelMade):
                made[event.model.address] = event
        called: dict[Address, list[Value]] = {}
        for event in self.trace.events:
            if isinstance(event, LayerCalled) and event.layer.address in made:
                called.setdefault(event.layer.address, []).append(event.output)
        m = self.machine
        m.may_split = False
        if not m.stack:  # of the run of an import, which has come to its end
            m.stack.append(Activation(m.program.module_frame(self.path)))
        for address, event in made.items():
            name = m.field(address, "name")
            results = called.get(address) if event.form == "subclass" else None
            outputs = choice(_inner(results)) if results else models.computed(m, event.model)
            yield Model(
                event.model,
                event.place,
                event.form,
                event.policy,
                outputs,
                str(name.value) if isinstance(name, Const) and name.value else None,
            )

    def _share(self) -> None:
        """Tell the other runs of the program what this one does with models: they may be the same objects there."""
        program = self.machine.program
        for event in self.trace.events:
            match event:
                case ModelUsed(model=model):
                    program.parts.add(model.address)
                case Opened(model=model):
                    program.opened.add(model.address)
                case Compiled(model=model):
                    program.trained.add(model.address)
                case Ran(model=model, method=method) if method in training.COMPUTES:
                    program.trained.add(model.address)
                case Escaped(address=address):
                    program.escaped.add(address)
                case Settled(model=model):
                    program.settled.add(model.address)
                case _:
                    pass
        made = [event.policy.name for event in self.trace.events if isinstance(event, LayerMade)]
        if any(compute_dtype(name) in ("float16", None) for name in made):
            program.scaled_for_float16.update(
                event.place for event in self.trace.events if isinstance(event, OptimizerMade)
            )
        middle: set[tuple[str, Place | None, Context | None]] = set()
        for held in self.models:
            ways = [way for tensor in outputs_of(self, held) for way in alternatives(tensor)]
            carried = {id(made) for way in ways for made in _carried(way)}
            ends = {id(core(way).made) for way in ways}
            # what a model inside gives as the output is no step on the way to it
            for step in models.steps(map(core, ways)):
                program.steps.setdefault(_key(step), set()).add(held.instance.address)
                if id(step) not in carried:
                    program.step_places.add(step.place)
                if id(step) not in ends and (step.computed_in is None or step.computed_in in HALF):
                    middle.add(_key(step))
        self._share_calls(middle)

    def _share_calls(self, middle: Collection[tuple[str, Place | None, Context | None]]) -> None:
        """Tell the other runs which calls, of layers and of functions, give what is computed in the `middle`."""
        found = self.machine.program.middle
        for _, place, context in middle:
            if place is not None and context is not None:
                found.setdefault(place, set()).add(context)
        for event in self.trace.events if middle else ():
            if not isinstance(event, (LayerCalled, Returned)) or not isinstance(event.output, Tensor):
                continue
            if any(_key(core(way).made) in middle for way in alternatives(event.output)):
                found.setdefault(event.place, set()).add(event.context)

    @property
    def is_test(self) -> bool:
        """Whether the entry point is a test: what it does to the policy, it does to see what comes of it."""
        return self.machine.program.project.is_test(self.path)

    @property
    def has_policy(self) -> bool:
        """Whether half precision was asked for anywhere: a policy that was set, or a layer with one of its own."""
        return any(
            event.policy.name in HALF_POLICIES
            for event in self.trace.events
            if isinstance(event, (PolicySet, LayerMade))
        )

    def is_part(self, model: Model) -> bool:
        """Whether `model` is used as a part of something larger, or only to take its layers from."""
        return self._is_part(model.instance.address)

    def _is_part(self, address: Address) -> bool:
        program = self.machine.program
        return address in program.parts or (address in program.opened and address not in program.trained)

    def has_escaped(self, model: Model) -> bool:
        """Whether `model` went where it cannot be followed.

        What a function makes under a borrowed policy goes to a caller that was not seen. So does what a test makes of
        other files under a policy that it does not set: nobody but the test takes it for a whole model. One that is
        compiled has its loss computed on what it gives, wherever else it goes.
        """
        address = model.instance.address
        assumed = self.is_test and not model.policy.set_by and model.place.source.path != self.path
        unseen = self.borrowed or assumed or address in self.machine.program.escaped
        return unseen and address not in self._compiled

    @cached_property
    def _compiled(self) -> frozenset[Address]:
        return frozenset(event.model.address for event in self.trace.events if isinstance(event, Compiled))

    def is_settled(self, model: Model) -> bool:
        """Whether the program itself casts what `model` gives to float32."""
        return model.instance.address in self.machine.program.settled

    def may_learn(self, model: Model) -> bool:
        """Whether `model` has weights, or is trained: a Sequential of augmentations is a step on the way to a model."""
        m, address = self.machine, model.instance.address
        if model.form != "sequential" or address in m.program.trained:
            return True
        held = models.layers_of(m, model.instance)
        return held.rest is not None or any(map(self._has_weights, held.items))

    def _has_weights(self, layer: Value) -> bool:
        info = info_of(self.machine, layer) if isinstance(layer, Instance) else None
        if info is None or not isinstance(layer, Instance):
            return not models.is_input(self.machine, layer)
        return not isinstance(layer.cls, Api) or kind(info.base) is not Kind.LAYER or has_variables(info.base)

    def model_ends(self) -> tuple[End, ...]:
        """The outputs at which computations end, of all models that are not parts of others in any run."""
        return self._ends

    @cached_property
    def _ends(self) -> tuple[End, ...]:
        if self.trace.cut:
            return ()
        return tuple(
            End(self, model, way, key, softmax)
            for model in self.models
            if not self.is_part(model) and self._ends_in_outputs(model)
            for key, tensor in _outputs(self.machine, model.outputs)
            for way in alternatives(tensor)
            for softmax in softmaxes(way) or (None,)
        )

    def _ends_in_outputs(self, model: Model) -> bool:
        """Whether what `model` gives is meant as a result: a backbone's features only where it is trained itself."""
        return model.form != "other" and (model.form != "backbone" or model.instance.address in self._compiled)

    def gives_results(self, instance: Instance) -> bool:
        """Whether what the model `instance` gives is meant as a result, whichever run has made it."""
        form, address = models.form_of(self.machine, instance), instance.address
        is_trained = address in self._compiled or address in self.machine.program.trained
        return not self._is_part(address) and form != "other" and (form != "backbone" or is_trained)

    def feeds_another(self, end: End) -> bool:
        """Whether the output is a step inside another model: a model made to look at features."""
        inside = self.machine.program.steps.get(_key(core(end.tensor).made), set())
        return bool(inside - {end.model.instance.address})

    def is_step(self, place: Place) -> bool:
        """Whether what `place` gives is on the way to an output of some model, in any context."""
        return place in self.machine.program.step_places

    def is_model(self, owner: cst.ClassDef) -> bool:
        """Whether the class `owner` makes models."""
        return any(_is_of(model.instance, owner) for model in self.models)

    def calls_in_the_middle(self, owner: cst.ClassDef) -> Iterator[Place]:
        """The calls, inside models, of layers of the class `owner` that give something else than an output."""
        ends: list[Made] | None = None
        for event in self.trace.events:
            if isinstance(event, LayerCalled) and event.inner and _is_of(event.layer, owner):
                if ends is None:
                    ends = [core(end.tensor).made for end in self.model_ends()]
                given = [core(tensor).made for tensor in tensors_of(self, event.output)]
                if not all(any(made.same(end) for end in ends) for made in given):
                    yield event.place

    def bindings(self, frame: Frame) -> list[tuple[str, Value]]:
        """The variables of a module at the end of the run."""
        found = ((name, self.machine.variable(frame, name)) for name in frame.bound)
        return [(name, value) for name, value in found if value is not None]

    def module_bindings(self, path: Path) -> dict[str, Value]:
        """The variables of the module in the file `path`."""
        return dict(self.bindings(self.machine.program.module_frame(path)))

    # -- layers

    def end_calls(self) -> frozenset[tuple[Instance, Place | None]]:
        """The layers whose results are ends of models, or are only carried on to one, and the calls that give them."""
        found: set[tuple[Instance, Place | None]] = set()
        for end in self.model_ends():
            tensor = core(end.tensor)
            while True:
                made = tensor.made
                if made.layer is not None:
                    found.add((made.layer, made.place))
                    layer = self.layer(made.layer)
                    inner = layer.inside if layer is not None else None
                    if inner is not None:
                        found.add((inner, made.place))
                before = carrier(made, end.softmax)
                if before is None and len(made.operands) == 1:
                    before = made.operands[0]
                if before is None or made.kind not in ("layer", "operation", "cast"):
                    break
                same_softmax = tensor.softmax is not None and before.softmax is tensor.softmax
                if made.kind == "layer" and not (carries(made.by) or joins(made.by, self.generation) or same_softmax):
                    break
                tensor = core(before)
        return frozenset(found)

    def layer(self, instance: Instance) -> Layer | None:
        """What is known of a layer."""
        info = info_of(self.machine, instance)
        return None if info is None else self._layer(instance, info)

    def _layer(self, instance: Instance, info: LayerInfo) -> Layer:
        policy = wrappers.effective_policy(self.machine, instance)
        of_program = isinstance(instance.cls, Class)
        assigned = info.asked and info.asked_at is None
        cls = instance.cls
        constructor = isinstance(cls, Class) and has_class_attribute(self.machine, cls, "__init__") is not False
        return Layer(
            instance, info.base, info.place, policy, info.asked, info.arguments, of_program, assigned, constructor
        )

    def layer_of(self, tensor: Tensor) -> Layer | None:
        """The layer that made `tensor`, models seen through."""
        made = core(tensor).made
        return self.layer(made.layer) if made.kind == "layer" and made.layer is not None else None

    def makers(self, tensor: Tensor) -> Iterator[Layer]:
        """The layers whose dtype `tensor` has, through models, parts, operations and branches."""
        stack, seen = [tensor], set[int]()
        while stack:
            made = stack.pop().made
            if id(made) in seen:
                continue
            seen.add(id(made))
            if made.kind == "layer" and made.layer is not None:
                layer = self.layer(made.layer)
                if layer is not None:
                    yield layer
            elif made.kind in ("joined", "operation", *OUTER):
                stack.extend(operand for operand in reversed(made.operands) if operand.dtype == tensor.dtype)

    @cached_property
    def made_at(self) -> dict[Place, tuple[Instance, ...]]:
        """The layers by the call that constructs them, hidden ones by the call that they are hidden in."""
        found: dict[Place, list[Instance]] = {}
        for event in self.trace.events:
            if isinstance(event, LayerMade) or (isinstance(event, LayerCalled) and is_hidden(event.layer)):
                found.setdefault(event.place, []).append(event.layer)
        return {place: tuple(dict.fromkeys(made)) for place, made in found.items()}

    def layer_calls(self) -> Iterator[tuple[Instance, Place]]:
        """Every call of a layer, and where it stands."""
        for event in self.trace.events:
            if isinstance(event, LayerCalled):
                yield event.layer, event.place

    def given_at(self, place: Place) -> Iterator[Value]:
        """What each call of a layer at `place` gives."""
        for event in self.trace.events:
            if isinstance(event, LayerCalled) and event.place is place:
                yield event.output


def outputs_of(world: World, model: Model) -> list[Tensor]:
    """The tensors that `model` gives, in order."""
    return tensors_of(world, model.outputs)


def tensors_of(world: World, value: Value) -> list[Tensor]:
    """The tensors in what a call gives, in order."""
    return [tensor for _, tensor in _outputs(world.machine, value)]


def core(tensor: Tensor) -> Tensor:
    """The tensor inside the models that were called: what computes the numbers."""
    while tensor.made.kind in OUTER and tensor.made.operands:
        tensor = tensor.made.operands[0]
    return tensor


def around(tensor: Tensor) -> Iterator[Made]:
    """How the models and the layers of the program that give `tensor` are in the graph, outermost first."""
    while tensor.made.kind in OUTER and tensor.made.operands:
        yield tensor.made
        tensor = tensor.made.operands[0]


def carrier(made: Made, softmax: Made | None) -> Tensor | None:
    """The operand of `made` that carries a softmax; None where that is computed here, or not at all."""
    if softmax is None or made.same(softmax):
        return None
    carrying = [operand for operand in made.operands if operand.softmax is not None]
    own = [operand for operand in carrying if any(softmax.same(each) for each in softmaxes(operand))]
    return next(iter(own or carrying), None)


def _carried(tensor: Tensor) -> Iterator[Made]:
    """The computations whose numbers an output still is."""
    yield from softmaxes(tensor)
    made = core(tensor).made
    while made.by == "part" and made.operands:
        made = core(made.operands[0]).made
        yield made


def _is_of(instance: Instance, owner: cst.ClassDef) -> bool:
    """Whether `instance` is an object of the class that `owner` defines, or of one that derives from it."""
    entries = instance.cls.mro if isinstance(instance.cls, Class) else ()
    return any(isinstance(entry, Class) and entry.code.node is owner for entry in entries)


def _key(made: Made) -> tuple[str, Place | None, Context | None]:
    return made.kind, made.place, made.context


def _inner(results: list[Value]) -> list[Value]:
    return [
        result.made.operands[0] if isinstance(result, Tensor) and result.made.operands else result for result in results
    ]


def _outputs(
    m: Machine, value: Value, key: str | None = None, seen: set[tuple[str | None, Address]] | None = None
) -> Iterator[tuple[str | None, Tensor]]:
    """The tensors of an output structure, with the names of a dict; a container may hold itself, and is read once."""
    seen = set() if seen is None else seen
    if isinstance(value, (List, Dict)):
        if (key, value.address) in seen:
            return
        seen.add((key, value.address))
    match value:
        case Tensor():
            yield key, value
        case Tuple():
            names = models.names_of(value)
            for position, item in enumerate(value.items):
                name = names[position] if names is not None else None
                yield from _outputs(m, item, str(name.value) if isinstance(name, Const) else key, seen)
        case List():
            yield from _outputs(m, m.items(value), key, seen)
        case Dict():
            for name, item in m.entries(value).pairs:
                yield from _outputs(m, item, str(name.value) if isinstance(name, Const) else key, seen)
        case Choice():
            for option in value.options:
                yield from _outputs(m, option, key, seen)
        case _:
            pass
