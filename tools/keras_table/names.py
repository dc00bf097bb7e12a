"""Every public name of one generation: which object it is, its kind and its parameters."""

from __future__ import annotations

import inspect
import sys
import types
from dataclasses import asdict, dataclass
from typing import Any

from keras_table.packages import GENERATION, keras, np, tf
from keras_table.signatures import parameters_of

PRIVATE = frozenset({"src", "api", "raw_ops", "python", "core", "tools", "lite", "security", "proto"})
METHODS = {
    "Model": (
        "compile",
        "compute_loss",
        "evaluate",
        "fit",
        "load_weights",
        "predict",
        "predict_on_batch",
        "save",
        "save_weights",
        "test_on_batch",
        "test_step",
        "train_on_batch",
        "train_step",
        "get_layer",
        "summary",
        "export",
        "call",
        "build",
        "__call__",
    ),
    "Sequential": ("add", "compile", "fit", "evaluate", "predict", "get_layer", "build", "pop", "call", "__call__"),
    "Layer": (
        "__call__",
        "add_loss",
        "add_metric",
        "add_weight",
        "add_variable",
        "add_update",
        "build",
        "call",
        "compute_mask",
        "compute_output_shape",
        "compute_output_spec",
        "get_weights",
        "set_weights",
    ),
    "Optimizer": (
        "apply",
        "apply_gradients",
        "build",
        "compute_gradients",
        "get_scaled_loss",
        "get_unscaled_gradients",
        "minimize",
        "scale_loss",
        "stateless_apply",
    ),
    "Loss": ("__call__", "call"),
    "Metric": ("__call__", "add_weight", "add_variable", "update_state", "result"),
}


@dataclass(frozen=True)
class Name:
    """One public path; equal `thing` numbers are the same object within a generation."""

    path: str
    thing: int
    kind: str
    called: str
    source: str | None
    parameters: str | None
    methods: dict[str, str]
    exported: tuple[str, ...]


def measure() -> list[dict[str, Any]]:
    """All public names of this process's packages."""
    seen: dict[str, Any] = {"keras": keras, "tensorflow": tf}
    if GENERATION == "3":
        import keras._tf_keras.keras as through_tensorflow

        _walk(through_tensorflow, "keras", "keras._tf_keras.keras", seen)
    else:
        import tf_keras.api._v2.keras as through_tensorflow

        _walk(through_tensorflow, "keras", "tf_keras.api._v2.keras", seen)
    _walk(keras, "keras", keras.__name__, seen)
    for name in ("initializers", "losses", "metrics", "optimizers"):
        module = getattr(through_tensorflow, name)
        seen[f"tensorflow.{name}"] = module
        _walk(module, f"tensorflow.{name}", module.__name__, seen)
    _walk(tf, "tensorflow", "tensorflow._api.v2", seen)
    v1: dict[str, Any] = {}
    _walk(tf.compat.v1, "tensorflow.compat.v1", "tensorflow._api.v2.compat.v1", v1)
    seen.update(v1)
    things = {id(thing): number for number, thing in enumerate(seen.values())}
    return [asdict(_name(path, thing, things[id(thing)])) for path, thing in sorted(seen.items())]


def _walk(root: Any, path: str, inside: str, seen: dict[str, Any]) -> None:
    stack: list[tuple[Any, str]] = [(root, path)]
    done: set[str] = set()
    while stack:
        module, at = stack.pop()
        if at in done:
            continue
        done.add(at)
        for name in dir(module):
            if name.startswith("_"):
                continue
            if name in PRIVATE and at.count(".") < 1:
                continue
            try:
                thing = getattr(module, name)
            except (AttributeError, ImportError):
                continue
            here = f"{at}.{name}"
            if isinstance(thing, types.ModuleType):
                if _is_public(_module_name(thing), inside):
                    seen.setdefault(here, thing)
                    stack.append((thing, here))
                continue
            seen.setdefault(here, thing)


def _is_public(where: str, inside: str) -> bool:
    if inside == "tensorflow._api.v2" and where.startswith("tensorflow.experimental"):
        return True  # this one module forgets the prefix
    return where.startswith(inside + ".") and not where.startswith(f"{inside}.compat")


def _module_name(module: Any) -> str:
    try:
        return str(module.__name__)
    except AttributeError:  # TensorFlow's lazy loader for Keras has none
        return ""


def _name(path: str, thing: Any, number: int) -> Name:
    return Name(
        path=path,
        thing=number,
        kind=_kind(path, thing),
        called=str(getattr(thing, "__name__", "")),
        source=_source(thing),
        parameters=parameters_of(thing) if callable(thing) and not _is_dtype(thing) else None,
        methods=_methods(thing),
        exported=_exported(thing),
    )


