"""What is wrong in float16 shows when it is run, what `--fix` writes is right there, and the same in float32."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import closing

import pytest

from tests.fixture_programs import ROOT
from tests.loops.judge import Keras
from tests.numerics.programs import CASES, Case

GENERATIONS = ("2", "3")


@pytest.fixture(scope="module", params=GENERATIONS)
def keras(request: pytest.FixtureRequest) -> Iterator[tuple[str, Keras]]:
    with closing(Keras(request.param)) as process:
        yield request.param, process


def _is_shown(case: Case, found: Sequence[float]) -> bool:
    return not any(found) if case.shown == "zeros" else not all(map(math.isfinite, found))


def _wrong(case: Case, generation: str, process: Keras) -> Iterator[str]:
    folder = ROOT / case.slug
    before = case.source((folder / "program" / "train.py").read_text())
    fixed = next(path for name in (f"fixed-{generation}", "fixed") if (path := folder / name / "train.py").exists())
    after = case.source(fixed.read_text())
    for policy in ("half", "float32"):
        found = [process.train(text, policy) for text in (before, after)]
        for one in found:
            if one.error is not None:
                yield f"{case.slug} {generation} {policy}: {one.error}"
                return
        history = [one.history for one in found]
        if policy == "float32" and (history[0] != history[1] or not all(map(math.isfinite, history[0]))):
            yield f"{case.slug} {generation}: not the same in float32: {history}"
        if policy == "half" and not _is_shown(case, history[0]):
            yield f"{case.slug} {generation}: nothing wrong is seen in half precision: {history[0]}"
        if policy == "half" and (_is_shown(case, history[1]) or not all(map(math.isfinite, history[1]))):
            yield f"{case.slug} {generation}: the rewritten one is wrong in half precision: {history[1]}"


@pytest.mark.verify
@pytest.mark.slow
@pytest.mark.xdist_group("numerics")
def test_each_fault_shows_and_its_rewrite_is_right_and_the_same_in_float32(keras: tuple[str, Keras]) -> None:
    generation, process = keras
    wrong = [each for case in CASES if generation in case.generations for each in _wrong(case, generation, process)]
    assert not wrong, "\n".join(wrong)
