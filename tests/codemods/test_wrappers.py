"""float32 for both sides of a wrapper in the middle of a model, and when it is not given."""

from __future__ import annotations

from pathlib import Path

import pytest

from mplint.findings import Applicability
from tests.codemods.test_heads import fixes

BEHIND = "m = keras.Model(i, layers.Dense(2, dtype='float32')(x))\n"


def level(folder: Path, body: str) -> Applicability | None:
    (fix,) = fixes(folder, body + BEHIND)
    return fix.applicability if fix is not None else None


def test_both_sides(tmp_path: Path) -> None:
    body = "x = layers.TimeDistributed(layers.Dense(3, dtype='float32'))(i)\n"
    assert level(tmp_path, body) is Applicability.SAFE


@pytest.mark.parametrize("inner", ["block()(i)", "layers.Dense(8)(i)"])
def test_a_call_that_makes_others_too(inner: str, tmp_path: Path) -> None:
    body = f"""\
def block(dtype=None):
    return layers.TimeDistributed(layers.Dense(8, dtype=dtype))
x = block('float32')({inner})
"""
    assert level(tmp_path, body) is (Applicability.DISPLAY if "block" in inner else Applicability.SAFE)


def test_a_layer_of_the_program_inside(tmp_path: Path) -> None:
    body = """\
class Inner(layers.Layer):
    def __init__(self, **options):
        super().__init__(**options)
        self.dense = layers.Dense(3)
    def call(self, x):
        return self.dense(x)
x = layers.TimeDistributed(Inner(dtype='float32'))(i)
"""
    assert level(tmp_path, body) is None
