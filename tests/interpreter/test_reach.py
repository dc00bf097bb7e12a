"""What can be in play in a file, read from texts alone."""

from __future__ import annotations

import pytest

from mplint.interpreter.reach import Reach
from mplint.project.modules import Project
from tests.interpreter.programs import ROOT


def reaches(main: str, **files: str) -> bool:
    """Whether the file `main` of a project takes Keras from outside of it."""
    contents = {ROOT / f"{name}.py": text.encode() for name, text in {"main": main, **files}.items()}
    return Reach(Project(ROOT, list(contents), contents)).reaches_keras(ROOT / "main.py")


@pytest.mark.parametrize(
    "text",
    [
        "import keras\nkeras.layers.Dense(1)",
        "import tf_keras as k\nk.layers.Dense(1)",
        "import tf_keras\nbuild(tf_keras)",
        "import keras.layers",
        "from keras import layers",
        "from tensorflow import keras",
        "import tensorflow as tf\ntf.keras.layers.Dense(1)",
        "try:\n    import tf_keras\nexcept ImportError:\n    import keras as tf_keras",
    ],
)
def test_what_takes_keras(text: str) -> None:
    """Every way to get at it that is used."""
    assert reaches(text)


@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow as tf, tf_keras\ntf.io.gfile.exists('x')",
        "import keras\nprint(1)",
        "import tensorflow as tf\ntf.keras.utils.Progbar(3)",
        "import tensorflow as tf\nprint('tf.keras.layers.Dense')",
        "import importlib\nexport('keras.utils.Progbar')\nimportlib.import_module(name)",
    ],
)
def test_what_takes_none(text: str) -> None:
    """Importing it is not enough, nor is speaking of it."""
    assert not reaches(text)


@pytest.mark.parametrize(
    "text",
    [
        "from compat import keras\nkeras.layers.Dense(1)",
        "from compat import *\nkeras.layers.Dense(1)",
        "from .compat import keras as k\nk.layers.Dense(1)",
    ],
)
def test_a_file_that_imports_it_for_others(text: str) -> None:
    """That says no more about it itself; those who take it from there do."""
    assert reaches(text, compat="import keras\n")
