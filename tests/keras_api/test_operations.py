"""What functions and operators give, against sections 1.4, 3 and 6 of the measured semantics."""

from __future__ import annotations

import pytest

from mplint import keras_api
from mplint.keras_api import Clash, Operand, array, python, sequence, tensor
from mplint.keras_api.table import section

HALF, SINGLE, INT = tensor("float16"), tensor("float32"), tensor("int32")
CLASH = "clash"


def _result(
    path: str, *operands: Operand | None, generation: str = "3", symbolic: bool = False, **keywords: object
) -> object:
    operation = keras_api.operation(path, generation)
    assert operation is not None, path
    outcome = operation.result(operands, keywords, symbolic)
    return CLASH if isinstance(outcome, Clash) else outcome


@pytest.mark.parametrize("generation", ["2", "3"])
@pytest.mark.parametrize(
    ("operator", "left", "right", "expected"),
    [
        ("+", HALF, python("float"), "float16"),
        ("*", HALF, python("int"), "float16"),
        ("/", HALF, array("float32", scalar=True), "float16"),
        ("+", HALF, array("float32", scalar=False), "float16"),
        ("+", HALF, array("float64"), "float16"),
        ("+", array("float32"), HALF, "float16"),
        ("+", HALF, SINGLE, CLASH),
        ("/", HALF, SINGLE, CLASH),
        ("@", HALF, SINGLE, CLASH),
        (">", HALF, python("float"), "bool"),
        ("**", HALF, python("float"), "float16"),
        ("+", INT, INT, "int32"),
        ("/", INT, INT, "float64"),
        ("+", HALF, INT, CLASH),
    ],
)
def test_operators_on_real_tensors(
    operator: str, left: Operand, right: Operand, expected: str, generation: str
) -> None:
    """Facts, 6: Python and NumPy numbers take the tensor's dtype, tensors of two dtypes raise."""
    assert _result(f"operator.{operator}", left, right, generation=generation) == expected


@pytest.mark.parametrize(
    ("operator", "right", "second", "third"),
    [
        ("+", array("float32", scalar=False), "float16", "float32"),
        ("/", array("float32", scalar=True), "float16", "float32"),
        ("+", SINGLE, CLASH, "float32"),
        ("+", python("float"), "float16", "float16"),
        ("*", python("int"), "float16", "float16"),
    ],
)
def test_operators_on_keras_tensors(operator: str, right: Operand, second: str, third: str) -> None:
    """Facts, 1.4: operators of Keras 3's KerasTensors are keras.ops, which promote."""
    assert _result(f"operator.{operator}", HALF, right, generation="2", symbolic=True) == second
    assert _result(f"operator.{operator}", HALF, right, generation="3", symbolic=True) == third


@pytest.mark.parametrize("generation", ["2", "3"])
@pytest.mark.parametrize(
    "path", ["keras.activations.softmax", "tensorflow.nn.softmax", "tensorflow.reduce_mean", "tensorflow.exp"]
)
def test_half_stays_half(path: str, generation: str) -> None:
    """Facts, 1.4."""
    assert _result(path, HALF, generation=generation) == "float16"


def test_functions_of_tensorflow_refuse_keras_tensors_in_keras_3() -> None:
    """Facts, 1.4: a ValueError in Keras 3, a layer in Keras 2."""
    assert _result("tensorflow.nn.softmax", HALF, generation="3", symbolic=True) == CLASH
    assert _result("tensorflow.nn.softmax", HALF, generation="2", symbolic=True) == "float16"


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("name", ["add", "multiply", "matmul"])
def test_keras_ops_promote(name: str, symbolic: bool) -> None:
    """Facts, 6."""
    path = f"keras.ops.{name}"
    assert _result(path, HALF, SINGLE, symbolic=symbolic) == "float32"
    assert _result(path, HALF, array("float32", scalar=False), symbolic=symbolic) == "float32"
    assert _result(path, HALF, HALF, symbolic=symbolic) == "float16"


