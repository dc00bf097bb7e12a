"""Calls of library names, methods and objects: what each does to the abstract state."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from mplint import keras_api
from mplint.interpreter import (
    arrays,
    candidates,
    containers,
    mappings,
    objects,
    python,
    records,
    standard,
    threads,
    versions,
)
from mplint.interpreter.calls import Arguments, call_function, unseen
from mplint.interpreter.classes import class_attribute
from mplint.interpreter.configuration import commands
from mplint.interpreter.keras import (
    applications,
    batching,
    calling,
    chains,
    clipping,
    control,
    jax_functions,
    layers,
    losses,
    models,
    optimizers,
    pipelines,
    policies,
    stateless,
    strategies,
    surgery,
    tapes,
    tensors,
    training,
    usage,
    variables,
    weights,
)
from mplint.interpreter.keras.binding import bind
from mplint.interpreter.keras.info import WEIGHTS, LayerInfo, info_of, keras_base_of, spelled_of
from mplint.interpreter.state import GLOBAL
from mplint.interpreter.trace import Applied, Kept, Opened, Ran, VariableMade
from mplint.interpreter.values import (
    FALSE,
    NONE,
    TRUE,
    UNKNOWN,
    Api,
    Array,
    Bound,
    Candidate,
    Class,
    Const,
    Dataset,
    Dict,
    DType,
    Function,
    Instance,
    Made,
    Place,
    Policy,
    Super,
    Tensor,
    Unknown,
    Value,
    derived,
    is_member,
    predicted,
    variable_dtype,
)
from mplint.keras_api import Kind
from mplint.keras_api.optimizers import is_foreign_wrapper

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

_OBJECTS: Final = (Kind.OPTIMIZER, Kind.LOSS, Kind.METRIC, Kind.CALLBACK, Kind.INITIALIZER, Kind.REGULARIZER)
_HARMLESS: Final = (
    "matplotlib.",
    "logging.",
    "absl.logging.",
    "tensorflow.print",
    "tensorflow.summary.",
    "tensorflow.train.Checkpoint",
    "warnings.",
    "os.",
    "sys.",
)
"""Calls into these keep nothing of a model."""


def call(m: Machine, callee: Api, arguments: Arguments, place: Place) -> Value:
    """A call of a library's function or class."""
    path = callee.path
    usage.note_call(m, callee, arguments, place)
    batching.note_function(m, path, arguments, place)
    if path.startswith(losses.SHOWS):
        losses.shown(m, arguments, place, path)
    if strategies.is_strategy(path):
        return strategies.make(m, callee, arguments, place)
    setting = _SETTINGS.get(path)
    if setting is not None:
        return setting(m, callee, arguments, place)
    handler = _HANDLERS.get(path)
    if handler is not None:
        return handler(m, arguments, place)
    head, _, last = path.partition(".")
    if head == "builtins":
        result = python.call(m, last, arguments, place)
        return unseen(m, callee, arguments) if result is None else result
    if head == "math":
        return python.math_call(last, arguments)
    kind = keras_api.kind(path)
    if kind is None:
        return (
            arrays.call(m, path, arguments, place) if head in ("numpy", "np") else _foreign(m, callee, arguments, place)
        )
    match kind:
        case Kind.LAYER | Kind.WRAPPER | Kind.CELL | Kind.MODEL:
            return calling.make(m, callee, arguments, place)
        case Kind.POLICY:
            return policies.make(m, callee, arguments, place)
        case Kind.POLICY_SETTER:
            return policies.set_global(m, callee, arguments, place)
        case Kind.POLICY_GETTER:
            return policies.current(m, callee.spelled or path)
        case Kind.APPLICATION:
            return applications.make(m, callee, arguments, place)
        case Kind.DTYPE:
            of_number = len(arguments.args) == 1 and isinstance(arguments.args[0], Const)
            return Array(keras_api.dtype_name(path), True if of_number else None)
        case Kind.FUNCTION | Kind.ACTIVATION | Kind.LOSS | Kind.METRIC | Kind.OPTIMIZER | Kind.CALLBACK:
            return _function(m, kind, callee, arguments, place)
        case Kind.INITIALIZER | Kind.REGULARIZER:
            return Instance(m.allocate(place, "object"), Api(path))
        case Kind.OTHER if path.rpartition(".")[2] in keras_api.LOSS_SCALES:
            return _made(m, callee, arguments, place)
        case _:
            return _foreign(m, callee, arguments, place)


