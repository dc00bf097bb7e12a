"""What mplint predicts of a model's outputs is what TensorFlow gives."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mplint.interpreter.predict import output_dtypes
from tests.truth.programs import PROGRAMS, Program

FOLDER = Path(__file__).resolve().parent
RECORD = json.loads((FOLDER / "dtypes.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("program", "generation"),
    [pytest.param(p, generation, id=f"{p.name}-{generation}") for p in PROGRAMS for generation in p.generations],
)
def test_predicted_dtypes(program: Program, generation: str) -> None:
    measured: Any = RECORD["programs"][program.name][generation]
    predicted = output_dtypes(program.source, "2" if generation == "2" else "3")
    if isinstance(measured, str):
        return  # the program raises: there is no output, and what is said of it wrongs nobody
    outputs = {name: dtypes for name, dtypes in measured.items() if not isinstance(dtypes, str)}
    unknown = sorted(name for name in outputs if None in predicted.get(name, [None]))
    assert not unknown, f"unknown: {unknown}"
    assert {name: predicted[name] for name in outputs} == outputs


def test_record_is_of_these_programs() -> None:
    from tools.measure_truth import fingerprint

    assert fingerprint(program.source for program in PROGRAMS) == RECORD["fingerprint"], "python -m tools.measure_truth"


@pytest.mark.verify
@pytest.mark.slow
def test_record_is_what_keras_does_today() -> None:
    from tools.real_keras import versions

    if versions() != RECORD["measured_with"]:
        pytest.skip(f"measured with {RECORD['measured_with']}")
    done = subprocess.run(
        [sys.executable, "-m", "tools.measure_truth", "--check"],
        cwd=FOLDER.parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
