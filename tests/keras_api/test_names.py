"""One name for each object, whatever way leads to it; its kind, its generations, its parameters."""

from __future__ import annotations

import pytest

from mplint import keras_api
from mplint.keras_api import MISSING, OPAQUE, Kind


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("keras", "keras"),
        ("tensorflow.keras", "keras"),
        ("tf_keras", "keras"),
        ("keras.layers.Dense", "keras.layers.Dense"),
        ("tensorflow.keras.layers.Dense", "keras.layers.Dense"),
        ("tf_keras.layers.Dense", "keras.layers.Dense"),
        ("keras.api.layers.Dense", "keras.layers.Dense"),
        ("tensorflow.keras.layers.core.Dense", "keras.layers.Dense"),
        ("keras.src.layers.core.dense.Dense", "keras.layers.Dense"),
        ("tf_keras.src.layers.core.dense.Dense", "keras.layers.Dense"),
        ("tensorflow.python.keras.layers.Dense", "keras.layers.Dense"),
        ("tensorflow.compat.v2.keras.layers.Dense", "keras.layers.Dense"),
        ("keras.engine.training.Model", "keras.Model"),
        ("keras.models.Sequential", "keras.Sequential"),
        ("keras.layers.Input", "keras.Input"),
        ("keras.layers.MaxPool2D", "keras.layers.MaxPooling2D"),
        ("tensorflow.keras.layers.experimental.preprocessing.Rescaling", "keras.layers.Rescaling"),
        ("keras.metrics.mse", "keras.losses.mean_squared_error"),
        ("tensorflow.optimizers.Adam", "keras.optimizers.Adam"),
        ("tensorflow.sqrt", "tensorflow.math.sqrt"),
        ("tensorflow.compat.v1.log", "tensorflow.math.log"),
        ("tensorflow.compat.v2.sqrt", "tensorflow.math.sqrt"),
        ("tensorflow.nn.softmax", "tensorflow.nn.softmax"),
        # Another object than tf.reduce_mean, though it has its name.
        ("tensorflow.compat.v1.reduce_mean", "tensorflow.compat.v1.reduce_mean"),
        # Softmaxes that are different functions stay apart.
        ("keras.backend.softmax", "keras.backend.softmax"),
        ("keras.activations.softmax", "keras.activations.softmax"),
        ("keras.ops.nn.softmax", "keras.ops.softmax"),
        # Keras 3 has one placeholder class behind all of these; Keras 2 has real ones.
        ("keras.optimizers.legacy.Adam", "keras.optimizers.legacy.Adam"),
        (
            "tensorflow.keras.mixed_precision.experimental.set_policy",
            "keras.mixed_precision.experimental.set_policy",
        ),
        ("numpy.float32", "numpy.float32"),
        ("project.layers.Dense", "project.layers.Dense"),
        ("tf.sqrt", "tf.sqrt"),
    ],
)
def test_canonical(path: str, expected: str) -> None:
    assert keras_api.canonical(path) == expected


def test_canonical_is_stable() -> None:
    """A canonical name is its own canonical name."""
    assert [name for name in keras_api.names() if keras_api.canonical(name) != name] == []


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("keras.layers.Dense", Kind.LAYER),
        ("keras.layers.LSTMCell", Kind.CELL),
        ("keras.layers.TimeDistributed", Kind.WRAPPER),
        ("keras.Model", Kind.MODEL),
        ("tensorflow.keras.Sequential", Kind.MODEL),
        ("keras.ops.softmax", Kind.FUNCTION),
        ("tensorflow.cast", Kind.FUNCTION),
        ("keras.activations.softmax", Kind.ACTIVATION),
        ("keras.optimizers.LossScaleOptimizer", Kind.OPTIMIZER),
        ("keras.optimizers.legacy.Adam", Kind.OPTIMIZER),
        ("keras.losses.MeanSquaredError", Kind.LOSS),
        ("keras.losses.mean_squared_error", Kind.LOSS),
        ("keras.metrics.Mean", Kind.METRIC),
        ("keras.callbacks.EarlyStopping", Kind.CALLBACK),
        ("keras.initializers.Zeros", Kind.INITIALIZER),
        ("keras.regularizers.L2", Kind.REGULARIZER),
        ("keras.mixed_precision.Policy", Kind.POLICY),
        ("keras.FloatDTypePolicy", Kind.POLICY),
        ("keras.mixed_precision.set_global_policy", Kind.POLICY_SETTER),
        ("keras.config.set_dtype_policy", Kind.POLICY_SETTER),
        ("keras.mixed_precision.global_policy", Kind.POLICY_GETTER),
        ("keras.mixed_precision.experimental.Policy", Kind.POLICY),
        ("keras.mixed_precision.experimental.set_policy", Kind.POLICY_SETTER),
        ("keras.layers", Kind.MODULE),
        ("tensorflow.float16", Kind.DTYPE),
        ("keras.applications.ResNet50", Kind.APPLICATION),
        ("keras.Variable", Kind.OTHER),
        ("project.layers.Dense", None),
        ("numpy.mean", None),
    ],
)
def test_kind(path: str, kind: Kind | None) -> None:
    assert keras_api.kind(path) is kind


