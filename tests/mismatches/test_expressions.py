"""mplint against real Keras: which expressions of half precision and float32 raise, and that none does when mended."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import pytest

from mplint.analysis import analyze
from mplint.findings import Finding
from mplint.fixer import fix
from mplint.project.modules import Project
from mplint.settings import Settings
from tests.mismatches.expressions import expressions, program

FILE = Path("/program/main.py")
REPOSITORY = Path(__file__).resolve().parents[2]
RECORD = json.loads(Path(__file__).with_name("measured.json").read_text(encoding="utf-8"))
GENERATIONS = ("2", "3")
CLASS = re.compile(r"^class L(\d+)\(", re.MULTILINE)
UNFIXED = {"x + tf.range(8) / 8", "x + ops.arange(8)", "x * ops.convert_to_tensor(np.ones((8,)))"}
"""Integers and double precision: those raise under any policy, and are not mplint's business."""


def asked(text: str, generation: str) -> tuple[Project, list[Path], Settings]:
    settings = Settings(keras="2" if generation == "2" else "3", select=("MP503",))
    return Project(FILE.parent, [FILE], {FILE: text.encode()}), [FILE], settings


@lru_cache(maxsize=2)
def found(generation: str) -> dict[int, list[Finding]]:
    """The findings by the number of the class that they are in."""
    text = program(generation)
    starts = [match.start() for match in CLASS.finditer(text)]
    result: dict[int, list[Finding]] = {}
    for finding in analyze(*asked(text, generation)).findings:
        result.setdefault(sum(start <= finding.span.start for start in starts) - 1, []).append(finding)
    return result


@lru_cache(maxsize=2)
def mended(generation: str) -> str:
    """The program as `--fix` leaves it."""
    return fix(*asked(program(generation), generation), unsafe=False).project.source(FILE).text


def really(text: str, generation: str) -> list[object]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.mismatches.real", generation],
        input=text,
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    outcomes: list[object] = json.loads(done.stdout)
    return outcomes


@pytest.mark.parametrize("generation", GENERATIONS)
def test_each_expression_that_raises_is_found_and_no_other(generation: str) -> None:
    wrong = [
        expression
        for index, expression in enumerate(expressions(generation))
        if str(RECORD[generation][expression]).startswith("raises") != (index in found(generation))
        and expression not in UNFIXED
    ]
    assert not wrong


@pytest.mark.parametrize("generation", GENERATIONS)
def test_nothing_is_left_to_find(generation: str) -> None:
    assert not analyze(*asked(mended(generation), generation)).findings


@pytest.mark.verify
@pytest.mark.slow
@pytest.mark.parametrize("generation", GENERATIONS)
def test_what_is_mended_gives_half_precision(generation: str) -> None:
    outcomes = dict(zip(expressions(generation), really(mended(generation), generation), strict=True))
    for expression, before in RECORD[generation].items():
        if str(before).startswith("raises") and expression not in UNFIXED:
            assert outcomes[expression] in ("float16", "bool"), expression
        elif expression not in UNFIXED:
            assert outcomes[expression] == before, expression


@pytest.mark.verify
@pytest.mark.slow
@pytest.mark.parametrize("generation", GENERATIONS)
def test_the_record_is_what_keras_does_today(generation: str) -> None:
    outcomes = really(program(generation), generation)
    assert dict(zip(expressions(generation), outcomes, strict=True)) == RECORD[generation]