def _function(m: Machine, kind: Kind, callee: Api, arguments: Arguments, place: Place) -> Value:
    path = callee.path
    if kind in _OBJECTS and path.rpartition(".")[2][:1].isupper():
        if kind is Kind.OPTIMIZER:
            return optimizers.make(m, callee, arguments, place)
        instance = Instance(m.allocate(place, "object"), Api(path))
        for name, value in bind(m, path, arguments).items():
            m.put(instance.address, name, value)
        return instance
    layer = keras_api.layer_of_function(path)
    if layer is not None:
        return _merged(m, layer, arguments, place)
    called = control.call(m, path, arguments, place)
    if called is not None:
        return called
    if keras_api.operation(path, m.generation) is None and keras_api.activation_of(path) is None:
        if any(_has_tensor(m, value) for value in arguments.values()):
            return UNKNOWN
        named = derived("call", Api(path), *arguments.args) if arguments.sure and not arguments.keywords else UNKNOWN
        return named if named.symbol is not None else chains.carried(m, arguments.values())
    return tensors.apply(m, path, bind(m, path, arguments), place)


def _made(m: Machine, callee: Api, arguments: Arguments, place: Place) -> Value:
    """An object of a library that is nothing but what it was made with."""
    instance = Instance(m.allocate(place, "object"), callee)
    for name, value in bind(m, callee.path, arguments).items():
        m.put(instance.address, name, value)
    return instance


def _has_tensor(m: Machine, value: Value) -> bool:
    return any(isinstance(part, Tensor) for part in m.parts(value))


def _merged(m: Machine, layer: str, arguments: Arguments, place: Place) -> Value:
    """`keras.layers.concatenate(…)` and its like, which make `layer` and call it."""
    inputs = arguments.get("inputs", 0)
    if inputs is None:
        return UNKNOWN
    keywords = tuple((name, value) for name, value in arguments.keywords if name != "inputs")
    made = calling.make(m, Api(layer), Arguments((), keywords), place)
    return calling.call(m, made, Arguments((inputs,)), place)


def _foreign(m: Machine, callee: Api, arguments: Arguments, place: Place) -> Value:
    if callee.path.startswith(_HARMLESS):
        keywords = [part for key, value in arguments.keywords for part in (key, value)]
        return derived("call", callee, *arguments.args, *keywords) if arguments.sure else UNKNOWN
    computed = jax_functions.call(m, callee.path, arguments, place) if callee.path.startswith("jax.") else None
    if computed is not None:
        return computed
    optimizer = optimizers.made_elsewhere(m, callee, arguments, place)
    if optimizer is not None:
        return optimizer
    if is_foreign_wrapper(callee.path):
        return optimizers.wrapped_elsewhere(m, callee, arguments, place)
    if callee.path.endswith(".get") and len(arguments.args) == 2 and candidates.is_plain(arguments.args[0]):
        found = _looked_up(Api(callee.path.removesuffix(".get")), arguments)
        if found is not None:
            return found
    return unseen(m, callee, arguments)


def _looked_up(of: Value, arguments: Arguments) -> Value | None:
    """`of.get(key, default)` of what is not known, a mapping most likely; None where it may be anything else."""
    key, default = arguments.get("key", 0), arguments.get("default", 1)
    if key is None or not arguments.sure or not (default is None or candidates.is_plain(default)):
        return None
    found = derived("item", of, key)
    return candidates.or_else(found, default) if found.symbol is not None else None


# -- single functions


def _input(m: Machine, arguments: Arguments, place: Place) -> Value:
    bound = bind(m, "keras.Input", arguments)
    wanted = bound.get("dtype")
    dtype: str | None = "float32"
    if wanted is not None and wanted != NONE:
        dtype = tensors.dtype_of(m, wanted)
    elif bound.get("tensor", NONE) != NONE or arguments.more is not None:
        dtype = None
    layer = Instance(m.allocate(place, "input"), Api("keras.layers.InputLayer"))
    tensor = tensors.symbolic_input(m, dtype, place, layer)
    named = tuple((name, bound[name]) for name in ("name", "shape") if name in bound)
    m.state.set((layer.address, "@layer"), LayerInfo("keras.layers.InputLayer", named, Policy(dtype), True, place))
    m.state.set((layer.address, "@output"), tensor)
    if "name" in bound:
        m.state.set((layer.address, "name"), bound["name"])
    return tensor


