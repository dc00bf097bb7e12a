"""How many features layers and operations give, held against Keras."""

from __future__ import annotations

from typing import Any

import pytest

from mplint import keras_api
from mplint.keras_api.table import section

RANKS = {"1D": (4, 12), "2D": (4, 4, 12), "3D": (4, 4, 4, 12)}
TIMES = {"ConvLSTM1D": (3, 4, 12), "ConvLSTM2D": (3, 4, 4, 12), "ConvLSTM3D": (3, 4, 4, 4, 12)}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "Activation": {"activation": "relu"},
    **{f"{kind}Pooling{rank}": {"pool_size": 2} for kind in ("Average", "Max") for rank in RANKS},
    **{f"SpatialDropout{rank}": {"rate": 0.1} for rank in RANKS},
    "AlphaDropout": {"rate": 0.1},
    "Dropout": {"rate": 0.1},
    "GaussianDropout": {"rate": 0.1},
    "GaussianNoise": {"stddev": 0.1},
    "GroupNormalization": {"groups": 4},
    "RepeatVector": {"n": 2},
    "CenterCrop": {"height": 2, "width": 2},
    "Embedding": {"input_dim": 9},
    "MultiHeadAttention": {"num_heads": 2, "key_dim": 5},
}


def shape_of(name: str) -> tuple[int, ...]:
    if name in TIMES:
        return TIMES[name]
    if name == "RepeatVector":
        return (12,)
    if name == "CenterCrop":
        return (4, 4, 12)
    return next((shape for end, shape in RANKS.items() if end in name), (4, 12))


def made(layers: Any, path: str, **arguments: Any) -> Any:
    """What a layer gives for tensors of 12 features; None where this Keras has none of the name."""
    import keras

    name = path.rpartition(".")[2]
    cls = getattr(layers, name, None)
    if cls is None:
        return None
    given = keras.Input((4,), dtype="int32") if name == "Embedding" else keras.Input(shape_of(name))
    arguments = {**ARGUMENTS.get(name, {}), **arguments}
    if name.startswith(("Conv", "Separable", "Depthwise")):
        arguments["kernel_size"] = 3
        arguments["padding"] = "same"
    layer = cls(**arguments)
    if name == "MultiHeadAttention":
        return layer(given, keras.Input((5, 7)))
    if keras_api.features_of(path) in ("met", "joined"):
        return layer([given, keras.Input(shape_of(name))])
    return layer(given)


@pytest.mark.tensorflow
@pytest.mark.parametrize("path", [path for paths in section("sizes", "features").values() for path in paths])
def test_layers(path: str) -> None:
    from keras import layers

    parameter = keras_api.given_features(path)
    result = made(layers, path, **({parameter: 20} if parameter is not None else {}))
    if result is None:
        return
    expected = {"given": 20, "kept": 12, "met": 12, "joined": 24, "flattened": 48}[str(keras_api.features_of(path))]
    assert result.shape[-1] == expected


@pytest.mark.tensorflow
@pytest.mark.parametrize("path", [path for paths in section("sizes", "operations").values() for path in paths])
def test_operations(path: str) -> None:
    import keras
    import tensorflow as tf

    root, _, rest = path.partition(".")
    function: Any = {"tensorflow": tf, "keras": keras}[root]
    for name in rest.split("."):
        function = getattr(function, name, None)
    if function is None:
        return
    how = keras_api.features_of(path)
    given = [tf.ones((2, 12)), tf.ones((2, 12))]
    extra = {"dropout": (0.1,), "clip_by_value": (0.0, 1.0), "clip": (0.0, 1.0)}.get(path.rpartition(".")[2], ())
    if how == "kept":
        assert function(given[0], *extra).shape[-1] == 12
    elif how == "met":
        assert (function(given) if path.endswith("add_n") else function(*given)).shape[-1] == 12
    else:
        assert function(given, -1).shape[-1] == 24


def test_where_nothing_is_told() -> None:
    assert keras_api.features_of("keras.layers.Reshape") is None
    assert keras_api.features_of("keras.activations.glu") is None
    assert keras_api.features_of("keras.activations.relu") == "kept"
    assert keras_api.given_features("keras.layers.Embedding") == "output_dim"
    assert keras_api.given_features("keras.layers.MultiHeadAttention") is None
