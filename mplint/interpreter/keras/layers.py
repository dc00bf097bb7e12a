"""Layers: construction, the dtype that each computes in, and what calling one gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mplint import keras_api
from mplint.interpreter.calls import Arguments, call_function
from mplint.interpreter.candidates import is_precise
from mplint.interpreter.choosing import settle
from mplint.interpreter.classes import class_attribute, method_of
from mplint.interpreter.keras import chains, policies, structures, tensors, wrappers
from mplint.interpreter.keras.binding import bind
from mplint.interpreter.keras.info import LayerInfo, info_of, keras_base_of, spelled_of
from mplint.interpreter.trace import LayerCalled, LayerMade, ModelMade
from mplint.interpreter.values import (
    FALSE,
    NONE,
    TRUE,
    UNKNOWN,
    Api,
    Bound,
    Choice,
    Class,
    Const,
    Dict,
    Function,
    Instance,
    Made,
    Place,
    Policy,
    StaticMethod,
    Symbol,
    Tensor,
    Unknown,
    Value,
    alternatives,
    choice,
    compute_dtype,
    options,
)
from mplint.keras_api import Kind

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

_DATA_DTYPES: Final = frozenset({"keras.layers.InputLayer"})
"""What takes `dtype=` as the dtype of data and not as a policy."""


# -- construction


def begin(m: Machine, instance: Instance, base: str, place: Place) -> None:
    """A layer comes into being: until its constructor says otherwise it has the global policy."""
    policy = policies.current(m, spelled_of(instance))
    m.state.set((instance.address, "@layer"), LayerInfo(base, (), policy, False, place))
    if keras_api.kind(base) is Kind.MODEL and isinstance(instance.cls, Class):
        m.record(ModelMade(instance, place, m.context, "subclass", policy))


def initialise(m: Machine, instance: Instance, base: str, arguments: Arguments, place: Place) -> None:
    """The library's `__init__`, called for `instance` by the program or by a subclass."""
    bound = bind(m, base, arguments)
    before = info_of(m, instance)
    at = before.place if before is not None and isinstance(instance.cls, Class) else place
    policy, asked = _policy_of(m, instance, bound, arguments)
    policies.check_name(m, bound.get("dtype") if base not in _DATA_DTYPES else None, "layer", place)
    named = tuple(bound.items())
    m.state.set((instance.address, "@layer"), LayerInfo(base, named, policy, asked, at, place))
    for name, value in bound.items():
        if isinstance(instance.cls, Api) or name in ("name", "activation", "layer", "cell", "units", "filters"):
            m.state.set((instance.address, name), value)
        if name in ("layer", "cell", "cells"):
            m.use(value)
    m.trace.layers.count(at, policy.name is not None)
    m.record(LayerMade(instance, at, m.context, base, named, policy, asked))


def _policy_of(m: Machine, instance: Instance, bound: dict[str, Value], arguments: Arguments) -> tuple[Policy, bool]:
    value = bound.get("dtype")
    if value is None and arguments.more is not None:  # **unknown may hold a dtype
        return Policy(None), False
    default = policies.current(m, spelled_of(instance))
    if keras_base_of(m, instance) in _DATA_DTYPES:  # Keras 2 takes the dtype of the data for a policy
        data = Const("float32") if value is None or value == NONE else value
        return default if m.generation == "3" else Policy(tensors.dtype_of(m, data)), False
    if isinstance(value, Unknown) and any(is_precise(candidate.value) for candidate in value.candidates):
        value = settle(m, value)
    return policies.as_policy(m, value, default), value is not None and value != NONE


# -- calling


def call(m: Machine, layer: Instance, arguments: Arguments, place: Place) -> Value:
    """`layer(inputs, …)`."""
    info = info_of(m, layer)
    base = keras_base_of(m, layer)
    if info is None or base is None:
        return UNKNOWN
    arguments = structures.as_tensors(m, arguments, place)
    inputs = structures.tensors_in(m, arguments)
    chains.feed(m, inputs)
    method = method_of(m, layer, "call")
    if isinstance(method, StaticMethod):
        method = method.function
    if isinstance(method, Function):
        output = run_call(m, layer, info, method, arguments, place)
        if any(tensor.symbolic for tensor in inputs):
            output = _composite(m, layer, info, inputs, output, place)
    elif isinstance(layer.cls, Class) and (method is not None or info.base == "keras.Layer"):
        output = UNKNOWN
    else:
        output = library_call(m, layer, info, arguments, place)
    record_call(m, layer, place, inputs, output)
    return output


