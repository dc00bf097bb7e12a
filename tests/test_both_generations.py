"""Files that are written for both generations of Keras: a fault in one generation's branch is reported for that one."""

from __future__ import annotations

from pathlib import Path

import pytest

from mplint.analysis import Report, analyze
from mplint.project import generation
from mplint.project.modules import Project
from mplint.settings import Settings

MODEL = """
inputs = keras.Input((8,))
x = layers.Dense(16)(inputs)
if {condition}:
    outputs = layers.Dense(10, activation="softmax")(x)
else:
    outputs = layers.Dense(10, activation="softmax", dtype="float32")(x)
model = keras.Model(inputs, outputs)
model.compile("adam", "mse")
"""
HEAD = """
from tensorflow import keras
from tensorflow.keras import layers
keras.mixed_precision.set_global_policy("mixed_float16")
"""


@pytest.fixture(autouse=True)
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is installed beside mplint would say which Keras it is."""
    monkeypatch.setattr(generation, "_installed", dict)


def found(root: Path, **files: str) -> Report:
    contents = {root / f"{name}.py": text.encode() for name, text in files.items()}
    return analyze(Project(root, list(contents), contents), list(contents), Settings(root=root))


@pytest.mark.parametrize(
    ("condition", "only"),
    [
        ("keras.__version__.startswith('3')", "3"),
        ("keras.__version__.startswith('2')", "2"),
        ("hasattr(keras, 'ops')", "3"),
        ("not hasattr(keras, 'ops')", "2"),
    ],
)
def test_a_fault_in_one_branch(tmp_path: Path, condition: str, only: str) -> None:
    report = found(tmp_path, main=HEAD + MODEL.format(condition=condition))
    (finding,) = report.findings
    assert (finding.code, finding.keras) == ("MP101", only)
    assert not any("generation" in note for note in report.notes)


def test_the_question_may_be_asked_in_another_file(tmp_path: Path) -> None:
    compat = "import keras\n\ndef is_keras_3():\n    return int(keras.__version__.split('.')[0]) >= 3\n"
    report = found(
        tmp_path, main="from compat import is_keras_3\n" + HEAD + MODEL.format(condition="is_keras_3()"), compat=compat
    )
    assert [(finding.code, finding.keras) for finding in report.findings] == [("MP101", "3")]


def test_a_fault_in_both_is_one(tmp_path: Path) -> None:
    report = found(tmp_path, main=HEAD + MODEL.format(condition="True or keras.__version__ > '3'"))
    assert [(finding.code, finding.keras) for finding in report.findings] == [("MP101", None)]


def test_nothing_is_said_of_one_generation_where_the_question_cannot_be_followed(tmp_path: Path) -> None:
    text = HEAD + MODEL.format(condition="keras.__version__.startswith('3')")
    assert found(tmp_path, main=text).findings
    assert not found(tmp_path, main=f"{text}known = check(keras.__version__) or keras.__version__ > newest\n").findings


def test_a_rewrite_holds_in_both(tmp_path: Path) -> None:
    """Where the other generation runs the same expression, no function of one of them is called."""
    text = """
import keras
K3 = keras.__version__.startswith("3")
keras.mixed_precision.set_global_policy("mixed_float16" if K3 else "float32")


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(8)

    def call(self, x):
        return self.dense(x) * 2


net = Net()
net.compile("adam", "mse")
net.fit(data, targets)
"""
    (finding,) = found(tmp_path, main=text).findings
    assert (finding.code, finding.keras) == ("MP102", "3")
    assert finding.fix is None
