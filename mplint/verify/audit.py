"""The audit: what the interpreter predicted against what ran. Each difference is a defect of mplint's own."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Final

from mplint.interpreter.predict import VARIABLE, Dtypes, Forecast, Prediction, Site
from mplint.interpreter.values import compute_dtype, variable_dtype
from mplint.verify.results import Made

_FUNCTIONAL: Final = {"Functional": "Model"}
"""What `Model(inputs, outputs)` makes, and what it is called in the program."""


class Verdict(enum.Enum):
    """What came of one prediction."""

    AGREES = "agrees"
    UNKNOWN = "unknown"
    """The interpreter did not say."""
    DIFFERS = "differs"


@dataclass(frozen=True)
class Fact:
    """One thing that was really seen, beside what was predicted of it.

    `about` is "policy" (as compute / variable dtype), "output" or "variables" of a layer or model of the class `kind`,
    or of the variable (`kind` "variable") that the call at `file` and `row` makes; or "output" of the model in the
    variable `kind` of the program's first module, where `row` is 0.
    """

    file: str
    row: int
    kind: str
    about: str
    real: str
    predicted: str
    verdict: Verdict

    def __str__(self) -> str:
        return f"{self.file}:{self.row} {self.kind}: {self.about} {self.real}, predicted {self.predicted}"


@dataclass(frozen=True)
class Tally:
    """All facts of a run."""

    facts: tuple[Fact, ...] = ()
    counts: Mapping[Verdict, int] = field(init=False)

    def __post_init__(self) -> None:
        counts = Counter(fact.verdict for fact in self.facts)
        object.__setattr__(self, "counts", {verdict: counts[verdict] for verdict in Verdict})

    def of(self, verdict: Verdict) -> tuple[Fact, ...]:
        """The facts with that verdict."""
        return tuple(fact for fact in self.facts if fact.verdict is verdict)


def compare(
    predictions: Sequence[Prediction],
    made: Sequence[Made],
    named: Mapping[str, Sequence[tuple[str, ...]]],
    start: Path,
) -> Tally:
    """Hold what ran against what was predicted: it must be one of the worlds, so the likest one is taken.

    `start` is the file whose module variables hold the models `named`.
    """
    tallies = [_compare(prediction, made, named, start) for prediction in predictions or (Prediction(),)]
    return min(tallies, key=lambda tally: (tally.counts[Verdict.DIFFERS], tally.counts[Verdict.UNKNOWN]))


def _compare(
    prediction: Prediction, made: Iterable[Made], named: Mapping[str, Iterable[tuple[str, ...]]], start: Path
) -> Tally:
    rows: dict[tuple[Path, int], list[Site]] = {}
    for site in prediction.made:
        rows.setdefault((site.file, site.row), []).append(site)
    facts: list[Fact] = []
    for real in made:
        path = Path(real.file)
        sites = [Site(path, *real.at)] if len(real.at) == 4 else rows.get((path, real.at[0]), [])
        kinds = [(kind, held) for site in sites for kind, held in prediction.made.get(site, {}).items()]
        facts += _of_made(real, _forecast(real, kinds))
    for name, outputs in named.items():
        predicted = prediction.named.get(name, set())
        facts += [Fact(str(start), 0, name, "output", *_output(real, predicted)) for real in outputs]
    return Tally(tuple(facts))


def _forecast(real: Made, kinds: list[tuple[str, Forecast]]) -> Forecast:
    """What was predicted of a thing; of all that the same call may make, where its class is not among it."""
    kind = _FUNCTIONAL.get(real.kind, real.kind)
    fitting = [held for name, held in kinds if name == kind]
    fitting = fitting or [held for name, held in kinds if (name == VARIABLE) == (kind == VARIABLE)]
    merged = Forecast()
    for held in fitting:
        merged.policies |= held.policies
        merged.weights |= held.weights
        merged.outputs |= held.outputs
    return merged


def _of_made(real: Made, forecast: Forecast) -> Iterator[Fact]:
    def fact(about: str, result: tuple[str, str, Verdict]) -> Fact:
        return Fact(real.file, real.at[0], real.kind, about, *result)

    policies = {
        name if name is None else f"{compute_dtype(name)} / {variable_dtype(name)}" for name in forecast.policies
    }
    for compute, variable in real.policies:
        yield fact("policy", _one(f"{compute} / {variable}", policies))
    for dtype in real.weights:
        if real.kind == VARIABLE or forecast.weights:  # of a layer of the program's own, its `add_weight`s tell
            yield fact("variables", _one(dtype, forecast.weights))
    for output in real.outputs:
        yield fact("output", _output(output, forecast.outputs))


def _one(real: str, predicted: set[str | None]) -> tuple[str, str, Verdict]:
    verdict = Verdict.AGREES if real in predicted else Verdict.UNKNOWN
    if verdict is Verdict.UNKNOWN and predicted and None not in predicted:
        verdict = Verdict.DIFFERS
    return real, _words(predicted), verdict


def _words(predicted: Iterable[str | None]) -> str:
    return " or ".join(sorted(name or "unknown" for name in predicted)) or "nothing"


def _output(real: tuple[str, ...], predicted: set[tuple[Dtypes, ...] | None]) -> tuple[str, str, Verdict]:
    """Results of another structure than predicted say nothing of dtypes."""
    verdicts = {_fits(real, each) for each in predicted} or {Verdict.UNKNOWN}
    verdict = next(v for v in (Verdict.AGREES, Verdict.UNKNOWN, Verdict.DIFFERS) if v in verdicts)
    told = {None if each is None else _list(list(map(_words, each))) or "no tensor" for each in predicted}
    return _list(real), _words(told), verdict


def _list(words: Sequence[str]) -> str:
    """Words in order; `4 x float16` where there are so many of the same."""
    runs = [(word, len(list(same))) for word, same in groupby(words)]
    return ", ".join(f"{count} x {word}" if count > 3 else ", ".join([word] * count) for word, count in runs)


def _fits(real: tuple[str, ...], predicted: tuple[Dtypes, ...] | None) -> Verdict:
    if predicted is None or len(predicted) != len(real):
        return Verdict.UNKNOWN
    pairs = list(zip(real, predicted, strict=True))
    if all(dtype in dtypes for dtype, dtypes in pairs):
        return Verdict.AGREES
    open_ = all(dtype in dtypes or None in dtypes for dtype, dtypes in pairs)
    return Verdict.UNKNOWN if open_ else Verdict.DIFFERS
