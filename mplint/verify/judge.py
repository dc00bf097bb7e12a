"""What the measurements mean: verified, refuted or inconclusive. Nothing runs here."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mplint.project.naming import Naming
from mplint.verify.audit import Tally, Verdict
from mplint.verify.results import (
    AFTER,
    AFTER_FLOAT32,
    BEFORE,
    BEFORE_FLOAT32,
    RUNS,
    Evidence,
    ModelRun,
    Output,
    Run,
    Training,
    Trouble,
)


class Outcome(enum.Enum):
    """What a verification can end with."""

    VERIFIED = "verified"
    REFUTED = "refuted"
    INCONCLUSIVE = "inconclusive"
    """It could not be told: never a pass."""

    def __str__(self) -> str:
        return self.value

    @property
    def exit_status(self) -> int:
        """Of `mplint verify`."""
        return {Outcome.VERIFIED: 0, Outcome.REFUTED: 1, Outcome.INCONCLUSIVE: 3}[self]


@dataclass(frozen=True)
class Judgement:
    """`faults` refute, `doubts` leave it open, `notes` are worth knowing; `unreached` rewritten rows prove nothing.

    Rewritten files that the program does not load (`unused`) are no part of what is proved.
    """

    faults: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unreached: tuple[tuple[str, tuple[tuple[int, int], ...]], ...] = ()
    unused: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """A fault is certain whatever else is open."""
        if self.faults:
            return Outcome.REFUTED
        return Outcome.INCONCLUSIVE if self.doubts or self.unreached else Outcome.VERIFIED

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the outcome is what it is."""
        open_places = tuple(f"{name}: the rewritten {rows_in_words(rows)} did not run" for name, rows in self.unreached)
        return self.faults or (*self.doubts, *open_places)

    @property
    def remarks(self) -> tuple[str, ...]:
        """The notes, and what was left out."""
        if not self.unused:
            return self.notes
        return (*self.notes, f"changed, but not loaded by the program, and so not proved: {', '.join(self.unused)}")


def judge_program(evidence: Evidence, naming: Naming) -> Judgement:
    """A program as it is."""
    faults: list[str] = []
    doubts = list(_unfinished(evidence))
    notes: list[str] = []
    run = evidence.runs.get(AFTER)
    if run is not None:
        if run.trouble is not None:
            doubts.append(in_words(run.trouble, naming))
        elif not run.models:
            doubts.append(run.hint or _NO_MODEL)
        for model in run.models:
            faults += _half_outputs(model)
            faults += _training_faults(model).values()
            doubts += _model_doubts(model, naming)
        if run.models and not any(model.half_layers for model in run.models):
            notes.append(
                "no layer computes in half precision: --policy mixed_float16 tries the program under that policy"
            )
        notes += _run_notes(run)
    return Judgement(tuple(faults), _once(doubts), tuple(notes))


def judge_rewrite(evidence: Evidence, naming: Naming, *, leaves_half: bool = False, exact: bool = True) -> Judgement:
    """A rewritten program beside the original.

    With `leaves_half` some outputs are known to stay in half precision (their findings were not to be fixed). `exact`
    demands that both train to the same bits in float32.
    """
    faults: list[str] = []
    doubts = list(_unfinished(evidence))
    notes: list[str] = []
    before, after = evidence.runs.get(BEFORE), evidence.runs.get(AFTER)
    faults_, doubts_ = _troubles(before, after, naming)
    faults += faults_
    doubts += doubts_
    if after is not None and after.trouble is None and not after.models:
        doubts.append(after.hint or _NO_MODEL)
    if after is not None:
        notes += _run_notes(after)
    if after is not None and before is not None:
        if after.trouble is None and before.trouble is None and len(after.models) != len(before.models):
            doubts.append(f"the original makes {len(before.models)} models, the rewritten program {len(after.models)}")
        else:
            for old, new in zip(before.models, after.models, strict=False):
                _compare_models(old, new, faults, doubts)
            _judge_outputs(before, after, leaves_half, faults, doubts, notes)
    elif after is not None:
        faults += [fault for model in after.models for fault in _half_outputs(model)]
    for model in after.models if after is not None else ():
        doubts += _model_doubts(model, naming)
    if not faults_ and (after is None or after.models):  # else enough is said
        _judge_float32(evidence, exact, naming, faults, doubts, notes)
    reach = {naming.file(path): reached for path, reached in (after.reach.items() if after is not None else ())}
    unused = tuple(name for name, reached in reach.items() if not reached.loaded)
    if unused and len(unused) == len(reach) and after is not None and after.trouble is None:
        doubts.append("the program loads no file that the rewrite changed")
    unreached = tuple(
        (name, reached.unreached) for name, reached in reach.items() if reached.loaded and reached.unreached
    )
    return Judgement(tuple(faults), _once(doubts), tuple(notes), unreached, unused)


