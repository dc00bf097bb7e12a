"""Which fault an end has, and when it has none."""

from __future__ import annotations

import textwrap

import pytest

from mplint.interpreter.ends import EndFault, faulty_ends
from mplint.interpreter.ineffective import ineffective
from mplint.interpreter.predict import output_dtypes
from tests.interpreter.programs import worlds

PRELUDE = """
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.mixed_precision.set_global_policy("{policy}")
inputs = keras.Input((8,))
"""


def faults(body: str, generation: str = "3", policy: str = "mixed_float16") -> set[EndFault]:
    _, found = worlds(generation, main=PRELUDE.format(policy=policy) + textwrap.dedent(body))
    return {fault for world in found for fault in EndFault if any(faulty_ends(world, fault))}


@pytest.mark.parametrize("generation", ["2", "3"])
@pytest.mark.parametrize(("activation", "fault"), [("None", EndFault.OUTPUT), ("'softmax'", EndFault.SOFTMAX)])
def test_under_a_pure_policy_the_policy_is_at_fault(activation: str, fault: EndFault, generation: str) -> None:
    body = f"model = keras.Model(inputs, layers.Dense(3, activation={activation})(inputs))"
    assert faults(body, generation, "float16") == {EndFault.PURE_POLICY}
    assert faults(body, generation) == {fault}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_cast_behind_a_softmax_comes_too_late(dtype: str) -> None:
    assert faults(f"""
        class Cast(layers.Layer):
            def call(self, x):
                return tf.cast(x, "{dtype}")

        model = keras.Model(inputs, Cast()(layers.Dense(3, activation="softmax")(inputs)))
    """) == {EndFault.SOFTMAX_CAST_AFTERWARDS}


TWO_LAYERS = """
end = layers.Dense(3, name="end")
model = keras.Model(inputs, end(layers.Dense(4)(inputs)))
model.compile("sgd", "mse")
"""


@pytest.mark.parametrize("layer", ["end", "model.layers[-1]", "model.get_layer('end')", "model.layers[1]"])
def test_a_graph_whose_policies_changed_is_not_judged(layer: str) -> None:
    assert faults(TWO_LAYERS) == {EndFault.OUTPUT}
    assert faults(f"{TWO_LAYERS}{layer}.dtype_policy = 'float32'") == set()


def test_a_model_that_a_strategy_runs_goes_where_it_cannot_be_followed() -> None:
    run = "strategy = tf.distribute.MirroredStrategy()\nstrategy.run({}, args=(model,))\n"
    made = "model = keras.Model(inputs, layers.Dense(3)(inputs))\n"
    assert faults(made + run.format("print").replace("(model,)", "()")) == {EndFault.OUTPUT}
    assert faults(made + run.format("step")) == set()


FLOAT32_IN_VAIN = """
class Net(keras.Model):
    def __init__(self, **options):
        super().__init__(**options)
        self.dense = layers.Dense(3)

    def call(self, x):
        return self.dense(x)

count = 0
def note():
    global count
    count += 1

for i in range({times}):
    for j in range({times}):
        note()
        note()
        note()
model = Net(dtype="float32")
model.compile("sgd", "mse")
"""


def test_of_a_run_that_was_cut_nothing_is_said() -> None:
    for times, count in (("1", 1), ("40", 0)):
        _, (world,) = worlds(main=PRELUDE.format(policy="mixed_float16") + FLOAT32_IN_VAIN.format(times=times))
        assert world.trace.cut == (count == 0)
        assert len(list(ineffective(world))) == count


BLOCK = """
OPTIONS = {{"dtype": "float32"}}

class Block(layers.Layer):
    def __init__(self, **options):
        super().__init__(**options)
        self.dense = layers.Dense(3)

    def call(self, x):
        return self.dense(x)

model = keras.Model(inputs, Block({options})(inputs))
"""


@pytest.mark.parametrize("generation", ["2", "3"])
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("dtype='float32'", ["dtype='float32'"]),
        ("**OPTIONS", ["super().__init__(**options)"]),
        ("dtype='float32', autocast=False", []),
    ],
)
def test_where_float32_was_asked_for_in_vain(options: str, expected: list[str], generation: str) -> None:
    _, (world,) = worlds(generation, main=PRELUDE.format(policy="mixed_float16") + BLOCK.format(options=options))
    places = [found.at for found in ineffective(world)]
    spans = [place.source.span(place.node) for place in places]
    assert [place.source.text[span.start : span.end] for place, span in zip(places, spans, strict=True)] == expected


@pytest.mark.parametrize("function", ["logsumexp", "normalize"])
def test_nothing_is_said_where_a_keras_tensor_says_another_dtype_than_the_model_computes(function: str) -> None:
    """Keras 3.15: the KerasTensor is float32, what the model gives is float16."""
    source = f"""
import keras
keras.mixed_precision.set_global_policy("mixed_float16")
inputs = keras.Input((8,))
model = keras.Model(inputs, keras.ops.{function}(keras.layers.Dense(3)(inputs), axis=-1))
"""
    assert output_dtypes(source, "3") == {"model": [None]}


PREDICTING = """
import numpy as np
from sklearn.model_selection import train_test_split
from data import rows, labels

end = keras.Model(inputs, layers.Dense(8)(inputs))
head = keras.Sequential([keras.Input((8,)), layers.Dense(3, dtype="float32")])
"""


@pytest.mark.parametrize(
    "data",
    [
        "end.predict(rows) / np.linalg.norm(rows)",
        "np.concatenate([end.predict(rows), end.predict(rows)])",
        "np.array([end.predict(row)[0] for row in rows])",
        "np.array([end.predict(row)[0] for row in rows], dtype='float32')",
        "end.predict(rows)[:, :8]",
        "train_test_split(end.predict(rows), labels)[0]",
        "tf.data.Dataset.from_tensor_slices((end.predict(rows), labels))",
        "tf.data.Dataset.from_tensor_slices((end.predict(rows), labels)).batch(32)",
    ],
)
def test_a_model_whose_predictions_are_worked_with_on_the_way_to_another_is_a_step(data: str) -> None:
    assert faults(f"{PREDICTING}head.fit({data}, labels)") == set()


@pytest.mark.parametrize(
    "used",
    [
        "head.fit(rows, np.concatenate([end.predict(rows), labels]))",
        "head.fit(rows[np.argmax(end.predict(rows), axis=1)], labels)",
        "head.fit(rows, labels)\nnp.concatenate([end.predict(rows), rows])",
        "end.fit(np.concatenate([rows, end.predict(rows)]), labels)",
        "score = np.mean(end.predict(rows) > labels)\nhead.fit(rows if score else labels, labels)",
    ],
)
def test_predictions_that_are_no_data_of_another_model_make_no_step(used: str) -> None:
    assert faults(f"{PREDICTING}{used}") == {EndFault.OUTPUT}


@pytest.mark.parametrize("does", ["fit", "train_on_batch", "test_on_batch", "predict_on_batch", "evaluate"])
def test_a_model_that_is_a_pattern_for_others_is_an_end_where_it_runs_itself(does: str) -> None:
    pattern = "model = keras.Model(inputs, layers.Dense(3)(inputs))\nconfig = model.get_config()\n"
    assert faults(pattern) == set()
    assert faults(f"{pattern}model.{does}(rows)") == {EndFault.OUTPUT}
