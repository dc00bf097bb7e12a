"""The global policy in a run: each copy of Keras has its own, and some calls put it back."""

from __future__ import annotations

import pytest

from mplint.interpreter.history import History
from mplint.interpreter.trace import LayerMade
from tests.interpreter.programs import worlds


def policies(source: str, generation: str) -> list[str | None]:
    """The policies of the layers that the program makes, in order."""
    _, found = worlds(generation, main=source)
    assert len(found) == 1
    return [event.policy.name for event in found[0].trace.events if isinstance(event, LayerMade)]


@pytest.mark.parametrize(
    ("generation", "source", "expected"),
    [
        (
            "3",
            "import keras, tf_keras\ntf_keras.mixed_precision.set_global_policy('mixed_float16')\n"
            "keras.layers.Dense(1)\ntf_keras.layers.Dense(1)",
            ["float32", "mixed_float16"],
        ),
        (
            "3",
            "import keras, tensorflow as tf\ntf.keras.mixed_precision.set_global_policy('mixed_float16')\n"
            "keras.layers.Dense(1)\ntf.compat.v2.keras.layers.Dense(1)",
            ["mixed_float16", "mixed_float16"],
        ),
        (
            "2",
            "import keras, tf_keras\nkeras.mixed_precision.set_global_policy('mixed_float16')\n"
            "keras.layers.Dense(1)\ntf_keras.layers.Dense(1)",
            ["mixed_float16", "float32"],
        ),
        (
            "2",
            "import tensorflow as tf\nfrom tensorflow.python.keras import layers\n"
            "tf.keras.mixed_precision.set_global_policy('mixed_float16')\nlayers.Dense(1)\ntf.keras.layers.Dense(1)",
            ["float32", "mixed_float16"],
        ),
        (
            "2",
            "import tensorflow as tf\nfrom tensorflow.keras.mixed_precision import experimental\n"
            "experimental.set_policy(experimental.Policy('mixed_float16', loss_scale=512))\ntf.keras.layers.Dense(1)",
            ["mixed_float16"],
        ),
    ],
)
def test_copies_of_keras(generation: str, source: str, expected: list[str]) -> None:
    assert policies(source, generation) == expected


FLOATX = """
from tensorflow import keras
keras.backend.set_floatx("float16")
keras.layers.Dense(1)
keras.mixed_precision.set_global_policy("mixed_bfloat16")
keras.backend.set_floatx("float32")
keras.layers.Dense(1)
keras.backend.clear_session()
keras.layers.Dense(1)
"""


@pytest.mark.parametrize(("generation", "last"), [("2", "mixed_bfloat16"), ("3", "float32")])
def test_floatx_and_clear_session(generation: str, last: str) -> None:
    assert policies(FLOATX, generation) == ["float16", "mixed_bfloat16", last]


def test_keras_3_keeps_the_policy_of_its_first_layer() -> None:
    source = "import keras\nkeras.layers.Dense(1)\nkeras.config.set_floatx('float16')\nkeras.layers.Dense(1)"
    assert policies(source, "3") == ["float32", "float32"]


def test_clear_session_takes_the_policy_of_floatx() -> None:
    source = (
        "import keras\nkeras.config.set_floatx('bfloat16')\nkeras.config.set_dtype_policy('mixed_float16')\n"
        "keras.utils.clear_session()\nkeras.layers.Dense(1)"
    )
    assert policies(source, "3") == ["bfloat16"]


def test_a_caught_exception_is_no_fault() -> None:
    setter = "keras.config.set_dtype_policy('mixed_fp16')"
    _, (bare,) = worlds("3", main=f"import keras\n{setter}")
    assert [refused.name for refused in History(bare).refused()] == ["mixed_fp16"]
    _, caught = worlds("3", main=f"import keras\ntry:\n    {setter}\nexcept ValueError:\n    pass")
    assert not [refused for world in caught for refused in History(world).refused()]


def test_none_is_no_policy() -> None:
    """Keras 3 refuses it."""
    source = (
        "from tensorflow import keras\nkeras.mixed_precision.set_global_policy('mixed_float16')\n"
        "keras.mixed_precision.set_global_policy(None)\nkeras.backend.set_floatx('float16')\nkeras.layers.Dense(1)"
    )
    assert policies(source, "2") == ["float16"]


@pytest.mark.parametrize(("generation", "expected"), [("2", "mixed_float16"), ("3", "float16")])
def test_floatx_counts_again_behind_clear_session(generation: str, expected: str) -> None:
    source = (
        "from tensorflow import keras\nkeras.mixed_precision.set_global_policy('mixed_float16')\n"
        "keras.backend.clear_session()\nkeras.backend.set_floatx('float16')\nkeras.layers.Dense(1)"
    )
    assert policies(source, generation) == [expected]


@pytest.mark.parametrize("generation", ["2", "3"])
def test_of_a_dtype_that_is_no_float_nothing_is_known(generation: str) -> None:
    assert policies("from tensorflow import keras\nkeras.layers.Dense(1, dtype='int32')", generation) == [None]


