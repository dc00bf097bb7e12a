"""What is configured for some files only: the generation of Keras, and a policy that is taken as set."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mplint.analysis import analyze
from mplint.per_file import PerFile
from mplint.project import generation
from mplint.project.modules import Project
from mplint.settings import Settings

LIBRARY = """
from tensorflow import keras
from tensorflow.keras import layers


def build(classes):
    inputs = keras.Input((8,))
    outputs = layers.Dense(classes, activation="softmax")(inputs)
    return keras.Model(inputs, outputs)
"""
APP = """
from lib.models import build

model = build(10)
model.compile("adam", "mse")
"""


@pytest.fixture(autouse=True)
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is installed beside mplint would say which Keras it is."""
    monkeypatch.setattr(generation, "_installed", dict)


def found(root: Path, files: dict[str, str], **settings: object) -> list[tuple[str, str, str | None]]:
    contents = {root / name: text.encode() for name, text in files.items()}
    configured = Settings.load(root, isolated=True, overrides=settings)
    report = analyze(Project(root, list(contents), contents), list(contents), configured)
    return [(finding.path.relative_to(root).as_posix(), finding.code, finding.keras) for finding in report.findings]


FILES = {"lib/__init__.py": "", "lib/models.py": LIBRARY, "other.py": LIBRARY.replace("build", "make")}


@pytest.mark.parametrize("app", [{}, {"app.py": APP}])
def test_a_policy_is_assumed_in_some_files(tmp_path: Path, app: dict[str, str]) -> None:
    """In a file that other files use as well: those run in float32."""
    files = {**FILES, **app}
    assert found(tmp_path, files, per_file_assume_policy={"lib/": "mixed_float16"}) == [
        ("lib/models.py", "MP101", None)
    ]
    assert found(tmp_path, files) == []
    both = [("lib/models.py", "MP101", None), ("other.py", "MP101", None)]
    assert found(tmp_path, files, assume_policy="mixed_float16") == both
    but = {"assume_policy": "mixed_float16", "per_file_assume_policy": {"/*.py": "none"}}
    assert found(tmp_path, files, **but) == both[:1]


def test_what_is_assumed_of_a_program_goes_where_it_calls(tmp_path: Path) -> None:
    files = {**FILES, "app.py": APP}
    assert found(tmp_path, files, per_file_assume_policy={"app.py": "mixed_float16"}) == [
        ("lib/models.py", "MP101", None)
    ]


def test_where_a_policy_is_set_is_told_rather_than_that_it_is_assumed(tmp_path: Path) -> None:
    setter = "import tensorflow as tf\ntf.keras.mixed_precision.set_global_policy('mixed_float16')\n"
    app = APP.replace("\nmodel =", f"{setter}model =")
    contents = {tmp_path / name: text.encode() for name, text in {**FILES, "app.py": app}.items()}
    for assumed in ({}, {"per_file_assume_policy": {"!other.py": "mixed_float16"}}):
        flags = {"assume_policy": "mixed_bfloat16" if assumed else "mixed_float16", **assumed}
        settings = Settings.load(tmp_path, isolated=True, overrides=flags)
        report = analyze(Project(tmp_path, list(contents), contents), list(contents), settings)
        messages = {finding.path.name: finding.message for finding in report.findings}
        assert "(mixed_float16 is set at app.py:4, reaches here through build (app.py:5))" in messages["models.py"]
        assert messages["other.py"].endswith(f"({flags['assume_policy']} is assumed)")


def test_a_policy_that_a_program_sets_goes_before_what_is_assumed(tmp_path: Path) -> None:
    setter = "import tensorflow as tf\ntf.keras.mixed_precision.set_global_policy('float32')\n"
    assert found(tmp_path, {"app.py": setter + LIBRARY}, per_file_assume_policy={"*.py": "mixed_float16"}) == []


def test_the_generation_of_some_files(tmp_path: Path) -> None:
    """`set_floatx` after the first layer changes the policy in Keras 2 alone."""
    text = """
from tensorflow import keras
keras.layers.Dense(1)
keras.backend.set_floatx("float16")
keras.layers.Dense(1)
"""
    files = {"legacy/a.py": text, "new/b.py": text}
    assert found(tmp_path, files) == []
    assert found(tmp_path, files, per_file_keras={"legacy/": "2", "new/": "3"}) == [("legacy/a.py", "MP402", "2")]


def test_a_file_has_the_generation_that_is_configured_for_all_that_import_it(tmp_path: Path) -> None:
    files = {"shared.py": LIBRARY, "legacy/a.py": "import shared\n", "legacy/b.py": "import shared\n"}
    contents = {tmp_path / name: text.encode() for name, text in files.items()}
    settings = Settings(root=tmp_path, per_file_keras=(("legacy/", "2"),))
    evidence = PerFile(Project(tmp_path, list(contents), contents), settings).evidence(tmp_path / "shared.py")
    assert (evidence.generation, evidence.why) == ("2", "per-file-keras says 2 for legacy/, which imports it")
    both = replace(settings, per_file_keras=(("legacy/a.py", "2"), ("legacy/b.py", "3")))
    evidence = PerFile(Project(tmp_path, list(contents), contents), both).evidence(tmp_path / "shared.py")
    assert evidence.generation is None
    contents[tmp_path / "new.py"] = b"import shared\n"
    evidence = PerFile(Project(tmp_path, list(contents), contents), settings).evidence(tmp_path / "shared.py")
    assert evidence.why != "per-file-keras says 2 for legacy/, which imports it"


def test_what_is_configured_goes_before_what_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generation, "_installed", lambda: {"keras": "3.0.0", "tensorflow": "2.18.0"})
    contents = {tmp_path / "shared.py": LIBRARY.encode(), tmp_path / "legacy.py": b"import shared\n"}
    project = Project(tmp_path, list(contents), contents)

    def found(**tables: str) -> str | None:
        settings = Settings(root=tmp_path, per_file_keras=tuple(tables.items()))
        return PerFile(project, settings).generation(tmp_path / "shared.py")

    assert found() == "3"
    assert found(**{"legacy.py": "2"}) == "2"
    assert found(**{"shared.py": "auto"}) == "3"