def judge_audit(evidence: Evidence, tally: Tally, naming: Naming) -> Judgement:
    """What ran beside what was predicted: only a difference refutes, and only a program that ended tells all."""
    doubts = list(_unfinished(evidence))
    run = evidence.runs.get(AFTER)
    if run is not None and run.trouble is not None:
        doubts.append(in_words(run.trouble, naming))
    elif run is not None and not tally.facts:
        doubts.append(run.hint or "the program's own code makes no layer, model or variable")
    wrong = tally.of(Verdict.DIFFERS)
    faults = (f"{len(wrong)} of {len(tally.facts)} dtypes differ from what mplint predicts: please report it",)
    notes = ("the program was stopped when it had trained long enough",) if run is not None and run.stopped else ()
    return Judgement(faults if wrong else (), _once(doubts), notes)


NOT_HALF: Final = "no output was in half precision before the rewrite, as the program runs here"
"""A doubt that other arguments of the program may end."""

_NO_MODEL: Final = "no model was found: `mplint verify FILE:factory` runs a function that makes one"


def _once(lines: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(lines))


def _unfinished(evidence: Evidence) -> Iterator[str]:
    if evidence.timed_out:
        what = RUNS.get(evidence.unfinished or "", "the program")
        yield f"{what} was not done after {evidence.seconds:.0f} s: --timeout gives it longer"
    elif evidence.unfinished is not None or AFTER not in evidence.runs:
        yield "the process that ran the program ended before it had reported"


def _run_notes(run: Run) -> Iterator[str]:
    if run.others:
        yield f"not judged, since neither compiled nor trained: {', '.join(run.others)}"
    for model in run.models:
        training = model.training
        if training is not None and training.more and training.skipped != training.steps:
            why = "all before were skipped, while the loss scale was too large"
            yield f"`{model.name}` trained {training.more} more steps than asked for: {why}"
    if run.stopped:
        yield "the program was stopped when it had trained long enough"


def _output(output: Output, model: ModelRun) -> str:
    return f"the output of `{model.name}`" if output.name == "output" else f"output `{output.name}` of `{model.name}`"


def _half_outputs(model: ModelRun) -> Iterator[str]:
    for output in model.half_outputs:
        yield f"{_output(output, model)} is {output.dtype}"


def _model_doubts(model: ModelRun, naming: Naming) -> Iterator[str]:
    for trouble in model.troubles:
        yield f"`{model.name}`: {in_words(trouble, naming)}"
    if not model.troubles:
        if not model.outputs:
            yield f"`{model.name}` gives nothing whose dtype could be seen"
        if model.training is None and model.trainable:
            yield f"`{model.name}` could not be trained"


def _training_faults(model: ModelRun) -> dict[str, str]:
    """What is wrong with how a model trains; the same key for the same kind of fault."""
    name = f"`{model.name}`"
    faults: dict[str, str] = {}
    if model.half_trainable:
        faults["variables"] = f"{len(model.half_trainable)} trainable variables of {name} are in half precision"
    training = model.training
    if training is None:
        return faults
    if training.scale is not None and not (math.isfinite(training.scale) and training.scale > 0):
        faults["scale"] = f"the loss scale of {name} ended as {training.scale:g}"
    if training.skipped and training.skipped == training.steps:
        faults["moved"] = f"every step of {name} was skipped, all {training.steps}; {_scale_story(training)}"
    elif not training.loss_is_finite:
        faults["loss"] = f"the loss of {name} is not finite"
    elif not training.finite:
        faults["weights"] = f"{name} has weights that are not finite after {_steps(training)}"
    elif training.followed and not training.moved:
        faults["moved"] = f"{_steps(training)} of training changed no variable of {name}"
    return faults


def _steps(training: Training) -> str:
    return "1 step" if training.steps == 1 else f"{training.steps} steps"


def _scale_story(training: Training) -> str:
    if training.scale is None or training.first_scale is None:
        return "there is no loss scale"
    return f"the loss scale fell from {training.first_scale:g} to {training.scale:g}"


