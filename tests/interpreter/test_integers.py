"""Ids, positions and data in half precision: where something is said, and where it is not known enough."""

from __future__ import annotations

from pathlib import Path

import pytest

from mplint.analysis import analyze
from mplint.project.modules import Project
from mplint.settings import Settings

FILE = Path("/program/main.py")
PRELUDE = """
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")
"""
CODES = ("MP506", "MP507", "MP508")


def found(body: str, generation: str = "2") -> list[str]:
    """The findings of a program, by code and severity."""
    settings = Settings(keras="2" if generation == "2" else "3", select=CODES)
    text = PRELUDE + body
    report = analyze(Project(FILE.parent, [FILE], {FILE: text.encode()}), [FILE], settings)
    assert not report.failures
    return [f"{finding.code} {finding.severity}" for finding in report.findings]


MODEL = """
ids = keras.Input((4,){dtype})
x = {way}
x = layers.Embedding({count}, 8)(x)
model = keras.Model(ids, layers.Dense(1, dtype="float32")(x))
"""


@pytest.mark.parametrize("generation", ["2", "3"])
@pytest.mark.parametrize(
    ("way", "count", "dtype", "expected"),
    [
        ("ids", "9000", "", []),
        ("layers.Flatten()(ids)", "9000", "", ["MP508 error"]),
        ("layers.Flatten()(ids)", "2049", "", []),
        ("layers.Flatten()(ids)", "2050", "", ["MP508 error"]),
        ("layers.Flatten()(ids)", "len(open('a').read())", "", ["MP508 warning"]),
        ("layers.Flatten(dtype='float32')(ids)", "9000", "", []),
        ("layers.Flatten()(ids)", "9000", ", dtype='int32'", []),
        ("ids", "9000", ", dtype='float16'", ["MP508 error"]),
        ("layers.Lambda(lambda t: tf.cast(t, tf.int32))(ids)", "9000", "", ["MP508 error"]),
        ("layers.Flatten(dtype='bfloat16')(ids)", "300", "", ["MP508 error"]),
        ("layers.Dense(4)(ids)", "9000", "", []),
    ],
)
def test_ids_on_their_way_to_a_table(way: str, count: str, dtype: str, expected: list[str], generation: str) -> None:
    assert found(MODEL.format(way=way, count=count, dtype=dtype), generation) == expected


def test_nothing_is_known_of_arguments_that_nobody_was_seen_to_pass() -> None:
    body = """
class Gather(layers.Layer):
    def call(self, x, positions):
        offsets = tf.range(0, tf.shape(x)[0], dtype=tf.int32)
        return tf.gather(x, positions + tf.cast(offsets, positions.dtype))

class Table(layers.Layer):
    def __init__(self):
        super().__init__()
        self.table = layers.Embedding(9000, 8)

    def call(self, ids):
        return self.table(ids + 1)
"""
    assert found(body) == []


@pytest.mark.parametrize(
    ("count", "computed", "expected"),
    [
        ("tf.shape(x)[1]", "tf.sin(positions * 0.5)", ["MP508 warning"]),
        ("64", "tf.sin(positions * 0.5)", []),
        ("tf.shape(x)[1]", "positions / 7", []),
        ("4096", "positions / 7", ["MP508 error"]),
    ],
)
def test_positions(count: str, computed: str, expected: list[str]) -> None:
    body = f"""
class Waves(layers.Layer):
    def call(self, x):
        positions = tf.cast(tf.range({count}), x.dtype)
        return x + ({computed})[:, None]
"""
    assert found(body) == expected


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("lambda x, y: (tf.cast(x, tf.float16) / 255, y)", ["MP506 warning"]),
        ("lambda x, y: (tf.cast(x, tf.float16) / 256, y)", []),
        ("lambda x, y: (tf.cast(tf.cast(x, tf.float32) / 255, tf.float16), y)", ["MP506 advice"]),
        ("lambda x, y: (tf.cast(x, tf.float16), y)", []),
        ("lambda x, y: (tf.cast(x, tf.float32) / 255, tf.cast(y, tf.float16) * 1.0)", []),
        ("lambda x, y: (1 - tf.cast(x > 3, tf.float16), y)", []),
        ("lambda x, y: (tf.cast(x, tf.float16) + tf.cast(tf.random.normal(()), tf.float16), y)", ["MP506 warning"]),
        ("lambda x, y: (tf.image.per_image_standardization(tf.cast(x, tf.float16)), y)", []),
    ],
)
def test_functions_of_pipelines(function: str, expected: list[str]) -> None:
    body = f"""
data = tf.data.Dataset.from_tensor_slices((np.zeros((8, 4, 4, 3), np.uint8), np.zeros(8, "int64")))
data = data.map({function})
"""
    assert found(body) == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("x.astype('float16') / 255", ["MP506 warning"]),
        ("(x.astype('float16') / 255).astype('float32')", ["MP506 warning"]),
        ("(x / 255).astype('float16')", ["MP506 advice"]),
        ("np.zeros((8, 4), 'float16')", []),
        ("(x / 255).astype('float32')", []),
    ],
)
def test_arrays_that_go_to_fit(data: str, expected: list[str]) -> None:
    body = f"""
x = np.zeros((8, 4), np.uint8)
model = keras.Sequential([layers.Dense(1, dtype="float32")])
model.compile("adam", "mse")
model.fit({data}, np.zeros(8))
"""
    assert found(body) == expected
