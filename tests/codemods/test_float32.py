"""Casts around what float16 is too small for, and numbers chosen by dtype: which text is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from mplint.analysis import analyze
from mplint.findings import Applicability
from mplint.fixer import fix
from mplint.project.modules import Project
from mplint.settings import Settings

HEAD = """\
import tensorflow as tf
from tensorflow import keras

keras.mixed_precision.set_global_policy("mixed_float16")
{more}

class Layer(keras.layers.Layer):
    def call(self, x):
{body}


Layer()
"""
OPS = """\
import keras
from keras import ops

keras.config.set_dtype_policy('mixed_float16')
{more}

class Layer(keras.layers.Layer):
    def call(self, x):
{body}


Layer()
"""


def rewritten(body: str, more: str = "", head: str = HEAD, generation: str = "2") -> str:
    def program(body: str) -> str:
        return head.format(body="\n".join(f"        {line}".rstrip() for line in body.splitlines()), more=more)

    file = Path("/program/main.py")
    text = program(body)
    settings = Settings(keras="2" if generation == "2" else "3")
    after = fix(Project(file.parent, [file], {file: text.encode()}), [file], settings, unsafe=False).files.get(
        file, text
    )
    start = text.index("x):\n") + 4
    lines = after[start : after.index("\n\n\nLayer()")].splitlines()
    return "\n".join(line.removeprefix("        ") for line in lines)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (  # the result is of the size of the data: back at once
            "return tf.cumsum(x, axis=1)  # a count",
            "return tf.cast(tf.cumsum(tf.cast(x, tf.float32), axis=1), x.dtype)  # a count",
        ),
        (  # a statistic stays float32 until it meets the data
            "v = tf.math.reduce_variance(x, -1, keepdims=True)\nreturn x / tf.sqrt(v + 1e-3)",
            "v = tf.math.reduce_variance(tf.cast(x, tf.float32), -1, keepdims=True)\n"
            "return tf.cast(tf.cast(x, tf.float32) / tf.sqrt(v + 1e-3), x.dtype)",
        ),
        (  # what is not computed in float32 gets it as it was
            "n = tf.norm(x, axis=-1, keepdims=True)\nself.seen(n)\nreturn x / n[..., :1]",
            "n = tf.norm(tf.cast(x, tf.float32), axis=-1, keepdims=True)\nself.seen(tf.cast(n, x.dtype))\n"
            "return tf.cast(tf.cast(x, tf.float32) / n[..., :1], x.dtype)",
        ),
        (  # a name that is bound again is followed as far as it goes
            "y = tf.exp(x)\ny = y / tf.reduce_sum(y, axis=-1, keepdims=True)\nreturn y + 1",
            "y = tf.exp(tf.cast(x, tf.float32))\n"
            "y = tf.cast(y / tf.reduce_sum(y, axis=-1, keepdims=True), x.dtype)\nreturn y + 1",
        ),
        (  # parentheses become those of the cast, and lines stay as they are
            "return tf.math.log(\n    (x + 1e-9)  # never 0\n)",
            "return tf.cast(tf.math.log(\n    (tf.cast(x, tf.float32) + 1e-9)  # never 0\n), x.dtype)",
        ),
        (  # the epsilon is lost where it is added
            "y = tf.maximum(x, 1e-9)\nreturn tf.math.log(y)",
            "y = tf.maximum(tf.cast(x, tf.float32), 1e-9)\nreturn tf.cast(tf.math.log(y), x.dtype)",
        ),
    ],
)
def test_computed_in_float32(before: str, after: str) -> None:
    assert rewritten(before) == after


@pytest.mark.parametrize(
    "body",
    [
        "y = tf.exp(x)\nfor _ in range(2):\n    y = y / tf.reduce_sum(y, axis=-1, keepdims=True)\nreturn y",
        "f = lambda: y\ny = tf.exp(x)\nreturn f() / tf.reduce_sum(y, axis=-1, keepdims=True)",
        "x += 1e-9\nreturn tf.math.log(x)",
        "return tf.nn.moments(x, axes=[-1])",
    ],
)
def test_not_written_where_not_all_can_be_followed(body: str) -> None:
    assert rewritten(body) == body


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("return tf.where(x > 0, x, -1e9)", 'return tf.where(x > 0, x, -3e4 if x.dtype == "float16" else -1e9)'),
        (
            "return x + (1 - tf.cast(x > 0, x.dtype)) * LOW",
            'return x + (1 - tf.cast(x > 0, x.dtype)) * (-3e4 if x.dtype == "float16" else LOW)',
        ),
        (
            "return tf.cast((1 - tf.cast(x > 0, tf.float32)) * LOW, x.dtype)",
            'return tf.cast((1 - tf.cast(x > 0, tf.float32)) * (-3e4 if x.dtype == "float16" else LOW), x.dtype)',
        ),
        (
            "return tf.cast(low(), x.dtype)",
            'return tf.cast(tf.maximum(low(), -3e4 if x.dtype == "float16" else float("-inf")), x.dtype)',
        ),
        ("return 1.0 / (x + 1e-7)", 'return 1.0 / (x + (1e-4 if x.dtype == "float16" else 1e-7))'),
        ("return tf.minimum(x, 1e6)", 'return tf.minimum(x, 65504.0 if x.dtype == "float16" else 1e6)'),
    ],
)
def test_another_number_in_float16(before: str, after: str) -> None:
    more = "LOW = -1e9\n\n\ndef low():\n    return tf.fill((4,), LOW)\n"
    assert rewritten(before, more) == after


def test_written_as_the_file_writes_it() -> None:
    after = "return ops.cast(ops.std(ops.cast(x, 'float32'), axis=-1), x.dtype)"
    assert rewritten("return ops.std(x, axis=-1)", head=OPS, generation="3") == after


@pytest.mark.parametrize(("outputs", "expected"), [("end", Applicability.SAFE), ("[end, y + 1]", Applicability.UNSAFE)])
def test_casts_in_a_graph_with_several_ends_may_change_the_order_of_its_weights(
    outputs: str, expected: Applicability
) -> None:
    text = f"""\
import tensorflow as tf
from tensorflow import keras

keras.mixed_precision.set_global_policy("mixed_float16")
x = keras.Input((3, 4))
y = keras.layers.Dense(4)(x)
end = keras.layers.Dense(2, dtype="float32")(tf.nn.l2_normalize(y, axis=-1))
model = keras.Model(x, {outputs})
"""
    file = Path("/program/main.py")
    report = analyze(Project(file.parent, [file], {file: text.encode()}), [file], Settings(keras="2"))
    (finding,) = (finding for finding in report.findings if finding.code == "MP502")
    assert finding.fix is not None
    assert finding.fix.applicability is expected
