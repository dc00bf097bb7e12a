"""Programs that are written for both generations of Keras: each world runs the branches of its own."""

from __future__ import annotations

import pytest

from mplint.interpreter.program import Program
from mplint.interpreter.trace import PolicySet
from mplint.interpreter.worlds import run_script
from mplint.project.modules import Project
from tests.interpreter.programs import ROOT, plain, worlds

HEAD = """
import keras
import tensorflow as tf
import packaging.version
from packaging import version
from packaging.version import Version, parse
from distutils.version import LooseVersion
import importlib.metadata
import compat
from compat import IS_3, is_keras_3
"""
COMPAT = """
import keras

def numbers(text):
    return tuple(int(part) for part in text.split(".")[:2])

def is_keras_3():
    return int(keras.__version__.split(".", 1)[0]) >= 3

IS_3 = numbers(keras.__version__) >= (3, 0)
"""


def outcomes(expression: str) -> list[object]:
    """What `expression` is in Keras 2 and in Keras 3; `...` where that is not known."""
    found: list[object] = []
    for generation in ("2", "3"):
        _, runs = worlds(generation, main=f"{HEAD}answer = bool({expression})\n", compat=COMPAT)
        (world,) = runs
        answer = world.module_bindings(ROOT / "main.py")["answer"]
        value = plain(world, answer)
        found.append(value if isinstance(value, bool) else ...)
    return found


@pytest.mark.parametrize(
    "expression",
    [
        "keras.__version__.startswith('3')",
        "tf.keras.__version__.startswith('3.')",
        "keras.__version__[0] == '3'",
        "keras.__version__[:2] == '3.'",
        "keras.__version__ >= '3'",
        "keras.__version__ >= '3.0.0'",
        "not keras.__version__.startswith('2.')",
        "keras.__version__.split('.')[0] == '3'",
        "int(keras.__version__.split('.')[0]) >= 3",
        "int(keras.__version__[0]) > 2",
        "float('.'.join(keras.__version__.split('.')[:2])) >= 3.0",
        "tuple(map(int, keras.__version__.split('.')[:2])) >= (3, 0)",
        "[int(part) for part in tf.__version__.split('.')][:2] >= [2, 16]",
        "tuple(int(part) for part in tf.__version__.split('.')[:2]) >= (2, 16)",
        "tf.__version__ >= '2.16'",
        "tf.__version__ >= '2.16.0'",
        "version.parse(tf.__version__) >= version.parse('2.16')",
        "version.parse(tf.__version__) > version.parse('2.15.1')",
        "packaging.version.Version(tf.__version__) >= packaging.version.Version('2.16.0rc0')",
        "parse(keras.__version__) >= Version('3.0.0')",
        "parse(keras.__version__).major >= 3",
        "parse(tf.__version__).release >= (2, 16)",
        "LooseVersion(tf.__version__) >= LooseVersion('2.16')",
        "LooseVersion(tf.__version__) >= '2.16'",
        "Version(importlib.metadata.version('keras')) >= Version('3')",
        "importlib.metadata.version('tensorflow') >= '2.16'",
        "hasattr(keras, 'ops')",
        "hasattr(keras, 'config') and hasattr(keras.config, 'set_dtype_policy')",
        "hasattr(tf.keras.mixed_precision, 'set_dtype_policy')",
        "getattr(keras, 'ops', None) is not None",
        "getattr(keras, 'ops', False)",
        "is_keras_3()",
        "IS_3",
        "compat.IS_3 and True",
    ],
)
def test_the_generation_decides(expression: str) -> None:
    assert outcomes(expression) == [False, True]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("version.parse(tf.__version__) >= version.parse('2.4')", [True, True]),
        ("tf.__version__.startswith('2.')", [True, True]),
        ("keras.__version__ < '2.16'", [True, False]),
        ("keras.__version__.split('.')[0] in ('2', '3')", [True, True]),
        # inside of a generation it is not known
        ("version.parse(tf.__version__) >= version.parse('2.9')", [..., True]),
        ("version.parse(keras.__version__) >= version.parse('3.4')", [False, ...]),
        ("int(tf.__version__.split('.')[1]) >= 18", [False, ...]),
        # texts that do not compare as versions do
        ("tf.__version__ >= '2.4'", [True, ...]),
        ("unknown(keras.__version__)", [..., ...]),
        ("int(tf.__version__.split('.')[1]) / 2 >= 2", [True, True]),
        # texts that would be long
        ("len(tf.__version__ * 2000) > 1", [..., ...]),
        ("len('%2000d' % int(tf.__version__.split('.')[1])) > 1", [..., ...]),
        ("len(keras.__version__.zfill(2000)) > 1", [..., ...]),
        ("len(keras.__version__.replace('.', 'x' * 900).replace('x', 'x' * 900)) > 1", [..., ...]),
    ],
)
def test_what_the_generation_does_not_decide(expression: str, expected: list[object]) -> None:
    assert outcomes(expression) == expected


