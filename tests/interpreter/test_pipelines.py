"""Datasets as values: what one of their elements holds, behind each method."""

from __future__ import annotations

import pytest

from mplint.interpreter.values import Dataset, Dict, Tensor, Tuple, Value
from mplint.interpreter.world import World
from tests.interpreter.programs import ROOT, worlds

PRELUDE = """
import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds
from tensorflow import keras

images, labels = np.zeros((8, 4, 4, 3), np.uint8), np.zeros((8,), "int64")
pairs = tf.data.Dataset.from_tensor_slices((images, labels))


def scale(image, label):
    return tf.cast(image, tf.float16) / 255.0, label


def named(image, label):
    return {"image": tf.cast(image, tf.float32), "label": label}


def bare(example):
    example["image"] = tf.cast(example["image"], tf.float16)
    return example["image"]


def numbers():
    for i in range(3):
        yield np.float32(i), i
"""


def element(expression: str, generation: str = "3") -> object:
    """The dtypes in an element of the dataset that an expression makes: in tuples and dicts; `...` is not known."""
    program, found = worlds(generation, main=f"{PRELUDE}found = {expression}\n")
    value = dict(found[0].bindings(program.module_frame(ROOT / "main.py")))["found"]
    assert isinstance(value, Dataset)
    return _dtypes(found[0], value.element)


def _dtypes(world: World, value: Value) -> object:
    match value:
        case Tensor(dtype=dtype):
            return dtype or ...
        case Tuple(items=items):
            return tuple(_dtypes(world, item) for item in items)
        case Dict():
            return {key.value: _dtypes(world, item) for key, item in world.machine.entries(value).pairs}  # type: ignore[attr-defined]
        case _:
            return ...


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("pairs", ("uint8", "int64")),
        ("pairs.shuffle(8).batch(2, drop_remainder=True).prefetch(tf.data.AUTOTUNE)", ("uint8", "int64")),
        ("pairs.map(scale)", ("float16", "int64")),
        ("pairs.map(lambda x, y: (tf.cast(x, 'float32'), tf.one_hot(y, 3)))", ("float32", "float32")),
        ("pairs.map(named)", {"image": "float32", "label": "int64"}),
        ("pairs.map(named).map(bare)", "float16"),
        ("pairs.map(scale, num_parallel_calls=2).filter(lambda x, y: y > 1).cache().repeat()", ("float16", "int64")),
        ("pairs.enumerate()", ("int64", ("uint8", "int64"))),
        ("tf.data.Dataset.zip((pairs, tf.data.Dataset.range(8)))", (("uint8", "int64"), "int64")),
        ("tf.data.Dataset.from_tensor_slices({'a': images, 'b': [1.0, 2.0]})", {"a": "uint8", "b": ...}),
        ("tf.data.Dataset.from_tensor_slices(tf.zeros((4, 2), tf.float16))", "float16"),
        ("tf.data.Dataset.range(3).interleave(lambda i: pairs)", ("uint8", "int64")),
        ("tf.data.Dataset.range(3).apply(lambda d: d.map(lambda i: tf.cast(i, tf.bfloat16)))", "bfloat16"),
        ("tf.data.TextLineDataset('a.csv')", "string"),
        ("tf.data.Dataset.from_generator(numbers, output_types=(tf.float16, tf.int32))", ("float16", "int32")),
        ("tf.data.Dataset.from_generator(numbers, output_signature=(tf.TensorSpec((), tf.float32), "
         "tf.TensorSpec((), tf.int64)))", ("float32", "int64")),
        ("tf.data.TFRecordDataset('a').map(lambda s: tf.io.parse_single_example(s, "
         "{'label': tf.io.FixedLenFeature([], tf.int64)}))", {"label": "int64"}),
        ("tfds.load('mnist', split='train', as_supervised=True)", (..., ...)),
        ("tfds.load('mnist', as_supervised=True)['train'].map(scale)", ("float16", ...)),
        ("keras.utils.image_dataset_from_directory('a')", ("float32", "int32")),
        ("keras.utils.image_dataset_from_directory('a', label_mode=None)", "float32"),
    ],
)  # fmt: skip
def test_elements(expression: str, expected: object) -> None:
    assert element(expression) == expected


def test_what_a_function_does_to_a_dict_is_done_to_its_own() -> None:
    program, found = worlds(main=f"{PRELUDE}first = pairs.map(named)\nsecond = first.map(bare)\n")
    value = dict(found[0].bindings(program.module_frame(ROOT / "main.py")))["first"]
    assert isinstance(value, Dataset)
    assert _dtypes(found[0], value.element) == {"image": "float32", "label": "int64"}


@pytest.mark.parametrize("loop", ["for found, _ in pairs.map(scale): pass", "found, _ = next(iter(pairs.map(scale)))"])
def test_elements_of_a_loop(loop: str) -> None:
    program, found = worlds(main=f"{PRELUDE}{loop}\n")
    value = dict(found[0].bindings(program.module_frame(ROOT / "main.py")))["found"]
    assert _dtypes(found[0], value) == "float16"


def test_dicts_of_one_call_are_kept_apart() -> None:
    nested = "tf.data.Dataset.from_tensor_slices(({'a': images}, {'b': labels})).map(lambda x, y: (y, x))"
    assert element(nested) == ({"b": "int64"}, {"a": "uint8"})
