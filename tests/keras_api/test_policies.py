"""Names of policies and copies of Keras, against section 5 of the measured semantics."""

from __future__ import annotations

import pytest

from mplint import keras_api
from mplint.keras_api import Copy


@pytest.mark.parametrize("generation", ["2", "3"])
@pytest.mark.parametrize("name", ["mixed_float16", "mixed_bfloat16", "float16", "bfloat16", "float32", "float64"])
def test_names_that_both_generations_take(name: str, generation: str) -> None:
    for use in ("setter", "constructor", "layer"):
        assert keras_api.policy_dtype(name, use, generation) == name.removeprefix("mixed_")
        assert not keras_api.is_refused(name, use, generation)


@pytest.mark.parametrize("generation", ["2", "3"])
@pytest.mark.parametrize("name", ["fp16", "mixed_fp16", "mixed_float32", "Mixed_Float16", "infer", "f2", "never seen"])
def test_names_that_neither_takes(name: str, generation: str) -> None:
    for use in ("setter", "constructor", "layer"):
        assert keras_api.is_refused(name, use, generation)


def test_names_that_one_generation_takes() -> None:
    assert keras_api.policy_dtype("half", "setter", "2") == "float16"
    assert keras_api.is_refused("half", "setter", "3")
    assert keras_api.is_refused("int32", "setter", "2")
    assert keras_api.policy_dtype("int32", "setter", "3") == "int32"
    assert keras_api.policy_dtype("int32", "layer", "2") == "int32"
    assert keras_api.is_refused("int8", "layer", "3")


def test_names_that_keras_3_takes_by_their_form() -> None:
    assert not keras_api.is_refused("int8_from_float32", "layer", "3")
    assert keras_api.is_refused("int8_from_float32", "layer", "2")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("fp16", "mixed_float16"),
        ("float16 ", "mixed_float16"),
        ("half", "mixed_float16"),
        ("mixed", "mixed_float16"),
        ("BF16", "mixed_bfloat16"),
        ("single", "float32"),
        ("fp64", "float64"),
        ("int8", None),
    ],
)
def test_what_was_meant(name: str, meant: str | None) -> None:
    assert keras_api.nearest_policy(name) == meant


def test_variables() -> None:
    assert keras_api.has_variables("keras.layers.Dense")
    assert not keras_api.has_variables("keras.layers.Activation")
    assert keras_api.half_variables("keras.layers.BatchNormalization", "3")
    assert not keras_api.half_variables("keras.layers.BatchNormalization", "2")


@pytest.mark.parametrize(
    ("path", "copy"),
    [
        ("keras.layers.Dense", "keras"),
        ("keras.src.layers.Dense", "keras"),
        ("tf_keras.layers.Dense", "tf_keras"),
        ("tensorflow.keras.layers.Dense", "tensorflow.keras"),
        ("tensorflow.compat.v2.keras.layers.Dense", "tensorflow.keras"),
        ("tensorflow.python.keras.layers.Dense", "tensorflow.python.keras"),
        ("tensorflow.python.keras.api._v2.keras.layers.Dense", "tensorflow.keras"),
    ],
)
def test_copies(path: str, copy: Copy) -> None:
    assert keras_api.copy_of(path) == copy


def test_which_copies_are_separate() -> None:
    separate = keras_api.are_separate
    assert separate("keras", "tf_keras", "3", legacy=False)
    assert separate("tensorflow.keras", "tf_keras", "3", legacy=False)
    assert not separate("tensorflow.keras", "keras", "3", legacy=False)
    assert not separate("tensorflow.keras", "keras", "2", legacy=False)
    assert separate("tensorflow.keras", "keras", "2", legacy=True)
    assert not separate("tensorflow.keras", "tf_keras", "2", legacy=True)
    assert separate("tensorflow.python.keras", "tensorflow.keras", "2", legacy=False)


def test_layers_with_a_dtype_of_their_own() -> None:
    assert not keras_api.has_own_dtype("keras.layers.Dense", "3")
    assert not keras_api.has_own_dtype("keras.layers.Discretization", "3")
    assert keras_api.own_dtype("keras.layers.Discretization", "one_hot", "2") == "float32"
    assert keras_api.own_dtype("keras.layers.Hashing", "", "3") == "int64"
    assert keras_api.own_dtype("keras.layers.StringLookup", "", "2") == "int64"
    assert keras_api.own_dtype("keras.layers.StringLookup", "", "3") == "string"
    assert keras_api.own_dtype("keras.layers.HashedCrossing", "one_hot", "3") is None
