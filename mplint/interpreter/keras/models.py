"""Models: Functional graphs, Sequential, subclasses, and what can be asked of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from mplint.interpreter import sequences
from mplint.interpreter.calls import Arguments
from mplint.interpreter.classes import method_of
from mplint.interpreter.keras import batching, chains, layers, policies, premade, structures
from mplint.interpreter.keras.info import LayerInfo, info_of, spelled_of
from mplint.interpreter.trace import LayerCalled, ModelMade, ModelUsed
from mplint.interpreter.values import (
    NONE,
    TRUE,
    UNKNOWN,
    Choice,
    Class,
    Const,
    Dict,
    Entries,
    Function,
    Instance,
    List,
    Made,
    Place,
    Policy,
    Tensor,
    Tuple,
    Unknown,
    Value,
    alternatives,
    choice,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

_MADE_OF_LAYERS: Final = frozenset({"keras.Model", "keras.Sequential"})
_DEEPEST: Final = 80
"""Calls inside calls of Sequential models, one of which may hold itself."""

_STATES: Final = frozenset({"trainable_variables", "non_trainable_variables", "return_losses"})
"""What `stateless_call` is given beside what `call` is."""


def initialise(m: Machine, model: Instance, base: str, arguments: Arguments, place: Place) -> None:
    """The library's `__init__` of a model class, called for an object of it or of a subclass."""
    given = dict(arguments.keywords)
    for name, value in zip(
        ("inputs", "outputs") if base == "keras.Model" else ("layers",), arguments.args, strict=False
    ):
        given.setdefault(name, value)
    info = info_of(m, model)
    subclass = isinstance(model.cls, Class)
    made_at = info.place if info is not None and subclass else place
    policy, asked = policies.current(m, spelled_of(model)), False
    functional = base == "keras.Model" and "outputs" in given
    if "dtype" in given and not functional:  # there Keras 3 overlooks it, and Keras 2 refuses it
        policies.check_name(m, given["dtype"], "layer", place)
        policy, asked = policies.as_policy(m, given["dtype"], policy), given["dtype"] != NONE
    elif arguments.more is not None:
        policy = Policy(None)
    m.state.set((model.address, "@layer"), LayerInfo(base, tuple(given.items()), policy, asked, made_at, place))
    if "name" in given:
        m.state.set((model.address, "name"), given["name"])
    if base == "keras.Sequential":
        form = "sequential"
        listed = given.get("layers", NONE)
        found = Tuple(()) if listed == NONE else sequences.iterate(m, listed, place)
        _put_layers(m, model, found, Tuple(()))
        m.use(found)
    elif functional:
        form = "functional"
        m.state.set((model.address, "@inputs"), freeze(m, given.get("inputs", UNKNOWN)))
        m.state.set((model.address, "@outputs"), freeze(m, given["outputs"]))
    elif base == "keras.Model" and arguments.sure and not arguments.args:
        form = "subclass"
    else:
        is_premade = base in premade.MODELS and not isinstance(method_of(m, model, "call"), Function)
        form = "premade" if is_premade else "other"
        if is_premade:
            premade.keep(m, model, base, arguments)
        if base not in _MADE_OF_LAYERS:  # a model of the library around others: they are parts of it
            for value in arguments.values():
                m.use(value)
    m.state.set((model.address, "@form"), Const(form))
    m.record(ModelMade(model, made_at, m.context, form, policy))


def freeze(m: Machine, value: Value, depth: int = 0) -> Value:
    """A structure of tensors as it is now: a list that the program changes later does not change the model."""
    if depth > structures.DEEPEST:
        return UNKNOWN
    match value:
        case List():
            items = m.items(value)
            return Tuple(tuple(freeze(m, item, depth + 1) for item in items.items), items.rest)
        case Tuple():
            return Tuple(tuple(freeze(m, item, depth + 1) for item in value.items), value.rest)
        case Dict():
            entries = m.entries(value)
            return _Named(tuple((key, freeze(m, held, depth + 1)) for key, held in entries.pairs), entries.rest)
        case Choice():
            return choice([freeze(m, option, depth + 1) for option in value.options])
        case _:
            return value


class _Named(Tuple):
    """Named outputs: the values in order, with the names beside them."""

    __slots__ = ("names",)

    def __init__(self, pairs: tuple[tuple[Value, Value], ...], rest: Value | None) -> None:
        super().__init__(tuple(value for _, value in pairs), rest)
        object.__setattr__(self, "names", tuple(key for key, _ in pairs))

    names: tuple[Value, ...]