def test_beside_tf_keras_any_tensorflow_may_be_there() -> None:
    text = "import tensorflow as tf\nimport tf_keras\nanswer = 1 if int(tf.__version__.split('.')[1]) >= 16 else 0\n"
    for generation, expected in (("2", {"one of": [1, 0]}), ("3", 1)):
        _, (world,) = worlds(generation, main=text)
        assert plain(world, world.module_bindings(ROOT / "main.py")["answer"]) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = keras.__version__ >= '3'\n", True),
        ("x = hasattr(keras, 'ops')\n", True),
        ("try:\n    from keras import ops\nexcept ImportError:\n    pass\n", True),
        ("from keras import ops\n", False),
        ("x = keras.__version__ >= '2.4'\nprint(keras.__version__)\n", False),
        ("x = keras.__version__ >= '3'\ny = keras.__version__ >= unknown\n", False),
    ],
)
def test_which_files_are_for_both(text: str, expected: bool) -> None:
    contents = {ROOT / "main.py": f"import keras\n{text}".encode()}
    program = Program(Project(ROOT, list(contents), contents))
    for generation in ("2", "3"):
        run_script(program, ROOT / "main.py", generation)
    assert program.is_for_both(ROOT / "main.py") is expected


def setters(generation: str, text: str) -> list[list[str | None]]:
    """The policies that each world sets."""
    _, found = worlds(generation, main=text)
    return [[event.policy.name for event in world.trace.events if isinstance(event, PolicySet)] for world in found]


@pytest.mark.parametrize(
    "text",
    [
        """
        try:
            from keras.config import set_dtype_policy
            name = "mixed_bfloat16"
        except ImportError:
            from tensorflow.keras.mixed_precision import set_global_policy as set_dtype_policy
            name = "mixed_float16"
        set_dtype_policy(name)
        """,
        """
        from tensorflow import keras
        try:
            import keras.ops
        except ModuleNotFoundError:
            keras.mixed_precision.set_global_policy("mixed_float16")
        else:
            keras.mixed_precision.set_global_policy("mixed_bfloat16")
        """,
        """
        import keras
        name = "mixed_float16"
        try:
            keras.ops.shape
            name = "mixed_bfloat16"
        except AttributeError:
            pass
        finally:
            print(name)
        if hasattr(keras, "ops"):
            name = "mixed_bfloat16"
        keras.mixed_precision.set_global_policy(name)
        """,
        """
        from tensorflow import keras
        try:
            from keras.src.engine import base_layer
            name = "mixed_float16"
        except ImportError:
            name = "mixed_bfloat16"
        keras.mixed_precision.set_global_policy(name)
        """,
        """
        import tensorflow as tf
        try:
            from keras import mixed_precision
        except ImportError:
            from tensorflow.keras import mixed_precision
        K3 = tf.keras.__version__.startswith("3")
        mixed_precision.set_global_policy("mixed_bfloat16" if K3 else "mixed_float16")
        """,
    ],
)
def test_imports_and_names_that_one_generation_lacks(text: str) -> None:
    assert all(names == ["mixed_float16"] for names in setters("2", text))
    assert all(names == ["mixed_bfloat16"] for names in setters("3", text))


def test_a_setter_that_one_generation_lacks() -> None:
    text = """
    import keras
    try:
        keras.config.set_dtype_policy("mixed_bfloat16")
    except AttributeError:
        keras.mixed_precision.set_global_policy("mixed_float16")
    """
    assert setters("2", text) == [["mixed_float16"]]
    assert ["mixed_bfloat16"] in setters("3", text)


def test_outside_of_try_a_missing_name_is_what_it_was() -> None:
    _, (world,) = worlds("2", main="from keras import ops\nimport keras\nx = keras.config\ny = 1\n")
    assert set(world.module_bindings(ROOT / "main.py")) >= {"ops", "x", "y"}


def test_tf_keras_that_is_tried_first_is_not_there_under_keras_3() -> None:
    source = "try:\n    import tf_keras as keras\n    which = 2\nexcept ImportError:\n    import keras\n    which = 3\n"
    for generation in ("2", "3"):
        program, (world,) = worlds(generation, main=source)
        frame = program.module_frame(ROOT / "main.py")
        assert plain(world, dict(world.bindings(frame))["which"]) == int(generation)
