"""What mplint predicts of the models of keras.applications is what Keras builds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import judge_applications


@pytest.mark.verify
@pytest.mark.slow
def test_a_sample(tmp_path: Path) -> None:
    """`make judge` builds all of them."""
    wanted = list(judge_applications.sample())
    assert {case.generation for case in wanted} == {"2", "3"}
    rows = judge_applications.measured(wanted, 1, tmp_path)
    assert judge_applications.disagreements(wanted, rows) == []


def test_all_of_them_are_judged() -> None:
    """The 40 of Keras 3 and the 71 of tf-keras, with and without their tops, under both mixed policies."""
    found = list(judge_applications.cases())
    for generation, count in (("2", 71), ("3", 40)):
        for policy in ("mixed_float16", "mixed_bfloat16"):
            for variant in ("top", "logits", "headless"):
                names = {
                    case.application
                    for case in found
                    if (case.generation, case.policy, case.variant) == (generation, policy, variant)
                }
                assert len(names) == count
