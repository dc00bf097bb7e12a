"""Fixes keep the formatting: formatting.txt holds programs before and after.

Each section of it is a title, the text before, and the text after.  A text that imports nothing itself stands behind
`PRELUDE`, and one that makes no model in front of `MODEL`.
"""

from __future__ import annotations

import io
import tokenize
import warnings
from pathlib import Path

import pytest

from mplint.fixer import Outcome, fix
from mplint.project.modules import Project
from mplint.settings import Settings

PRELUDE = """\
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers
from tensorflow.keras.layers import Dense

keras.mixed_precision.set_global_policy("mixed_float16")
i = keras.Input((4,))
"""
MODEL = "m = keras.Model(i, x)\n"


def _whole(body: str) -> str:
    text = body if body.startswith(("import ", "from tensorflow")) else PRELUDE + body
    return text if "m = keras" in body or "m = N(" in body or "m = build(" in body or "m = f(" in body else text + MODEL


def _read() -> dict[str, tuple[str, str]]:
    text = (Path(__file__).parent / "formatting.txt").read_text(encoding="utf-8")
    sections = (section.partition("\n") for section in text.removeprefix("=== ").split("\n=== "))
    bodies = {title: body.partition("---\n") for title, _, body in sections}
    return {
        title: (_whole(before), _whole(after if after.endswith("\n") else f"{after}\n"))
        for title, (before, _, after) in bodies.items()
    }


CASES = _read()


def fixed(folder: Path, data: bytes, generation: str = "3") -> Outcome:
    path = folder / "train.py"
    path.write_bytes(data)
    settings = Settings(root=folder, keras="2" if generation == "2" else "3")
    return fix(Project(folder, [path]), [path], settings, unsafe=False)


def comments(text: str) -> list[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sorted(token.string for token in tokens if token.type == tokenize.COMMENT)


def compiles(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<test>", "exec")
    except SyntaxError:
        return False
    return True


@pytest.mark.parametrize("generation", ["2", "3"])
@pytest.mark.parametrize("title", CASES)
def test_what_is_written(title: str, generation: str, tmp_path: Path) -> None:
    before, after = CASES[title]
    outcome = fixed(tmp_path, before.encode(), generation)
    assert list(outcome.files.values()) == [after]
    assert not outcome.left.findings
    assert not outcome.withdrawn
    assert not fixed(tmp_path, after.encode(), generation).files


@pytest.mark.parametrize("title", CASES)
def test_comments_stay_and_the_text_compiles(title: str) -> None:
    before, after = CASES[title]
    if not compiles(before):
        pytest.skip("this Python is too old for it")
    assert compiles(after)
    assert comments(after) == comments(before)


@pytest.mark.parametrize(
    "title",
    ["one argument a line", "comments everywhere", "commas in front", "add over lines", "list with a call over lines",
     "dtype behind a comment", "import in parentheses", "a softmax function", "blank lines"],
)  # fmt: skip
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
@pytest.mark.parametrize("final", [True, False])
def test_line_endings_and_encodings_stay(title: str, ending: str, encoding: str, final: bool, tmp_path: Path) -> None:
    def data(text: str) -> bytes:
        whole = f"# -*- coding: {encoding.removesuffix('-sig')} -*-\n# größer\n\f\n{text}\n\fz = 'größer'\n"
        return (whole if final else whole.rstrip("\n")).replace("\n", ending).encode(encoding)

    before, after = CASES[title]
    outcome = fixed(tmp_path, data(before))
    [(path, text)] = outcome.files.items()
    assert outcome.project.source(path).encode(text) == data(after)