def names_of(value: Value) -> tuple[Value, ...] | None:
    """The names of a dict of outputs."""
    return value.names if isinstance(value, _Named) else None


def form_of(m: Machine, model: Instance) -> str:
    """functional, sequential, subclass, premade, or other."""
    held = m.state.get((model.address, "@form"))
    return str(held.value) if isinstance(held, Const) else "subclass"


def layers_of(m: Machine, model: Instance) -> Tuple:
    """The layers that a Sequential holds now."""
    held = m.state.get((model.address, "@layers"))
    return held if isinstance(held, Tuple) else Tuple((), UNKNOWN)


def last_layers(m: Machine, model: Instance) -> Tuple:
    """The layers with which a Sequential surely ends: those added last, where it is not known how many went before."""
    held = layers_of(m, model)
    if held.rest is None:
        return held
    tail = m.state.get((model.address, "@tail"))
    return tail if isinstance(tail, Tuple) and tail.rest is None else Tuple(())


def is_input(m: Machine, layer: Value) -> bool:
    """Whether an item of a Sequential only says what goes in: an InputLayer, or the tensor of an `Input`."""
    info = info_of(m, layer) if isinstance(layer, Instance) else None
    return isinstance(layer, Tensor) or (info is not None and info.base == "keras.layers.InputLayer")


def graph_outputs(m: Machine, model: Instance) -> Value | None:
    """The structure of outputs that a Functional model was made with; None of any other."""
    held = m.state.get((model.address, "@outputs"))
    return held if isinstance(held, Value) else None


def layers_of_graph(m: Machine, model: Instance) -> list[Instance]:
    """The layers and models that a Functional model was made of, in no particular order."""
    outputs = graph_outputs(m, model)
    found: dict[Instance, None] = {}
    for tensor in structures.flatten(m, outputs) if outputs is not None else ():
        for step in (*(way.made for way in alternatives(tensor)), *steps([tensor])):
            if step.layer is not None:
                found[step.layer] = None
    return list(found)


# -- calling


def call(m: Machine, model: Instance, arguments: Arguments, place: Place) -> Value:
    """`model(inputs, …)`."""
    arguments = structures.as_tensors(m, arguments, place)
    inputs = structures.tensors_in(m, arguments)
    unknown = [value for value in arguments.args if isinstance(value, Unknown)]
    chains.feed(m, (*inputs, *unknown))
    for value in unknown:
        batching.feed(m, value)
    inner = m.caller is not None or any(tensor.symbolic for tensor in inputs)
    if inner:
        m.record(ModelUsed(model))
    symbolic = structures.is_symbolic(inputs, arguments)
    result = _wrapped(m, model, outputs(m, model, arguments, place), inputs, place, symbolic)
    m.record(LayerCalled(model, place, inputs, result, inner, m.context))
    return result


def outputs(m: Machine, model: Instance, arguments: Arguments, place: Place) -> Value:
    """What the model computes: the structure of its outputs."""
    match form_of(m, model):
        case "functional":
            return graph_outputs(m, model) or UNKNOWN
        case "sequential":
            return run_layers(m, model, arguments, place)
        case "subclass":
            info = info_of(m, model)
            method = method_of(m, model, "call")
            if isinstance(method, Function) and info is not None:
                return layers.run_call(m, model, info, method, arguments, place)
            return UNKNOWN
        case "premade":
            return premade.outputs(m, model, arguments.args[0] if arguments.args else UNKNOWN)
        case _:
            return UNKNOWN


def run_layers(m: Machine, model: Instance, arguments: Arguments, place: Place) -> Value:
    """What the layers of a Sequential give, one after the other."""
    held = last_layers(m, model)
    whole = layers_of(m, model).rest is None
    if not (whole or held.items) or not arguments.args or m.context.depth > _DEEPEST:
        return UNKNOWN
    value = arguments.args[0] if whole else UNKNOWN
    context = m.context
    for index, layer in enumerate(held.items):
        if is_input(m, layer):
            continue
        info = info_of(m, layer) if isinstance(layer, Instance) else None
        m.context = context.at(place, index)
        # the softmax of a layer in a list is made where the layer is
        value = m.call(layer, Arguments((value,)), info.place if info is not None else place)
    m.context = context
    return value