def test_keras_ops_on_lists() -> None:
    assert _result("keras.ops.concatenate", sequence([HALF, SINGLE]), axis=-1) == "float32"
    assert _result("keras.ops.stack", sequence([HALF, HALF, HALF])) == "float16"
    assert _result("tensorflow.concat", sequence([HALF, HALF]), None, axis=-1) == "float16"
    assert _result("tensorflow.concat", sequence([HALF, SINGLE]), None, axis=-1) == CLASH
    assert _result("tensorflow.stack", sequence([HALF, SINGLE])) == CLASH


def test_where() -> None:
    """Facts, 6."""
    mask = tensor("bool")
    assert _result("tensorflow.where", mask, HALF, python("float")) == "float16"
    assert _result("tensorflow.where", mask, HALF, SINGLE) == CLASH
    assert _result("keras.ops.where", mask, HALF, SINGLE) == "float32"


def test_einsum() -> None:
    assert _result("tensorflow.einsum", None, HALF, HALF) == "float16"
    assert _result("tensorflow.einsum", None, HALF, SINGLE) == CLASH
    assert _result("keras.ops.einsum", None, HALF, SINGLE) == "float32"


@pytest.mark.parametrize(
    ("path", "operands"),
    [
        ("tensorflow.ones", (None,)),
        ("tensorflow.zeros", (None,)),
        ("tensorflow.eye", (None,)),
        ("tensorflow.random.normal", (None,)),
        ("tensorflow.one_hot", (None, None)),
        ("keras.ops.ones", (None,)),
        ("keras.random.normal", (None,)),
    ],
)
def test_what_is_made_without_a_dtype_is_float32(path: str, operands: tuple[None, ...]) -> None:
    """Facts, 6."""
    assert _result(path, *operands) == "float32"


def test_a_dtype_decides() -> None:
    assert _result("tensorflow.zeros", None, dtype="float16") == "float16"
    assert _result("tensorflow.cast", INT, dtype="half") == "float16"
    assert _result("tensorflow.cast", HALF, dtype="tensorflow.float32") == "float32"
    assert _result("keras.ops.cast", HALF, dtype="float32") == "float32"
    assert _result("tensorflow.zeros_like", HALF) == "float16"
    assert _result("tensorflow.cast", HALF, dtype=object()) is None


def test_python_numbers_become_float32_tensors() -> None:
    """Facts, 6: `t / tf.sqrt(8.0)` raises, since the root is float32."""
    assert _result("tensorflow.sqrt", python("float")) == "float32"
    assert _result("tensorflow.constant", python("float")) == "float32"
    assert _result("tensorflow.range", python("float")) == "float32"


@pytest.mark.parametrize(
    ("path", "second", "third"),
    [
        ("keras.losses.MeanSquaredError", "float16", "float32"),
        ("keras.losses.mean_squared_error", "float16", "float16"),
        ("keras.losses.Huber", "float32", "float32"),
    ],
)
def test_losses(path: str, second: str, third: str) -> None:
    """Facts, 3."""
    assert _result(path, SINGLE, HALF, generation="2") == second
    assert _result(path, SINGLE, HALF, generation="3") == third


def test_cross_entropies_of_tensorflow() -> None:
    """Facts, 3."""
    assert _result("tensorflow.nn.sigmoid_cross_entropy_with_logits", SINGLE, HALF) == CLASH
    assert _result("tensorflow.nn.softmax_cross_entropy_with_logits", SINGLE, HALF) == "float16"
    assert _result("tensorflow.nn.sparse_softmax_cross_entropy_with_logits", INT, HALF) == "float16"


def test_several_results() -> None:
    assert _result("tensorflow.nn.moments", HALF, None) == ("float16", "float16")
    assert _result("tensorflow.math.top_k", HALF) == ("float16", "int32")
    split = keras_api.operation("tensorflow.split", "3")
    assert split is not None
    assert split.many
    assert split.result((HALF, None)) == "float16"


