"""Layers around others: where nothing is known of what they give."""

from __future__ import annotations

import pytest

from mplint.interpreter.predict import output_dtypes

PRELUDE = """
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")
inputs = keras.Input((4, 8))


class Cell(layers.Layer):
    def __init__(self, **options):
        super().__init__(**options)
        self.state_size = 4
        self.dense = layers.Dense(4)

    def call(self, x, states):
        h = self.dense(x)
        return h, [tf.cast(h, "float32")]
"""


def dtype_of(tensor: str, generation: str) -> str | None:
    """The dtype of a tensor behind `inputs`; None where it is not known, or not even that it is a tensor."""
    found = output_dtypes(f"{PRELUDE}model = keras.Model(inputs, {tensor})", generation)["model"]
    return found[0] if found else None


@pytest.mark.parametrize(
    ("generation", "dtype", "expected"),
    [("2", "None", "float16"), ("2", "'float32'", None), ("3", "None", "float16"), ("3", "'float32'", "float16")],
)
def test_two_ways_of_two_dtypes(generation: str, dtype: str, expected: str | None) -> None:
    backward = f"layers.LSTM(4, go_backwards=True, dtype={dtype})"
    layer = f"layers.Bidirectional(layers.LSTM(4), backward_layer={backward})"
    assert dtype_of(f"{layer}(inputs)", generation) == expected


@pytest.mark.parametrize(
    ("generation", "dtype", "expected"),
    [("2", "None", "float16"), ("2", "'float32'", None), ("3", "'float32'", "float16")],
)
def test_a_cell_of_another_dtype(generation: str, dtype: str, expected: str | None) -> None:
    layer = f"layers.RNN(layers.LSTMCell(4, dtype={dtype}))"
    assert dtype_of(f"{layer}(inputs)", generation) == expected


def test_the_state_of_a_cell_of_the_program_is_not_followed_in_keras_2() -> None:
    layer = "layers.RNN({}, return_state=True)(inputs)[{}]"
    assert dtype_of(layer.format("layers.GRUCell(4)", 1), "2") == "float16"
    assert dtype_of(layer.format("Cell()", 1), "2") is None
