"""Run one-line programs on keras.applications and say what was built, without ever computing an image.

    real_applications.py GENERATION < jobs.json > results.jsonl

A job holds `id` and `source`, a program that leaves a model called `model`.  A result line holds

    id, error   the type of the exception that ended the program, else null, and its `reason`
    symbolic    the dtypes of the model's outputs as Keras states them
    traced      the dtypes that a traced call gives (Keras 3's symbolic dtypes can be wrong)
    last        class and name of the last layer
    policies    the dtype policies of the layers inside, its inputs aside
    computed    the dtypes of what the layers inside give, its inputs aside
    inputs      the dtypes of the model's inputs

The process ends early when it has grown too large (TensorFlow keeps the graphs of custom gradients, of which an
EfficientNet has hundreds): the jobs that have no line yet are for the next one.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import sys
from typing import Any

GENERATION = sys.argv[1]
os.environ.update(
    TF_CPP_MIN_LOG_LEVEL="3",
    CUDA_VISIBLE_DEVICES="",
    TF_USE_LEGACY_KERAS="1" if GENERATION == "2" else "0",
)
LARGEST = 3 << 20
"""In KiB."""
ANY_SIZE = 96
"""Of the images, where the model is built for any size."""
RESULTS = os.dup(1)
os.dup2(2, 1)  # what Keras prints goes to standard error

import tensorflow as tf  # noqa: E402

keras = tf.keras


def cheap_weights() -> None:
    """Zeros: random numbers for hundreds of millions of weights take longer than all the rest."""
    for name in ("VarianceScaling", "RandomNormal", "TruncatedNormal", "GlorotUniform", "HeNormal"):
        initializer = getattr(keras.initializers, name)
        initializer.__call__ = lambda self, shape, dtype=None, **_: tf.zeros(shape, tf.as_dtype(dtype or "float32"))


def dtype_name(tensor: Any) -> str:
    return str(tf.as_dtype(tensor.dtype).name)


def outputs_of(layer: Any) -> list[Any]:
    return list(tf.nest.flatten(layer.output))


def traced(model: Any) -> list[str]:
    specs = [tf.TensorSpec([1, *(size or ANY_SIZE for size in given.shape[1:])], given.dtype) for given in model.inputs]
    graph = tf.function(lambda *given: model(given[0] if len(given) == 1 else list(given), training=False))
    return [dtype_name(tensor) for tensor in tf.nest.flatten(graph.get_concrete_function(*specs).structured_outputs)]


def policy_of(layer: Any) -> str:
    return str((layer._dtype_policy if GENERATION == "2" else layer.dtype_policy).name)


def inside_of(model: Any) -> list[Any]:
    """The layers of the model and of the models in it, their inputs aside."""
    return [one for one in model._flatten_layers(include_self=False) if not isinstance(one, keras.layers.InputLayer)]


def computed_in(model: Any) -> list[str]:
    layers = [layer for layer in model.layers if not isinstance(layer, keras.layers.InputLayer)]
    return sorted({dtype_name(tensor) for layer in layers for tensor in outputs_of(layer)})


def measure(job: dict[str, str]) -> dict[str, Any]:
    keras.backend.clear_session()
    keras.mixed_precision.set_global_policy("float32")
    row: dict[str, Any] = {"id": job["id"], "error": None, "reason": None}
    try:
        namespace: dict[str, Any] = {"__name__": "__main__"}
        exec(compile(job["source"], "program.py", "exec"), namespace)
        model = namespace["model"]
        row["symbolic"] = [dtype_name(tensor) for tensor in model.outputs]
        row["traced"] = traced(model)
        row["last"] = [type(model.layers[-1]).__name__, model.layers[-1].name]
        row["inputs"] = [dtype_name(tensor) for tensor in model.inputs]
        row["policies"] = sorted({policy_of(layer) for layer in inside_of(model)})
        row["computed"] = computed_in(model)
    except Exception as error:  # noqa: BLE001  (whatever the program raises is a result)
        row["error"], row["reason"] = type(error).__name__, " ".join(str(error).split())[:300]
    return row


def main() -> None:
    cheap_weights()
    for job in json.load(sys.stdin):
        os.write(RESULTS, (json.dumps(measure(job)) + "\n").encode())
        gc.collect()
        if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > LARGEST:
            break


if __name__ == "__main__":
    main()
