"""The generation of a file, from its project."""

from __future__ import annotations

from pathlib import Path

import pytest

from mplint.project.generation import Evidence, generation_of
from mplint.project.modules import Project
from tests.project.trees import project, write

TF = "import tensorflow as tf\nmodel = tf.keras.Sequential()\n"
KERAS = "import keras\nmodel = keras.Sequential()\n"
SWITCH = "import os\nos.environ['TF_USE_LEGACY_KERAS'] = '1'\n"
CHOICE = """
import tensorflow as tf
if tf.__version__ >= "2.16":
    import tf_keras as keras
else:
    from tensorflow import keras
"""
GUIDE = "from tensorflow import keras\nloss = optimizer.get_scaled_loss(loss)\n"
NEW_LOOP = "import keras\nloss = optimizer.scale_loss(loss)\n"


def found(root: Path, files: dict[str, str], path: str = "x.py", **installed: str) -> Evidence:
    here = project(root, files)
    versions = {name.replace("_", "-"): version for name, version in installed.items()}
    return generation_of(here, root / path, installed=versions)


def test_the_setting_wins(tmp_path: Path) -> None:
    here = project(tmp_path, {"x.py": "import tf_keras\n"})
    assert generation_of(here, tmp_path / "x.py", "3").generation == "3"
    assert generation_of(here, tmp_path / "x.py", "2").generation == "2"
    assert generation_of(here, tmp_path / "x.py", "auto").generation == "2"


@pytest.mark.parametrize(
    ("text", "generation"),
    [
        ("import tf_keras\n", "2"),
        ("import tf_keras as keras\nopt.scale_loss(loss)\n", "2"),
        ("try:\n    import tf_keras as keras\nexcept ImportError:\n    from tensorflow import keras\n", "2"),
        (CHOICE, "2"),
        (CHOICE.replace("from tensorflow import keras", "import keras"), None),
        ("try:\n    from keras import ops\nexcept ImportError:\n    ops = None\n", None),
        ("import keras_core as keras\n", "3"),
        ("import tensorflow_addons as tfa\n" + TF, "2"),
        ("from tensorflow_addons.optimizers import AdamW\n" + KERAS, "2"),
        ("try:\n    import tensorflow_addons as tfa\nexcept ImportError:\n    tfa = None\n" + TF, None),
        ("from .tensorflow_addons import AdamW\n" + TF, None),
        ("import tensorflow_addons as tfa\nfrom keras import ops\n" + TF, None),
        ("import keras\nimport tf_keras\n", None),
        ("import keras\nfrom keras import ops\n", "3"),
        (SWITCH + TF, "2"),
        (SWITCH.replace("1", "0") + TF, "3"),
        (SWITCH + KERAS, None),
        ("import os\nimport tensorflow as tf\nif tf.__version__ >= '2.16':\n    " + SWITCH[10:] + TF, "2"),
        ("import tensorflow as tf\nif tf.__version__ >= '2.16':\n    x = 1\n" + TF, None),
        (TF, None),
        (KERAS, None),
        (GUIDE, "2"),
        (NEW_LOOP, "3"),
        (GUIDE + NEW_LOOP, None),
        (GUIDE + "if hasattr(optimizer, 'scale_loss'): loss = optimizer.scale_loss(loss)\n", None),
        ("from keras import ops\n" + GUIDE, "3"),
        ("from keras import ops\nfrom keras.utils import np_utils\n", None),
        ("x = 1\n", None),
        ("x = (\n", None),
        ("from keras import ops\nx = (\n", "3"),
    ],
)
def test_code_alone(tmp_path: Path, text: str, generation: str | None) -> None:
    assert found(tmp_path, {"x.py": text}).generation == generation


@pytest.mark.parametrize(
    ("requirements", "of_tensorflow", "of_keras"),
    [
        ("tensorflow<2.16", "2", "2"),
        ("tensorflow==2.15.*", "2", "2"),
        ("tensorflow==2.15.1\nkeras==2.15.0", "2", "2"),
        ("tensorflow==2.15.1\nkeras>=3", "2", "3"),
        ("tensorflow-gpu>=2.4,<2.12", "2", "2"),
        ("tensorflow==2.18.*", "3", "3"),
        ("tensorflow>=2.16", "3", "3"),
        ("tensorflow>=2.10", None, None),
        ("tensorflow", None, None),
        ("keras>=3", "3", "3"),
        ("keras<3", "2", "2"),
        ("tensorflow\nkeras>=3.3", "3", "3"),
        ("tensorflow>=2.16\ntf_keras>=2.16", None, "3"),
        ("tensorflow>=2.17\nkeras>=3.3\ntf_keras>=2.17", None, "3"),
        ("tensorflow<2.16\ntf_keras", "2", "2"),
        ("numpy", None, None),
    ],
)
def test_requirements(tmp_path: Path, requirements: str, of_tensorflow: str | None, of_keras: str | None) -> None:
    files = {"requirements.txt": requirements, "x.py": TF, "y.py": KERAS, "z.py": TF + KERAS, "w.py": "x = 1\n"}
    assert found(tmp_path, files).generation == of_tensorflow
    assert found(tmp_path, files, "y.py").generation == of_keras
    both = of_tensorflow if of_tensorflow == of_keras else None
    assert found(tmp_path, files, "z.py").generation == both
    assert found(tmp_path, files, "w.py").generation == both


