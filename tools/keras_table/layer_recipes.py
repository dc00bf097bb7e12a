"""How to call each layer: required arguments, inputs, and other values for its arguments.

Nothing here says what a layer does; it only says how to make one that can be called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from keras_table.packages import GENERATION, keras

VECTOR = (2, 8)
SEQUENCE = (2, 8, 4)
IMAGE = (2, 16, 16, 3)
VOLUME = (2, 8, 8, 8, 2)
BY_RANK = {"1D": SEQUENCE, "2D": IMAGE, "3D": VOLUME}


@dataclass(frozen=True)
class Recipe:
    """Arguments that a layer needs, and the shapes (one, or one an input) and natural dtype of what it is called on."""

    arguments: Callable[[], dict[str, Any]]
    shapes: tuple[tuple[int, ...], ...]
    dtype: str = "float32"
    style: str = "one"
    """one: layer(x); list: layer([x, y]); positional: layer(x, y); cell: layer(x, states)."""


def _layers() -> Any:
    return keras.layers


_ARGUMENTS: dict[str, tuple[dict[str, Any], tuple[int, ...]]] = {
    "Activation": ({"activation": "linear"}, VECTOR),
    "ActivityRegularization": ({"l2": 0.1}, VECTOR),
    "AlphaDropout": ({"rate": 0.5}, VECTOR),
    "AugMix": ({}, IMAGE),
    "AutoContrast": ({}, IMAGE),
    "BatchNormalization": ({}, VECTOR),
    "CenterCrop": ({"height": 8, "width": 8}, IMAGE),
    "ContrastLimitedAdaptiveHistogramEqualization": ({}, IMAGE),
    "ConvLSTM1D": ({"filters": 2, "kernel_size": 2}, (2, 3, 8, 2)),
    "ConvLSTM2D": ({"filters": 2, "kernel_size": 2}, (2, 3, 8, 8, 2)),
    "ConvLSTM3D": ({"filters": 2, "kernel_size": 2}, (1, 2, 4, 4, 4, 2)),
    "Dense": ({"units": 4}, VECTOR),
    "Discretization": ({"bin_boundaries": [0.2, 0.5]}, (2, 1)),
    "Dropout": ({"rate": 0.5}, VECTOR),
    "ELU": ({}, VECTOR),
    "EinsumDense": ({"equation": "ab,bc->ac", "output_shape": 4}, VECTOR),
    "Equalization": ({}, IMAGE),
    "Flatten": ({}, SEQUENCE),
    "GRU": ({"units": 2}, SEQUENCE),
    "GaussianDropout": ({"rate": 0.5}, VECTOR),
    "GaussianNoise": ({"stddev": 0.5}, VECTOR),
    "GroupNormalization": ({"groups": 2}, VECTOR),
    "Identity": ({}, VECTOR),
    "LSTM": ({"units": 2}, SEQUENCE),
    "LayerNormalization": ({}, VECTOR),
    "LeakyReLU": ({}, VECTOR),
    "Masking": ({}, SEQUENCE),
    "MelSpectrogram": ({"fft_length": 64, "num_mel_bins": 8}, (2, 256)),
    "Normalization": ({"mean": 0.5, "variance": 0.1}, VECTOR),
    "PReLU": ({}, VECTOR),
    "Permute": ({"dims": (2, 1)}, SEQUENCE),
    "RMSNormalization": ({}, VECTOR),
    "RandAugment": ({}, IMAGE),
    "RandomBrightness": ({"factor": 0.1}, IMAGE),
    "RandomColorDegeneration": ({"factor": 0.1}, IMAGE),
    "RandomColorJitter": ({}, IMAGE),
    "RandomContrast": ({"factor": 0.1}, IMAGE),
    "RandomCrop": ({"height": 8, "width": 8}, IMAGE),
    "RandomElasticTransform": ({}, IMAGE),
    "RandomErasing": ({}, IMAGE),
    "RandomFlip": ({}, IMAGE),
    "RandomGaussianBlur": ({}, IMAGE),
    "RandomGrayscale": ({}, IMAGE),
    "RandomHeight": ({"factor": 0.1}, IMAGE),
    "RandomHue": ({"factor": 0.1}, IMAGE),
    "RandomInvert": ({}, IMAGE),
    "RandomPerspective": ({}, IMAGE),
    "RandomPosterization": ({"factor": 4}, IMAGE),
    "RandomRotation": ({"factor": 0.1}, IMAGE),
    "RandomSaturation": ({"factor": 0.1}, IMAGE),
    "RandomSharpness": ({"factor": 0.1}, IMAGE),
    "RandomShear": ({"x_factor": 0.1}, IMAGE),
    "RandomTranslation": ({"height_factor": 0.1, "width_factor": 0.1}, IMAGE),
    "RandomWidth": ({"factor": 0.1}, IMAGE),
    "RandomZoom": ({"height_factor": 0.1}, IMAGE),
    "ReLU": ({}, VECTOR),
    "RepeatVector": ({"n": 3}, VECTOR),
    "Rescaling": ({"scale": 0.25}, IMAGE),
    "Reshape": ({"target_shape": (4, 2)}, VECTOR),
    "Resizing": ({"height": 8, "width": 8}, IMAGE),
    "RotaryEmbedding": ({}, SEQUENCE),
    "STFTSpectrogram": ({"frame_length": 16, "frame_step": 8}, (2, 256, 1)),
    "SimpleRNN": ({"units": 2}, SEQUENCE),
    "Softmax": ({}, VECTOR),
    "Solarization": ({}, IMAGE),
    "SpatialDropout1D": ({"rate": 0.5}, SEQUENCE),
    "SpatialDropout2D": ({"rate": 0.5}, IMAGE),
    "SpatialDropout3D": ({"rate": 0.5}, VOLUME),
    "SyncBatchNormalization": ({}, VECTOR),
    "ThresholdedReLU": ({}, VECTOR),
    "UnitNormalization": ({}, VECTOR),
    "RandomFourierFeatures": ({"output_dim": 4}, VECTOR),
}
_MERGES = ("Add", "Average", "Concatenate", "Maximum", "Minimum", "Multiply", "Subtract")
_CELLS = {"GRUCell": 1, "LSTMCell": 2, "SimpleRNNCell": 1, "StackedRNNCells": 2}


def recipe_for(name: str) -> Recipe | None:
    """How to make and call the layer of this name, or None where that is not known."""
    found = _special(name)
    if found is not None:
        return found
    if name in _ARGUMENTS:
        arguments, shape = _ARGUMENTS[name]
        return Recipe(lambda: dict(arguments), (shape,))
    if name in _MERGES:
        return Recipe(dict, (VECTOR, VECTOR), style="list")
    rank = name.replace("Transpose", "")[-2:]
    if rank not in BY_RANK:
        return None
    if "Adaptive" in name:
        return Recipe(lambda: {"output_size": 2}, (BY_RANK[rank],))
    if "Pool" in name:
        return Recipe(dict if "Global" in name else lambda: {"pool_size": 2}, (BY_RANK[rank],))
    if name == "LocallyConnected2D":
        return Recipe(lambda: {"filters": 2, "kernel_size": 2}, ((2, 4, 4, 4),))
    if name.startswith("Depthwise"):
        return Recipe(lambda: {"kernel_size": 2}, (BY_RANK[rank],))
    if "Conv" in name or name.startswith("LocallyConnected"):
        return Recipe(lambda: {"filters": 4, "kernel_size": 2}, (BY_RANK[rank],))
    if name.startswith(("Cropping", "ZeroPadding", "UpSampling")):
        return Recipe(dict, (BY_RANK[rank],))
    return None


def _special(name: str) -> Recipe | None:
    layers = _layers()
    ids = (2, 8)
    heads = {"head_dim": 2, "num_query_heads": 2, "num_key_value_heads": 1}
    found = {
        "AdditiveAttention": Recipe(dict, (SEQUENCE, SEQUENCE), style="list"),
        "Attention": Recipe(dict, (SEQUENCE, SEQUENCE), style="list"),
        "Bidirectional": Recipe(lambda: {"layer": layers.LSTM(2)}, (SEQUENCE,)),
        "CategoryEncoding": Recipe(lambda: {"num_tokens": 5}, (ids,), "int32"),
        "Dot": Recipe(lambda: {"axes": 1}, (VECTOR, VECTOR), style="list"),
        "Embedding": Recipe(lambda: {"input_dim": 5, "output_dim": 4}, (ids,), "int32"),
        "GroupQueryAttention": Recipe(lambda: dict(heads), (SEQUENCE, SEQUENCE), style="positional"),
        "GroupedQueryAttention": Recipe(lambda: dict(heads), (SEQUENCE, SEQUENCE), style="positional"),
        "HashedCrossing": Recipe(lambda: {"num_bins": 5}, ((4,), (4,)), "int32", "list"),
        "Hashing": Recipe(lambda: {"num_bins": 5}, (ids,), "int32"),
        "IntegerLookup": Recipe(lambda: {"vocabulary": [1, 2, 3]}, (ids,), "int64"),
        "MultiHeadAttention": Recipe(lambda: {"num_heads": 2, "key_dim": 2}, (SEQUENCE, SEQUENCE), style="positional"),
        "Pipeline": Recipe(lambda: {"layers": [layers.Rescaling(0.5)]}, (IMAGE,)),
        "RNN": Recipe(lambda: {"cell": layers.LSTMCell(2)}, (SEQUENCE,)),
        "ReversibleEmbedding": Recipe(lambda: {"input_dim": 5, "output_dim": 4}, (ids,), "int32"),
        "SpectralNormalization": Recipe(lambda: {"layer": layers.Dense(4)}, (VECTOR,)),
        "StringLookup": Recipe(lambda: {"vocabulary": ["a", "b"]}, ((2, 1),), "string"),
        "TextVectorization": Recipe(lambda: {"vocabulary": ["a", "b"]}, ((2, 1),), "string"),
        "TimeDistributed": Recipe(lambda: {"layer": layers.Dense(4)}, (SEQUENCE,)),
    }
    if name in _CELLS:
        arguments: Callable[[], dict[str, Any]] = lambda: {"units": 4}  # noqa: E731
        if name == "StackedRNNCells":
            arguments = lambda: {"cells": [layers.GRUCell(4), layers.GRUCell(4)]}  # noqa: E731
        return Recipe(arguments, (VECTOR,), style="cell")
    return found.get(name)


_HEAVY = frozenset(
    """
    AugMix Bidirectional ContrastLimitedAdaptiveHistogramEqualization ConvLSTM1D ConvLSTM2D ConvLSTM3D Equalization
    GRU GroupedQueryAttention LSTM LocallyConnected2D MelSpectrogram MultiHeadAttention RNN SimpleRNN
    """.split()
)


def is_heavy(name: str) -> bool:
    """Whether a layer takes long to call: fewer points."""
    return name in _HEAVY or name.startswith("Rand")


WRAPPED = frozenset({"layer", "layers", "cell", "cells"})
"""Parameters that take the layers inside."""
CALL = "call."
"""Before the name of an argument of the call, to tell it from one of the constructor."""
FEW_ACTIVATIONS = ("gelu", "linear", "relu", "sigmoid", "softmax", "tanh")
ACTIVATIONS = """
    celu elu exponential gelu glu hard_shrink hard_sigmoid hard_silu hard_tanh leaky_relu linear log_sigmoid log_softmax
    mish relu relu6 selu sigmoid silu soft_shrink softmax softplus softsign sparse_plus sparse_sigmoid sparsemax
    squareplus swish tanh tanh_shrink threshold
