"""Models of keras.applications: Functional models whose inside the table knows, not the program."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from mplint import keras_api
from mplint.interpreter.calls import Arguments
from mplint.interpreter.keras import chains, layers, policies, tensors
from mplint.interpreter.keras.binding import bind
from mplint.interpreter.keras.info import HIDDEN, LayerInfo
from mplint.interpreter.trace import ModelMade
from mplint.interpreter.values import (
    NONE,
    TRUE,
    UNKNOWN,
    Api,
    Const,
    Instance,
    Made,
    Place,
    Policy,
    Tensor,
    Value,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

_LAST: Final = f"{HIDDEN} at the end"
_DEFAULTS: Final = {"include_top": TRUE, "classifier_activation": Const("softmax"), "input_tensor": NONE, "name": NONE}


def make(m: Machine, cls: Api, arguments: Arguments, place: Place) -> Instance:
    """`MobileNetV2(…)`: a model of a hidden body and, with its top, of a head behind it.

    Everything computes in the global policy of now.  With an `include_top` that is not known the model is of the form
    "other", since what it ends in is not known either; without its top it is a "backbone".
    """
    path = cls.path
    model = Instance(m.allocate(place, "model"), Api("keras.Model", cls.spelled))
    policy = policies.current(m, cls.spelled or path)
    layers.begin(m, model, "keras.Model", place)
    found = keras_api.application(path, m.generation)
    dtype = found.output_dtypes.get(policy.name) if found is not None and policy.name is not None else None
    form = "other"
    if found is not None and dtype is not None:
        given = _given(m, path, arguments)
        inputs = _input(m, given["input_tensor"], place)
        body = _body(m, model, path, inputs, dtype, policy, place)
        activation, top = given["classifier_activation"], given["include_top"]
        if isinstance(top, Const):
            form = "functional" if top.value else "backbone"
        output: Value = UNKNOWN  # a head with a function of the program, perhaps, that casts
        if form == "functional":
            output = _head(m, found, activation, body, policy, place)
        elif form == "backbone" or isinstance(activation, Const):
            output = _features(m, body, policy, place)
        m.state.set((model.address, "name"), given["name"])
        m.state.set((model.address, "@form"), Const("functional"))
        m.state.set((model.address, "@inputs"), _source(inputs))
        m.state.set((model.address, "@outputs"), output)
    else:
        m.state.set((model.address, "@form"), Const("other"))
    m.record(ModelMade(model, place, m.context, form, policy))
    return model


def _given(m: Machine, path: str, arguments: Arguments) -> dict[str, Value]:
    """The arguments that matter; what may be among arguments that are not known is not known."""
    bound = bind(m, path, arguments)
    return {name: bound.get(name, default if arguments.sure else UNKNOWN) for name, default in _DEFAULTS.items()}


def _input(m: Machine, tensor: Value, place: Place) -> Value:
    """What the body is called on: the tensor that the program gives, else an input of the model's own."""
    if isinstance(tensor, Tensor):
        chains.feed(m, (tensor,))
        if tensor.symbolic:
            return tensor
    elif tensor != NONE:
        return UNKNOWN
    return tensors.symbolic_input(m, "float32", place)


def _source(tensor: Value) -> Value:
    """The input of a model that computes `tensor`, as the applications ask for it: the source of `input_tensor`."""
    if not isinstance(tensor, Tensor):
        return UNKNOWN
    found = {id(source.made): source for source in _sources(tensor)}
    return next(iter(found.values())) if len(found) == 1 else UNKNOWN


def _sources(tensor: Tensor) -> Iterator[Tensor]:
    stack, seen = [tensor], set[int]()
    while stack:
        here = stack.pop()
        if id(here.made) in seen:
            continue
        seen.add(id(here.made))
        if here.made.kind == "input":
            yield here
        stack.extend(here.made.operands)


def _body(m: Machine, model: Instance, path: str, inputs: Value, dtype: str, policy: Policy, place: Place) -> Tensor:
    """What a layer below the last one gives; one layer stands for each of them."""
    layer = _hidden(m, HIDDEN, LayerInfo("keras.Layer", (), policy, False, place))
    operands = (inputs,) if isinstance(inputs, Tensor) else ()
    made = Made("operation", place, m.context, by=path, layer=layer, operands=operands, computed_in=dtype)
    output = Tensor(dtype, made, True)
    m.state.set((layer.address, "@output"), output)
    m.state.set((model.address, "@hidden"), layer)
    return output


def _features(m: Machine, body: Tensor, policy: Policy, place: Place) -> Tensor:
    """What the last layer of a model without its top gives, whatever layer that is."""
    layer = _hidden(m, _LAST, LayerInfo("keras.Layer", (), policy, False, place))
    made = Made("layer", place, m.context, by="keras.Layer", layer=layer, operands=(body,), computed_in=body.dtype)
    output = Tensor(body.dtype, made, True)
    layers.record_call(m, layer, place, (body,), output)
    return output


def _head(
    m: Machine, found: keras_api.Application, activation: Value, body: Tensor, policy: Policy, place: Place
) -> Value:
    """What the head gives: a layer of the library, but one that the program never sees made."""
    name = Const(found.head_name)
    info = LayerInfo(found.head, (("activation", activation), ("name", name)), policy, False, place)
    layer = _hidden(m, _LAST, info)
    m.state.set((layer.address, "name"), name)
    output = layers.library_call(m, layer, info, Arguments((body,)), place)
    layers.record_call(m, layer, place, (body,), output)
    return output


def _hidden(m: Machine, role: str, info: LayerInfo) -> Instance:
    layer = Instance(m.allocate(info.place, role), Api(info.base))
    m.state.set((layer.address, "@layer"), info)
    return layer
