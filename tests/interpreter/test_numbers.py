"""Numbers that meet tensors: constants through arithmetic, NumPy's, those of dtypes; and objects that nobody uses."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from mplint.analysis import analyze
from mplint.project.modules import Project
from mplint.settings import Settings

HEAD = """\
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.mixed_precision.set_global_policy("mixed_float16")
{more}

class Layer(keras.layers.Layer):
    def __init__(self, width=4, **kwargs):
        super().__init__(**kwargs)
        self.width = width

    def call(self, x, mask=None):
{body}


{made}
"""


def codes(
    body: str,
    made: str = "Layer()",
    more: str = "",
    generation: str = "2",
    device: Literal["auto", "gpu", "tpu"] = "auto",
) -> list[str]:
    text = HEAD.format(body="\n".join(f"        {line}" for line in body.splitlines()), made=made, more=more)
    file = Path("/program/main.py")
    settings = Settings(keras="2" if generation == "2" else "3", device=device)
    report = analyze(Project(file.parent, [file], {file: text.encode()}), [file], settings)
    assert not report.failures
    return [finding.code for finding in report.findings]


@pytest.mark.parametrize(
    "number",
    ["-1 * 10 ** 9", "np.float32(-1e9)", "np.finfo(np.float32).min", "tf.float32.min", "-np.float64(1e9)", "2 ** 20",
     "-1e9 if self.width else 0.0", "np.full((4,), -1e9)", "np.sqrt(1e12)", "-np.ones(4) * 1e6",
     "tf.as_dtype('float32').min / 2"],
)  # fmt: skip
def test_large_numbers_are_known(number: str) -> None:
    assert codes(f"return x + {number}") == ["MP501"]


@pytest.mark.parametrize(
    "number",
    ["-3e4", "x.dtype.min", "np.finfo(x.dtype.as_numpy_dtype).min", "float('-inf')", "-np.inf", "np.float16(-1e9)",
     "tf.float16.min", "-1e9 if x.dtype != 'float16' else -3e4", "self.width", "unknown"],
)  # fmt: skip
def test_others_are_not(number: str) -> None:
    assert codes(f"return x + {number}") == []


@pytest.mark.parametrize(
    "scale", ["self.width ** -0.5", "x.shape[-1] ** -0.5", "float(x.shape[1])", "1 / len(unknown)", "self.width // 2"]
)
def test_what_is_times_a_number_stays_half(scale: str) -> None:
    assert codes(f"return (x * ({scale})) + 1e9", "Layer(unknown)") == ["MP501"]


def test_what_half_precision_is_multiplied_with_is_taken_for_a_number() -> None:
    assert codes("return (x * unknown) + 1e9") == ["MP501"]
    assert codes("return keras.ops.multiply(x, unknown) + 1e9") == []


def test_an_object_that_nobody_uses_is_made_as_the_program_makes_it() -> None:
    assert codes("return x + self.width", "Layer(1e9)") == ["MP501"]
    assert codes("return x + self.width", "Layer(width=1e9)\nLayer(-1e9)") == ["MP501"]
    assert codes("return x + self.width", "Layer(1e9)\nLayer(unknown)") == []
    assert codes("return x + 1e9 * self.width", "Layer(unknown)") == []
    assert codes("return x + self.width", "Layer(*unknown)\nLayer(1e9)") == []
    assert codes("return x - 1e9", "Layer(dtype='float32')") == []


def test_what_may_be_passed_is_passed_once() -> None:
    assert codes("if mask is not None:\n    x += (1.0 - tf.cast(mask, x.dtype)) * -1e9\nreturn x") == ["MP501"]
    assert codes("if mask is not None:\n    x += (1.0 - mask) * -1e9\nreturn x") == ["MP501"]


def test_what_comes_behind_an_operation_that_raises_is_told_too() -> None:
    assert codes("return (x * tf.ones(4)) + 1e9") == ["MP501", "MP503"]


def test_an_epsilon_that_was_set_is_another_one() -> None:
    body = "return tf.math.log(x + keras.backend.epsilon())"
    assert codes(body) == []
    assert codes(body, more="keras.backend.set_epsilon(1e-9)\n") == ["MP502"]


def test_a_long_mean_is_added_up_in_float32_where_it_does_not_run_on_a_cpu() -> None:
    mean = "return tf.reduce_mean(x, axis=[1, 2])"
    assert codes(mean) == ["MP505"]
    assert codes(mean, device="gpu") == codes(mean, device="tpu") == []
    assert codes("return tf.reduce_mean(x * x, axis=[1, 2])", device="gpu") == ["MP505"]
    assert codes("return tf.reduce_sum(x, axis=[1, 2])", device="gpu") == ["MP505"]
