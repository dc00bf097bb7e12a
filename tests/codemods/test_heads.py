"""When the end of a model gets a layer more, when it only gets a dtype, and what is shown but not done."""

from __future__ import annotations

from pathlib import Path

import pytest

from mplint import fixer
from mplint.analysis import analyze
from mplint.findings import Applicability, Fix
from mplint.project.modules import Project
from mplint.settings import Settings

HEAD = """\
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")
i = keras.Input((4, 8))
"""
SPLIT = "Split the activation off and give it dtype float32"
DTYPE = "Give Dense dtype float32"


def fixes(folder: Path, body: str) -> list[Fix | None]:
    path = folder / "train.py"
    path.write_text(HEAD + body)
    settings = Settings(root=folder, keras="3")
    return [finding.fix for finding in analyze(Project(folder, [path]), [path], settings).findings]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x = layers.Dense(3, activation='softmax', name='p')(i)\nm = keras.Model(i, x)\n", SPLIT),
        ("x = layers.Dense(3, activation='softmax', activity_regularizer='l2')(i)\nm = keras.Model(i, x)\n", DTYPE),
        ("x = layers.Dense(3, 'softmax', True)(i)\nm = keras.Model(i, x)\n", DTYPE),
        ("x = layers.Dense(3, activation='softmax')(i)\nm = keras.Model(i, x)\nm.load_weights('w.h5')\n", DTYPE),
        ("x = layers.Dense(3, activation='softmax')(i)\nm = keras.Model(i, x)\nm.get_layer(index=1)\n", DTYPE),
        (
            "m = keras.Sequential(tuple([keras.Input((8,)), layers.Dense(3, activation='softmax')]))\n",
            DTYPE,
        ),
        ("o = {}\nx = layers.Dense(3, activation='softmax', **o)(i)\nm = keras.Model(i, x)\n", DTYPE),
        (
            "x = layers.Dense(4, name='p_logits')(i)\nx = layers.Dense(3, activation='softmax', name='p')(x)\n"
            "m = keras.Model(i, x)\n",
            DTYPE,
        ),
        (
            "x = layers.Dense(3, activation='softmax')(i)\n"
            "m = keras.Model(i, [x, layers.Dense(3, dtype='float32')(i)])\n",
            DTYPE,
        ),
    ],
)
def test_what_counts_on_the_last_layer(body: str, expected: str, tmp_path: Path) -> None:
    (fix,) = fixes(tmp_path, body)
    assert fix is not None
    assert (fix.message, fix.applicability) == (expected, Applicability.SAFE)


@pytest.mark.parametrize(
    ("outputs", "expected"),
    [("x + 1", Applicability.SAFE), ("[x + 1, layers.ReLU(dtype='float32')(x)]", Applicability.DISPLAY)],
)
def test_a_cast_among_several_outputs_is_only_shown(outputs: str, expected: Applicability, tmp_path: Path) -> None:
    (fix,) = fixes(tmp_path, f"x = layers.Dense(3)(i)\nm = keras.Model(i, {outputs})\n")
    assert fix is not None
    assert fix.applicability is expected


@pytest.mark.parametrize(
    ("behind", "expected"),
    [
        ("", Applicability.SAFE),
        ("print('predictions')\n", Applicability.DISPLAY),
        ("m.get_layer('x')\n", Applicability.DISPLAY),
    ],
)
def test_an_application_whose_last_layer_is_asked_for(behind: str, expected: Applicability, tmp_path: Path) -> None:
    (fix,) = fixes(tmp_path, f"m = keras.applications.MobileNetV2(weights=None)\n{behind}")
    assert fix is not None
    assert fix.applicability is expected


def test_a_name_for_an_application_that_the_program_does_not_name(tmp_path: Path) -> None:
    """A fresh one, and a line for each argument where one line would be too long; `None` stays."""
    application = "keras.applications.MobileNetV2(weights=None, classifier_activation=None)"
    path = tmp_path / "train.py"
    path.write_text(f"{HEAD}network = 1\ndef make():\n    return {application}\nm = make()\n")
    written = fixer.fix(Project(tmp_path, [path]), [path], Settings(root=tmp_path, keras="3"), unsafe=False).files
    assert (
        written[path]
        == f"""\
{HEAD}network = 1
def make():
    classifier = {application}
    return keras.Model(
        classifier.input,
        layers.Activation("linear", dtype="float32")(classifier.output),
        name=classifier.name,
    )
m = make()
"""
    )


def test_an_application_in_parentheses_has_no_place_for_a_statement(tmp_path: Path) -> None:
    assert fixes(tmp_path, "m = (keras.applications.MobileNetV2(weights=None))\n") == [None]


SHARED = """\
class Conv(layers.Layer):
    def __init__(self, filters, **options):
        super().__init__(**options)
        self.conv = layers.Conv1D(filters, 3)

    def call(self, x):
        return self.conv(x)

def dense(x, units, name=None):
    return layers.Dense(units, name=name)(x)

"""
BEHIND = "Put a float32 activation behind it"
IF_NOT_COUNTED = f"{BEHIND}, if nothing counts on the last layer's name or place"