_EPSILON: Final = (GLOBAL, "epsilon")


def _epsilon(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`keras.backend.epsilon()`."""
    held = m.state.get(_EPSILON)
    return held if isinstance(held, Value) else Const(1e-7)


def _set_epsilon(m: Machine, arguments: Arguments, place: Place) -> Value:
    value = arguments.args[0] if arguments.args else arguments.get("value")
    m.state.set(_EPSILON, value or UNKNOWN)
    return NONE


def _absolute(m: Machine, arguments: Arguments, place: Place) -> Value:
    match arguments.args:
        case (Tensor() as value,):
            return tensors.unary(m, "Absolute", value, place)
        case _:
            return python.call(m, "abs", arguments, place) or UNKNOWN


def _dtype(m: Machine, arguments: Arguments, place: Place) -> Value:
    match arguments.args:
        case (Tensor(dtype=str(name)),):
            return Const(name)
        case _:
            return UNKNOWN


def _policy_named(m: Machine, arguments: Arguments, place: Place) -> Value:
    value = arguments.get("identifier", 0)
    return policies.as_policy(m, value, Policy(None)) if value is not None else UNKNOWN


def _activation(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`keras.activations.get(name)`."""
    value = arguments.get("identifier", 0)
    return UNKNOWN if value is None else layers.activation_function(value)


def _variable(m: Machine, arguments: Arguments, place: Place) -> Value:
    bound = bind(m, variables.OF_TENSORFLOW, arguments)
    wanted = bound.get("dtype")
    dtype = tensors.dtype_of(m, wanted) if wanted is not None and wanted != NONE else None
    given = bound.get("initial_value")
    if dtype is None and given is not None and wanted in (None, NONE):
        dtype = tensors.converted(m, given)
    m.record(VariableMade(place, dtype))
    return variables.make(m, dtype, given, place, variables.OF_TENSORFLOW)


def _variable_of_keras(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`keras.Variable(…)`: a layer that has it as an attribute reads it in its compute dtype, unless told otherwise."""
    bound = bind(m, variables.OF_KERAS, arguments)
    wanted, given = bound.get("dtype"), bound.get("initializer")
    dtype = tensors.dtype_of(m, wanted) if wanted is not None and wanted != NONE else None
    if wanted in (None, NONE) and given is not None:
        made = isinstance(given, (Instance, Function, Bound)) or type(getattr(given, "value", None)) is str
        dtype = tensors.dtype_of(m, policies.floatx(m)) if made else tensors.converted(m, given)
    m.record(VariableMade(place, dtype))
    casts = bound.get("autocast", NONE) != FALSE
    return variables.make(m, dtype, given, place, variables.OF_KERAS, casts=casts)


def _initialised(m: Machine, arguments: Arguments, place: Place) -> Value:
    """What an initializer gives for a shape."""
    wanted = arguments.get("dtype", 1)
    dtype = tensors.dtype_of(m, policies.floatx(m) if wanted in (None, NONE) else wanted or UNKNOWN)
    return Tensor(dtype, Made("operation", place, m.context, by="initializer", computed_in=dtype), False)


def _as_dtype(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`tf.as_dtype(dtype)`."""
    value = arguments.args[0] if arguments.args else None
    name = tensors.dtype_of(m, value) if value is not None else None
    return DType(name) if name is not None else UNKNOWN


def _standard_dtype(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`keras.backend.standardize_dtype(dtype)`: its name."""
    value = arguments.get("dtype", 0)
    name = tensors.dtype_of(m, value) if value is not None else None
    return Const(name) if name is not None else UNKNOWN


def _identity(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`tf.identity(x)`: a variable's numbers, which stay as they are when it changes."""
    value = standard.identity(m, arguments, place)
    return variables.read(m, value) if isinstance(value, Tensor) else value


_SETTINGS: Final[dict[str, Callable[[Machine, Api, Arguments, Place], Value]]] = {
    "keras.backend.set_floatx": policies.set_floatx,
    "keras.backend.clear_session": policies.clear_session,
}
"""What depends on the copy of Keras that it was written from."""
_HANDLERS: Final[dict[str, standard.Handler]] = {
    **standard.HANDLERS,
    **pipelines.HANDLERS,
    "builtins.abs": _absolute,
    strategies.CURRENT: strategies.current,
    strategies.OF_REPLICA: strategies.replica,
    "keras.backend.dtype": _dtype,
    "keras.dtype_policies.get": _policy_named,
    control.FIRST_RESULT: control.first_result,
    "keras.Input": _input,
    "keras.backend.floatx": lambda m, arguments, place: policies.floatx(m),
    "keras.backend.epsilon": _epsilon,
    "keras.backend.set_epsilon": _set_epsilon,
    "keras.models.clone_model": surgery.clone,
    "keras.activations.get": _activation,
    "keras.optimizers.get": optimizers.get,
    "keras.optimizers.deserialize": optimizers.get,
    "tensorflow.GradientTape": tapes.make,
    **dict.fromkeys(tapes.AROUND, standard.identity),
    clipping.BY_GLOBAL_NORM: clipping.by_global_norm,
    "tensorflow.gradients": tapes.of_tensors,
    "jax.grad": tapes.of_function,
    "jax.value_and_grad": tapes.with_value,
    tapes.OF_FUNCTION: tapes.call_of_function,
    stateless.SCOPE.path: stateless.make,
    "jax.jit": stateless.compiled,
    **dict.fromkeys(("jax.checkpoint", "jax.remat", "jax.pmap", "jax.vmap"), standard.pass_on),
    **dict.fromkeys(("jax.tree.map", "jax.tree_map", "jax.tree_util.tree_map"), control.tree_map),
    "tensorflow.function": standard.pass_on,
    "tensorflow.autograph.experimental.do_not_convert": standard.pass_on,
    "tensorflow.recompute_grad": standard.pass_on,
    variables.OF_TENSORFLOW: _variable,
    variables.OF_KERAS: _variable_of_keras,
    "tensorflow.dtypes.as_dtype": _as_dtype,
    "keras.backend.standardize_dtype": _standard_dtype,
    "keras.utils.standardize_dtype": _standard_dtype,
    "keras.utils.unpack_x_y_sample_weight": training.unpacked,
    "tensorflow.identity": _identity,
    "tensorflow.stop_gradient": standard.identity,
    "importlib.metadata.version": versions.version,
    "importlib_metadata.version": versions.version,
    "keras.version": versions.version_of_keras,
    **versions.PARSERS,
    **dict.fromkeys(("numpy.finfo", "tensorflow.experimental.numpy.finfo", "jax.numpy.finfo"), arrays.finfo),
    "tensorflow.no_op": lambda m, arguments, place: NONE,
}


# -- objects and methods


def call_object(m: Machine, callee: Instance, arguments: Arguments, place: Place) -> Value:
    """Calling an object: a layer, a model, or one with `__call__`."""
    if isinstance(callee.cls, Class):
        own = class_attribute(m, callee.cls, "__call__")
        if isinstance(own, Function):
            inside = callee if keras_base_of(m, callee) is not None else None
            return call_function(m, own, arguments.behind(callee), place, in_call=inside)
    if info_of(m, callee) is not None:
        return calling.call(m, callee, arguments, place)
    known = standard.METHODS.get(callee.cls) if isinstance(callee.cls, Api) else None
    if known is not None:
        return known(m, callee, "__call__", arguments, place)
    if isinstance(callee.cls, Api) and keras_api.kind(callee.cls.path) is Kind.INITIALIZER:
        return _initialised(m, arguments, place)
    if isinstance(callee.cls, Api) and keras_api.kind(callee.cls.path) in _OBJECTS:
        return losses.call(m, callee, arguments, place)
    if losses.is_own(callee):
        return losses.call_own(m, callee, arguments, place)
    for value in arguments.values():
        m.escape(value)
    return UNKNOWN


def call_method(m: Machine, receiver: Value, name: str, arguments: Arguments, place: Place) -> Value:
    """A method of a library object, container, string or tensor."""
    if name.removeprefix("super.") in training.APPLIES:
        m.record(Applied(place))
    batching.note_method(m, name, arguments, place)
    if isinstance(receiver, Instance) and isinstance(receiver.cls, Api):
        known = standard.METHODS.get(receiver.cls)
        if known is not None:
            return known(m, receiver, name, arguments, place)
        if strategies.is_strategy(receiver.cls.path):
            return strategies.method(m, receiver, name, arguments, place)
        if receiver.cls == strategies.REPLICA:
            return strategies.replica_method(m, name, arguments, place)
        if receiver.cls == tapes.TAPE:
            return tapes.method(m, receiver, name, arguments, place)
    match receiver:
        case Instance():
            return _object_method(m, receiver, name, arguments, place)
        case Tensor():
            return tensors.method(m, receiver, name, arguments, place)
        case Dataset():
            return pipelines.method(m, receiver, name, arguments, place)
        case Policy() | DType():
            return UNKNOWN
        case Function():
            if name == "__call__":
                return m.call(receiver, arguments, place)
            return commands.method(m, receiver, name, arguments, place)
        case Class() if name == "mro" or name.startswith("super."):
            return UNKNOWN
        case Class() if name == "from_config":
            return m.call(receiver, Arguments((), (), None, UNKNOWN), place)
        case Super():
            return UNKNOWN
        case Unknown() if any(is_member(candidate.value) for candidate in receiver.candidates):
            return _member_method(m, list(receiver.candidates), name, arguments, place)
        case Unknown():
            found = _looked_up(receiver, arguments) if name == "get" else None
            found = found or of_unknown(m, receiver, name, arguments, place)
            if found is not None:
                return found
            result = unseen(m, derived("attribute", receiver, name), arguments)
            return candidates.through(receiver, result, lambda value: python.method(m, value, name, arguments, place))
        case _:
            return python.method(m, receiver, name, arguments, place)


TELLING: Final = pipelines.OWN | {"map", "astype"}
"""Methods that tell what has them, some of them by what they are given."""


def of_unknown(m: Machine, receiver: Unknown, name: str, arguments: Arguments, place: Place) -> Value | None:
    """Such a method of something of which nothing else is known; None where its arguments do not tell."""
    if name == "astype":
        return arrays.of_unknown(m, receiver, arguments, place)
    return pipelines.of_unknown(m, name, arguments, place)


def _member_method(m: Machine, members: list[Candidate], name: str, arguments: Arguments, place: Place) -> Value:
    """A method of one of several members of an enumeration, run for each where it is that."""
    first, *others = members

    def run() -> Value:
        if not is_member(first.value):
            return UNKNOWN
        return m.call(m.attribute(first.value, name, place), arguments, place)

    decided = m.decide(first.symbol)
    if not others or decided is first.holds:
        return run()
    if decided is not None:
        return _member_method(m, others, name, arguments, place)
    values: list[Value] = []

    def this() -> bool:
        values.append(m.assuming(first.symbol, first.holds, run))
        return True

    def another() -> bool:
        rest = lambda: _member_method(m, others, name, arguments, place)  # noqa: E731
        values.append(m.assuming(first.symbol, not first.holds, rest))
        return True

    m.alternatives([this, another], (first.symbol,))
    m.join_values(values, (first.symbol,))
    return m.one_of(values)


def _object_method(m: Machine, receiver: Instance, name: str, arguments: Arguments, place: Place) -> Value:
    if name == "start" and (started := threads.start(m, receiver, place)) is not None:
        return started
    if name.startswith("super."):
        base = keras_base_of(m, receiver)
        if name == "super.__init__" and base is not None:
            calling.initialise(m, receiver, base, arguments, place)
            return NONE
        if isinstance(receiver.cls, Class) and mappings.derives_from_dict(receiver.cls):
            return _dict_method(m, receiver, name.removeprefix("super."), arguments, place)
        result = unseen(m, UNKNOWN, arguments)
        return NONE if name in ("super.__init__", "super.build", "super.compile") else result
    info = info_of(m, receiver)
    if info is not None:
        if keras_api.kind(info.base) is Kind.MODEL:
            if name == "get_layer":
                return surgery.get_layer(m, receiver, arguments)
            found = models.method(m, receiver, name, arguments, place)
            if found is not None:
                return found
        if name == "compile":
            for key, value in arguments.keywords:
                m.put(receiver.address, key, value)
            optimizers.compile_model(m, receiver, policies.current(m, spelled_of(receiver)), arguments, place)
            return NONE
        if name in losses.OF_MODELS:
            return losses.of_model(m, name, arguments, place)
        if name == "add_loss":
            losses.given(m, arguments.get("losses", 0) or arguments.get("loss") or UNKNOWN, place)
            return NONE
        if name in ("add_weight", "add_variable"):
            return _weight(m, receiver, info, arguments, place)
        if name == "__call__":  # of the library, from the program's own `__call__`
            return calling.call(m, receiver, arguments, place)
        if name == "call":
            return _inherited_call(m, receiver, arguments, place)
        if name in ("get_config", "to_json"):  # a pattern for another model
            m.record(Opened(receiver))
        if name == "set_weights":
            m.state.set((receiver.address, WEIGHTS), TRUE)
        if name in training.KEEPS:
            m.record(Kept(receiver))
        if name in training.RUNS:
            chains.feed_data(m, receiver, arguments)
            batching.feed(m, arguments.get("x", 0) or UNKNOWN)
            pipelines.feed(m, receiver, arguments, place)
            m.record(Ran(receiver, name, policies.current(m, spelled_of(receiver))))
            training.run_steps(m, receiver, place)
        return predicted((receiver,)) if name in training.PREDICTS else UNKNOWN
    if optimizers.is_optimizer(receiver):
        return optimizers.method(m, receiver, name, arguments, place)
    if isinstance(receiver.cls, Api) and keras_api.kind(receiver.cls.path) is not None:
        losses.report(m, receiver, name, arguments, place)
        return UNKNOWN
    if isinstance(receiver.cls, Class) and mappings.derives_from_dict(receiver.cls):
        return _dict_method(m, receiver, name, arguments, place)
    taken = records.method(m, receiver, name, arguments, place)
    if taken is not None:
        return taken
    for value in arguments.values():
        m.escape(value)
    return UNKNOWN


def _dict_method(m: Machine, receiver: Instance, name: str, arguments: Arguments, place: Place) -> Value:
    """A method that an object of a class of the program has from `dict`."""
    if name == "__init__":
        objects.fill(m, receiver, arguments, place)
        return NONE
    return containers.dict_method(m, Dict(receiver.address), name, arguments, place)


def _inherited_call(m: Machine, receiver: Instance, arguments: Arguments, place: Place) -> Value:
    """`super().call(x)` in a subclass of a library layer, or `layer.call(x)`."""
    info = info_of(m, receiver)
    if info is None or keras_api.kind(info.base) is Kind.MODEL:
        return UNKNOWN
    if isinstance(receiver.cls, Api):
        return calling.call(m, receiver, arguments, place)
    return layers.library_call(m, receiver, info, arguments, place)


def _weight(m: Machine, layer: Instance, info: LayerInfo, arguments: Arguments, place: Place) -> Value:
    """`self.add_weight(…)`: float variables of a layer are read in its compute dtype, unless told otherwise."""
    bound = dict(arguments.keywords)
    wanted = arguments.get("dtype", 2)
    dtype = tensors.dtype_of(m, wanted) if wanted is not None and wanted != NONE else None
    if dtype is None and (wanted is None or wanted == NONE):
        dtype = variable_dtype(info.policy.name)
    casts = bound.get("autocast", NONE) != FALSE and bound.get("experimental_autocast", NONE) != FALSE
    casts = casts and weights.lends_cast(m, info.policy)
    m.record(VariableMade(place, dtype))
    if bound.get("trainable") == FALSE and keras_api.kind(info.base) is Kind.MODEL:
        return variables.make(m, dtype, bound.get("initializer"), place, "add_weight", layer, casts=casts)
    return Tensor(dtype, Made("variable", place, m.context, by="add_weight", layer=layer), False, None, casts)
