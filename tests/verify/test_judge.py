"""What measurements mean; nothing runs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from mplint.project.naming import Naming
from mplint.verify.judge import Outcome, judge_program, judge_rewrite, rows_in_words
from mplint.verify.results import (
    AFTER,
    AFTER_FLOAT32,
    BEFORE,
    BEFORE_FLOAT32,
    Comparison,
    Evidence,
    ModelRun,
    Output,
    Reached,
    Run,
    Training,
    Trouble,
)

TRAINING = Training(
    source="fit",
    data="the program's own data",
    steps=3,
    skipped=0,
    losses=(1.0, 0.9, 0.8),
    loss=0.8,
    milliseconds=1.0,
    moved=4,
    followed=4,
    finite=True,
    scale=32768.0,
    first_scale=32768.0,
)
MODEL = ModelRun(
    name="net",
    kind="Functional",
    policy="mixed_float16",
    outputs=(Output("digit", "float32", (None, 10)), Output("slant", "float32", (None, 1))),
    variables={"float32": 4},
    half_trainable=(),
    layers=4,
    half_layers=2,
    trainable=4,
    training=TRAINING,
    troubles=(),
)
RUN = Run(
    models=(MODEL,), others=(), hint=None, trouble=None, stopped=False, policy="mixed_float16", reach={}, seconds=1.0
)
FILE = Path("/project/model.py")
NAMING = Naming(FILE.parent, FILE.parent)
CRASH = Trouble("crash", "ValueError: no", "running the program")


def halved(*names: str) -> Run:
    """The run, with some outputs in float16."""
    outputs = tuple(replace(output, dtype="float16") if output.name in names else output for output in MODEL.outputs)
    return replace(RUN, models=(replace(MODEL, outputs=outputs),))


def trained(**changes: object) -> Run:
    """The run, trained otherwise."""
    return replace(RUN, models=(replace(MODEL, training=replace(TRAINING, **changes)),))  # type: ignore[arg-type]


def pair(before: Run, after: Run, *, equal: bool = True, **changes: object) -> Evidence:
    """A comparison."""
    runs: Mapping[str, Run] = {AFTER: after, BEFORE: before, BEFORE_FLOAT32: RUN, AFTER_FLOAT32: RUN}
    comparison = Comparison(equal, 0.0 if equal else 0.5, 4, None if equal else True)
    return replace(Evidence(runs=runs, comparison=comparison), **changes)  # type: ignore[arg-type]


def alone(run: Run) -> Evidence:
    """One program."""
    return Evidence(runs={AFTER: run})


class TestProgram:
    """A program as it is."""

    def test_more_steps_than_asked_for(self) -> None:
        judgement = judge_program(alone(trained(steps=6, skipped=3, more=3)), NAMING)
        assert judgement.notes == (
            "`net` trained 3 more steps than asked for: all before were skipped, while the loss scale was too large",
        )
        assert not judge_program(alone(trained(steps=6, skipped=6, more=3)), NAMING).notes

    def test_a_good_one(self) -> None:
        assert judge_program(alone(RUN), NAMING).outcome is Outcome.VERIFIED

    def test_half_outputs_are_named(self) -> None:
        judgement = judge_program(alone(halved("digit")), NAMING)
        assert judgement.outcome is Outcome.REFUTED
        assert judgement.reasons == ("output `digit` of `net` is float16",)

    @pytest.mark.parametrize(
        ("changes", "told"),
        [
            ({"losses": (1.0, math.nan)}, "the loss of `net` is not finite"),
            ({"losses": (math.inf,)}, "the loss of `net` is not finite"),
            ({"moved": 0}, "3 steps of training changed no variable of `net`"),
            ({"finite": False}, "`net` has weights that are not finite after 3 steps"),
            ({"scale": 0.0}, "the loss scale of `net` ended as 0"),
            (
                {"skipped": 3, "moved": 0, "scale": 4096.0},
                "every step of `net` was skipped, all 3; the loss scale fell from 32768 to 4096",
            ),
        ],
    )
    def test_training_that_goes_wrong(self, changes: dict[str, object], told: str) -> None:
        assert judge_program(alone(trained(**changes)), NAMING).faults == (told,)

    def test_some_skipped_steps_are_normal(self) -> None:
        assert judge_program(alone(trained(skipped=2, scale=8192.0)), NAMING).outcome is Outcome.VERIFIED

    def test_half_variables(self) -> None:
        run = replace(RUN, models=(replace(MODEL, half_trainable=("kernel", "bias")),))
        assert judge_program(alone(run), NAMING).faults == ("2 trainable variables of `net` are in half precision",)

    @pytest.mark.parametrize(
        ("run", "told"),
        [
            (replace(RUN, trouble=CRASH), "running the program failed: ValueError: no"),
            (
                replace(RUN, models=()),
                "no model was found: `mplint verify FILE:factory` runs a function that makes one",
            ),
            (replace(RUN, models=(), hint="run it with --keras 2"), "run it with --keras 2"),
            (replace(RUN, models=(replace(MODEL, training=None),)), "`net` could not be trained"),
            (replace(RUN, models=(replace(MODEL, outputs=()),)), "`net` gives nothing whose dtype could be seen"),
            (
                replace(RUN, models=(replace(MODEL, troubles=(CRASH,)),)),
                "`net`: running the program failed: ValueError: no",
            ),
        ],
    )
    def test_what_is_not_known_is_never_a_pass(self, run: Run, told: str) -> None:
        judgement = judge_program(alone(run), NAMING)
        assert judgement.outcome is Outcome.INCONCLUSIVE
        assert judgement.reasons == (told,)

    def test_a_crash_does_not_hide_a_fault(self) -> None:
        assert judge_program(alone(replace(halved("digit"), trouble=CRASH)), NAMING).outcome is Outcome.REFUTED

    def test_a_model_that_has_nothing_to_train(self) -> None:
        run = replace(RUN, models=(replace(MODEL, training=None, trainable=0),))
        assert judge_program(alone(run), NAMING).outcome is Outcome.VERIFIED

    def test_a_time_out(self) -> None:
        judgement = judge_program(Evidence(timed_out=True, unfinished=AFTER, seconds=60.0), NAMING)
        assert judgement.outcome is Outcome.INCONCLUSIVE
        assert judgement.reasons == ("the program was not done after 60 s: --timeout gives it longer",)

    def test_a_process_that_is_gone(self) -> None:
        assert judge_program(Evidence(unfinished=AFTER), NAMING).outcome is Outcome.INCONCLUSIVE
        assert judge_program(Evidence(), NAMING).outcome is Outcome.INCONCLUSIVE

    def test_float32_alone_is_noted(self) -> None:
        run = replace(RUN, models=(replace(MODEL, half_layers=0),))
        assert "no layer computes in half precision" in judge_program(alone(run), NAMING).notes[0]

    def test_a_missing_kernel_names_the_operation(self) -> None:
        text = "InvalidArgumentError: No OpKernel was registered to support Op 'MaxPool3D' used by {{node MaxPool3D}}"
        run = replace(RUN, trouble=Trouble("kernel", text, "fit"))
        assert "no kernel for MaxPool3D" in judge_program(alone(run), NAMING).reasons[0]


class TestRewrite:
    """A rewritten program beside the original."""

    def test_a_good_one(self) -> None:
        assert judge_rewrite(pair(halved("digit", "slant"), RUN), NAMING).outcome is Outcome.VERIFIED

    def test_what_stays_half(self) -> None:
        evidence = pair(halved("digit", "slant"), halved("slant"))
        assert judge_rewrite(evidence, NAMING).faults == ("output `slant` of `net` is still float16",)
        known = judge_rewrite(evidence, NAMING, leaves_half=True)
        assert known.outcome is Outcome.VERIFIED
        assert known.notes == ("output `slant` of `net` is still float16",)

    def test_nothing_healed_is_refuted_even_where_some_is_known_to_stay(self) -> None:
        evidence = pair(halved("digit"), halved("digit"))
        assert judge_rewrite(evidence, NAMING, leaves_half=True).outcome is Outcome.REFUTED

    def test_what_becomes_half(self) -> None:
        judgement = judge_rewrite(pair(halved("digit"), halved("slant")), NAMING, leaves_half=True)
        assert judgement.faults == ("output `slant` of `net` was float32 and is float16 now",)

    def test_nothing_was_half(self) -> None:
        judgement = judge_rewrite(pair(RUN, RUN), NAMING)
        assert judgement.outcome is Outcome.INCONCLUSIVE
        assert judgement.doubts == ("no output was in half precision before the rewrite, as the program runs here",)

    def test_other_weights_in_float32(self) -> None:
        evidence = pair(halved("digit"), RUN, equal=False)
        (fault,) = judge_rewrite(evidence, NAMING).faults
        assert fault.endswith("other weights than the original: largest difference 0.5")
        assert judge_rewrite(evidence, NAMING, exact=False).outcome is Outcome.VERIFIED

    def test_an_original_that_does_not_repeat_itself(self) -> None:
        evidence = pair(halved("digit"), RUN, comparison=Comparison(False, 0.5, 4, False))
        assert judge_rewrite(evidence, NAMING).outcome is Outcome.INCONCLUSIVE

    @pytest.mark.parametrize("comparison", [None, Comparison(True, 0.0, 0, None)])
    def test_no_weights_to_compare(self, comparison: Comparison | None) -> None:
        assert judge_rewrite(pair(halved("digit"), RUN, comparison=comparison), NAMING).outcome is Outcome.INCONCLUSIVE

    def test_equal_weights_that_were_never_trained(self) -> None:
        untrained = replace(RUN, models=(replace(MODEL, training=None),))
        runs = {AFTER: RUN, BEFORE: halved("digit"), BEFORE_FLOAT32: untrained, AFTER_FLOAT32: untrained}
        assert judge_rewrite(pair(halved("digit"), RUN, runs=runs), NAMING).outcome is Outcome.INCONCLUSIVE

    def test_failures(self) -> None:
        failed = replace(RUN, models=(), trouble=CRASH)
        assert judge_rewrite(pair(halved("digit"), failed), NAMING).outcome is Outcome.REFUTED
        both = judge_rewrite(pair(failed, failed), NAMING)
        assert both.outcome is Outcome.INCONCLUSIVE
        assert both.doubts[0].startswith("before and after the rewrite: ")
        float32 = {AFTER: RUN, BEFORE: halved("digit"), BEFORE_FLOAT32: RUN, AFTER_FLOAT32: failed}
        assert judge_rewrite(pair(halved("digit"), RUN, runs=float32), NAMING).outcome is Outcome.REFUTED

    def test_a_rewrite_may_mend_a_crash(self) -> None:
        crashed = replace(halved("digit"), trouble=CRASH)
        assert judge_rewrite(pair(crashed, RUN), NAMING).outcome is Outcome.VERIFIED

    def test_a_missing_kernel_does_not_refute(self) -> None:
        failed = replace(RUN, trouble=Trouble("kernel", "No OpKernel was registered to support Op 'X'", "fit"))
        assert judge_rewrite(pair(halved("digit"), failed), NAMING).outcome is Outcome.INCONCLUSIVE

    def test_other_shapes(self) -> None:
        outputs = (replace(MODEL.outputs[0], shape=(None, 11)), MODEL.outputs[1])
        after = replace(RUN, models=(replace(MODEL, outputs=outputs),))
        assert judge_rewrite(pair(halved("digit"), after), NAMING).faults == (
            "the outputs of `net` have other shapes than before",
        )

    def test_bad_training_is_a_fault_where_it_is_new(self) -> None:
        bad = trained(losses=(math.nan,))
        assert judge_rewrite(pair(halved("digit"), bad), NAMING).faults == ("the loss of `net` is not finite",)
        before = replace(halved("digit").models[0], training=bad.models[0].training)
        judgement = judge_rewrite(pair(replace(RUN, models=(before,)), bad), NAMING)
        assert judgement.outcome is Outcome.INCONCLUSIVE
        assert judgement.doubts == ("before and after the rewrite: the loss of `net` is not finite",)

    def test_another_number_of_models(self) -> None:
        after = replace(RUN, models=(MODEL, MODEL))
        assert judge_rewrite(pair(halved("digit"), after), NAMING).outcome is Outcome.INCONCLUSIVE

    def test_rows_that_did_not_run(self) -> None:
        after = replace(RUN, reach={FILE: Reached(((3, 3), (7, 9)), ((7, 9),))})
        judgement = judge_rewrite(pair(halved("digit"), after), Naming(Path("/"), Path("/")))
        assert judgement.outcome is Outcome.INCONCLUSIVE
        assert judgement.reasons == ("project/model.py: the rewritten rows 7-9 did not run",)

    def test_files_that_are_not_loaded(self) -> None:
        reached, other = Reached(((3, 3),), ()), Reached(((6, 6),), ((6, 6),), loaded=False)
        after = replace(RUN, reach={FILE: reached, FILE.with_name("test_net.py"): other})
        judgement = judge_rewrite(pair(halved("digit"), after), NAMING)
        assert judgement.outcome is Outcome.VERIFIED
        assert judgement.remarks == ("changed, but not loaded by the program, and so not proved: test_net.py",)
        none = judge_rewrite(pair(halved("digit"), replace(RUN, reach={FILE: other})), NAMING)
        assert none.reasons == ("the program loads no file that the rewrite changed",)

    def test_a_time_out_after_a_fault(self) -> None:
        evidence = Evidence(runs={AFTER: halved("digit")}, timed_out=True, unfinished=BEFORE, seconds=60.0)
        assert judge_rewrite(evidence, NAMING).outcome is Outcome.REFUTED
        evidence = Evidence(runs={AFTER: RUN}, timed_out=True, unfinished=BEFORE, seconds=60.0)
        assert judge_rewrite(evidence, NAMING).outcome is Outcome.INCONCLUSIVE


def test_exit_status() -> None:
    assert [outcome.exit_status for outcome in Outcome] == [0, 1, 3]


def test_rows() -> None:
    assert rows_in_words(((3, 3),)) == "row 3"
    assert rows_in_words(((3, 4),)) == "rows 3-4"
    assert rows_in_words(((3, 3), (7, 9))) == "rows 3, 7-9"
