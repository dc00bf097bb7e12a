"""What mplint says of a program against what real Keras does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tests.generator.opinion import OTHER, PURE, SOFTMAX, Opinion
from tests.generator.program import Program
from tests.generator.verdict import Disagreement, Tally

HALF: Final = frozenset({"float16", "bfloat16"})
HIDDEN: Final = "hidden"
"""What real Keras says of a softmax, or none, inside a loop."""
EITHER: Final = "one of these"
"""The fault of a half output behind a loop, or of several softmaxes: mplint may say either."""
PERHAPS: Final = "perhaps a half softmax"
"""The fault of several softmaxes that are cast to float32 together: mplint only sees those of a sequence."""
CODES: Final = {
    SOFTMAX: frozenset({"MP101", "MP106"}),
    OTHER: frozenset({"MP102", "MP105"}),
    PURE: frozenset({"MP402"}),
}
"""The rules that speak of each fault."""
ROUNDED: Final = "MP508"
"""The rule that speaks of ids: what it mends is trained to other weights, since the data become integers."""
_ELSEWHERE: Final = "MP105"
"""The one among them that speaks of layers in the middle too."""


def disagreements(
    program: Program, said: Opinion | Disagreement, real: Mapping[str, Any], tally: Tally
) -> list[Disagreement]:
    """Where the two differ."""
    tally.programs += 1
    if isinstance(said, Disagreement):
        return [said]
    if real["error"] is not None:
        if not program.trials:
            tally.discarded[real["error"].split(":")[0]] += 1
        return []
    found = [("failure", failure.text.strip().splitlines()[-1]) for failure in said.report.failures]
    found += _of_dtypes(program, said, real["models"], tally)
    found += [("finding", text) for text in _of_findings(program, said, real["models"], tally)]
    found += [("finding", text) for text in _of_ids(program, said, real)]
    return [Disagreement(program, kind, text) for kind, text in found]


def _of_dtypes(program: Program, said: Opinion, models: Mapping[str, Any], tally: Tally) -> list[tuple[str, str]]:
    found = []
    unknown = tally.unknown
    for name, outputs in models.items():
        if isinstance(outputs, str):
            tally.uncalled += 1
            continue
        dtypes = [dtype for dtype, _ in outputs]
        predicted = said.dtypes.get(name) or [None] * len(dtypes)
        tally.outputs += len(dtypes)
        tally.unknown += list(predicted).count(None)
        if len(predicted) != len(dtypes):
            found.append(("outputs", f"{name}: predicted {predicted}, real {dtypes}"))
        elif any(guess not in (None, dtype) for guess, dtype in zip(predicted, dtypes, strict=True)):
            found.append(("dtype", f"{name}: predicted {predicted}, real {dtypes}"))
    if tally.unknown > unknown:
        tally.unknown_in.append(program.id)
    return found


def _of_ids(program: Program, said: Opinion, real: Mapping[str, Any]) -> list[str]:
    """Whether ids are rounded on the way to a table."""
    is_said, raises = mends_ids(said), any(isinstance(outputs, str) for outputs in real["models"].values())
    if is_said == real["rounds"] or raises or program.several_worlds:
        return []
    return [f"{ROUNDED} is said, and no table rounds" if is_said else f"a table rounds ids, and no {ROUNDED} is said"]


def mends_ids(said: Opinion | Disagreement) -> bool:
    """Whether ids are said to be rounded."""
    return isinstance(said, Opinion) and any(finding.code == ROUNDED for finding in said.report.findings)


def _of_findings(program: Program, said: Opinion, models: Mapping[str, Any], tally: Tally) -> list[str]:
    if any(isinstance(outputs, str) for outputs in models.values()):
        return []  # a model that raises has no outputs, and what is said of it wrongs nobody
    wrong: list[str] = []
    half = False
    for name, written in program.models.items():
        found = said.faults.get(name, set())
        if name not in models or PURE in found:
            continue
        real = {fault for output in models[name] if (fault := fault_of(*output)) is not None}
        half |= bool(real - {PERHAPS}) and written.role == "end"
        expected = set() if written.role == "part" else real
        surplus = set() if expected & {EITHER, PERHAPS} or program.several_worlds else found - expected
        if surplus:
            wrong.append(f"{name}: {', '.join(sorted(surplus))} is said of it, but it gives {models[name]}")
        missing = expected - found - ({EITHER, PERHAPS} if found else {PERHAPS})
        if missing and said.knows(name) and written.role == "end":
            wrong.append(f"{name}: nothing is said of {', '.join(sorted(missing))}, but it gives {models[name]}")
    tally.half += half
    return wrong + _of_report(said)


def _of_report(said: Opinion) -> list[str]:
    """Where the findings are not what the faults of the models come to."""
    wrong = []
    codes = {finding.code for finding in said.report.findings}
    for fault, speaking in CODES.items():
        there = any(fault in faults for faults in said.faults.values())
        if there and not codes & speaking:
            wrong.append(f"there is {fault}, and no {' or '.join(sorted(speaking))}")
        if not there and fault != PURE and codes & (speaking - {_ELSEWHERE}):
            wrong.append(f"{' and '.join(sorted(codes & speaking))}, and no model with {fault}")
    return wrong


def fault_of(dtype: str, softmax: str | None) -> str | None:
    """What is wrong with an output, as real Keras sees it."""
    several, _, each = (softmax or "").rpartition(" ")
    if several and each in HALF:
        return EITHER if dtype in HALF else PERHAPS
    if softmax in HALF:
        return SOFTMAX
    if dtype not in HALF:
        return None
    return EITHER if softmax == HIDDEN else OTHER
