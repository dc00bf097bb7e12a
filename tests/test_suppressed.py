"""Comments that suppress findings, and those that suppress none, in whole runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from mplint.analysis import analyze
from mplint.fixer import fix
from mplint.project.modules import Project
from mplint.settings import Settings

PROGRAM = """\
from {keras} import keras
from {keras}.keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")
inputs = keras.Input((4,))
outputs = layers.Dense(4{dtype}, activation="softmax")(inputs)  # {comment}
model = keras.Model(inputs, outputs)
"""


def text(comment: str, *, dtype: str = "", keras: str = "tensorflow") -> str:
    return PROGRAM.format(comment=comment, dtype=f", dtype={dtype!r}" if dtype else "", keras=keras)


def found(folder: Path, source: str, **settings: object) -> list[str]:
    path = folder / "train.py"
    path.write_text(source)
    options = Settings.load(folder, isolated=True, overrides={"keras": "3", **settings})
    return [finding.code for finding in analyze(Project(folder, [path]), [path], options).findings]


@pytest.mark.parametrize(
    ("comment", "codes"),
    [
        ("noqa: MP101", []),
        ("noqa: MP101, MP102", ["MP002"]),
        ("noqa: MP102", ["MP002", "MP101"]),
        ("mplint: ignore", []),
        ("mplint: ignore[MP1]", []),
        ("noqa", []),
    ],
)
def test_what_is_left(comment: str, codes: list[str], tmp_path: Path) -> None:
    assert sorted(found(tmp_path, text(comment))) == codes
    assert ("MP002" in found(tmp_path, text(comment, dtype="float32"))) == (comment != "noqa")


def test_a_rule_that_is_not_selected_may_need_its_comment(tmp_path: Path) -> None:
    healed = text("noqa: MP101", dtype="float32")
    assert found(tmp_path, healed) == ["MP002"]
    assert found(tmp_path, healed, select="MP002,MP102") == []
    assert found(tmp_path, healed, select="MP1") == []
    assert found(tmp_path, healed, ignore="MP101") == []
    assert found(tmp_path, healed, per_file_ignores={"train.py": ["MP101"]}) == []
    assert found(tmp_path, healed, per_file_ignores={"train.py": ["MP002"]}) == []
    assert found(tmp_path, healed, per_file_ignores={"other.py": ["MP101"]}) == ["MP002"]


def test_a_file_need_not_be_about_keras(tmp_path: Path) -> None:
    assert found(tmp_path, "x = 1  # noqa: MP101\n") == ["MP002"]


def test_a_file_that_does_not_parse_has_only_that_fault(tmp_path: Path) -> None:
    assert found(tmp_path, "x = (  # noqa: MP101\n") == ["MP001"]


def test_what_is_wrong_in_one_generation_only_may_be_suppressed(tmp_path: Path) -> None:
    source = """\
from tensorflow import keras
from tensorflow.keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")
inputs = keras.Input((3, 4))
outputs = layers.TimeDistributed(layers.Dense(4), dtype="float32")(inputs)  # noqa: MP105
model = keras.Model(inputs, outputs)
"""
    assert found(tmp_path, source, keras="auto") == []
    assert found(tmp_path, source, keras="2") == []
    assert found(tmp_path, source, keras="3") == ["MP002"]


def test_fixing_leaves_what_is_suppressed(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(text("noqa: MP101, MP102"))
    settings = Settings(root=tmp_path, keras="3")
    outcome = fix(Project(tmp_path, [path]), [path], settings, unsafe=True)
    assert outcome.files == {path: text("noqa: MP101")}
    assert not outcome.left.findings
