"""What float16 holds, held against NumPy; and which functions are unstable, against TensorFlow's own list."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mplint.keras_api import canonical, kind
from mplint.keras_api.precision import LIMITS, in_float16, shown_number
from mplint.keras_api.stability import INVERSES, ROOTS, SATURATING, SENSITIVE, is_heavy, sensitivity

DENIED = {
    "Exp": "tensorflow.math.exp",
    "Expm1": "tensorflow.math.expm1",
    "L2Loss": "tensorflow.nn.l2_loss",
    "Mean": "tensorflow.math.reduce_mean",
    "Pow": "tensorflow.math.pow",
    "SoftmaxCrossEntropyWithLogits": "tensorflow.nn.softmax_cross_entropy_with_logits",
    "SparseSoftmaxCrossEntropyWithLogits": "tensorflow.nn.sparse_softmax_cross_entropy_with_logits",
    "Sum": "tensorflow.math.reduce_sum",
}
"""What TensorFlow 2.15 and 2.21 keep in float32 in graphs, but for `SaveV2`, which computes nothing."""


@pytest.mark.parametrize(
    "number", [0.0, 1.0, 65504.0, 65519.0, 65520.0, -1e9, 1e-4, 1e-7, 2.99e-8, 2.98e-8, 2.97e-8, 0.9999999, math.inf]
)
def test_rounds_to_float16_as_numpy_does(number: float) -> None:
    with np.errstate(over="ignore"):
        assert in_float16(number) == float(np.float16(number))


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_limits_are_those_of_numpy(name: str) -> None:
    known, limits = np.finfo(name), LIMITS[name]
    assert (limits.min, limits.max, limits.eps, limits.tiny) == tuple(
        float(each) for each in (known.min, known.max, known.eps, known.tiny)
    )


def test_numbers_are_shown_as_people_write_them() -> None:
    shown = [shown_number(each) for each in (-1e9, 1e-8, 0.9999999, -65504.0, 1e5, float(np.finfo("float32").min))]
    assert shown == ["-1e9", "1e-8", "0.9999999", "-6.55e4", "1e5", "-3.403e38"]


def test_what_tensorflow_keeps_in_float32_is_sensitive() -> None:
    assert not [name for name, path in DENIED.items() if sensitivity(path) is None]


@pytest.mark.parametrize("path", sorted({*SENSITIVE, *ROOTS, *INVERSES, *SATURATING}))
def test_names_are_canonical_and_exist(path: str) -> None:
    assert path.startswith("operator.") or (canonical(path) == path and kind(path) is not None)


@pytest.mark.parametrize("path", ["operator.@", "tensorflow.linalg.matmul", "tensorflow.nn.conv2d", "keras.ops.einsum"])
def test_products_of_matrices_and_convolutions_are_heavy(path: str) -> None:
    assert is_heavy(path)
    assert not is_heavy("operator.*")
