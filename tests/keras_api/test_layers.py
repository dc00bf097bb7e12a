"""What layers give, against sections 1.1 to 1.4 of the measured semantics."""

from __future__ import annotations

import pytest

from mplint import keras_api
from mplint.keras_api import OPAQUE

L = "keras.layers."
ALL_HALF = """
    Dense EinsumDense Conv1D Conv2D Conv3D Conv1DTranspose Conv2DTranspose Conv3DTranspose DepthwiseConv1D
    DepthwiseConv2D SeparableConv1D SeparableConv2D MaxPooling1D MaxPooling2D MaxPooling3D AveragePooling2D
    GlobalAveragePooling1D GlobalMaxPooling2D LSTM GRU SimpleRNN RNN ConvLSTM2D Bidirectional TimeDistributed
    MultiHeadAttention Attention AdditiveAttention BatchNormalization LayerNormalization GroupNormalization
    UnitNormalization SpectralNormalization Normalization Rescaling Resizing CenterCrop RandomFlip RandomRotation
    RandomContrast Softmax ReLU LeakyReLU ELU PReLU Activation Dropout AlphaDropout SpatialDropout1D GaussianNoise
    GaussianDropout Add Subtract Multiply Average Maximum Minimum Concatenate Dot Reshape Flatten Permute
    RepeatVector Cropping1D Cropping2D ZeroPadding2D UpSampling1D UpSampling2D UpSampling3D Masking Identity
    ActivityRegularization
""".split()
ONLY_3 = "GroupQueryAttention RMSNormalization MelSpectrogram RandomHue AugMix".split()
TWO_INPUTS = frozenset(
    (
        "MultiHeadAttention Attention AdditiveAttention Add Subtract Multiply Average Maximum Minimum Concatenate Dot"
    ).split()
)


def _half(name: str, generation: str, compute: str = "float16") -> str | None:
    inputs = ("float32",) * (2 if name in TWO_INPUTS else 1)
    return keras_api.layer_output_dtype(L + name, compute, {}, inputs, generation)


@pytest.mark.parametrize("generation", ["2", "3"])
@pytest.mark.parametrize("name", ALL_HALF)
def test_a_float_layer_gives_its_compute_dtype(name: str, generation: str) -> None:
    """Facts, 1.1."""
    for compute in ("float16", "bfloat16", "float32"):
        assert _half(name, generation, compute) == compute


@pytest.mark.parametrize("name", ONLY_3)
def test_so_do_those_that_only_keras_3_has(name: str) -> None:
    inputs = ("float32",) * (2 if "Attention" in name else 1)
    assert keras_api.layer_output_dtype(L + name, "float16", {}, inputs, "3") == "float16"
    assert keras_api.layer_output_dtype(L + name, "float16", {}, inputs, "2") is None


@pytest.mark.parametrize(
    ("name", "variant", "inputs", "second", "third", "symbolic"),
    [
        ("Embedding", {}, "int32", "float16", "float16", "float16"),
        ("Hashing", {}, "int32", "int64", "int64", "int64"),
        ("HashedCrossing", {}, "int32", "int64", "int64", "int64"),
        ("IntegerLookup", {}, "int64", "int64", "int64", "int64"),
        ("StringLookup", {}, "string", "int64", "int64", "int64"),
        ("TextVectorization", {}, "string", "int64", "int64", "int64"),
        ("Discretization", {}, "float32", "int64", "int32", "int32"),
        ("CategoryEncoding", {}, "int32", "float32", "float32", "float16"),
        ("IntegerLookup", {"output_mode": "multi_hot"}, "int64", "float32", "int64", "float32"),
        ("StringLookup", {"output_mode": "one_hot"}, "string", "float32", "int64", "float32"),
        ("TextVectorization", {"output_mode": "multi_hot"}, "string", "float32", "int64", "float32"),
        ("UpSampling2D", {"interpolation": "bilinear"}, "float32", "float32", "float16", "float16"),
    ],
)
def test_exceptions(name: str, variant: dict[str, object], inputs: str, second: str, third: str, symbolic: str) -> None:
    """Facts, 1.2."""
    dtypes = (inputs,) * (2 if name == "HashedCrossing" else 1)
    assert keras_api.layer_output_dtype(L + name, "float16", variant, dtypes, "2") == second
    assert keras_api.layer_output_dtype(L + name, "float16", variant, dtypes, "3") == third
    assert keras_api.layer_output_dtype(L + name, "float16", variant, dtypes, "3", symbolic=True) == symbolic


@pytest.mark.parametrize("generation", ["2", "3"])
@pytest.mark.parametrize(
    ("dtype", "compute"),
    [
        ("float32", "float32"),
        ("mixed_float16", "float16"),
        ("float16", "float16"),
        ("mixed_bfloat16", "bfloat16"),
        ("bfloat16", "bfloat16"),
        ("float64", "float64"),
    ],
)
def test_the_layers_own_dtype(dtype: str, compute: str, generation: str) -> None:
    """Facts, 1.3."""
    variant = {"units": 3, "dtype": dtype}
    assert keras_api.layer_output_dtype(L + "Dense", compute, variant, ("float16",), generation) == compute


def test_autocast_off() -> None:
    """Facts, 1.3: Keras 3 casts neither input nor kernel, the Dense of Keras 2 gives float16 all the same."""
    variant = {"units": 3, "autocast": False}
    assert keras_api.layer_output_dtype(L + "Dense", "float16", variant, ("float32",), "3") == "float32"
    assert keras_api.layer_output_dtype(L + "Dense", "float16", variant, ("float32",), "2") == "float16"