@pytest.mark.parametrize(
    ("path", "generations"),
    [
        ("keras.layers.Dense", "23"),
        ("keras.ops.add", "3"),
        ("keras.config.set_dtype_policy", "3"),
        ("keras.mixed_precision.set_dtype_policy", "3"),
        ("keras.mixed_precision.set_global_policy", "23"),
        ("keras.layers.LocallyConnected1D", "2"),
        ("keras.layers.experimental.preprocessing.Rescaling", "2"),
        ("keras.mixed_precision.experimental.Policy", ""),
        ("tensorflow.cast", "23"),
        ("nowhere.at.all", ""),
    ],
)
def test_generations_of_a_spelling(path: str, generations: str) -> None:
    assert keras_api.generations(path) == frozenset(generations)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        ("float32", "float32"),
        ("half", "float16"),
        ("tensorflow.half", "float16"),
        ("tensorflow.float32", "float32"),
        ("tensorflow.float64", "float64"),
        ("tensorflow.double", "float64"),
        ("tensorflow.dtypes.bfloat16", "bfloat16"),
        ("numpy.float32", "float32"),
        ("numpy.half", "float16"),
        ("jax.numpy.bfloat16", "bfloat16"),
        ("mixed_float16", None),
        ("tensorflow.keras", None),
        ("", None),
        ("numpy.mean", None),
    ],
)
def test_dtype_name(value: str, dtype: str | None) -> None:
    assert keras_api.dtype_name(value) == dtype


def test_parameters_are_in_order_and_have_their_defaults() -> None:
    found = keras_api.parameters("tensorflow.keras.layers.Dense", "3")
    assert found is not None
    assert [each.name for each in found[:3]] == ["units", "activation", "use_bias"]
    assert [each.default for each in found[:3]] == [MISSING, None, True]
    assert found[-1].kind == "var_keyword"


def test_a_default_that_is_no_literal_is_opaque() -> None:
    found = {each.name: each.default for each in keras_api.parameters("tensorflow.zeros", "3") or ()}
    assert found["dtype"] is OPAQUE


def test_parameters_without_a_generation_are_those_of_both() -> None:
    assert keras_api.parameters("keras.layers.Add") == keras_api.parameters("keras.layers.Add", "2")
    assert keras_api.parameters("keras.layers.Add") == keras_api.parameters("keras.layers.Add", "3")
    assert keras_api.parameters("keras.layers.Dense") is None, "lora_rank is in Keras 3 only"
    assert keras_api.parameters("keras.ops.add", "2") is None
    assert keras_api.parameters("keras.ops.add") == keras_api.parameters("keras.ops.add", "3")


def test_every_signature_can_be_read() -> None:
    for name in keras_api.names():
        for generation in keras_api.generations(name):
            keras_api.parameters(name, generation)


def test_methods() -> None:
    compiled = keras_api.method_parameters("keras.Sequential", "compile", "3") or ()
    assert [each.name for each in compiled][:2] == ["optimizer", "loss"]
    assert "auto_scale_loss" in {each.name for each in compiled}
    model = keras_api.method_parameters("keras.Model", "__init__", "3") or ()
    assert [each.name for each in model][:2] == ["inputs", "outputs"]


def test_the_methods_of_optimizers_differ_as_the_facts_say() -> None:
    """Facts, 4.1: Keras 3 has neither minimize nor get_*; plain optimizers of Keras 2 have no scale_loss."""
    assert keras_api.methods("keras.optimizers.Adam", "3") >= {"scale_loss", "apply", "apply_gradients"}  # type: ignore[operator]
    assert not (keras_api.methods("keras.optimizers.Adam", "3") or frozenset()) & {"minimize", "get_scaled_loss"}
    assert "scale_loss" not in (keras_api.methods("keras.optimizers.Adam", "2") or frozenset())
    scaled = keras_api.methods("keras.mixed_precision.LossScaleOptimizer", "2") or frozenset()
    assert scaled >= {"get_scaled_loss", "get_unscaled_gradients", "apply_gradients", "minimize"}
    assert "apply" not in scaled
    assert keras_api.methods("keras.ops.add", "3") is None
