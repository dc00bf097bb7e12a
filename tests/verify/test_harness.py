"""What the harness knows without TensorFlow."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

import pytest

from mplint.verify import harness


@pytest.mark.parametrize(
    ("after", "places"),
    [
        ("a = 1\nb = 2\nc = 3\n", []),
        ("a = 1\nb = 20\nc = 3\n", [(2, 2)]),
        ("a = 1\nb = (\n    2\n    + 3\n)\nc = 3\n", [(2, 5)]),
        ("a = 1\nc = 3\n", [(2, 2)]),
        ("a = 1\nb = 2\n# a comment\nc = 3\n", []),
        ("a = 1\nif a:\n    b = 2\nc = 3\n", [(2, 2), (3, 3)]),
        ('a = 1\nb = 2\n"""Words."""\nc = 3\n', []),
        ("a = 1\nb = 2\nc = )\n", [(1, 4)]),
    ],
)
def test_changed_places(after: str, places: list[tuple[int, int]]) -> None:
    assert harness.changed_places("a = 1\nb = 2\nc = 3\n", after) == places


def test_a_decorator_belongs_to_the_header() -> None:
    before = "class A:\n    def f(self):\n        return 1\n"
    after = "class A:\n    @property\n    def f(self):\n        return 1\n"
    assert harness.changed_places(before, after) == [(2, 3)]


@pytest.mark.parametrize(
    ("text", "generation"),
    [
        ("import tensorflow as tf", None),
        ("from tensorflow.keras import layers", None),
        ("import tf_keras as keras", "2"),
        ("from tf_keras.layers import Dense", "2"),
        ("import keras", "keras"),
        ("from keras import layers", "keras"),
        ("from .keras import layers", None),
        ("import os\nos.environ['TF_USE_LEGACY_KERAS'] = '1'\nimport keras", "2"),
        ("import os\nos.environ.setdefault('TF_USE_LEGACY_KERAS', 'True')", "2"),
        ("import os\nos.environ.update(TF_USE_LEGACY_KERAS='1')", "2"),
        ("import os\nos.environ['TF_USE_LEGACY_KERAS'] = '0'", None),
        ("import os\nprint(os.environ.get('TF_USE_LEGACY_KERAS'))", None),
    ],
)
def test_generation(text: str, generation: str | None) -> None:
    assert harness.generation_of([ast.parse(text)]) == generation


@pytest.mark.parametrize(
    ("choice", "asked", "likely", "wanted"),
    [
        ("2", "keras", "3", "2"),
        ("auto", None, None, None),
        ("auto", "2", None, "2"),
        ("auto", None, "3", "3"),
        ("auto", "2", "3", "3"),
        ("auto", "keras", "2", "keras"),
        ("auto", None, "2", "2"),
    ],
)
def test_the_keras_to_run_with(
    monkeypatch: pytest.MonkeyPatch, choice: str, asked: str | None, likely: str | None, wanted: str | None
) -> None:
    monkeypatch.delenv(harness.LEGACY, raising=False)
    monkeypatch.setattr(harness, "has_package", lambda name: name == "tf_keras")
    assert harness.wanted_keras(choice, asked, likely) == wanted
    monkeypatch.setenv(harness.LEGACY, "0")
    assert harness.wanted_keras(choice, asked, likely) == (choice if choice != "auto" else asked)
    monkeypatch.delenv(harness.LEGACY)
    monkeypatch.setattr(harness, "has_package", lambda name: False)
    assert harness.wanted_keras(choice, asked, likely) == (asked if (choice, likely) == ("auto", "2") else wanted)


def test_the_sources_of_a_project(tmp_path: Path) -> None:
    files = {
        "train.py": "import numpy\nimport helper\nfrom pkg.models import net",
        "helper.py": "x = 1",
        "src/pkg/__init__.py": "",
        "src/pkg/models/__init__.py": "from . import net",
        "src/pkg/models/net.py": "from ..data import load\nfrom .. import missing",
        "src/pkg/data.py": "import train",
        "unused.py": "import tf_keras",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    roots = [str(tmp_path), str(tmp_path / "src")]
    start = str(tmp_path / "train.py")
    found = {ast.unparse(tree) for tree in harness.project_sources(start, roots, harness.Overlay({}))}
    assert found == {ast.unparse(ast.parse(text)) for name, text in files.items() if name != "unused.py"}
    replaced = harness.Overlay({str(tmp_path / "helper.py"): "import tf_keras"})
    assert harness.generation_of(harness.project_sources(start, roots, replaced)) == "2"


def test_lines_that_run_are_noted(tmp_path: Path) -> None:
    path = tmp_path / "reached.py"
    path.write_text("never = 1\n")
    before = "def f(x):\n    if x:\n        return 1\n    return 2\n"
    after = "def f(x):\n    if x:\n        return 10\n    return 20\n"
    overlay = harness.Overlay({str(path): after})
    reach = harness.Reach(overlay, {str(path): before}, {str(path): after})
    assert reach.report()[str(path)]["loaded"] is False
    code = overlay.code(str(path))
    assert code is not None
    space: dict[str, Any] = {}
    with reach.watching():
        exec(code, space)
        assert space["f"](True) == 10
    assert reach.report() == {str(path): {"loaded": True, "places": [(3, 3), (4, 4)], "unreached": [(4, 4)]}}
    assert sys.gettrace() is None or "coverage" in sys.modules or "pydevd" in sys.modules


def test_quota() -> None:
    quota = harness.Quota(2, lambda: False)
    for trainer in ("a", "b", "a", "b"):
        quota.spend(trainer)
    with pytest.raises(harness.Enough):
        quota.spend("a")


def test_quota_waits_for_the_slowest_but_not_for_ever() -> None:
    quota = harness.Quota(2, lambda: False)
    quota.spend("slow")
    for _ in range(16):
        quota.spend("quick")
    with pytest.raises(harness.Enough):
        quota.spend("quick")


def test_quota_goes_on_while_every_step_is_skipped() -> None:
    quota = harness.Quota(2, lambda: True)
    for _ in range(harness.PATIENCE):
        quota.spend("a")
    with pytest.raises(harness.Enough):
        quota.spend("a")


class Loss:
    def __init__(self, name: str) -> None:
        self.__name__ = name


@pytest.mark.parametrize(
    ("loss", "form"),
    [
        (None, "none"),
        ("sparse_categorical_crossentropy", "sparse"),
        ("SparseCategoricalCrossentropy", "sparse"),
        ("categorical_crossentropy", "one-hot"),
        ("kl_divergence", "one-hot"),
        ("binary_crossentropy", "binary"),
        ("binary_focal_crossentropy", "binary"),
        ("mse", "same"),
        ("mean_squared_error", "same"),
        ("log_cosh", "same"),
        ("huber", "same"),
        (Loss("my_loss"), "unknown"),
        (lambda y, p: y, "unknown"),
    ],
)
def test_what_labels_a_loss_takes(loss: object, form: str) -> None:
    assert harness.loss_form(loss) == form


class Tensor:
    dtype = "float16"


@pytest.mark.parametrize(
    ("outputs", "names", "found"),
    [
        (Tensor(), None, ["output"]),
        (Tensor(), ["p"], ["p"]),
        ([Tensor(), Tensor()], ["a", "b"], ["a", "b"]),
        ([Tensor(), Tensor()], None, ["output[0]", "output[1]"]),
        ({"b": Tensor(), "a": Tensor()}, ["x", "y"], ["a", "b"]),
        ({"a": [Tensor(), Tensor()], "b": None}, None, ["a.output[0]", "a.output[1]"]),
    ],
)
def test_names_of_outputs(outputs: object, names: list[str] | None, found: list[str]) -> None:
    assert [name for name, _ in harness.named_leaves(outputs, names)] == found


def test_shapes() -> None:
    assert harness.concrete([None, None, None, 3], 8) == (8, 64, 64, 3)
    assert harness.concrete([None, None, 5], 8) == (8, 16, 5)
    assert harness.concrete([4, 2], 8) == (4, 2)


def test_required() -> None:
    def function(a: int, b: int = 1, *c: int, d: int, **e: int) -> None: ...

    assert harness.required(function) == ["a", "d"]


@pytest.mark.parametrize(
    "name",
    ["build", "build_model", "make_generator", "create_net", "get_model", "unet", "my_network", "resnet_backbone"],
)
def test_builders_are_known_by_their_names(name: str) -> None:
    assert harness.BUILDER.search(name)


@pytest.mark.parametrize("name", ["main", "train", "rebuild", "makeup", "modeling", "load_data", "internet"])
def test_other_functions_are_left_alone(name: str) -> None:
    assert not harness.BUILDER.search(name)


def test_it_is_one_file_for_older_pythons() -> None:
    text = Path(harness.__file__).read_text(encoding="utf-8")
    tree = ast.parse(text, feature_version=(3, 9))
    imported = {name.partition(".")[0] for name, _ in harness._imported(tree)}
    assert imported - set(sys.stdlib_module_names) <= {"numpy", "tensorflow", "__future__"}