def record_call(m: Machine, layer: Instance, place: Place, inputs: tuple[Tensor, ...], output: Value) -> None:
    """Note a layer's call in the trace."""
    symbolic = any(tensor.symbolic for tensor in inputs)
    info = info_of(m, layer)
    if symbolic:
        m.state.set((layer.address, "@output"), output)
        if info is None or info.place != place:  # not a Sequential running its own layers
            m.taken_from(layer)
    m.record(LayerCalled(layer, place, inputs, output, m.caller is not None or symbolic, m.context))
    for part in m.parts(output):
        if isinstance(part, Tensor):
            m.trace.tensors.count(place, part.dtype is not None)
        elif isinstance(part, Unknown):
            m.trace.tensors.count(place, False)


def run_call(
    m: Machine, layer: Instance, info: LayerInfo, method: Function, arguments: Arguments, place: Place
) -> Value:
    """Run the program's own `call` (building the layer first), its inputs cast as Keras casts them."""
    build(m, layer, place)
    compute = compute_dtype(info.policy.name)
    args = list(arguments.args)
    keywords = dict(arguments.keywords)
    if _autocasts(info):
        if args:
            args[0] = structures.autocast(m, args[0], compute, place)
        elif keywords:
            first = next(iter(keywords))
            keywords[first] = structures.autocast(m, keywords[first], compute, place)
        if m.generation == "3":
            args = [structures.autocast(m, value, compute, place) for value in args]
            keywords = {name: structures.autocast(m, value, compute, place) for name, value in keywords.items()}
    symbolic = any(tensor.symbolic for value in (*args, *keywords.values()) for tensor in structures.flatten(m, value))
    args = [structures.real(m, value, place) for value in args]
    keywords = {name: structures.real(m, value, place) for name, value in keywords.items()}
    passed = Arguments(tuple(args), tuple(keywords.items()), arguments.rest, arguments.more)
    result = call_function(m, method, passed.behind(layer), place, in_call=layer)
    return (
        structures.changed(m, result, place, lambda tensor: structures.with_data(tensor, False)) if symbolic else result
    )


def _composite(
    m: Machine, layer: Instance, info: LayerInfo, inputs: tuple[Tensor, ...], output: Value, place: Place
) -> Value:
    """What a layer of the program gives to the graph around it: one node, whatever is computed inside."""

    def outside(tensor: Tensor) -> Value:
        ways = [
            Tensor(
                way.dtype,
                Made("composite", place, m.context, by=info.base, layer=layer, operands=(way,), given=inputs,
                     computed_in=way.made.computed_in),
                True,
                way.softmax,
            )
            for way in alternatives(tensor)
        ]  # fmt: skip
        return choice(list(ways))

    return structures.changed(m, output, place, outside)


def _autocasts(info: LayerInfo) -> bool:
    return info.argument("autocast") != FALSE


def build(m: Machine, layer: Instance, place: Place) -> None:
    """Run the program's own `build` before the first call."""
    if not isinstance(layer.cls, Class) or m.state.get((layer.address, "@built")) is not None:
        return
    m.state.set((layer.address, "@built"), TRUE)
    method = class_attribute(m, layer.cls, "build")
    if isinstance(method, Function):
        call_function(m, method, Arguments((layer, Unknown(Symbol("shape", layer.cls.code.qualname)))), place)


