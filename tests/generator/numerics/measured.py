"""What the numbers of a program come to in real Keras: in half precision, beside float32.

Runs in the process of tests/generator/real.py.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Final

from tools.measure import example, keras, surroundings

import numpy as np  # isort: skip  (both behind tools.measure, which makes TensorFlow's settings)
import tensorflow as tf  # isort: skip

HALF: Final = frozenset({"float16", "bfloat16"})
PRODUCTS: Final = frozenset({"MatMul", "BatchMatMulV2", "BatchMatMulV3", "SparseMatMul", "Einsum", "Conv2D"})
PREPARING: Final = ("Rescaling", "Normalization", "Discretization")
SIZES: Final = ("units", "filters", "output_dim", "key_dim")
SCALE: Final = 2.0**15
"""What a loss is multiplied with at first."""
OF_NUMBERS: Final = ("masks", "epsilons", "statistics", "losses")
"""The subjects of which something is infinite, or far off."""
ROUGHLY: Final = 0.1
"""What half precision may differ by from float32, of the largest number (or of 1)."""


@dataclass
class Figures:
    """What one run of a program gives."""

    error: str | None = None
    numbers: dict[str, list[list[Any]]] = field(default_factory=dict)
    """The arrays of each call of each model: outputs, losses, gradients."""
    shapes: dict[str, list[Any]] = field(default_factory=dict)
    """The shapes of the outputs of each model."""
    data: list[list[Any]] = field(default_factory=list)
    """What each `fit` is given."""
    symptoms: set[str] = field(default_factory=set)
    """What shows in this run alone."""
    bfloat16: set[str] = field(default_factory=set)
    """The models that compute in bfloat16: whether a finding speaks of how far off they are is left open."""


@contextmanager
def without_training(figures: Figures | None = None) -> Iterator[None]:
    """`fit` does nothing; what it is given is noted."""
    real = keras.Model.fit

    def fit(this: Any, x: Any = None, y: Any = None, batch_size: int | None = None, **_: Any) -> None:
        if figures is None:
            return
        batches = [x] if not isinstance(x, tf.data.Dataset) else [batch[0] for batch in x]
        figures.data.append([np.array(batch).astype("float32") for batch in batches])
        size = batch_size or (0 if not isinstance(x, tf.data.Dataset) else int(batches[0].shape[0]))
        if size > 8 and size % 8 and computes_in_half(this):
            figures.symptoms.add("batch")

    keras.Model.fit = fit
    try:
        yield
    finally:
        keras.Model.fit = real


def computes_in_half(model: Any) -> bool:
    """Whether a layer of it does."""
    return any(layer.compute_dtype in HALF for layer in layers_of(model))


def layers_of(model: Any) -> list[Any]:
    """All layers inside a model."""
    return list(model._flatten_layers(include_self=False))


@contextmanager
def watched_preparation(figures: Figures) -> Iterator[None]:
    """Note whether a preprocessing layer gives something else than float32 does, rounded once."""
    kinds = [getattr(keras.layers, name) for name in PREPARING]
    real = {kind: kind.__call__ for kind in kinds}
    busy: list[Any] = []

    def watched(kind: Any) -> Any:
        @wraps(real[kind])
        def call(this: Any, inputs: Any, *rest: Any, **options: Any) -> Any:
            given = real[kind](this, inputs, *rest, **options)
            if not busy and tf.is_tensor(inputs) and hasattr(inputs, "numpy") and this.compute_dtype in HALF:
                busy.append(this)
                try:
                    twin = kind.from_config({**this.get_config(), "dtype": "float32"})
                    found = in_graph(real[kind], this, inputs)
                    right = tf.cast(in_graph(real[kind], twin, tf.cast(inputs, "float32")), found.dtype)
                    if not np.array_equal(found.numpy(), right.numpy()):
                        figures.symptoms.add("prepared")
                    elif inputs.dtype.name in HALF:  # what the model around it has cast cannot be told any more
                        figures.symptoms.add("perhaps prepared")
                finally:  # Keras passes over what a model raises while it is built
                    busy.pop()
            return given

        return call

    for kind in kinds:
        kind.__call__ = watched(kind)
    try:
        yield
    finally:
        for kind in kinds:
            kind.__call__ = real[kind]


def in_graph(call: Any, layer: Any, inputs: Any) -> Any:
    """What a layer gives in a graph, as in `fit` and in pipelines: some of Keras 3 cast nothing outside of one."""
    return tf.function(lambda given: call(layer, given), autograph=False)(inputs)


def figures(run: Any, source: str, job: Mapping[str, Any], replaced: Any = nullcontext) -> Figures:
    """Run a program, and try its models."""
    found = Figures()
    try:
        with surroundings({}), replaced(), without_training(found), watched_preparation(found):
            namespace = run(source)
            for trial in job["trials"]:
                tried(found, namespace[trial["model"]], trial, job["inputs"].get(trial["model"]))
    except (Exception, SystemExit) as error:  # noqa: BLE001  (whatever the program raises is a result)
        found.error = f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]
    return found


def tried(found: Figures, model: Any, trial: Mapping[str, Any], given: list[str] | None) -> None:
    """What a model gives for its probes."""
    name = trial["model"]
    batch = example(model, given)
    model(batch)
    for weight in model.weights:
        if len(weight.shape) == 2:
            weight.assign(tf.eye(*map(int, weight.shape), dtype=weight.dtype))
    found.numbers[name] = []
    if any(layer.compute_dtype == "bfloat16" for layer in (model, *layers_of(model))):
        found.bfloat16.add(name)
    for probe in trial["probes"]:
        outputs, others = call(model, filled(batch, probe), trial)
        found.numbers[name].append([each.numpy() for each in (*outputs, *others)])
        found.shapes[name] = [list(each.shape) for each in outputs]
    if "products" in trial["watches"] and wide_products(model, filled(batch, trial["probes"][0])):
        found.symptoms.add("products")
    if trial["subject"] == "sizes" and any(is_unaligned(layer, model) for layer in layers_of(model)):
        found.symptoms.add("sizes")


def call(model: Any, inputs: Any, trial: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
    """The outputs of a model, and its losses and gradients; losses as in training, in a graph: they look at it."""

    def called(inputs: Any) -> tuple[list[Any], list[Any]]:
        watched = [each for each in tf.nest.flatten(inputs) if each.dtype == tf.float32]
        with tf.GradientTape() as tape:
            tape.watch(watched)
            outputs = [tf.cast(each, "float32") for each in tf.nest.flatten(model(inputs))]
            losses = [tf.cast(each, "float32") for each in model.losses]
            total = tf.add_n([tf.reduce_sum(each) for each in [*outputs, *losses]])
        losses += [tf.cast(each * tf.cast(SCALE, each.dtype), "float32") / SCALE for each in model.losses]
        if "gradient" in trial["watches"]:
            losses += [each for each in tape.gradient(total, watched) if each is not None]
        return outputs, losses

    graph = tf.function(called, autograph=False) if trial["subject"] == "losses" else called
    found: tuple[list[Any], list[Any]] = graph(inputs)
    return found


def is_unaligned(layer: Any, model: Any) -> bool:
    """Whether a hidden layer that computes in half precision has a size of more than 8 that is no multiple of it."""
    sizes = [getattr(layer, name, getattr(layer, f"_{name}", None)) for name in SIZES]
    is_end = model.layers[-1] is layer
    return not is_end and layer.compute_dtype in HALF and any(size and size > 8 and size % 8 for size in sizes)


def wide_products(model: Any, batch: Any) -> bool:
    """Whether products of matrices run in float32 in a model that computes in half precision."""
    if not computes_in_half(model):
        return False
    graph = tf.function(model, autograph=False).get_concrete_function(batch).graph
    operations = [each for each in graph.get_operations() if each.type in PRODUCTS]
    return any(each.outputs[0].dtype == tf.float32 for each in operations)


def filled(batch: Any, probe: list[str]) -> Any:
    """The example with other numbers in it."""
    leaves = tf.nest.flatten(batch)
    fills = [*probe, *probe[-1:] * (len(leaves) - len(probe))]
    return tf.nest.pack_sequence_as(batch, [numbers(*pair) for pair in zip(leaves, fills, strict=True)])


def numbers(leaf: Any, fill: str) -> Any:
    """Numbers in the shape and dtype of a tensor."""
    kind, _, rest = fill.partition(" ")
    size, much = int(np.prod(leaf.shape)), float(rest or 0)
    match kind:
        case "all":
            flat = np.full(size, much)
        case "ramp":
            flat = np.linspace(-much, much, size)
        case "alternate":
            flat = much * np.where(np.arange(size) % 2, -1.0, 1.0)
        case "bits":
            flat = (np.arange(size) % 2).astype(float)
        case "slope":
            flat = np.tile(np.linspace(0.0, -much, leaf.shape[-1]), size // leaf.shape[-1])
        case "pixels":
            flat = (np.arange(size) * 37.0) % 256
        case "prices":
            flat = np.resize([9.999, 19.999, 2049.0, 3001.0, 731.3, 48001.0], size)
        case _:
            raise ValueError(fill)
    return tf.cast(tf.constant(flat.reshape(leaf.shape)), leaf.dtype)


# -- the comparison


def compared(run: Any, job: Mapping[str, Any], exact: Any) -> dict[str, Any]:
    """What shows of a program in half precision, beside the same in float32."""
    half = figures(run, job["source"], job)
    wide = figures(run, job["exact"], job, exact)
    shown = set(half.symptoms)
    if wide.error is None and half.error is not None:
        shown.add("raises")
    if wide.error is None and half.error is None:
        about = [trial for trial in job["trials"] if trial["subject"] in OF_NUMBERS]
        shown |= {symptom for trial in about for symptom in differences(half, wide, trial)}
        for one, two in zip(half.data, wide.data, strict=True):
            if any(not np.array_equal(*pair) for pair in zip(one, two, strict=True)):
                shown.add("data")
    digest = hashlib.sha256()
    for name in sorted(wide.numbers):
        for arrays in wide.numbers[name]:
            for each in arrays:
                digest.update(np.ascontiguousarray(each).tobytes())
    return {
        "id": job["id"], "error": wide.error, "half_error": half.error, "shown": sorted(shown),
        "digest": digest.hexdigest(), "shapes": wide.shapes,
    }  # fmt: skip


def differences(half: Figures, wide: Figures, trial: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the numbers of one model."""
    name = trial["model"]
    for arrays, others in zip(half.numbers[name], wide.numbers[name], strict=True):
        for one, two in zip(arrays, others, strict=True):
            if not np.isfinite(two).all():
                continue
            if not np.isfinite(one).all():
                yield "numbers"
            elif "off" in trial["watches"] and np.abs(one - two).max() > ROUGHLY * max(1.0, np.abs(two).max()):
                yield "perhaps numbers" if name in half.bfloat16 else "numbers"
