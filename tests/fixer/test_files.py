"""Fixes that lie in several files, or in others than what is found: all or nothing, and in named files only."""

from __future__ import annotations

from pathlib import Path

import pytest

from mplint.findings import Applicability
from mplint.fixer import Outcome, fix, look
from mplint.project.modules import Project
from mplint.settings import Settings

PARTS = """
from tensorflow import keras


def probabilities(classes):
    return keras.layers.Dense(classes, activation="softmax")
"""
NET = """
from tensorflow import keras

from models.parts import probabilities

keras.mixed_precision.set_global_policy("mixed_float16")
inputs = keras.Input((8, 8))
outputs = keras.layers.TimeDistributed(probabilities(10))(inputs)
model = keras.Model(inputs, outputs)
model.compile("adam", "mse")
"""
OTHER = NET.replace("keras.layers.TimeDistributed(probabilities(10))", "probabilities(10)")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "models").mkdir()
    for name, text in {"net.py": NET, "other.py": OTHER, "models/__init__.py": "", "models/parts.py": PARTS}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def project(root: Path, *but: str) -> Project:
    return Project(root, [path for path in sorted(root.rglob("*.py")) if path.name not in but])


def fixed(root: Path, *names: str, but: tuple[str, ...] = ("other.py",), untouched: str = "") -> Outcome:
    refused = {root / untouched: "refuted"} if untouched else {}
    settings = Settings(root=root, keras="3")
    return fix(project(root, *but), [root / name for name in names], settings, unsafe=False, untouched=refused)


def test_a_fix_in_two_named_files_is_made_in_both(root: Path) -> None:
    outcome = fixed(root, "net.py", "models/parts.py")
    assert sorted(path.relative_to(root).as_posix() for path in outcome.files) == ["models/parts.py", "net.py"]
    assert all('dtype="float32"' in text for text in outcome.files.values())
    assert (len(outcome.applied), outcome.left.findings) == (1, ())
    assert not any("lies" in note for note in outcome.left.notes)


def test_a_fix_that_lies_in_a_file_that_is_not_named_is_shown(root: Path) -> None:
    outcome = fixed(root, "net.py")
    assert outcome.files == {}
    (finding,) = outcome.left.findings
    assert finding.fix is not None
    assert finding.fix.applicability is Applicability.DISPLAY
    assert finding.fix.message.endswith("(not made: models/parts.py is not among the files to check)")
    assert {edit.path.name for edit in finding.fix.edits} == {"net.py", "parts.py"}
    assert "1 fix lies in models/parts.py, which was not named" in outcome.left.notes
    looked = look(project(root, "other.py"), [root / "net.py"], Settings(root=root, keras="3"))
    assert looked.left.notes == outcome.left.notes


def test_what_is_found_in_a_file_that_is_not_named_is_neither_told_nor_mended(root: Path) -> None:
    outcome = fixed(root, "models/parts.py")
    assert (outcome.files, outcome.left.findings, outcome.left.notes) == ({}, (), ())


def test_a_fix_where_it_is_found_is_made_whatever_calls_it(root: Path) -> None:
    outcome = fixed(root, "models/parts.py", but=("net.py",))
    assert [path.name for path in outcome.files] == ["parts.py"]
    assert fixed(root, "other.py", but=("net.py",)).files == {}


def test_a_fix_is_not_made_in_half_of_its_files(root: Path) -> None:
    outcome = fixed(root, "net.py", "models/parts.py", untouched="models/parts.py")
    assert outcome.files == {}
    (finding,) = outcome.left.findings
    assert finding.fix is not None
    assert finding.fix.message.endswith("(not made: refuted)")


def test_several_are_counted(root: Path) -> None:
    second = (
        "others = keras.layers.TimeDistributed(probabilities(3))(inputs)\n"
        "model = keras.Model(inputs, [outputs, others])"
    )
    (root / "net.py").write_text(NET.replace("model = keras.Model(inputs, outputs)", second))
    outcome = fixed(root, "net.py")
    assert len(outcome.left.findings) == 2
    assert "2 fixes lie in models/parts.py, which was not named" in outcome.left.notes