def library_call(
    m: Machine, layer: Instance, info: LayerInfo, arguments: Arguments, place: Place, scope: str | None = None
) -> Value:
    """What the library's own `call` gives; `scope` is the dtype of a wrapper that runs it without calling the layer."""
    inputs = structures.tensors_in(m, arguments)
    compute = compute_dtype(wrappers.effective_policy(m, layer).name)
    if scope is not None and not keras_api.keeps_dtype(info.base, m.generation):
        compute = scope
    if m.generation == "3" and not _autocasts(info) and any(tensor.dtype != "float32" for tensor in inputs):
        compute = None  # whether its variables are cast depends on the model around it
    if info.base == "keras.layers.Lambda":
        return _lambda(m, layer, info, arguments, place, compute)
    symbolic = structures.is_symbolic(inputs, arguments)
    made = Made("layer", place, m.context, by=info.base, layer=layer, operands=inputs, computed_in=compute)
    inside = wrappers.result(m, info, compute, arguments, place, library_call)
    if inside is not None:
        return structures.changed(m, inside, place, lambda tensor: _passed_on(m, tensor, made, symbolic))
    found: keras_api.Result | None = None
    if compute is not None:
        dtypes = tuple(tensor.dtype for tensor in inputs)
        variant = {**_constants(info), **_call_constants(m, info, arguments)}
        found = keras_api.layer_result(info.base, compute, variant, dtypes, m.generation)
    carried: Made | None = None
    activated = _activated(m, info, Tensor(compute, made, False), place)
    if activated is not None:  # gives what its activation gives
        found = activated.dtype
    if activation_is_softmax(m, info, compute):
        by = activated.softmax if activated is not None else None
        computed_in = compute if by is None else by.computed_in
        if not _autocasts(info):  # its input was not cast: it computes in what it gives
            computed_in = found if isinstance(found, str) else None
        carried = Made("layer", place, m.context, by=info.base, layer=layer, operands=inputs, computed_in=computed_in)
    elif len(inputs) == 1 and _carries(info, m.generation):
        carried = inputs[0].softmax
    elif keras_api.joins(info.base, m.generation):
        carried = tensors.softmax_of_all(inputs)
    return tensors.structured(m, found, Tensor(None, made, symbolic, carried), place)


def _passed_on(m: Machine, tensor: Tensor, made: Made, symbolic: bool | None) -> Tensor:
    """A result inside a wrapper as the wrapper gives it.

    The softmax of a library layer inside becomes the wrapper's; that of a model or of the program's code stays.
    """
    softmax = tensor.softmax
    if softmax is not None and softmax.layer is not None:
        info = info_of(m, softmax.layer)
        inner = info_of(m, made.layer) if made.layer is not None else None
        if info is not None and inner is not None and softmax.layer == wrappers.inner(m, inner):
            softmax = Made(
                "layer", made.place, made.context, by=made.by, layer=made.layer, operands=made.operands,
                computed_in=softmax.computed_in,
            )  # fmt: skip
    return Tensor(tensor.dtype, made, symbolic, softmax)


def _call_constants(m: Machine, info: LayerInfo, arguments: Arguments) -> dict[str, object]:
    """The arguments of a call that decide what it gives, as the table takes them."""
    found: dict[str, object] = {}
    given = dict(arguments.keywords)
    for name in keras_api.decisive_in_call(info.base, m.generation):
        value = given.get(name)
        if value is not None and value not in (FALSE, NONE):
            found[f"call.{name}"] = value.value if isinstance(value, Const) else keras_api.OPAQUE
        elif arguments.more is not None:
            found[f"call.{name}"] = keras_api.OPAQUE
    return found


def _constants(info: LayerInfo) -> dict[str, object]:
    """The arguments of a layer as the table takes them: constants, and OPAQUE for whatever is not one."""
    found: dict[str, object] = {}
    for name, value in info.arguments:
        if name == "dtype":
            if info.asked:
                found[name] = info.policy.name
        elif isinstance(value, Const):
            found[name] = value.value
        else:
            # which of several activations it is does not matter to the dtype
            activations = [_activation_name(option) for option in options(value)]
            found[name] = keras_api.OPAQUE if None in activations else activations[0]
    return found


def _activation_name(value: Value) -> str | None:
    match value:
        case Const(value=str(name)):
            return keras_api.activation_of(name)
        case Const(value=None):
            return "linear"
        case Api(path=path):
            return keras_api.activation_of(path)
        case _:
            return None


