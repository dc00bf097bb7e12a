"""A proof on the terminal, and as JSON."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from mplint.project.naming import Naming
from mplint.verify import audit
from mplint.verify.judge import Outcome
from mplint.verify.prove import Audited, Proof, Verdict
from mplint.verify.results import AFTER, BEFORE, Comparison, ModelRun, Run, Training

_MARK: Final = {Outcome.VERIFIED: "✓", Outcome.REFUTED: "✗", Outcome.INCONCLUSIVE: "?"}
_STYLE: Final = {Outcome.VERIFIED: "green", Outcome.REFUTED: "red", Outcome.INCONCLUSIVE: "yellow"}
_NONE: Final = "–"
_LAST_LINES: Final = 5
_MOST_UNKNOWN: Final = 20
"""Predictions that were not made, that an audit lists."""


@dataclass(frozen=True)
class _Cell:
    text: str
    style: str = ""


@dataclass(frozen=True)
class _Row:
    label: str
    cells: tuple[_Cell, ...]


def render(proof: Proof, *, color: bool = False, width: int = 100, naming: Naming) -> str:
    """A proof as text: what it ran with, a table for each model, and the outcome with its reasons."""
    paper = _Rich(width) if color else _Plain()
    _measurements(paper, proof, width, naming)
    _conclude(paper, proof.outcome, _called(proof, naming), proof.judgement.reasons)
    return paper.text()


def render_verdict(verdict: Verdict, *, color: bool = False, width: int = 100, naming: Naming) -> str:
    """All proofs of a set of fixes, and what they say of each file."""
    paper = _Rich(width) if color else _Plain()
    for proof in verdict.proofs:
        _measurements(paper, proof, width, naming)
        if not any(run.models for run in proof.evidence.runs.values()):  # nothing but the heading says what was run
            for reason in proof.judgement.reasons:
                paper.line(f"  {reason}")
            paper.line("")
    for path, of_file in verdict.files.items():
        _conclude(paper, of_file.outcome, f"fixes in {naming.file(path)}", of_file.reasons)
    return paper.text()


def render_audit(audited: Audited, *, color: bool = False, width: int = 100, naming: Naming) -> str:
    """An audit as text: what differs from the prediction, what was not predicted, and how much was."""
    paper = _Rich(width) if color else _Plain()
    paper.line(_heading(audited, naming), "bold")
    tally = audited.tally
    wrong, unknown = tally.of(audit.Verdict.DIFFERS), tally.of(audit.Verdict.UNKNOWN)
    for title, facts, style in (
        ("other than predicted", wrong, "bold red"),
        ("not predicted", unknown[:_MOST_UNKNOWN], "yellow"),
    ):
        if facts:
            paper.line("")
            paper.line(title)
            paper.table(["what", "ran in", "predicted"], [_fact(fact, naming, style) for fact in facts])
    paper.line("")
    if len(unknown) > _MOST_UNKNOWN:
        paper.line(f"note: {len(unknown) - _MOST_UNKNOWN} more were not predicted", "dim")
    agreed, seen = tally.counts[audit.Verdict.AGREES], len(tally.facts)
    if seen:
        paper.line(f"as predicted: {agreed} of {seen} dtypes of layers, outputs and variables", "dim")
    _ending(paper, audited, width)
    _conclude(paper, audited.outcome, _called(audited, naming), audited.judgement.reasons)
    return paper.text()


def audit_as_json(audited: Audited) -> dict[str, Any]:
    """An audit as data."""
    return {
        **_head(audited),
        "counts": {verdict.value: count for verdict, count in audited.tally.counts.items()},
        "facts": [{**asdict(fact), "verdict": fact.verdict.value} for fact in audited.tally.facts],
        "seconds": round(audited.evidence.seconds, 2),
    }


def _fact(fact: audit.Fact, naming: Naming, style: str) -> _Row:
    file = naming.file(Path(fact.file))
    place = f"{file}:{fact.row}" if fact.row else file
    return _Row(place, (_Cell(f"{fact.kind}, {fact.about}"), _Cell(fact.real, style), _Cell(fact.predicted)))


def _measurements(paper: _Plain | _Rich, proof: Proof, width: int, naming: Naming) -> None:
    paper.line(_heading(proof, naming), "bold")
    columns = [label for label in (BEFORE, AFTER) if label in proof.evidence.runs]
    for models in _side_by_side([proof.evidence.runs[label] for label in columns]):
        shown = next(model for model in reversed(models) if model is not None)
        paper.line("")
        paper.line(f"{shown.name} ({shown.kind}){_training_in_words(shown.training)}")
        headings = columns if proof.rewrite else ["as it is"]
        paper.table(headings, list(_rows(models, proof.evidence.comparison)))
    paper.line("")
    _ending(paper, proof, width)


def _ending(paper: _Plain | _Rich, proof: Proof | Audited, width: int) -> None:
    """Notes, and what a program that failed said last."""
    for note in proof.judgement.remarks:
        paper.line(f"note: {note}", "dim")
    if any(run.trouble is not None and run.trouble.kind in ("exit", "died") for run in proof.evidence.runs.values()):
        for line in proof.evidence.output.splitlines()[-_LAST_LINES:]:
            paper.line(f"| {line[:width]}", "dim")


def as_json(proof: Proof) -> dict[str, Any]:
    """A proof as data: the outcome, its reasons and all measurements; numbers that are not finite as words."""
    evidence = proof.evidence
    return {
        **_head(proof),
        "runs": {label: _plain(asdict(run)) for label, run in evidence.runs.items()},
        "float32": None if evidence.comparison is None else _plain(asdict(evidence.comparison)),
        "seconds": round(evidence.seconds, 2),
    }


def _head(proof: Proof | Audited) -> dict[str, Any]:
    """What every proof as data begins with."""
    versions = proof.evidence.versions
    return {
        "target": str(proof.target),
        "outcome": str(proof.outcome),
        "reasons": list(proof.judgement.reasons),
        "notes": list(proof.judgement.remarks),
        "versions": None if versions is None else asdict(versions),
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return str(value) if isinstance(value, Path) else value


def _called(proof: Proof | Audited, naming: Naming) -> str:
    """What to call the target."""
    target = proof.target
    return str(target if target.file is None else replace(target, file=Path(naming.file(target.file))))


def _heading(proof: Proof | Audited, naming: Naming) -> str:
    versions = proof.evidence.versions
    told = _called(proof, naming)
    if versions is None:
        return told
    return f"{told} · Keras {versions.keras} · TensorFlow {versions.tensorflow} · Python {versions.python}"


def _side_by_side(runs: Sequence[Run]) -> Iterator[tuple[ModelRun | None, ...]]:
    for index in range(max((len(run.models) for run in runs), default=0)):
        yield tuple(run.models[index] if index < len(run.models) else None for run in runs)


def _training_in_words(training: Training | None) -> str:
    if training is None:
        return ""
    how = {
        "fit": "trained by the program's fit",
        "train_on_batch": "trained by the program's train_on_batch",
        "loop": "trained by the program's own loop",
    }.get(training.source, "not trained by the program: trained here")
    return f", {how} on {training.data}"


def _rows(models: Sequence[ModelRun | None], comparison: Comparison | None) -> Iterator[_Row]:
    """The measurements of one model, the outputs last."""

    def row(label: str, cells: Iterator[_Cell]) -> _Row:
        return _Row(label, tuple(cells))

    yield row("policy", (_Cell(m.policy if m else _NONE) for m in models))
    yield row("layers in half precision", (_Cell(f"{m.half_layers} of {m.layers}" if m else _NONE) for m in models))
    yield row("variables", (_variables(m) for m in models))
    trainings = [m.training if m else None for m in models]
    if any(trainings):
        yield row("variables moved", (_moved(t) for t in trainings))
        yield row("loss", (_loss(t) for t in trainings))
        yield row("steps skipped", (_skipped(t) for t in trainings))
        yield row("loss scale", (_Cell(_NONE if t is None or t.scale is None else f"{t.scale:g}") for t in trainings))
        yield row("ms per step", (_milliseconds(t) for t in trainings))
    if comparison is not None:
        yield _Row("weights in float32", (*(_Cell(_NONE) for _ in models[1:]), _bits(comparison)))
    names = list(dict.fromkeys(output.name for m in models if m for output in m.outputs))
    for name in names:
        label = "output" if len(names) == 1 and name == "output" else f"output {name}"
        yield row(label, (_output(m, name) for m in models))


def _variables(model: ModelRun | None) -> _Cell:
    if model is None:
        return _Cell(_NONE)
    text = ", ".join(f"{count} {dtype}" for dtype, count in sorted(model.variables.items())) or "none"
    return _Cell(text, "red" if model.half_trainable else "")


def _moved(training: Training | None) -> _Cell:
    if training is None:
        return _Cell(_NONE)
    lost = training.followed > 0 and training.moved == 0
    return _Cell(f"{training.moved} of {training.followed}", "red" if lost else "")


def _loss(training: Training | None) -> _Cell:
    if training is None or training.loss is None:
        return _Cell(_NONE)
    return _Cell(f"{training.loss:.4g}", "" if training.loss_is_finite else "red")


def _skipped(training: Training | None) -> _Cell:
    if training is None:
        return _Cell(_NONE)
    if training.skipped is None:
        return _Cell(f"? of {training.steps}")
    text = f"{training.skipped} of {training.steps}"
    return _Cell(text, "red" if training.skipped == training.steps else "yellow" if training.skipped else "")


def _milliseconds(training: Training | None) -> _Cell:
    time = None if training is None else training.milliseconds
    return _Cell(_NONE if time is None else f"{time:.1f}")


def _bits(comparison: Comparison) -> _Cell:
    if comparison.equal:
        return _Cell("identical bits", "green")
    if comparison.largest is None:
        return _Cell("other shapes", "red")
    return _Cell(f"differ by {comparison.largest:.1g}", "red" if comparison.repeatable else "yellow")


def _output(model: ModelRun | None, name: str) -> _Cell:
    found = next((output for output in model.outputs if output.name == name), None) if model else None
    if found is None:
        return _Cell(_NONE)
    return _Cell(found.dtype, "bold red" if found.is_half else "bold green")


def _conclude(paper: _Plain | _Rich, outcome: Outcome, what: str, reasons: Sequence[str]) -> None:
    paper.line(f"{_MARK[outcome]} {what}: {outcome}", f"bold {_STYLE[outcome]}")
    for reason in reasons:
        paper.line(f"  {reason}")


class _Plain:
    """Aligned text, for files and pipes."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def line(self, text: str, style: str = "") -> None:
        """Add a line."""
        self._lines.append(text)

    def table(self, headings: Sequence[str], rows: Sequence[_Row]) -> None:
        """Add a table."""
        cells = [["", *headings], *([row.label, *(cell.text for cell in row.cells)] for row in rows)]
        widths = [max(len(line[column]) for line in cells) for column in range(len(headings) + 1)]
        for line in cells:
            padded = (text.ljust(width) for text, width in zip(line, widths, strict=True))
            self._lines.append(("  " + "  ".join(padded)).rstrip())

    def text(self) -> str:
        """All of it."""
        return "".join(f"{line}\n" for line in self._lines)


class _Rich:
    """Colours and rules, for a terminal."""

    def __init__(self, width: int) -> None:
        from rich.console import Console

        self._file = io.StringIO()
        self._console = Console(
            file=self._file, width=width, force_terminal=True, color_system="standard", highlight=False, emoji=False
        )

    def line(self, text: str, style: str = "") -> None:
        """Add a line."""
        self._console.print(text, style=style, markup=False, soft_wrap=True)

    def table(self, headings: Sequence[str], rows: Sequence[_Row]) -> None:
        """Add a table."""
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False, show_edge=False)
        for heading in ("", *headings):
            table.add_column(heading)
        for row in rows:
            table.add_row(Text(row.label, "dim"), *(Text(cell.text, cell.style) for cell in row.cells))
        self._console.print(table)

    def text(self) -> str:
        """All of it."""
        return self._file.getvalue()
