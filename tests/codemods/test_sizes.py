"""Where sizes are rounded up: where they are written, with all that must be equal, and where that is only shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from mplint.analysis import analyze
from mplint.findings import Applicability
from mplint.fixer import fix
from mplint.project.modules import Project
from mplint.settings import Settings

START = """\
import keras
from keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")
given = keras.Input((30,))
"""
END = """
model = keras.Model(given, layers.Dense(3, activation="softmax", dtype="float32")(x))
"""


def project(folder: Path, text: str, **others: str) -> tuple[Project, list[Path]]:
    files = {"train": START + text + END, **others}
    for name, content in files.items():
        (folder / f"{name}.py").write_text(content)
    paths = [folder / f"{name}.py" for name in files]
    return Project(folder, paths), paths


def rewritten(folder: Path, text: str, device: str = "auto", **others: str) -> str:
    """What `--unsafe-fixes` makes of a program, all files together."""
    found, paths = project(folder, text, **others)
    settings = Settings(root=folder, keras="3", device="tpu" if device == "tpu" else "auto")
    files = fix(found, paths, settings, unsafe=True).files
    texts = [files.get(path, path.read_text()) for path in paths]
    return "".join(texts).removeprefix(START).replace(END, "")


WRITTEN = {
    "in the call": ("x = layers.Dense(50)(given)", "x = layers.Dense(56)(given)"),
    "by keyword, with its comment": (
        "x = layers.Dense(\n    units=50,  # wide\n)(given)",
        "x = layers.Dense(\n    units=56,  # wide\n)(given)",
    ),
    "a constant, once for all": (
        "N = 50\nx = layers.Dense(N)(layers.Dense(N)(given))",
        "N = 56\nx = layers.Dense(N)(layers.Dense(N)(given))",
    ),
    "shown beside": (
        "N = 50\nprint('width', N)\nx = layers.Dense(N, name=f'dense_{N}')(given)",
        "N = 56\nprint('width', N)\nx = layers.Dense(N, name=f'dense_{N}')(given)",
    ),
    "a list that is looped over": (
        "x = given\nfor n in [50, 64, 20]:\n    x = layers.Dense(n)(x)",
        "x = given\nfor n in [56, 64, 24]:\n    x = layers.Dense(n)(x)",
    ),
    "lists side by side": (
        "x = given\nfor n, rate in zip((50, 20), (0.1, 0.2)):\n    x = layers.Dropout(rate)(layers.Dense(n)(x))",
        "x = given\nfor n, rate in zip((56, 24), (0.1, 0.2)):\n    x = layers.Dropout(rate)(layers.Dense(n)(x))",
    ),
    "an item of a dict": (
        "C = {'n': 50, 'classes': 50}\nx = layers.Dense(C['n'])(given)",
        "C = {'n': 56, 'classes': 50}\nx = layers.Dense(C['n'])(given)",
    ),
    "a default": (
        "def f(x, n=50):\n    return layers.Dense(n)(x)\n\n\nx = f(given)",
        "def f(x, n=56):\n    return layers.Dense(n)(x)\n\n\nx = f(given)",
    ),
    "an argument, through two functions": (
        "def f(x, n):\n    return layers.Dense(n)(x)\n\n\ndef g(x, m):\n    return f(x, n=m)\n\n\nx = g(given, 50)",
        "def f(x, n):\n    return layers.Dense(n)(x)\n\n\ndef g(x, m):\n    return f(x, n=m)\n\n\nx = g(given, 56)",
    ),
    "an attribute": (
        "class C:\n    def __init__(self, n=50):\n        self.n = n\n\n\nx = layers.Dense(C().n)(given)",
        "class C:\n    def __init__(self, n=56):\n        self.n = n\n\n\nx = layers.Dense(C().n)(given)",
    ),
    "what is computed from it": (
        "N = 50\nx = layers.Dense(N // 2)(layers.Dense(N)(given))",
        "N = 64\nx = layers.Dense(N // 2)(layers.Dense(N)(given))",
    ),
    "both of a sum": (
        "x = layers.Dense(50)(given) + layers.Dense(50)(given)",
        "x = layers.Dense(56)(given) + layers.Dense(56)(given)",
    ),
    "a sum of a constant and a number": (
        "N = 50\nx = layers.Dense(N)(given)\nx = layers.Add()([x, layers.Dense(50)(x)])",
        "N = 56\nx = layers.Dense(N)(given)\nx = layers.Add()([x, layers.Dense(56)(x)])",
    ),
    "what shares its weights": (
        "one = layers.Dense(64)\nx = one(layers.Dense(50)(given)) + one(layers.Dense(50)(given))",
        "one = layers.Dense(64)\nx = one(layers.Dense(56)(given)) + one(layers.Dense(56)(given))",
    ),
    "not what is equal, and separate": (
        "x = layers.Dense(50)(given)\ny = layers.Dense(50, dtype='float32')(given)\nx = layers.concatenate([x, y])",
        "x = layers.Dense(56)(given)\ny = layers.Dense(50, dtype='float32')(given)\nx = layers.concatenate([x, y])",
    ),
}
LEFT = {
    "a class count of the same number": (
        "N = 50\nx = layers.Dense(N)(given)\nother = keras.Model(given, layers.Dense(N, dtype='float32')(x))",
        None,
    ),
    "read by data": ("N = 50\nx = layers.Dense(N)(given)\ndata = keras.ops.ones((8, N))", Applicability.DISPLAY),
    "compared by size": ("N = 50\nx = layers.Dense(N)(given) if N > 20 else given", Applicability.DISPLAY),
    "handed to what nobody saw": (
        "import other\nN = 50\nother.f(N)\nx = layers.Dense(N)(given)",
        Applicability.DISPLAY,
    ),
}


@pytest.mark.parametrize(("before", "after"), WRITTEN.values(), ids=list(WRITTEN))
def test_written(before: str, after: str, tmp_path: Path) -> None:
    assert rewritten(tmp_path, before) == after


@pytest.mark.parametrize(("text", "level"), LEFT.values(), ids=list(LEFT))
def test_left(text: str, level: Applicability | None, tmp_path: Path) -> None:
    assert rewritten(tmp_path, text) == text
    found, paths = project(tmp_path, text)
    findings = analyze(found, paths, Settings(root=tmp_path, keras="3")).findings
    sizes = [finding for finding in findings if finding.code == "MP601"]
    assert sizes
    assert {finding.fix.applicability if finding.fix else None for finding in sizes} == {level}


def test_written_in_another_file(tmp_path: Path) -> None:
    before = (
        "import settings\nfrom settings import WIDE\n\nx = layers.Dense(WIDE)(layers.Dense(settings.HIDDEN)(given))"
    )
    after = rewritten(tmp_path, before, settings="HIDDEN = 50\nWIDE = 300\n")
    assert after == before + "HIDDEN = 56\nWIDE = 304\n"


def test_read_in_another_file(tmp_path: Path) -> None:
    before = "import settings\n\nx = layers.Dense(settings.HIDDEN)(given)"
    other = "import keras\nimport settings\n\ndata = keras.ops.ones((8, settings.HIDDEN))\n"
    assert rewritten(tmp_path, before, settings="HIDDEN = 50\n", use=other) == f"{before}HIDDEN = 50\n{other}"


def test_on_a_tpu(tmp_path: Path) -> None:
    before = "N = 200\nx = layers.Dense(N)(layers.Dense(50)(given))"
    assert rewritten(tmp_path, before, "tpu") == "N = 256\nx = layers.Dense(N)(layers.Dense(50)(given))"


def test_a_change_is_one_for_each_place(tmp_path: Path) -> None:
    """A function that is called with two sizes has one finding, and both are changed."""
    before = "def f(x, n):\n    return layers.Dense(n)(x)\n\n\nx = f(f(given, 50), 20)"
    found, paths = project(tmp_path, before)
    findings = analyze(found, paths, Settings(root=tmp_path, keras="3")).findings
    assert [finding.message.partition(":")[0] for finding in findings] == ["units=50 and units=20"]
    assert rewritten(tmp_path, before) == before.replace("50", "56").replace("20", "24")