@pytest.mark.parametrize(
    ("text", "requirements", "generation"),
    [
        ("import tf_keras\n", "tensorflow>=2.16\ntf_keras", "2"),
        (SWITCH + TF, "tensorflow>=2.16", "2"),
        ("from keras import ops\n", "tensorflow==2.12", "3"),
        (
            "from tensorflow import keras\nkeras.config.set_dtype_policy('x')\n",
            "tensorflow==2.15.1\nkeras==2.15.0",
            "2",
        ),
        (NEW_LOOP, "tensorflow==2.15.1", "2"),
        (GUIDE, "tensorflow==2.18.*", "3"),
        (GUIDE, "tensorflow>=2.16\ntf_keras", "2"),
        (GUIDE + "if hasattr(opt, 'scale_loss'): pass\n", "tensorflow==2.18.*", None),
    ],
)
def test_imports_weigh_more_than_requirements_and_those_more_than_calls(
    tmp_path: Path, text: str, requirements: str, generation: str | None
) -> None:
    assert found(tmp_path, {"x.py": text, "requirements.txt": requirements}).generation == generation


def test_the_nearest_requirements_decide(tmp_path: Path) -> None:
    files = {
        "requirements.txt": "tensorflow>=2.16\n",
        "old/requirements.txt": "tensorflow==2.12\n",
        "old/deep/x.py": TF,
        "other/requirements.txt": "numpy\ntensorflow\n",
        "other/x.py": TF,
    }
    old = found(tmp_path, files, "old/deep/x.py")
    assert old == Evidence("2", "old/requirements.txt asks for TensorFlow before 2.16")
    assert found(tmp_path, files, "other/x.py").generation == "3"


def test_requirements_above_the_root_do_not_count(tmp_path: Path) -> None:
    write(tmp_path, {"requirements.txt": "tensorflow==2.12\n"})
    assert found(tmp_path / "root", {"x.py": TF}).generation is None


def test_a_file_has_the_generation_of_its_program(tmp_path: Path) -> None:
    files = {
        "main.py": SWITCH + "from pkg import model\n",
        "pkg/__init__.py": "",
        "pkg/model.py": TF + "from . import layers\n",
        "pkg/layers.py": TF,
        "pkg/keras_only.py": KERAS,
        "unrelated.py": TF,
        "helper.py": "def f(x): return x\n",
    }
    assert found(tmp_path, files, "pkg/layers.py") == Evidence("2", "TF_USE_LEGACY_KERAS is set in main.py")
    assert found(tmp_path, files, "pkg/model.py").generation == "2"
    assert found(tmp_path, files, "main.py").generation == "2"
    assert found(tmp_path, files, "pkg/keras_only.py").generation is None
    assert found(tmp_path, files, "unrelated.py").generation is None


def test_the_program_counts_for_what_it_shares(tmp_path: Path) -> None:
    files = {
        "train.py": "import model, layers, plain, helper\n",
        "model.py": "import tf_keras\n",
        "layers.py": TF,
        "plain.py": KERAS,
        "helper.py": "x = 1\n",
    }
    assert found(tmp_path, files, "layers.py") == Evidence("2", "tf_keras is imported in model.py")
    assert found(tmp_path, files, "helper.py").generation == "2"
    assert found(tmp_path, files, "plain.py").generation is None  # another copy than tf_keras


def test_a_contradictory_program_says_nothing(tmp_path: Path) -> None:
    files = {
        "train.py": "import a, b, x\n",
        "a.py": "from keras import ops\n",
        "b.py": "import tf_keras\n",
        "x.py": TF,
        "y/requirements.txt": "",
    }
    assert found(tmp_path, files).generation is None
    assert found(tmp_path, {**files, "requirements.txt": "tensorflow==2.15"}).generation == "2"


def test_a_file_that_imports_the_other_generation_is_of_neither(tmp_path: Path) -> None:
    files = {
        "tool.py": "import lib\nfrom keras.utils.layer_utils import count_params\n",
        "lib.py": "from keras import ops\n",
        "old.py": "from keras.utils.np_utils import to_categorical\nimport shared\n",
        "shared.py": "import keras\n",
    }
    mixed = found(tmp_path, files, "tool.py")
    assert mixed.generation is None
    assert mixed.why == "keras.utils.layer_utils is imported, and keras.ops is imported in lib.py"
    assert found(tmp_path, files, "lib.py").generation != "2"
    assert found(tmp_path, files, "old.py").generation == "2"
    assert found(tmp_path, files, "shared.py").generation == "2"