def _wrapped(
    m: Machine, model: Instance, value: Value, given: tuple[Tensor, ...], place: Place, symbolic: bool | None
) -> Value:
    """The outputs as results of calling the model on `given`."""
    match value:
        case Tensor():
            made = Made(
                "model",
                place,
                m.context,
                layer=model,
                operands=(value,),
                given=given,
                computed_in=value.made.computed_in,
            )
            return Tensor(value.dtype, made, symbolic, value.softmax)
        case _Named():
            pairs = tuple(
                (key, _wrapped(m, model, item, given, place, symbolic))
                for key, item in zip(value.names, value.items, strict=True)
            )
            return m.new_dict(place, Entries(pairs, value.rest))
        case Tuple():
            items = tuple(_wrapped(m, model, item, given, place, symbolic) for item in value.items)
            return Tuple(items, value.rest)
        case List():
            return _wrapped(m, model, m.items(value), given, place, symbolic)
        case Dict():
            return _wrapped(m, model, freeze(m, value), given, place, symbolic)
        case Choice():
            return choice([_wrapped(m, model, option, given, place, symbolic) for option in value.options])
        case _:
            return value


# -- methods


def method(m: Machine, model: Instance, name: str, arguments: Arguments, place: Place) -> Value | None:
    """A method of a model that matters here; None for any other."""
    match name:
        case "add" if form_of(m, model) == "sequential":
            layer = arguments.get("layer", 0) or UNKNOWN
            m.use(layer)
            held, added = layers_of(m, model), Tuple((layer,))
            tail = Tuple(()) if held.rest is None else sequences.concatenate(last_layers(m, model), added)
            _put_layers(m, model, sequences.concatenate(held, added), tail)
            return NONE
        case "pop" if form_of(m, model) == "sequential":
            held = layers_of(m, model)
            tail = Tuple(last_layers(m, model).items[:-1])
            _put_layers(m, model, Tuple(held.items[:-1]) if held.rest is None else held, tail)
            return NONE
        case "call" | "__call__":
            return m.call(model, arguments, place)
        case "stateless_call":  # of Keras 3: (trainable variables, non-trainable variables, inputs, ...)
            keywords = tuple(pair for pair in arguments.keywords if pair[0] not in _STATES)
            states = 2 - sum(name.endswith("trainable_variables") for name, _ in arguments.keywords)
            given = Arguments(arguments.args[states:], keywords, arguments.rest, arguments.more)
            others = arguments.get("non_trainable_variables", 1) or UNKNOWN
            losses = (UNKNOWN,) if arguments.get("return_losses") == TRUE else ()
            return Tuple((m.call(model, given, place), others, *losses))
        case _:
            return None


def _put_layers(m: Machine, model: Instance, held: Tuple, tail: Tuple) -> None:
    if m.is_several(model.address):
        held, tail = Tuple((), UNKNOWN), Tuple(())
    m.state.set((model.address, "@layers"), held)
    m.state.set((model.address, "@tail"), tail)


# -- ends


def computed(m: Machine, model: Instance) -> Value:
    """The outputs of `model` for unseen data."""
    form = form_of(m, model)
    if form == "functional":
        return graph_outputs(m, model) or UNKNOWN
    info = info_of(m, model)
    if info is None:
        return UNKNOWN
    data = Tensor("float32", Made("input", info.place, m.context), False)
    if form == "sequential":
        held_layers = layers_of(m, model)
        first = next(iter(held_layers.items), None)
        given = first if isinstance(first, Tensor) else data
        return run_layers(m, model, Arguments((given,)), info.place)
    # data of a kind that is not known: floating tensors come in the compute dtype, integers stay
    unseen = Tensor(None, Made("argument", info.place, m.context), False)
    if form == "premade":
        return premade.outputs(m, model, unseen)
    method = method_of(m, model, "call")
    if not isinstance(method, Function):
        return UNKNOWN
    return layers.run_call(m, model, info, method, Arguments((unseen,)), info.place)


def steps(tensors: Iterable[Tensor]) -> Iterator[Made]:
    """The computations on the way to `tensors`, without those that make them (unless one is on the way to another)."""
    seen: set[int] = set()
    stack = [operand for tensor in tensors for made in _computations(tensor) for operand in made.operands]
    while stack:
        tensor = stack.pop()
        for made in _computations(tensor):
            if id(made) not in seen:
                seen.add(id(made))
                yield made
                stack.extend(made.operands)
                stack.extend(made.given or ())


def _computations(tensor: Tensor) -> Iterator[Made]:
    """What makes `tensor`, in each way that it may be made; a layer of the program is what it computes inside."""
    for way in alternatives(tensor):
        if way.made.kind == "composite":
            for operand in way.made.operands:
                yield from _computations(operand)
        else:
            yield way.made