""".split()
_CHOICES: dict[str, tuple[Any, ...]] = {
    "attention_axes": ((1,),),
    "brightness_factor": (0.1,),
    "contrast_factor": (0.1,),
    "fill_value": (0.5,),
    "groups": (1, 3, 4),
    "hue_factor": (0.1,),
    "logit_soft_cap": (2.0,),
    "mask_token": ("[M]", 0),
    "max_freq": (1000.0,),
    "num_oov_indices": (2,),
    "oov_method": ("floormod",),
    "output_size": (1, 2, 4),
    "renorm_clipping": ({"rmax": 2.0},),
    "reverse_dtype": ("float32",),
    "saturation_factor": (0.1,),
    "scale": (0.5, True, False, (0.02, 0.3)),
    "sequence_length": (16,),
    "size": (2, 3),
    "tile_grid_size": ((4, 4),),
    "use_cudnn": (False,),
    "vocabulary_dtype": ("int32",),
    "encoding": ("latin-1",),
    "padding": ("causal", "same", "valid", 2),
    "stateful": (True,),
    "cropping": (2,),
    "aggregate_gradients": (False,),
    "alpha_initializer": ("ones",),
    "axes": (-1,),
    "axis": (-1, 1),
    "bin_boundaries": ([0.1, 0.5, 0.9],),
    "bounding_box_format": ("xyxy",),
    "bias_axes": ("c",),
    "data_format": ("channels_last", "channels_first"),
    "dilation_rate": (2,),
    "dims": ((1, 2),),
    "equation": ("ab,bd->ad",),
    "factor": (0.2,),
    "fill_mode": ("constant", "nearest", "reflect", "wrap"),
    "flash_attention": (False,),
    "idf_weights": ([0.1, 0.2],),
    "implementation": (1, 2),
    "input_length": (8,),
    "interpolation": ("area", "bicubic", "bilinear", "gaussian", "lanczos3", "lanczos5", "mitchellcubic", "nearest"),
    "kernel_size": (1, 2),
    "lora_alpha": (2,),
    "lora_rank": (2,),
    "mask_value": (1, "b"),
    "max_tokens": (4,),
    "max_value": (6.0,),
    "mean": (0.25,),
    "merge_mode": ("ave", "concat", "mul", "sum", None),
    "mode": ("horizontal", "horizontal_and_vertical", "log", "magnitude", "psd", "real", "imag", "stft", "vertical"),
    "negative_slope": (0.2,),
    "ngrams": (2,),
    "noise_shape": ((2, 1),),
    "num_bins": (3,),
    "oov_token": ("b", 2),
    "output_mode": ("binary", "count", "int", "multi_hot", "one_hot", "tf-idf", "tf_idf"),
    "output_padding": (0,),
    "output_sequence_length": (4,),
    "output_shape": (3,),
    "pool_size": (1, 2),
    "rate": (0.25,),
    "salt": (7,),
    "score_mode": ("concat", "dot"),
    "seed": (1,),
    "shared_axes": ((1,),),
    "sliding_window": (2,),
    "split": ("character", "whitespace", None),
    "standardize": ("lower", "lower_and_strip_punctuation", "strip_punctuation", None),
    "strides": (1, 2),
    "target_shape": ((2, 4),),
    "value_dim": (2,),
    "value_range": ((0, 1),),
    "variance": (0.2,),
    "vocabulary": ([1, 2], ["c", "d"]),
    "width_factor": (0.2,),
    "window": ("hann", "hamming"),
}


def other_values(parameter: str, default: Any, name: str) -> Iterator[Any]:
    """Values to try for an argument instead of the one it has; the first ones are tried first."""
    if parameter == "activation" or parameter.endswith("_activation"):
        yield from (
            value for value in (ACTIVATIONS if name in ("Activation", "Dense") else FEW_ACTIVATIONS) if value != default
        )
    elif parameter.endswith("_initializer") or parameter == "initializer":
        yield from ("ones", "he_normal") if default != "ones" else ("zeros",)
    elif parameter.endswith("_regularizer"):
        yield "l2"
    elif parameter.endswith("_constraint"):
        yield keras.constraints.NonNeg()
    elif parameter in _CHOICES:
        yield from (value for value in _CHOICES[parameter] if value != default)
    elif isinstance(default, bool):
        yield not default
    elif isinstance(default, int):
        yield default + 1
    elif isinstance(default, float):
        yield default / 2 if default else 0.1


COMPANIONS: dict[str, dict[str, Any]] = {
    "idf_weights": {"output_mode": "tf_idf"},
    "pad_to_max_tokens": {"output_mode": "multi_hot", "max_tokens": 9},
    "sparse": {"output_mode": "multi_hot"},
    "oov_method": {"num_oov_indices": 2},
    "salt": {"num_oov_indices": 2},
}
"""Arguments that only work beside others; tried alone first."""
GENERAL = {"name": "some_name", "trainable": False, "activity_regularizer": "l2"}
"""Arguments that every layer takes through `**kwargs`."""
if GENERATION == "3":
    GENERAL_ONLY: dict[str, Any] = {"autocast": False}
else:
    GENERAL_ONLY = {"autocast": False}
