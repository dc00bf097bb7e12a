"""Calls of library names, methods and objects: what each does to the abstract state."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from mplint import keras_api
from mplint.interpreter import copying, environment, modules, namespaces, options, python, records, sequences
from mplint.interpreter.calls import Arguments, call_function, unseen
from mplint.interpreter.classes import class_attribute
from mplint.interpreter.keras import (
    applications,
    calling,
    control,
    layers,
    models,
    policies,
    strategies,
    surgery,
    tensors,
    training,
)
from mplint.interpreter.keras.info import LayerInfo, info_of, is_layer_path, keras_base_of, spelled_of
from mplint.interpreter.trace import Compiled, Opened, Ran, VariableMade
from mplint.interpreter.values import (
    NEVER,
    NONE,
    UNKNOWN,
    Api,
    Array,
    Bound,
    Class,
    Const,
    DType,
    Entries,
    Fields,
    Function,
    Instance,
    Made,
    Partial,
    Place,
    Policy,
    Super,
    Tensor,
    Tuple,
    Unknown,
    Value,
    derived,
)
from mplint.keras_api import Kind

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

_OBJECTS: Final = frozenset({Kind.OPTIMIZER, Kind.LOSS, Kind.METRIC, Kind.CALLBACK, Kind.INITIALIZER, Kind.REGULARIZER})
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
            return Array(keras_api.dtype_name(path))
        case Kind.FUNCTION | Kind.ACTIVATION | Kind.LOSS | Kind.METRIC | Kind.OPTIMIZER | Kind.CALLBACK:
            return _function(m, kind, path, arguments, place)
        case Kind.INITIALIZER | Kind.REGULARIZER:
            return Instance(m.allocate(place, "object"), Api(path))
        case None:
            if head in ("numpy", "np"):
                return _numpy(m, path, arguments)
            return _foreign(m, callee, arguments, place)
        case _:
            return _foreign(m, callee, arguments, place)


def _function(m: Machine, kind: Kind, path: str, arguments: Arguments, place: Place) -> Value:
    if kind in _OBJECTS and path.rpartition(".")[2][:1].isupper():
        instance = Instance(m.allocate(place, "object"), Api(path))
        for name, value in layers.bind(m, path, arguments).items():
            m.put(instance.address, name, value)
        return instance
    layer = _functional_layer(path)
    if layer is not None:
        return _merged(m, layer, arguments, place)
    called = control.call(m, path, arguments, place)
    if called is not None:
        return called
    if keras_api.operation(path, m.generation) is None and keras_api.activation_of(path) is None:
        if any(_has_tensor(m, value) for value in arguments.values()):
            return UNKNOWN
        return derived("call", Api(path), *arguments.args) if arguments.sure and not arguments.keywords else UNKNOWN
    bound = layers.bind(m, path, arguments)
    return tensors.apply(m, path, arguments, bound, place)


def _has_tensor(m: Machine, value: Value) -> bool:
    return any(isinstance(part, Tensor) for part in m.parts(value))


_MERGES: Final = {
    "add": "Add",
    "subtract": "Subtract",
    "multiply": "Multiply",
    "average": "Average",
    "maximum": "Maximum",
    "minimum": "Minimum",
    "concatenate": "Concatenate",
    "dot": "Dot",
}


def _functional_layer(path: str) -> str | None:
    """The layer behind `keras.layers.concatenate(…)` and its like."""
    module, _, name = path.rpartition(".")
    return f"keras.layers.{_MERGES[name]}" if module == "keras.layers" and name in _MERGES else None


def _merged(m: Machine, layer: str, arguments: Arguments, place: Place) -> Value:
    inputs = arguments.get("inputs", 0)
    if inputs is None:
        return UNKNOWN
    keywords = tuple((name, value) for name, value in arguments.keywords if name != "inputs")
    made = calling.make(m, Api(layer), Arguments((), keywords), place)
    return calling.call(m, made, Arguments((inputs,)), place)


_NUMPY_MAKERS: Final = {"ones": 1, "zeros": 1, "empty": 1, "full": 2, "eye": 3, "array": 1, "asarray": 1, "identity": 1}
"""NumPy's functions that make arrays, and where their dtype stands."""


_NUMPY_SCALARS: Final = frozenset("sqrt exp log log2 log10 sin cos tanh".split())
"""NumPy's functions of one number: of a number of Python's they give a float64."""