@pytest.mark.parametrize("generation", ["2", "3"])
@pytest.mark.parametrize("layer", ["Activation", "Softmax", "Dense", "Identity", "Reshape", "ReLU", "Dropout"])
def test_any_layer_in_float32_gives_float32(layer: str, generation: str) -> None:
    """Facts, 1.4."""
    found = keras_api.layer_output_dtype(L + layer, "float32", {"dtype": "float32"}, ("float16",), generation)
    assert found == "float32"


@pytest.mark.parametrize(
    ("wrapper", "second", "third"),
    [
        ("TimeDistributed", "inner", "own"),
        ("Bidirectional", "inner", "own"),
        ("RNN", None, "own"),  # Keras 2 refuses a float32 RNN around a half cell
    ],
)
def test_whose_policy_counts(wrapper: str, second: str | None, third: str) -> None:
    """Facts, 1.5."""
    assert keras_api.policy_follows(L + wrapper, "2") == second
    assert keras_api.policy_follows(L + wrapper, "3") == third


@pytest.mark.parametrize("generation", ["2", "3"])
def test_results_that_are_not_one_tensor(generation: str) -> None:
    lstm = keras_api.layer_result(L + "LSTM", "float16", {"units": 2, "return_state": True}, ("float32",), generation)
    assert lstm == ("float16",) * 3
    gru = keras_api.layer_result(L + "GRU", "float16", {"units": 2, "return_state": True}, ("float32",), generation)
    assert gru == ("float16",) * 2
    scores = {"num_heads": 2, "key_dim": 2, "call.return_attention_scores": True}
    attention = keras_api.layer_result(L + "MultiHeadAttention", "float16", scores, ("float32",) * 2, generation)
    assert attention == ("float16",) * 2
    assert keras_api.layer_output_dtype(L + "LSTM", "float16", {"return_state": True}, ("float32",), generation) is None


def test_arguments_that_do_not_matter() -> None:
    variant = {
        "units": 10,
        "activation": "softmax",
        "kernel_initializer": OPAQUE,
        "kernel_regularizer": OPAQUE,
        "name": "head",
    }
    assert keras_api.layer_output_dtype(L + "Dense", "float16", variant, ("float32",)) == "float16"


def test_what_was_not_measured_is_not_known() -> None:
    ask = keras_api.layer_output_dtype
    assert ask(L + "Dense", "float16", {"no_such_argument": 1}, ("float32",)) is None
    assert ask(L + "Dense", "float16", {"units": 1, "activation": OPAQUE}, ("float32",)) is None, "it may cast"
    assert ask(L + "Hashing", "float16", {"num_bins": 5, "output_mode": OPAQUE}, ("int32",)) is None
    assert ask(L + "Flatten", "float16", {}, (None,)) is None, "an integer input stays one"
    assert ask(L + "Embedding", "float16", {}, (None,)) == "float16", "whatever the input is"
    assert ask(L + "Lambda", "float16", {}, ("float32",)) is None
    assert ask(L + "STFTSpectrogram", "float16", {}, ("float32",), "3") is None, "its window needs scipy"
    assert ask("project.Dense", "float16", {}, ("float32",)) is None
    assert ask(L + "Discretization", "float16", {}, ("float32",)) is None, "the generations differ"


def test_integers_are_not_cast() -> None:
    """Facts, 1.2."""
    for layer in ("Flatten", "Reshape", "Identity"):
        assert keras_api.layer_output_dtype(L + layer, "float16", {}, ("int32",)) == "int32"


@pytest.mark.parametrize(
    "layer", ["Reshape", "Flatten", "Permute", "Identity", "Dropout", "RepeatVector", "Cropping2D"]
)
def test_layers_that_carry(layer: str) -> None:
    assert keras_api.carries(L + layer)


@pytest.mark.parametrize(
    "layer", ["Dense", "Softmax", "ReLU", "MaxPooling2D", "BatchNormalization", "Rescaling", "LayerNormalization"]
)
def test_layers_that_do_not(layer: str) -> None:
    assert not keras_api.carries(L + layer)


def test_whether_a_layer_carries_depends_on_its_arguments() -> None:
    assert keras_api.carries(L + "Activation", {"activation": "linear"})
    assert not keras_api.carries(L + "Activation", {"activation": "softmax"})
    assert not keras_api.carries(L + "Activation", {"activation": OPAQUE})
    assert keras_api.carries(L + "UpSampling2D", {})
    assert not keras_api.carries(L + "UpSampling2D", {"interpolation": "bilinear"})


def test_sizes() -> None:
    assert keras_api.size_parameters(L + "Dense") == ("units",)
    assert keras_api.size_parameters(L + "Conv2D") == ("filters",)
    assert keras_api.size_parameters(L + "MultiHeadAttention") == ("key_dim", "value_dim")
    assert keras_api.size_parameters(L + "Flatten") == ()
    assert keras_api.vocabulary_parameters(L + "Embedding") == ("input_dim",)


def test_functions_that_make_layers() -> None:
    assert keras_api.layer_of_function("tensorflow.keras.layers.concatenate") == "keras.layers.Concatenate"
    assert keras_api.layer_of_function("keras.layers.Dense") is None
