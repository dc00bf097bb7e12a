"""Programs that really run beside what is predicted of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from mplint.project.modules import Project
from mplint.verify.audit import Verdict
from mplint.verify.judge import Outcome
from mplint.verify.prove import Audited, Options, audit_predictions
from mplint.verify.target import Target
from tests.house.repository import ROOT

pytestmark = [pytest.mark.verify, pytest.mark.slow, pytest.mark.xdist_group("verify")]

PROGRAM = """\
import functools

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")


class Gate(layers.Layer):
    def __init__(self, **options):
        super().__init__(**options)
        self.inner = [layers.Dense(4, dtype=self.dtype_policy) for _ in range(2)]
        self.count = tf.Variable(0, trainable=False)

    def build(self, shape):
        self.scale = self.add_weight(
            shape=(4,), name="scale"
        )

    def call(self, x):
        for layer in self.inner:
            x = layer(x)
        return {"sum": x * self.scale, "raw": tf.cast(x, tf.float32)}


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.gate = Gate(dtype="mixed_bfloat16")
        self.head = layers.Dense(2, dtype="float32")

    def call(self, x):
        return self.head(self.gate(x)["sum"])


Wide = functools.partial(layers.Dense, 8)
inputs = keras.Input((8,))
x = layers.add([Wide()(inputs), layers.Flatten()(inputs)])
x = layers.Reshape((2, 4))(x)
sequence, state = layers.GRU(4, return_sequences=True, return_state=True)(x)
x = layers.MultiHeadAttention(2, 4)(sequence, sequence)
model = keras.Model(inputs, {"b": layers.Activation("softmax", dtype="float32")(x), "a": state})

net = Net()
net.compile("sgd", "mse")
net.fit(np.zeros((64, 8), "float32"), np.zeros((64, 2), "float32"), epochs=9)
"""


def audit(target: Target, folder: Path, **options: str) -> Audited:
    return audit_predictions(
        target,
        Options(timeout=200, **options),  # type: ignore[arg-type]
        project=Project.at(folder),
        folder=folder,
    )


@pytest.mark.parametrize("keras", ["2", "3"])
def test_all_that_a_program_makes(tmp_path: Path, keras: str) -> None:
    path = tmp_path / "train.py"
    path.write_text(PROGRAM, encoding="utf-8")
    audited = audit(Target(file=path), tmp_path, keras=keras)
    assert audited.judgement.reasons == ()
    assert not audited.tally.of(Verdict.DIFFERS)
    real = {(fact.row, fact.kind, fact.about, fact.real) for fact in audited.tally.of(Verdict.AGREES)}
    assert real >= {
        (14, "Dense", "policy", "bfloat16 / float32"),
        (14, "Dense", "output", "bfloat16"),
        (18, "variable", "variables", "float32"),
        (31, "Gate", "policy", "bfloat16 / float32"),
        (31, "Gate", "output", "float32, bfloat16"),
        (32, "Dense", "output", "float32"),
        (40, "Dense", "output", "float16"),
        (40, "Add", "output", "float16"),
        (42, "GRU", "output", "float16, float16"),
        (43, "MultiHeadAttention", "output", "float16"),
        (44, "Functional", "output", "float16, float32"),
        (46, "Net", "output", "float32"),
        (0, "model", "output", "float16, float32"),
    }
    assert (15, "variable", "variables", "int32") in real
    assert {kind for _, kind, _, _ in real}.isdisjoint({"EinsumDense", "Softmax", "InputLayer", "GRUCell"})


@pytest.mark.parametrize("keras", ["2", "3"])
def test_the_example(keras: str) -> None:
    folder = ROOT / "examples" / "digits"
    audited = audit(Target(file=folder / "train.py"), folder, keras=keras)
    assert audited.outcome is Outcome.VERIFIED
    assert set(audited.tally.facts) == set(audited.tally.of(Verdict.AGREES))
    assert len(audited.tally.facts) > 10


def test_a_policy_from_the_start_on(tmp_path: Path) -> None:
    path = tmp_path / "build.py"
    path.write_text(
        "from tensorflow import keras\n\n\n"
        "def build():\n"
        "    return keras.Sequential([keras.Input((4,)), keras.layers.Dense(3)])\n"
    )
    audited = audit(Target(file=path, factory="build"), tmp_path, policy="mixed_bfloat16")
    assert [(fact.real, fact.verdict) for fact in audited.tally.facts if fact.about == "policy"] == [
        ("bfloat16 / float32", Verdict.AGREES)
    ] * 2


def test_a_program_that_fails_proves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("import tensorflow as tf\n\nlayer = tf.keras.layers.Dense(3)\nraise SystemExit(2)\n")
    assert audit(Target(file=path), tmp_path).outcome is Outcome.INCONCLUSIVE