def _numpy(m: Machine, path: str, arguments: Arguments) -> Value:
    dtype = keras_api.dtype_name(path)
    if dtype is not None:
        return Array(dtype, True)
    for value in arguments.values():
        m.escape(value)
    name = path.rpartition(".")[2]
    if name == "dtype":
        named = tensors.dtype_of(m, arguments.args[0]) if arguments.args else None
        return DType(named) if named is not None else UNKNOWN
    if name in _NUMPY_SCALARS and arguments.sure and all(isinstance(value, Const) for value in arguments.values()):
        return Array("float64", True)
    if name in _NUMPY_MAKERS:
        wanted = arguments.get("dtype", _NUMPY_MAKERS[name])
        if wanted is not None:
            return Array(tensors.dtype_of(m, wanted), False)
        return Array("float64" if name in ("ones", "zeros", "empty", "eye", "identity") else None, False)
    return Array(None)


def _foreign(m: Machine, callee: Api, arguments: Arguments, place: Place) -> Value:
    if callee.path.startswith(_HARMLESS):
        keywords = [part for key, value in arguments.keywords for part in (key, value)]
        return derived("call", callee, *arguments.args, *keywords) if arguments.sure else UNKNOWN
    for value in arguments.values():
        if isinstance(value, (Function, Bound, Partial)) and callee.path in _RUNNERS:
            m.call(value, Arguments((), (), UNKNOWN, None), place)
    return unseen(m, callee, arguments)


_RUNNERS: Final = frozenset(
    {"absl.app.run", "fire.Fire", "typer.run", "hydra.main", "tensorflow.compat.v1.app.run", "tensorflow.app.run"}
)


# -- single functions


def _input(m: Machine, arguments: Arguments, place: Place) -> Value:
    bound = layers.bind(m, "keras.Input", arguments)
    wanted = bound.get("dtype")
    dtype: str | None = "float32"
    if wanted is not None and wanted != NONE:
        dtype = tensors.dtype_of(m, wanted)
    elif bound.get("tensor", NONE) != NONE or arguments.more is not None:
        dtype = None
    layer = Instance(m.allocate(place, "input"), Api("keras.layers.InputLayer"))
    made = Made("input", place, m.context, by="keras.Input", layer=layer, computed_in=dtype)
    tensor = Tensor(dtype, made, True)
    named = (("name", bound["name"]),) if "name" in bound else ()
    m.state.set((layer.address, "@layer"), LayerInfo("keras.layers.InputLayer", named, Policy(dtype), True, place))
    m.state.set((layer.address, "@output"), tensor)
    if named:
        m.state.set((layer.address, "name"), bound["name"])
    return tensor


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


def _partial(m: Machine, arguments: Arguments, place: Place) -> Value:
    if not arguments.args or not arguments.sure:
        return UNKNOWN
    return Partial(arguments.args[0], arguments.args[1:], arguments.keywords)


def _field(m: Machine, arguments: Arguments, place: Place) -> Value:
    return Partial(Api("dataclasses.field"), (), arguments.keywords)


def _pass_on(m: Machine, arguments: Arguments, place: Place) -> Value:
    """A decorator or wrapper that calls what it is given: the same callable comes back."""
    if arguments.args and isinstance(arguments.args[0], (Function, Bound, Partial, Class, Instance)):
        return arguments.args[0]
    function = arguments.get("func", None) or arguments.get("function", None)
    return function if function is not None else Api("mplint.identity")


def _identity(m: Machine, arguments: Arguments, place: Place) -> Value:
    return arguments.args[0] if arguments.args else UNKNOWN


def _namespace(m: Machine, arguments: Arguments, place: Place) -> Value:
    instance = Instance(m.allocate(place, "object"), Api("types.SimpleNamespace"))
    given = arguments.named()
    namespaces.update(m, Fields(instance), Entries(given.pairs, None, given.optional))
    if not arguments.sure or arguments.args:
        m.state.set((instance.address, namespaces.LOOSE), NONE)
    return instance


