"""Looking into models: their inputs and outputs, their layers by place and name, and copies of them.

Using what is found there (`model.output`, `model.layers[-2].output`) opens the model: its end is no end any more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mplint.interpreter import sequences
from mplint.interpreter.calls import Arguments
from mplint.interpreter.keras import graph, layers, models, optimizers, policies, structures, tensors, weights
from mplint.interpreter.keras.info import LayerInfo, info_of
from mplint.interpreter.trace import ModelMade, ModelUsed, Opened
from mplint.interpreter.values import (
    NONE,
    UNKNOWN,
    Api,
    ApiMethod,
    Bound,
    Const,
    Instance,
    Made,
    Place,
    Tensor,
    Tuple,
    Value,
    choice,
    variable_dtype,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine


_UNKNOWN: Final = frozenset({"name", "non_trainable_variables", "non_trainable_weights"})
"""Attributes of layers and models that are no methods, and of which nothing is known."""
_VARIABLES: Final = frozenset({"variables", "trainable_variables", "weights", "trainable_weights"})
_KEPT: Final = frozenset({"activation", "use_bias"})
"""Attributes of layers that are arguments of their constructors, and decide what a subclass computes."""
_WEIGHTS: Final = {"keras.layers.Dense": "kernel", "keras.layers.Embedding": "embeddings"}
"""What the layers that lend their weights to others call them: a projection back to the vocabulary."""


def attribute(m: Machine, value: Instance, name: str, place: Place) -> Value:
    """An attribute that the library gives its objects."""
    info = info_of(m, value)
    if info is not None:
        match name:
            case "dtype" | "variable_dtype":
                return policies.attribute(info.policy, "variable_dtype")
            case "compute_dtype" | "_compute_dtype":
                return policies.attribute(info.policy, "compute_dtype")
            case "dtype_policy" | "_dtype_policy":
                return info.policy
            case "output" | "outputs":
                return _outputs_of(m, value, name)
            case "input" | "inputs":
                return _inputs_of(m, value, name)
            case "layers" | "_layers":
                return _layers_of(m, value, place)
            case _:
                if name == _WEIGHTS.get(info.base):
                    return _weights(m, value, info)
                if name in _VARIABLES:
                    return _variables_of(m, value, info, place)
                if name == "optimizer":
                    return optimizers.of_model(m, value)
                if name == "losses":
                    return _losses_of(m, value, place)
                if name in _UNKNOWN:
                    return UNKNOWN
                kept = layers.kept_argument(info, name, m.generation) if name in _KEPT else None
                if kept is not None:
                    return kept
    return Bound(value, ApiMethod(name))


def _losses_of(m: Machine, value: Instance, place: Place) -> Value:
    """What the regularizers of a layer or model give, and `add_loss` was given: any number of terms of a loss."""
    made = Made("variable", place, m.context, by="keras.Layer.losses", layer=value)
    return m.new_list(place, Tuple((), Tensor(None, made, False)))


def _weights(m: Machine, layer: Instance, info: LayerInfo) -> Value:
    """The weights of a layer, which another computes with: they come in the dtype of the layer that reads them.

    Keras 2 leaves those of an Embedding as they are.
    """
    made = Made("variable", info.place, m.context, by="add_weight", layer=layer)
    casts = m.generation == "3" or (info.base != "keras.layers.Embedding" and weights.lends_cast(m, info.policy))
    return weights.read(m, Tensor(variable_dtype(info.policy.name), made, False, None, casts))


def _variables_of(m: Machine, layer: Instance, info: LayerInfo, place: Place) -> Value:
    """The variables of a layer or model, in the dtype that its policy gives them; how many is not known."""
    dtype = variable_dtype(info.policy.name)
    made = Made("variable", info.place, m.context, by="variables", layer=layer)
    return m.new_list(place, Tuple((), Tensor(dtype, made, False)))


def _outputs_of(m: Machine, model: Instance, name: str) -> Value:
    """`model.output`: using it opens the model, so that its end is no end any more."""
    held = m.state.get((model.address, "@output"))  # of a layer: what its last symbolic call gave
    opened = m.state.get((model.address, "@of"))
    if isinstance(opened, Instance):
        m.record(ModelUsed(opened) if _is_end(m, opened, held) else Opened(opened))
    else:
        m.record(ModelUsed(model))
    form = models.form_of(m, model)
    if form == "functional":
        held = models.graph_outputs(m, model)
    elif form == "sequential":
        given = _inputs_of(m, model, "input")
        info = info_of(m, model)
        held = models.run_layers(m, model, Arguments((given,)), info.place) if info is not None else None
    if isinstance(held, Tensor) and name == "outputs":
        return Tuple((held,))
    return held if isinstance(held, Value) else UNKNOWN


def _is_end(m: Machine, model: Instance, output: object) -> bool:
    """Whether what a layer inside `model` gives is what the model gives."""
    ends = models.graph_outputs(m, model)
    if ends is None or not isinstance(output, Tensor):
        return False
    return any(end.made.same(output.made) for end in structures.flatten(m, ends))


def _inputs_of(m: Machine, model: Instance, name: str) -> Value:
    """`model.input` and `model.inputs`."""
    held = m.state.get((model.address, "@inputs"))
    if models.form_of(m, model) == "sequential":
        first = next(iter(models.layers_of(m, model).items), None)
        info = info_of(m, first) if isinstance(first, Instance) else None
        held = first if info is None else tensors.symbolic_input(m, "float32", info.place)
    if isinstance(held, Tensor) and name == "inputs":
        return Tuple((held,))
    return held if isinstance(held, Value) else UNKNOWN


def _listed(m: Machine, model: Instance) -> Tuple | None:
    """The layers of a Sequential or Functional model in their order; None where that is not known."""
    if models.form_of(m, model) == "sequential":
        held = models.layers_of(m, model)
        return Tuple(tuple(layer for layer in held.items if not models.is_input(m, layer)), held.rest)
    inputs, outputs = m.state.get((model.address, "@inputs")), models.graph_outputs(m, model)
    if not isinstance(inputs, Value) or outputs is None:
        return None
    found = graph.layers_between(structures.flatten(m, inputs), structures.flatten(m, outputs), m.generation)
    return None if not found else Tuple(tuple(found))


def _connect(m: Machine, model: Instance) -> None:
    """Give each layer of a Sequential its output, as Keras does when the shape of the input is known."""
    if models.form_of(m, model) == "sequential":
        used = len(m.trace.events)
        _outputs_of(m, model, "output")
        del m.trace.events[used:]


def _some_layers(m: Machine, model: Instance) -> list[Instance]:
    """Layers of the model, in no particular order."""
    listed = _listed(m, model)
    if listed is None:
        return models.layers_of_graph(m, model)
    return [layer for layer in listed.items if isinstance(layer, Instance)]


def _layers_of(m: Machine, model: Instance, place: Place) -> Value:
    """`model.layers`."""
    _connect(m, model)
    hidden = _hidden_layer(m, model)
    listed = _listed(m, model) if hidden is None else Tuple((), hidden)
    if listed is None:
        some = _some_layers(m, model)
        listed = Tuple((), choice(list(some))) if some else None
    if listed is None:
        return UNKNOWN
    for layer in (*listed.items, *([hidden] if hidden is not None else [])):
        if isinstance(layer, Instance):
            m.state.set((layer.address, "@of"), model)
    return m.new_list(place, listed)


def get_layer(m: Machine, model: Instance, arguments: Arguments) -> Value:
    """`model.get_layer(name)`, or by index; asking what it gives opens the model."""
    name, index = arguments.get("name", 0), arguments.get("index", 1)
    _connect(m, model)
    found: Value | None = None
    hidden = _hidden_layer(m, model)
    if isinstance(index, Const) and isinstance(index.value, int):
        listed = _listed(m, model) if hidden is None else None
        found = sequences.item(listed, index.value) if listed is not None else hidden
    elif name is not None:
        found = next((layer for layer in _some_layers(m, model) if m.field(layer.address, "name") == name), None)
        if found is None and isinstance(name, Const) and not str(name.value).startswith("input"):
            found = hidden
    if not isinstance(found, Instance):
        return UNKNOWN
    m.state.set((found.address, "@of"), model)
    return found


def clone(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`clone_model(model)`: the same layers anew, each with the policy that it has, whatever the global one is now.

    The first model is a pattern then; what is wrong with it is wrong with its copy.
    """
    model = arguments.get("model", 0)
    own = arguments.get("clone_function", 2)
    if isinstance(model, Instance):
        m.record(Opened(model))
    if not isinstance(model, Instance) or (own is not None and own != NONE) or not arguments.sure:
        return UNKNOWN
    form = models.form_of(m, model)
    info = info_of(m, model)
    if info is None or form not in ("functional", "sequential"):
        return UNKNOWN
    copy = Instance(m.allocate(place, "model"), Api(info.base))
    for name in ("@form", "@inputs", "@outputs", "@layers", "@tail", "@hidden", "name"):
        held = m.state.get((model.address, name))
        if held is not None:
            m.state.set((copy.address, name), held)
    m.state.set((copy.address, "@layer"), replace(info, place=place))
    m.record(ModelUsed(model))
    m.record(ModelMade(copy, place, m.context, form, info.policy))
    return copy


def _hidden_layer(m: Machine, model: Instance) -> Instance | None:
    """The layer that stands for each of those that only the library knows: all have one policy, and give its dtype."""
    held = m.state.get((model.address, "@hidden"))
    return held if isinstance(held, Instance) else None
