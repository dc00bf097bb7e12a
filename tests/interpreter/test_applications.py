"""What is known of the models of keras.applications, inside and at their ends."""

from __future__ import annotations

import textwrap

import pytest

from mplint import keras_api
from mplint.interpreter.predict import output_dtypes
from mplint.interpreter.values import Unknown
from tests.interpreter.programs import worlds

GENERATIONS = ("2", "3")
PRELUDE = """
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers
from tensorflow.keras.applications import MobileNetV2

keras.mixed_precision.set_global_policy("mixed_float16")
"""


def dtypes(body: str, generation: str = "3") -> list[str | None]:
    return output_dtypes(PRELUDE + textwrap.dedent(body), generation)["model"]


def ends(body: str, generation: str = "3") -> list[tuple[str | None, bool]]:
    """The dtype of each end, and whether it is a softmax."""
    _, found = worlds(generation, main=PRELUDE + textwrap.dedent(body))
    return [(end.dtype, end.softmax is not None) for end in found[0].model_ends()]


@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize(
    "call",
    [
        "MobileNetV2()",
        "MobileNetV2((96, 96, 3), 0.35, True, None)",
        "keras.applications.mobilenet_v2.MobileNetV2(weights=None)",
        "getattr(keras.applications, 'MobileNet')(weights=None)",
        "keras.applications.EfficientNetB0(classifier_activation=tf.nn.softmax)",
        "tf.keras.applications.ResNet50V2(classifier_activation=keras.activations.softmax)",
    ],
)
def test_with_its_top_it_ends_in_a_softmax(call: str, generation: str) -> None:
    assert ends(f"model = {call}", generation) == [("float16", True)]


@pytest.mark.parametrize("arguments", ["classifier_activation=None", "classifier_activation='sigmoid'"])
def test_another_activation(arguments: str) -> None:
    assert ends(f"model = MobileNetV2({arguments})") == [("float16", False)]


def test_the_policy_of_the_call_counts() -> None:
    assert dtypes("""
        model = MobileNetV2()
        keras.mixed_precision.set_global_policy("float32")
    """) == ["float16"]
    assert dtypes("""
        keras.mixed_precision.set_global_policy("float32")
        model = MobileNetV2()
    """) == ["float32"]


def test_without_its_top_it_is_no_end_until_it_is_trained() -> None:
    assert dtypes("model = MobileNetV2(include_top=False)") == ["float16"]
    assert ends("model = MobileNetV2(include_top=False)") == []
    assert ends("""
        model = MobileNetV2(include_top=False, pooling="avg")
        model.compile("adam", "mse")
    """) == [("float16", False)]


@pytest.mark.parametrize("arguments", ["include_top=flag", "**settings", "*shape", "include_top=len(names)"])
def test_whether_it_has_its_top_may_not_be_known(arguments: str) -> None:
    assert (
        ends(f"""
        model = MobileNetV2({arguments})
        model.compile("adam", "mse")
    """)
        == []
    )


def test_a_known_argument_beside_unknown_ones() -> None:
    assert ends("model = MobileNetV2(include_top=True, classifier_activation='softmax', **settings)") == [
        ("float16", True)
    ]


def test_an_activation_of_the_program() -> None:
    casts = "lambda x: tf.nn.softmax(tf.cast(x, 'float32'))"
    assert dtypes(f"model = MobileNetV2(classifier_activation={casts})") == ["float32"]
    assert dtypes("model = MobileNetV2(classifier_activation=activation)") == [None]


@pytest.mark.parametrize("generation", GENERATIONS)
def test_its_graph_is_a_part_of_others(generation: str) -> None:
    assert ends(
        """
        image = keras.Input((32, 32, 3))
        base = MobileNetV2(include_top=False, input_tensor=layers.Rescaling(2.0)(image))
        model = keras.Model(base.input, layers.Dense(3, activation="softmax", dtype="float32")(base.output))
        """,
        generation,
    ) == [("float32", True)]


def test_the_input_of_one_that_is_built_on_layers() -> None:
    _, found = worlds(
        main=PRELUDE
        + textwrap.dedent("""
            image = keras.Input((32, 32, 3))
            base = MobileNetV2(include_top=False, input_tensor=layers.Rescaling(2.0)(image))
            source = base.input
        """)
    )
    left = dict(found[0].module_bindings(found[0].path))
    assert left["source"] == left["image"]


def test_the_input_of_one_that_is_built_on_two_is_not_known() -> None:
    _, (world,) = worlds(
        main=PRELUDE
        + textwrap.dedent("""
            images = [keras.Input((32, 32, 3)), keras.Input((32, 32, 3))]
            base = MobileNetV2(include_top=False, input_tensor=layers.Add()(images))
            source = base.input
        """)
    )
    assert isinstance(dict(world.module_bindings(world.path))["source"], Unknown)


def test_its_name_is_that_of_a_layer() -> None:
    assert dtypes("""
        whole = keras.Sequential([MobileNetV2(name="base", include_top=False), layers.Flatten(dtype="float32")])
        base = whole.get_layer("base")
        model = keras.Model(base.input, base.output)
    """) == ["float16"]


def test_each_copy_of_keras_builds_under_its_own_policy() -> None:
    assert dtypes("""
        import tf_keras
        model = tf_keras.applications.MobileNetV2()
    """) == ["float32"]


def test_layers_by_name() -> None:
    assert dtypes("""
        base = MobileNetV2()
        names = ["block_1_expand", "block_3_expand"]
        model = keras.Model(base.inputs, [base.get_layer(name).output for name in names] + [base.output])
    """) == ["float16", "float16", "float16"]
    assert ends("""
        base = MobileNetV2()
        model = keras.Model(base.input, base.get_layer("predictions").output)
    """) == [("float16", True)]
    assert (
        dtypes("""
        base = MobileNetV2()
        model = keras.Model(base.input, base.get_layer("input_1").output)
    """)
        == []
    )


def test_any_of_its_layers_may_be_any_of_them() -> None:
    assert ends("""
        base = MobileNetV2()
        for layer in base.layers[:-4]:
            layer.trainable = False
        model = keras.Model(base.input, base.layers[-2].output)
    """) == [("float16", False)]


def test_an_application_that_was_not_measured() -> None:
    assert keras_api.application("keras.applications.MobileNetV9", "3") is None
    assert keras_api.application("keras.layers.Dense", "3") is None


def test_every_application_was_measured() -> None:
    """In each generation that has it, under both mixed policies."""
    for path in keras_api.names():
        if keras_api.kind(path) is keras_api.Kind.APPLICATION:
            for generation in keras_api.generations(path):
                found = keras_api.application(path, generation)
                assert found is not None, (path, generation)
                assert {"mixed_float16", "mixed_bfloat16", "float32"} <= set(found.output_dtypes), (path, generation)


def test_a_spelling_of_an_older_module() -> None:
    found = keras_api.application("tf_keras.applications.resnet50.ResNet50", "2")
    assert found is not None
    assert found.head == "keras.layers.Dense"
    assert found.output_dtypes["mixed_float16"] == "float16"


@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize("module", ["mobilenet_v2", "resnet50", "efficientnet", "densenet"])
def test_preprocessing_keeps_the_dtype_of_the_image(module: str, generation: str) -> None:
    """So that a model behind it is seen to be a part of another."""
    assert ends(
        f"""
        image = keras.Input((32, 32, 3))
        prepared = keras.applications.{module}.preprocess_input(image)
        model = keras.Model(image, layers.Dense(1, dtype="float32")(MobileNetV2()(prepared)))
        """,
        generation,
    ) == [("float32", False)]
