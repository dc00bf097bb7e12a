"""The example is what the demonstration says of it."""

from __future__ import annotations

import pytest

from tests.house.repository import ROOT, python

pytestmark = [pytest.mark.verify, pytest.mark.slow]


@pytest.mark.parametrize("legacy", ["0", "1"])
def test_the_example_trains_and_hides_its_fault(legacy: str) -> None:
    told = python("train.py", cwd=ROOT / "examples" / "digits", TF_USE_LEGACY_KERAS=legacy, PYTHONDONTWRITEBYTECODE="1")
    assert "digit comes as float16" in told
    assert "slant comes as float16" in told
    assert "right digits: 1.0" in told or "right digits: 0.99" in told


def test_the_demonstration_keeps_its_promises() -> None:
    python("tools/demo.py", PYTHONPATH=ROOT)