def activation_function(value: Value) -> Value:
    """What `keras.activations.get(value)` gives, and what a layer keeps of its `activation=`."""
    match value:
        case Const(value=str(name)):
            return Api(keras_api.canonical(f"keras.activations.{name}"))
        case Const(value=None):
            return Api("keras.activations.linear")
        case _:
            return value


def kept_argument(info: LayerInfo, name: str, generation: str) -> Value | None:
    """An argument of its constructor that a layer of the library has as an attribute; None where it is not known."""
    parameters = keras_api.parameters(info.base, generation) or ()
    default = next((parameter.default for parameter in parameters if parameter.name == name), keras_api.MISSING)
    if default is keras_api.MISSING:
        return None
    given = info.argument(name)
    if given is None:
        if default is keras_api.OPAQUE or info.asked or info.policy.name is None:  # there may be more arguments
            return None
        given = Const(default)
    return activation_function(given) if name == "activation" else given


def _activated(m: Machine, info: LayerInfo, computed: Tensor, place: Place) -> Tensor | None:
    """What a last activation that is a layer (with a policy of its own) or a function of the program gives."""
    activation = info.argument("activation")
    is_layer = isinstance(activation, Instance) and info_of(m, activation) is not None
    if not is_layer and not (isinstance(activation, (Function, Bound)) and keras_api.activates_last(info.base)):
        return None
    assert activation is not None
    given = m.call(activation, Arguments((computed,)), place)
    return given if isinstance(given, Tensor) else Tensor(None, computed.made, computed.symbolic)


def activation_is_softmax(m: Machine, info: LayerInfo, compute: str | None) -> bool:
    """Whether what the layer gives is a softmax."""
    if keras_api.activation_of(info.base) == "softmax":
        return True
    value = info.argument("activation")
    return value is not None and is_softmax(m, value, compute, info.place)


def is_softmax(m: Machine, activation: Value, compute: str | None, place: Place) -> bool:
    """Whether `activation` (a name, a function of the library or of the program, a layer) is a softmax."""
    match activation:
        case Const() | Api():
            return _activation_name(activation) == "softmax"
        case Choice():
            return any(is_softmax(m, option, compute, place) for option in activation.options)
        case Function() | Bound():
            probe = Tensor(compute, Made("argument", place, m.context), False)
            state, events = m.state, len(m.trace.events)
            m.state = state.fork()
            result = m.call(activation, Arguments((probe,)), place)
            m.state = state
            del m.trace.events[events:]
            return isinstance(result, Tensor) and result.softmax is not None
        case Instance():
            info = info_of(m, activation)
            return info is not None and activation_is_softmax(m, info, compute)
        case _:
            return False


def _carries(info: LayerInfo, generation: str) -> bool:
    if info.base == "keras.layers.Activation":
        value = info.argument("activation")
        return value is not None and _activation_name(value) == "linear"
    return keras_api.carries(info.base, _constants(info), generation)


def _lambda(
    m: Machine, layer: Instance, info: LayerInfo, arguments: Arguments, place: Place, compute: str | None
) -> Value:
    function = info.argument("function")
    if function is None or not arguments.args:
        return UNKNOWN
    cast = structures.autocast(m, arguments.args[0], compute, place)
    extra = info.argument("arguments")
    keywords: tuple[tuple[str, Value], ...] = ()
    if isinstance(extra, Dict):
        keywords = tuple(
            (key.value, value)
            for key, value in m.entries(extra).pairs
            if isinstance(key, Const) and isinstance(key.value, str)
        )
    passed = Arguments((structures.real(m, cast, place), *arguments.args[1:]), keywords)
    if isinstance(function, Function):
        result = call_function(m, function, passed, place, in_call=layer)
    else:
        result = m.call(function, passed, place)
    if isinstance(result, Tensor):
        made = Made(
            "layer",
            place,
            m.context,
            by=info.base,
            layer=layer,
            operands=(result,),
            given=tuple(structures.tensors_in(m, arguments)),
            computed_in=result.made.computed_in,
        )
        return Tensor(
            result.dtype, made, any(t.symbolic for t in structures.flatten(m, arguments.args[0])), result.softmax
        )
    return result