def _exported(thing: Any) -> tuple[str, ...]:
    """The names TensorFlow itself exports a symbol under, the one its documentation uses first."""
    from tensorflow.python.util import tf_decorator, tf_export

    if not callable(thing):
        return ()
    undecorated = tf_decorator.unwrap(thing)[1] if hasattr(thing, "__dict__") else thing
    return tuple("tensorflow." + name for name in tf_export.get_v2_names(undecorated))


def _source(thing: Any) -> str | None:
    module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
    if not (isinstance(module, str) and isinstance(name, str)) or "<" in name:
        return None
    if module.split(".")[0] not in ("keras", "tf_keras", "tensorflow") or module not in sys.modules:
        return None
    found: Any = sys.modules[module]
    for part in name.split("."):
        found = getattr(found, part, None)
    return f"{module}.{name}" if found is thing else None


def _is_dtype(thing: Any) -> bool:
    return isinstance(thing, tf.dtypes.DType) or (inspect.isclass(thing) and issubclass(thing, np.generic))


def _is_a(thing: Any, *bases: Any) -> bool:
    return inspect.isclass(thing) and issubclass(thing, tuple(base for base in bases if base is not None))


def _optimizers() -> tuple[Any, ...]:
    legacy = getattr(keras.optimizers, "legacy", None)
    old = getattr(legacy, "Optimizer", None) if GENERATION == "2" else None
    bases = [keras.optimizers.Optimizer, old, keras.mixed_precision.LossScaleOptimizer]
    return tuple(base for base in bases if base is not None)


def _policies() -> tuple[Any, ...]:
    return (keras.mixed_precision.Policy,) if GENERATION == "2" else (keras.DTypePolicy,)


def _kind(path: str, thing: Any) -> str:
    name = path.rpartition(".")[2]
    in_keras = path.startswith("keras.")
    if isinstance(thing, types.ModuleType):
        return "module"
    if _is_dtype(thing):
        return "dtype"
    if _is_a(thing, *_policies()):
        return "policy"
    if _is_a(thing, keras.Model):
        return "model"
    if _is_a(thing, keras.layers.Layer):
        if _is_a(thing, keras.layers.Wrapper):
            return "wrapper"
        return "cell" if name.endswith(("Cell", "Cells")) else "layer"
    if _is_a(thing, *_optimizers()) or (inspect.isclass(thing) and ".optimizers." in path and "schedules" not in path):
        return "optimizer"
    for kind, base in (
        ("loss", keras.losses.Loss),
        ("metric", keras.metrics.Metric),
        ("callback", keras.callbacks.Callback),
        ("initializer", keras.initializers.Initializer),
        ("regularizer", keras.regularizers.Regularizer),
    ):
        if _is_a(thing, base):
            return kind
    if not callable(thing) or inspect.isclass(thing):
        return "other"
    if in_keras:
        if name in ("set_global_policy", "set_dtype_policy"):
            return "policy_setter"
        if name in ("global_policy", "dtype_policy"):
            return "policy_getter"
        if path.startswith("keras.applications.") and name[0].isupper():
            return "application"
        if name in ("get", "serialize", "deserialize"):
            return "function"
        for kind, module in (("activation", "activations"), ("loss", "losses"), ("metric", "metrics")):
            if path.startswith(f"keras.{module}."):
                return kind
    return "function"


def _functional() -> Any:
    if GENERATION == "3":
        from keras.src.models.functional import Functional
    else:
        from tf_keras.src.engine.functional import Functional
    return Functional


def _methods(thing: Any) -> dict[str, str]:
    if not inspect.isclass(thing):
        return {}
    bases: dict[str, tuple[Any, ...]] = {
        "Model": (keras.Model,),
        "Sequential": (keras.Sequential,),
        "Layer": (keras.layers.Layer,),
        "Optimizer": _optimizers(),
        "Loss": (keras.losses.Loss,),
        "Metric": (keras.metrics.Metric,),
    }
    found: dict[str, str] = {}
    if GENERATION == "2" and thing is keras.mixed_precision.LossScaleOptimizer:
        thing = type(thing(keras.optimizers.SGD()))  # calling the public class gives an object of another
    if thing is keras.Model:
        # `Model(inputs, outputs)` makes a Functional, whose constructor it is; Model's own says `*args, **kwargs`.
        functional = parameters_of(_functional())
        if functional is not None:
            found["__init__"] = functional
    for base, methods in METHODS.items():
        if not _is_a(thing, *bases[base]):
            continue
        for method in methods:
            function = inspect.getattr_static(thing, method, None)
            if function is None or not callable(getattr(thing, method)):
                continue
            text = parameters_of(getattr(thing, method), bound=True)
            if text is not None:
                found[method] = text
    return found
