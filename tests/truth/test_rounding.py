"""What MP506, MP507 and MP508 say of half precision is what real Keras does."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import lru_cache
from typing import Any

import pytest

from mplint.analysis import rules
from mplint.keras_api import loses_in_half

HALF = ("float16", "bfloat16")
PAGES = {rule.code: rule.documentation for rule in rules()}

pytestmark = [pytest.mark.verify, pytest.mark.slow]
both = pytest.mark.parametrize(("generation", "half"), [(generation, half) for generation in "23" for half in HALF])


@lru_cache
def measured(generation: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.truth.rounding", generation]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@both
def test_layers_that_lose_something(generation: str, half: str) -> None:
    found = measured(generation)[half]["layers"]
    expected = {name: loses_in_half(f"keras.layers.{name}", half, generation) for name in found}
    assert found == expected


@both
def test_ids_are_rounded_unless_they_are_integers(generation: str, half: str) -> None:
    found = measured(generation)[half]["rows"]
    assert found["int32"] == [2049, 2051, 4097]
    assert found["None"] == ([2048, 2052, 4096] if half == "float16" else [2048, 2048, 4096])


@both
def test_figures_on_the_pages(generation: str, half: str) -> None:
    found = measured(generation)[half]
    pixels = found["pixels"]
    assert f"{pixels['200 / 255']:.5f}" in PAGES["MP506"]
    assert f"{pixels['128 / 127.5 - 1']:.4f}" in PAGES["MP506"]
    if half == "float16":
        assert f"differs for {pixels['wrong']} of 256" in PAGES["MP506"]
        assert found["sines"] == 0.2
    else:
        assert found["range"] == [296, 296, 298, 300]
        assert found["sines"] > 1