@pytest.mark.parametrize(
    ("body", "line", "expected"),
    [
        ("x = Conv(4)(i)\nx = Conv(3, name='p')(x)\nm = keras.Model(i, x)\n", 19, BEHIND),
        ("x = Conv(4)(i)\nhead = Conv(3, name='p')\nm = keras.Model(i, head(x))\n", 20, BEHIND),
        ("m = keras.Sequential([i, Conv(4), Conv(3)])\n", 18, BEHIND),
        ("last = Conv(3)\nm = keras.Sequential([i, Conv(4), last])\n", 18, None),
        ("m = keras.Sequential([i, Conv(4), Conv(3)])\nm.layers[-1]\n", 18, IF_NOT_COUNTED),
        ("m = keras.Model(i, dense(dense(i, 4), 3, name='p'))\n", 18, BEHIND),
        ("m = keras.Model(i, dense(dense(i, 4), 3, 'p'))\n", 18, IF_NOT_COUNTED),
        ("x = dense(i, 4)\nm = keras.Model(i, [dense(x, 3), dense(x, 2)])\n", 19, IF_NOT_COUNTED),
        ("m = keras.Model(i, dense(dense(i, 4), 3))\nm.load_weights('w')\n", 18, BEHIND),
        ("m = keras.Model(i, dense(dense(i, 4), 3, name='p'))\nm.load_weights('w')\n", 18, IF_NOT_COUNTED),
        (
            "x = dense(i, 4)\np = dense(x, 4)\nm = keras.Model(i, [p, p * x])\n",
            19,
            f"{BEHIND}, and see to it that train.py:20 still fits: float32 would meet half precision there",
        ),
        (
            "x = dense(i, 4)\nm = keras.Model(i, layers.Reshape((4, 3, 1))(dense(x, 3)))\n",
            19,
            "Give Reshape dtype float32",
        ),
        (
            "x = i\nfor f in (4, 3):\n    x = dense(x, f)\nm = keras.Model(i, x)\n",
            16,
            "Give Dense dtype float32, and see to it that train.py:16 still fits: "
            "a layer made by the same call, or its result, is used in half precision there",
        ),
    ],
)
def test_code_that_makes_the_middle_too_stays(body: str, line: int, expected: str | None, tmp_path: Path) -> None:
    """What is said, and done, belongs to the call that gives the end."""
    path = tmp_path / "train.py"
    path.write_text(HEAD + SHARED + body)
    settings = Settings(root=tmp_path, keras="3")
    found = analyze(Project(tmp_path, [path]), [path], settings).findings
    rows = [path.read_text().count("\n", 0, finding.span.start) + 1 for finding in found]
    fixes = [finding.fix.message if finding.fix is not None else None for finding in found]
    assert (line, expected) in zip(rows, fixes, strict=True)


BUILD = """\
from tensorflow import keras
from tensorflow.keras import layers


def build(PARAMETERS):
    i = keras.Input((4,))
    return keras.Model(i, HEAD(layers.Dense(8)(i)))
"""


def across(folder: Path, head: str, parameters: str = "", **files: str) -> Fix | None:
    """The fix of the one finding in `net.py`, whose `build()` the program `train.py` calls first of all."""
    policy = "import net\nfrom tensorflow import keras\nkeras.mixed_precision.set_global_policy('mixed_float16')\n"
    texts = {
        "net": BUILD.replace("HEAD", head).replace("PARAMETERS", parameters),
        "train": policy + files.pop("train"),
        **files,
    }
    contents = {folder / f"{name}.py": text.encode() for name, text in texts.items()}
    settings = Settings(root=folder, keras="3")
    (finding,) = analyze(Project(folder, list(contents), contents), list(contents), settings).findings
    return finding.fix


@pytest.mark.parametrize(
    ("helper", "expected"),
    [
        ("def freeze(model):\n    for layer in model.layers[:-1]:\n        layer.trainable = False\n", DTYPE),
        ("def freeze(model):\n    model.trainable = False\n", SPLIT),
    ],
)
def test_what_counts_on_the_last_layer_in_another_file_of_the_program(
    helper: str, expected: str, tmp_path: Path
) -> None:
    """Neither the file of the model nor that of the helper imports the other."""
    train = "import surgery\nmodel = net.build()\nsurgery.freeze(model)\n"
    fix = across(tmp_path, "layers.Dense(3, activation='softmax')", train=train, surgery=helper)
    assert fix is not None
    assert fix.message == expected


@pytest.mark.parametrize(("keyword", "may_be_given"), [("kernel_initializer='ones'", True), ("dtype='float32'", False)])
def test_a_dtype_that_another_caller_passes_on(keyword: str, may_be_given: bool, tmp_path: Path) -> None:
    """Beside one that comes out of `**` another one would be refused."""
    head = "layers.Dense(3, activation='softmax', **more)"
    fix = across(tmp_path, head, "**more", train="net.build()\n", other=f"import net\nnet.build({keyword})\n")
    assert (fix is not None) is may_be_given


def test_more_than_float32_that_another_caller_asks_for(tmp_path: Path) -> None:
    head = "layers.Dense(3, dtype=dtype)"
    fix = across(tmp_path, head, "dtype=None", train="net.build()\n", other="import net\nnet.build('float64')\n")
    assert fix is not None
    assert fix.applicability is Applicability.DISPLAY
    fix = across(tmp_path, head, "dtype=None", train="net.build()\n", other="import net\nnet.build('float32')\n")
    assert fix is not None
    assert fix.applicability is Applicability.SAFE