def test_what_was_not_measured_is_not_known() -> None:
    assert keras_api.operation("tensorflow.no_such_function") is None
    assert keras_api.operation("project.function") is None
    assert _result("operator.+", HALF, None, symbolic=True) is None
    assert _result("operator.+", None, None) is None
    assert _result("operator.+", HALF, tensor("uint32")) is None
    assert _result("tensorflow.reduce_mean", HALF, no_such_argument=1) is None
    assert keras_api.operation("keras.ops.add", "2") is None


def test_an_operand_that_is_not_known_may_not_matter() -> None:
    """Whatever meets a real float16 tensor gives float16 or raises."""
    assert _result("operator.+", HALF, None) == "float16"
    assert _result("operator.>", HALF, None) == "bool"


def test_without_a_generation_both_must_agree() -> None:
    mean = keras_api.operation("keras.losses.mean_squared_error")
    assert mean is not None
    assert mean.result((SINGLE, HALF)) == "float16"
    squared = keras_api.operation("keras.losses.MeanSquaredError")
    assert squared is not None
    assert squared.result((SINGLE, HALF)) is None


def test_arguments_by_name() -> None:
    operation = keras_api.operation("tensorflow.where", "3")
    assert operation is not None
    assert operation.result({"condition": None, "x": HALF, "y": python("float")}) == "float16"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("softmax", "softmax"),
        ("swish", "silu"),
        ("keras.activations.softmax", "softmax"),
        ("tensorflow.nn.softmax", "softmax"),
        ("keras.ops.softmax", "softmax"),
        ("tf_keras.backend.softmax", "softmax"),
        ("keras.layers.Softmax", "softmax"),
        ("tensorflow.nn.relu", "relu"),
        ("tensorflow.sigmoid", "sigmoid"),
        ("keras.activations.linear", "linear"),
        ("linear", "linear"),
        ("tensorflow.reduce_mean", None),
        ("no_such_activation", None),
        (None, None),
        (3, None),
    ],
)
def test_activation_of(value: object, expected: str | None) -> None:
    assert keras_api.activation_of(value) == expected


@pytest.mark.parametrize(
    "path",
    [
        "tensorflow.squeeze",
        "tensorflow.expand_dims",
        "tensorflow.transpose",
        "tensorflow.cast",
        "tensorflow.gather",
        "tensorflow.identity",
        "tensorflow.stop_gradient",
        "keras.ops.reshape",
        "keras.ops.cast",
        "keras.activations.linear",
    ],
)
def test_functions_that_carry(path: str) -> None:
    assert keras_api.carries(path)


@pytest.mark.parametrize(
    "path", ["tensorflow.nn.relu", "tensorflow.reduce_max", "tensorflow.math.log", "keras.ops.sort"]
)
def test_functions_that_do_not(path: str) -> None:
    assert not keras_api.carries(path)


def test_what_is_called() -> None:
    cond = keras_api.calls_argument("tensorflow.cond", "3")
    assert cond is not None
    assert set(cond.names) == {"true_fn", "false_fn"}
    assert cond.how("true_fn") == "nothing"
    mapped = keras_api.calls_argument("tensorflow.data.Dataset.map")
    assert mapped is not None
    assert mapped.how("map_func") == "elements"
    assert keras_api.calls_argument("tensorflow.add") is None


def test_the_hand_written_lists_name_what_exists() -> None:
    """A parameter that is said to be called, or to hold a size, is one of its function."""
    wrong = []
    for path, called in section("calls", "calls").items():
        if keras_api.canonical(path) != path:
            wrong.append((path, "is not canonical"))
        if keras_api.kind(path) is None:
            continue  # a method, or another library's
        names = {
            each.name for living in keras_api.generations(path) for each in keras_api.parameters(path, living) or ()
        }
        wrong += [(path, name) for name in called if name not in names]
    assert wrong == []
