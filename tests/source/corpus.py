"""Real programs to compare with: the sources of the installed Keras, read and never imported."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest


def keras_sources(every: int) -> list[Path]:
    """One in `every` of the files of the installed Keras; skips the test where there is none."""
    spec = importlib.util.find_spec("keras")
    if spec is None or spec.origin is None:
        pytest.skip("Keras is not installed: pip install mplint[verify]")
    return sorted(Path(spec.origin).parent.glob("src/**/*.py"))[::every]
