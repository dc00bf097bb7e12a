"""Which operations do not go well in float16."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mplint import keras_api
from mplint.keras_api import stability
from mplint.keras_api.stability import Sensitivity, is_cross_entropy, sensitivity

_DATA = Path(keras_api.__file__).with_name("data") / "operations.json"


def test_every_name_is_measured_and_canonical() -> None:
    measured = json.loads(_DATA.read_text(encoding="utf-8"))["functions"]
    for path in stability.SENSITIVE:
        assert path in measured or keras_api.canonical(path) in measured, path


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("tensorflow.math.exp", Sensitivity.EXPONENTIAL),
        ("tensorflow.reduce_mean", Sensitivity.MEAN),
        ("keras.losses.MeanSquaredError", Sensitivity.LOSS),
        ("keras.losses.binary_crossentropy", Sensitivity.CROSS_ENTROPY),
        ("tensorflow.nn.softmax", Sensitivity.SOFTMAX),
        ("tensorflow.cast", None),
        ("keras.ops.relu", None),
    ],
)
def test_sensitivity(path: str, why: Sensitivity | None) -> None:
    assert sensitivity(path) is why


def test_cross_entropies_of_logits_alone_are_none_of_probabilities() -> None:
    assert is_cross_entropy("keras.losses.SparseCategoricalCrossentropy")
    assert not is_cross_entropy("tensorflow.nn.softmax_cross_entropy_with_logits")