def _activation_layer(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`keras.activations.get(name)`."""
    value = arguments.get("identifier", 0)
    match value:
        case Const(value=str(name)):
            return Api(m.program.table.canonical(f"keras.activations.{name}"))
        case Const(value=None):
            return Api("keras.activations.linear")
        case None:
            return UNKNOWN
        case _:
            return value


def _ordered(m: Machine, arguments: Arguments, place: Place) -> Value:
    return python.call(m, "dict", arguments, place) or UNKNOWN


def _reduce(m: Machine, arguments: Arguments, place: Place) -> Value:
    if len(arguments.args) < 2:
        return UNKNOWN
    function, *rest = arguments.args
    items = sequences.iterate(m, rest[0], place)
    values = [*rest[1:2], *items.items]
    if items.rest is not None or not values or len(values) > sequences.MAX_PASSES:
        return UNKNOWN
    context, result = m.context, values[0]
    for index, value in enumerate(values[1:]):
        m.context = context.at(place, index)
        result = m.call(function, Arguments((result, value)), place)
    m.context = context
    return result


def _variable(m: Machine, arguments: Arguments, place: Place) -> Value:
    bound = layers.bind(m, "tensorflow.Variable", arguments)
    wanted = bound.get("dtype")
    dtype = tensors.dtype_of(m, wanted) if wanted is not None and wanted != NONE else None
    given = bound.get("initial_value")
    if dtype is None and given is not None and wanted in (None, NONE):
        dtype = _converted(given)
    m.record(VariableMade(place, dtype))
    return Tensor(dtype, Made("variable", place, m.context, by="tensorflow.Variable"), False)


def _converted(value: Value) -> str | None:
    """The dtype of the tensor that TensorFlow makes of a value."""
    match value:
        case Tensor(dtype=dtype) | Array(dtype=dtype):
            return dtype
        case Const(value=bool()):
            return "bool"
        case Const(value=int()):
            return "int32"
        case Const(value=float()):
            return "float32"
        case _:
            return None


def _product(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`itertools.product(a, b)`."""
    columns = [sequences.iterate(m, value, place) for value in arguments.args]
    size = math.prod(len(column.items) for column in columns)
    known = arguments.sure and not arguments.keywords and all(column.rest is None for column in columns)
    if known and size <= sequences.MAX_PASSES:
        rows = itertools.product(*(column.items for column in columns))
        return m.new_list(place, Tuple(tuple(map(Tuple, rows))))
    return m.new_list(place, Tuple((), Tuple(tuple(map(sequences.anything, columns))) if known else UNKNOWN))


def _chain(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`itertools.chain(a, b)`."""
    found = Tuple((), arguments.rest)
    for value in reversed(arguments.args):
        found = sequences.concatenate(sequences.iterate(m, value, place), found)
    return m.new_list(place, found)


def _as_dtype(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`tf.as_dtype(dtype)`."""
    value = arguments.args[0] if arguments.args else None
    name = tensors.dtype_of(m, value) if value is not None else None
    return DType(name) if name is not None else UNKNOWN


def _leave(m: Machine, arguments: Arguments, place: Place) -> Value:
    return NEVER


_SETTINGS: Final[dict[str, Callable[[Machine, Api, Arguments, Place], Value]]] = {
    "keras.backend.set_floatx": policies.set_floatx,
    "keras.backend.clear_session": policies.clear_session,
}
"""What depends on the copy of Keras that it was written from."""
_HANDLERS: Final[dict[str, Callable[[Machine, Arguments, Place], Value]]] = {
    "builtins.abs": _absolute,
    "keras.backend.dtype": _dtype,
    "keras.dtype_policies.get": _policy_named,
    control.FIRST_RESULT: control.first_result,
    "sys.exit": _leave,
    "builtins.exit": _leave,
    "builtins.quit": _leave,
    "os._exit": _leave,
    "os.abort": _leave,
    "keras.Input": _input,
    "keras.backend.floatx": lambda m, arguments, place: policies.floatx(m),
    "keras.models.clone_model": surgery.clone,
    "keras.activations.get": _activation_layer,
    "functools.partial": _partial,
    "functools.reduce": _reduce,
    "itertools.chain": _chain,
    "itertools.product": _product,
    "argparse.ArgumentParser": options.parser,
    "functools.partialmethod": _partial,
    "dataclasses.field": _field,
    "attr.ib": _field,
    "attrs.field": _field,
    "tensorflow.function": _pass_on,
    "tensorflow.autograph.experimental.do_not_convert": _pass_on,
    "tensorflow.recompute_grad": _pass_on,
    "functools.lru_cache": _pass_on,
    "functools.cache": _pass_on,
    "functools.wraps": lambda m, arguments, place: Api("mplint.identity"),
    "mplint.identity": _identity,
    "types.SimpleNamespace": _namespace,
    "importlib.import_module": modules.import_module,
    "builtins.__import__": modules.import_top,
    "os.environ.get": environment.get,
    "os.getenv": environment.get,
    "os.environ.setdefault": environment.set_default,
    "os.environ.pop": environment.pop,
    "os.environ.update": environment.update,
    "dataclasses.replace": records.replace,
    "dataclasses.asdict": records.as_dict,
    "dataclasses.astuple": records.as_tuple,
    "dataclasses.is_dataclass": records.is_dataclass,
    "copy.copy": copying.shallow,
    "copy.deepcopy": copying.deep,
    "collections.OrderedDict": _ordered,
    "collections.defaultdict": python.default_dict,
    "tensorflow.Variable": _variable,
    "tensorflow.dtypes.as_dtype": _as_dtype,
    "tensorflow.identity": _identity,
    "tensorflow.stop_gradient": _identity,
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
    if isinstance(callee.cls, Api) and keras_api.kind(callee.cls.path) in _OBJECTS:
        return UNKNOWN
    for value in arguments.values():
        m.escape(value)
    return UNKNOWN


_NEUTRAL: Final = frozenset(
    {"fit", "evaluate", "predict", "save", "save_weights", "load_weights", "summary", "build", "compute_loss",
     "train_on_batch", "test_on_batch", "predict_on_batch", "get_config", "get_weights", "set_weights", "count_params",
     "to_json", "export", "add_loss", "add_metric", "reset_states", "reset_state", "get_layer", "compute_output_shape",
     "adapt", "register_forward_hook"}
)  # fmt: skip

_RUNS: Final = frozenset(
    {"fit", "evaluate", "predict", "load_weights", "train_on_batch", "test_on_batch", "predict_on_batch"}
)
"""What computes with the weights that a model has, or brings them."""


def call_method(m: Machine, receiver: Value, name: str, arguments: Arguments, place: Place) -> Value:
    """A method of a library object, container, string or tensor."""
    if isinstance(receiver, Instance) and receiver.cls == options.PARSER:
        return options.method(m, receiver, name, arguments, place)
    if isinstance(receiver, Instance) and isinstance(receiver.cls, Api) and strategies.is_strategy(receiver.cls.path):
        return strategies.method(m, receiver, name, arguments, place)
    match receiver:
        case Instance():
            return _object_method(m, receiver, name, arguments, place)
        case Tensor():
            return tensors.method(m, receiver, name, arguments, place)
        case Policy() | DType():
            return UNKNOWN
        case Function():
            if name == "__call__":
                return m.call(receiver, arguments, place)
            return UNKNOWN
        case Class() if name == "mro" or name.startswith("super."):
            return UNKNOWN
        case Class() if name == "from_config":
            return m.call(receiver, Arguments((), (), None, UNKNOWN), place)
        case Super():
            return UNKNOWN
        case Unknown():
            return unseen(m, receiver, arguments)
        case _:
            return python.method(m, receiver, name, arguments, place)


def _object_method(m: Machine, receiver: Instance, name: str, arguments: Arguments, place: Place) -> Value:
    if name.startswith("super."):
        base = keras_base_of(m, receiver)
        if name == "super.__init__" and base is not None:
            calling.initialise(m, receiver, base, arguments, place)
        elif name == "super.__init__":
            for value in arguments.values():
                m.escape(value)
        return NONE
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
            m.record(Compiled(receiver, place, m.context, policies.current(m, spelled_of(receiver))))
            training.run_steps(m, receiver, place)
            return NONE
        if name in ("add_weight", "add_variable"):
            return _weight(m, receiver, info.policy, arguments, place)
        if name == "__call__":  # of the library, from the program's own `__call__`
            return calling.call(m, receiver, arguments, place)
        if name == "call":
            return _inherited_call(m, receiver, arguments, place)
        if name in ("get_config", "to_json"):  # a pattern for another model
            m.record(Opened(receiver))
        if name in _RUNS:
            m.record(Ran(receiver, place, name, policies.current(m, spelled_of(receiver))))
            training.run_steps(m, receiver, place)
        if name in _NEUTRAL or is_layer_path(info.base):
            return UNKNOWN
    if isinstance(receiver.cls, Api) and keras_api.kind(receiver.cls.path) is not None:
        return UNKNOWN
    for value in arguments.values():
        m.escape(value)
    return UNKNOWN


def _inherited_call(m: Machine, receiver: Instance, arguments: Arguments, place: Place) -> Value:
    """`super().call(x)` in a subclass of a library layer, or `layer.call(x)`."""
    info = info_of(m, receiver)
    if info is None or keras_api.kind(info.base) is Kind.MODEL:
        return UNKNOWN
    if isinstance(receiver.cls, Api):
        return calling.call(m, receiver, arguments, place)
    return layers.library_call(m, receiver, info, arguments, place)


def _weight(m: Machine, layer: Instance, policy: Policy, arguments: Arguments, place: Place) -> Value:
    """`self.add_weight(…)`: float variables of a layer are read in its compute dtype, unless told otherwise."""
    bound = dict(arguments.keywords)
    wanted = arguments.get("dtype", 2)
    dtype = tensors.dtype_of(m, wanted) if wanted is not None and wanted != NONE else None
    if dtype is None and (wanted is None or wanted == NONE):
        from mplint.interpreter.values import variable_dtype

        dtype = variable_dtype(policy.name)
    off = Const(False)
    casts = bound.get("autocast", NONE) != off and bound.get("experimental_autocast", NONE) != off
    m.record(VariableMade(place, dtype))
    return Tensor(dtype, Made("variable", place, m.context, by="add_weight", layer=layer), False, None, casts)