def _troubles(before: Run | None, after: Run | None, naming: Naming) -> tuple[list[str], list[str]]:
    """Faults and doubts that come from programs that fail."""
    if after is None or after.trouble is None:
        return [], []
    told = in_words(after.trouble, naming)
    if after.trouble.kind in ("kernel", "keras", "target", "internal"):
        return [], [told]
    if before is None:
        return [], [f"rewritten: {told}"]
    if before.trouble is None:
        return [f"the original runs, the rewritten program does not: {told}"], []
    return [], [f"before and after the rewrite: {told}"]


def _compare_models(old: ModelRun, new: ModelRun, faults: list[str], doubts: list[str]) -> None:
    if old.outputs and new.outputs and [o.shape for o in old.outputs] != [o.shape for o in new.outputs]:
        faults.append(f"the outputs of `{new.name}` have other shapes than before")
    earlier = _training_faults(old)
    for key, fault in _training_faults(new).items():
        if key in earlier:
            doubts.append(f"before and after the rewrite: {fault}")
        else:
            faults.append(fault)


def _judge_outputs(
    before: Run, after: Run, leaves_half: bool, faults: list[str], doubts: list[str], notes: list[str]
) -> None:
    """Were outputs in half precision, and are they healed?"""
    healed = 0
    left: list[str] = []
    for old, new in zip(before.models, after.models, strict=False):
        for was, now in zip(old.outputs, new.outputs, strict=False):
            if now.is_half and not was.is_half:
                faults.append(f"{_output(now, new)} was {was.dtype} and is {now.dtype} now")
            healed += was.is_half and not now.is_half
            if now.is_half and was.is_half:
                left.append(f"{_output(now, new)} is still {now.dtype}")
    if left and not (leaves_half and healed):
        faults += left
    elif left:
        notes += left
    elif not healed and before.models and after.models and all(model.outputs for model in before.models):
        doubts.append(NOT_HALF)


def _judge_float32(
    evidence: Evidence, exact: bool, naming: Naming, faults: list[str], doubts: list[str], notes: list[str]
) -> None:
    before, after = evidence.runs.get(BEFORE_FLOAT32), evidence.runs.get(AFTER_FLOAT32)
    if before is None or after is None:
        if not evidence.timed_out:
            doubts.append("the two programs were not compared in float32")
        return
    if before.trouble is not None:
        doubts.append(f"the original program in float32: {in_words(before.trouble, naming)}")
    elif after.trouble is not None:
        faults.append(
            f"in float32 the original runs, the rewritten program does not: {in_words(after.trouble, naming)}"
        )
    untrained = [model.name for model in (*before.models, *after.models) if model.trainable and model.training is None]
    if before.trouble is not None or after.trouble is not None:
        return
    comparison = evidence.comparison
    if comparison is None or untrained or not comparison.weights:
        doubts.append("there are no trained weights to compare in float32")
    elif not comparison.equal:
        size = "their shapes differ" if comparison.largest is None else f"largest difference {comparison.largest:.2g}"
        if not exact:
            notes.append(f"in float32 the rewritten program trains to other weights: {size}")
        elif comparison.repeatable:
            faults.append(f"in float32 the rewritten program trains to other weights than the original: {size}")
        else:
            doubts.append("the original program does not train alike twice, so float32 cannot be compared")


def in_words(trouble: Trouble, naming: Naming) -> str:
    """A trouble as a sentence of one line."""
    text = " ".join(trouble.text.split())
    text = text if len(text) <= 300 else f"{text[:300]}…"
    where = "" if trouble.where is None else f" ({naming.file(trouble.where[0])}:{trouble.where[1]})"
    match trouble.kind:
        case "kernel":
            operation = _operation(text)
            told = f"this machine has no kernel for {operation} in this dtype, which is no fault of the program"
            return f"{told} (--policy mixed_bfloat16 may have one)"
        case "internal":
            last = trouble.text.strip().splitlines()[-1:]
            return f"mplint's own fault, please report it: {' '.join(last)}"
        case "keras" | "target" | "exit" | "died":
            return f"{text}{where}"
        case _:
            return f"{trouble.stage} failed: {text}{where}"


def _operation(text: str) -> str:
    for mark in ("{{node ", "Op '", "registered '"):
        start = text.find(mark)
        if start >= 0:
            rest = text[start + len(mark) :]
            end = min((rest.find(mark) for mark in ("}", "'", " ") if mark in rest), default=len(rest))
            return rest[:end].split("/")[-1]
    return "an operation"


def rows_in_words(rows: tuple[tuple[int, int], ...]) -> str:
    """`row 3`, `rows 3, 7-9`."""
    parts = [str(first) if first == last else f"{first}-{last}" for first, last in rows]
    return f"row{'s' if len(parts) > 1 or '-' in parts[0] else ''} {', '.join(parts)}"
