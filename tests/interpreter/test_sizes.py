"""Which sizes of layers are hidden, and which must be equal."""

from __future__ import annotations

import textwrap

import pytest

from mplint.interpreter.sizes import Sizes
from tests.interpreter.programs import worlds

START = """
import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")
given = keras.Input((30,))
images = keras.Input((16, 16, 3))
words = keras.Input((12,), dtype="int32")
"""


def hidden(text: str, ends: str = "x") -> list[str]:
    """The sizes that a program is advised to change; `x` is what its model gives behind one more layer."""
    end = f"\nmodel = keras.Model([given, images, words], layers.Dense(1, dtype='float32')({ends}))\n" if ends else ""
    _, found = worlds(main=START + textwrap.dedent(text) + end)
    assert len(found) == 1
    return [unaligned.says for unaligned in found[0].once(Sizes).for_tensor_cores()]


HIDDEN = {
    "one behind the other": ("x = layers.Dense(20)(layers.Dense(50)(given))", ["units=50", "units=20"]),
    "through what keeps features": (
        "x = layers.Dropout(0.1)(layers.LayerNormalization()(layers.Dense(50, activation='relu')(given)))",
        ["units=50"],
    ),
    "through functions": ("x = tf.nn.relu(layers.Dense(50)(given)) * 0.5", ["units=50"]),
    "flattened": ("x = layers.Flatten()(layers.Conv2D(20, 3)(images))", ["filters=20"]),
    "concatenated": (
        "x = layers.concatenate([layers.Dense(20)(given), layers.Dense(50)(given)])",
        ["units=20", "units=50"],
    ),
    "added up": ("x = layers.Dense(20)(given) + layers.Dense(20)(given)", ["units=20", "units=20"]),
    "multiplied by a single feature": (
        "x = layers.Dense(1)(given) * layers.Dense(20)(given)",
        ["units=20"],
    ),
    "in a sequence of layers that is a part": (
        "x = keras.Sequential([layers.Dense(20), layers.Dense(50)])(given)",
        ["units=20", "units=50"],
    ),
    "in both directions": ("x = layers.Bidirectional(layers.LSTM(50))(layers.Embedding(999, 64)(words))", ["units=50"]),
    "at each step": (
        "x = layers.Flatten()(layers.TimeDistributed(layers.Dense(50))(layers.Embedding(999, 64)(words)))",
        ["units=50"],
    ),
    "of a head": (
        "e = layers.Embedding(999, 64)(words)\nx = layers.Flatten()(layers.MultiHeadAttention(2, key_dim=20)(e, e))",
        ["key_dim=20"],
    ),
    "the first step of a sequence": (
        "x = layers.LSTM(50, return_sequences=True)(layers.Embedding(999, 64)(words))[:, 0]",
        ["units=50"],
    ),
    "in a loop": ("x = given\nfor n in (20, 50):\n    x = layers.Dense(n)(x)", ["units=20 and units=50"]),
}
KNOWN_OUTSIDE = {
    "what a model gives": ("model = keras.Model(given, layers.Dense(20)(given))", ""),
    "what a model gives beside": (
        "x = layers.Dense(20)(given)\nfeatures = keras.Model(given, layers.Activation('relu')(x))",
        "x",
    ),
    "a code": (
        "code = layers.Dense(20)(given)\nencoder = keras.Model(given, code)\n"
        "decoder = keras.Sequential([keras.Input((20,)), layers.Dense(64)])\nx = decoder(encoder(given))",
        "x",
    ),
    "added to data": ("x = layers.Dense(30)(given) + given", "x"),
    "added to what is added to data": ("x = layers.Dense(30)(layers.Add()([layers.Dense(30)(given), given]))", "given"),
    "cut": ("x = layers.Dense(20)(given)\nx = x[:, :10] + x[:, 10:]", "x"),
    "cut by a function": ("a, b = tf.split(layers.Dense(20)(given), 2, axis=-1)\nx = a * b", "x"),
    "reshaped": ("x = layers.Flatten()(layers.Reshape((4, 5))(layers.Dense(20)(given)))", "x"),
    "multiplied by a weight": ("w = tf.Variable(tf.ones((20, 4)))\nx = tf.matmul(layers.Dense(20)(given), w)", "x"),
    "given to what nobody saw": ("import other\nx = other.layer(layers.Dense(20)(given))", "x"),
    "a sum is a size with a meaning": ("WORDS = 20\nx = layers.Dense(WORDS + 1)(given)", "x"),
    "counted": ("x = layers.Dense(len('twelve chars'))(given)", "x"),
    "groups": (
        "x = layers.Flatten()(layers.GroupNormalization(groups=5)(layers.Conv2D(20, 3)(images)))",
        "x",
    ),
    "weights that are given": (
        "e = layers.Embedding(999, 50, embeddings_initializer=keras.initializers.Constant(np.ones((999, 50))))\n"
        "x = layers.Flatten()(e(words))",
        "x",
    ),
    "weights that are shared with data": (
        "shared = layers.Dense(64)\nx = shared(given) + shared(layers.Dense(30)(layers.Flatten()(images)))",
        "x",
    ),
    "in float32": ("x = layers.Dense(20, dtype='float32')(given)", "x"),
    "small": ("x = layers.Dense(6)(given)", "x"),
    "aligned": ("x = layers.Dense(24)(given)", "x"),
    "never called": ("spare = layers.Dense(20)\nx = given", "x"),
    "looked up, and not multiplied": (
        "a, b = (layers.Embedding(999, 50)(words) for _ in 'ab')\nx = layers.Dot(-1)([a, b])\n"
        "model = keras.Model(words, layers.Activation('sigmoid', dtype='float32')(x))",
        "",
    ),
}


@pytest.mark.parametrize(("text", "expected"), HIDDEN.values(), ids=list(HIDDEN))
def test_hidden(text: str, expected: list[str]) -> None:
    assert hidden(text) == expected


@pytest.mark.parametrize(("text", "ends"), KNOWN_OUTSIDE.values(), ids=list(KNOWN_OUTSIDE))
def test_known_outside(text: str, ends: str) -> None:
    assert hidden(text, ends) == []


def test_nothing_is_said_of_a_program_that_loads_its_weights() -> None:
    text = "x = layers.Dense(20)(given)"
    end = "\nmodel = keras.Model(given, layers.Dense(1, dtype='float32')(x))\n"
    assert hidden(text + end, "") == ["units=20"]
    assert hidden(text + end + "model.compile('adam')\nmodel.load_weights('w.h5')\nmodel.fit(data)", "") == []
    assert hidden(text + end + "model.load_weights('w.h5')\nmodel.predict(data)", "") == []
    assert hidden(text + end + "model.compile('adam')\nmodel.fit(data)\nmodel.load_weights('best.h5')", "") == [
        "units=20"
    ]