def test_tests_are_no_program_but_for_themselves(tmp_path: Path) -> None:
    files = {"x.py": TF, "tests/test_x.py": SWITCH + "import x\n", "tests/test_y.py": TF + "from tests import test_x\n"}
    assert found(tmp_path, files).generation is None
    assert found(tmp_path, files, "tests/test_y.py").generation == "2"


def test_calls_elsewhere_in_the_program_come_before_what_is_installed(tmp_path: Path) -> None:
    files = {"x.py": KERAS, "loop.py": NEW_LOOP.replace("keras\n", "keras, x\n")}
    assert found(tmp_path, files, keras="2.15.0") == Evidence("3", "scale_loss is used in loop.py")


@pytest.mark.parametrize(
    ("installed", "of_tensorflow", "of_keras"),
    [
        ({}, None, None),
        ({"tensorflow": "2.15.1", "keras": "2.15.0"}, "2", "2"),
        ({"tensorflow": "2.21.0", "keras": "3.15.1"}, "3", "3"),
        ({"tensorflow": "2.21.0", "keras": "3.15.1", "tf_keras": "2.21.0"}, None, "3"),
        ({"keras": "3.0.0"}, "3", "3"),
    ],
)
def test_what_is_installed_comes_last(
    tmp_path: Path, installed: dict[str, str], of_tensorflow: str | None, of_keras: str | None
) -> None:
    assert found(tmp_path, {"x.py": TF}, **installed).generation == of_tensorflow
    assert found(tmp_path, {"y.py": KERAS}, "y.py", **installed).generation == of_keras
    assert found(tmp_path, {"z.py": GUIDE}, "z.py", **installed).generation == "2"
    requirements = {"w.py": TF, "requirements.txt": "tensorflow>=2.16\ntf-keras\n"}
    assert found(tmp_path / "w", requirements, "w.py", **installed).generation is None


def test_the_environment_is_read_when_it_is_not_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    versions = {"tensorflow-cpu": "2.14.0"}

    def version(name: str) -> str:
        if name not in versions:
            raise importlib.metadata.PackageNotFoundError(name)
        return versions[name]

    import importlib.metadata

    from mplint.project import generation

    monkeypatch.setattr(importlib.metadata, "version", version)
    generation._installed.cache_clear()
    try:
        assert generation_of(project(tmp_path, {"x.py": TF}), tmp_path / "x.py").generation == "2"
    finally:
        generation._installed.cache_clear()


def test_keras_itself_has_its_version(tmp_path: Path) -> None:
    files = {
        "keras/__init__.py": "",
        "keras/src/__init__.py": "",
        "keras/src/version.py": "__version__ = '3.15.1'\n",
        "keras/src/x.py": "import tf_keras\n",
        "tf_keras/__init__.py": "",
        "tf_keras/x.py": "from keras import ops\n",
        "x.py": TF,
    }
    assert found(tmp_path, files, "keras/src/x.py").generation == "3"
    assert found(tmp_path, files, "tf_keras/x.py").generation == "2"
    assert found(tmp_path, files).generation is None
    files["keras/src/version.py"] = "__version__ = '2.15.0'\n"
    assert found(tmp_path, files, "keras/src/x.py").generation == "2"


def test_an_unreadable_file_claims_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_bytes(b"import tf_keras  # \xff\n")
    assert generation_of(Project(tmp_path, [path]), path, installed={}).generation is None


def test_every_answer_has_a_reason(tmp_path: Path) -> None:
    for text in (TF, KERAS, GUIDE, NEW_LOOP, GUIDE + NEW_LOOP, "import tf_keras\n", "import keras, tf_keras\n"):
        assert found(tmp_path, {"x.py": text}).why


def test_a_notebook_says_what_it_installs(tmp_path: Path) -> None:
    source = '["!pip install tensorflow==2.10\\n", "import tensorflow as tf\\n", "tf.keras.Sequential()"]'
    cell = f'{{"cell_type": "code", "source": {source}, "metadata": {{}}, "outputs": [], "execution_count": null}}'
    notebook = f'{{"cells": [{cell}], "metadata": {{}}, "nbformat": 4, "nbformat_minor": 5}}'
    files = {"x.ipynb": notebook, "requirements.txt": "tensorflow>=2.16\n"}
    assert found(tmp_path, files, "x.ipynb") == Evidence("2", "the notebook installs TensorFlow before 2.16")