def test_a_copy_of_keras_with_a_policy_of_its_own_is_not_forgotten() -> None:
    source = "import keras, tf_keras\nkeras.config.set_dtype_policy('mixed_float16')\ntf_keras.layers.Dense(1)\n"
    _, (forgotten,) = worlds("3", main=source)
    assert [stray.layers_from for stray in History(forgotten).stray()] == ["tf_keras"]
    _, (set_later,) = worlds("3", main=f"{source}tf_keras.mixed_precision.set_global_policy('mixed_float16')")
    assert not list(History(set_later).stray())


@pytest.mark.parametrize(
    ("layer", "count"),
    [
        ("layers.Dense(1, dtype='float16')", 1),
        ("layers.TimeDistributed(layers.Dense(1, dtype='float32'), dtype='float16')", 0),
        ("layers.TimeDistributed(layers.Dense(1, dtype='float16'), dtype='float32')", 1),
    ],
)
def test_variables_are_those_of_the_layer_inside(layer: str, count: int) -> None:
    _, (world,) = worlds("3", main=f"from tensorflow.keras import layers\n{layer}")
    assert [found.layers for found in History(world).half_variables()] == [1] * count


@pytest.mark.parametrize(("compiled", "count"), [("", 0), ("model.compile('sgd', 'mse')\n", 1)])
def test_half_variables_are_fine_where_a_model_only_predicts(compiled: str, count: int) -> None:
    source = (
        "from tensorflow import keras\nkeras.mixed_precision.set_global_policy('float16')\n"
        "model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])\nmodel.load_weights('w.weights.h5')\n"
        f"{compiled}model.predict(data)"
    )
    _, (world,) = worlds("3", main=source)
    assert [found.layers for found in History(world).half_variables()] == [1] * count


SMALL = """
import sys
from tensorflow import keras
{0}
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
{1}
"""


@pytest.mark.parametrize(
    ("does", "is_fault"),
    [
        ("model.save(sys.argv[1])", False),
        ("model.set_weights(sys.argv)\nmodel.save(sys.argv[1])", False),
        ("optimizer = keras.optimizers.Adam()\nmodel.save(sys.argv[1])", True),
        ("optimizer = kit.optimizer()\nmodel.save(sys.argv[1])", False),
        ("optimizer = kit.optimizer()\nmodel.save(sys.argv[1])\noptimizer.apply_gradients([])", True),
        ("optimizer = kit.optimizer()\nmodel.load_weights(sys.argv[1])", True),
        ("model.layers[0].weights[0].assign(sys.argv)\nmodel.fit(sys.argv)\nmodel.save(sys.argv[1])", True),
    ],
)
def test_half_variables_are_fine_where_weights_are_only_converted(does: str, is_fault: bool) -> None:
    kit = "from tensorflow import keras\ndef optimizer():\n    return keras.optimizers.Adam()\n"
    _, found = worlds("3", main=SMALL.format("import kit\nkeras.backend.set_floatx('float16')", does), kit=kit)
    assert any(any(History(world).half_variables()) for world in found) is is_fault


@pytest.mark.parametrize(
    ("before", "is_late"),
    [
        ("", True),
        ("model.compile('adam', 'mse')", True),
        ("model.load_weights(sys.argv[1])", True),
        ("model.predict(sys.argv)", False),
        ("model.compile('adam', 'mse')\nmodel.fit(sys.argv)", False),
        ("keras.backend.clear_session()", True),
    ],
)
def test_what_is_run_before_the_policy_is_a_phase_of_its_own(before: str, is_late: bool) -> None:
    after = f"{before}\nkeras.mixed_precision.set_global_policy('mixed_float16')\nmodel.fit(sys.argv)"
    _, found = worlds("2", main=SMALL.format("", after))
    assert any(any(History(world).late()) for world in found) is is_late


NET = "import keras\nmodel = keras.Sequential([keras.Input((8,)), keras.layers.Dense(3)])\n"
LATE = "keras.config.set_dtype_policy('mixed_float16')\nmodel.compile('sgd', 'mse')\nmodel.fit(data)\n"


@pytest.mark.parametrize(
    ("main", "net", "count"),
    [
        (f"import keras\nfrom net import model\n{LATE}", NET, 1),
        (f"import keras\nimport net\nmodel = net.model\n{LATE}", NET, 1),
        (f"import keras\nfrom net import model\n{LATE}", f"{NET}model.load_weights('net.h5')\n", 1),
        (f"import keras\nfrom net import model\n{LATE}", f"{NET}model.fit(data)\n", 0),
        (f"import keras\nfrom net import model\n{LATE}", NET.replace("(3)", "(3, dtype='float32')"), 0),
        (f"{NET}model.compile('sgd', 'mse')\n{LATE}", "", 1),
        (f"{NET}model.compile('sgd', 'mse')\nmodel.fit(data)\n{LATE}", "", 0),
        (f"import other\n{NET}model.compile('sgd', 'mse')\nother.train(model)\n{LATE}", "", 0),
        (
            f"{NET}model.compile('sgd', 'mse')\nkeras.config.set_dtype_policy('mixed_float16')\n"
            "copy = keras.models.clone_model(model)\ncopy.compile('sgd', 'mse')\ncopy.fit(data)\n",
            "",
            1,
        ),
    ],
)
def test_a_policy_that_comes_after_the_model(main: str, net: str, count: int) -> None:
    _, (world,) = worlds("3", main=main, net=net)
    found = list(History(world).late())
    assert [late.whole for late in found] == [True] * count
