"""What mplint says of the numbers of a program against what real Keras makes of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from tests.generator.numerics.trial import Subject
from tests.generator.opinion import Opinion
from tests.generator.program import Program
from tests.generator.verdict import Tally

RAISES: Final = "raises"
SPEAKING: Final = {
    RAISES: frozenset({"MP503"}),
    "numbers": frozenset({"MP103", "MP104", "MP501", "MP502", "MP505"}),
    "products": frozenset({"MP504"}),
    "data": frozenset({"MP506"}),
    "prepared": frozenset({"MP507"}),
    "sizes": frozenset({"MP601"}),
    "batch": frozenset({"MP602"}),
}
"""The rules that speak of each symptom."""
PURE: Final = frozenset({"MP402"})
_ABOUT: Final[Mapping[Subject, Collection[str]]] = {
    "masks": {"MP501"},
    "epsilons": {"MP502"},
    "statistics": {"MP505"},
    "losses": {"MP103", "MP104", "MP502"},
}
"""Of the rules that speak of wrong numbers those that may do so in a program about a subject."""


def disagreements(program: Program, said: Opinion, real: Mapping[str, Any], tally: Tally) -> list[str]:
    """Where the two differ."""
    tally.subjects.update(trial.subject for trial in program.trials)
    if real["error"] is not None:
        tally.uncalled += 1
        return []
    tally.symptoms.update(real["shown"])
    codes = {finding.code for finding in said.report.findings}
    wrong = differences(program, codes, real)
    about = {code for trial in program.trials for code in _ABOUT.get(trial.subject, ())}
    other = codes & SPEAKING["numbers"] - about
    if other and not PURE & codes:
        wrong.append(f"{_listed(other)} is said of {_listed({trial.subject for trial in program.trials})}")
    return wrong


def differences(program: Program, codes: Collection[str], real: Mapping[str, Any]) -> list[str]:
    """Symptoms that nothing is said of, and what is said of symptoms that do not show."""
    if program.several_worlds:
        return []
    shown = set(real["shown"])
    wrong = []
    for symptom, speaking in SPEAKING.items():
        if RAISES in shown and symptom != RAISES:
            continue  # nothing else could be seen
        said = speaking & set(codes)
        if symptom == "numbers" and PURE & set(codes):
            continue  # that its variables are half precision is said first
        if symptom in shown and not said:
            wrong.append(f"{symptom} shows, and no {_listed(speaking)} is said ({real['half_error']})")
        if said and symptom not in shown and f"perhaps {symptom}" not in shown:
            wrong.append(f"{_listed(said)} is said, and no {symptom} shows")
    return wrong


def unhealed(
    program: Program, left: Collection[str], before: Mapping[str, Any], after: Mapping[str, Any], *, same: bool
) -> list[str]:
    """What is wrong with a rewritten program; `same` says that in float32 it must give the same numbers."""
    if after["error"] is not None:
        return [f"the rewritten program raises in float32: {after['error']}"]
    wrong = [f"rewritten: {each}" for each in differences(program, left, after)]
    if same and before["digest"] != after["digest"]:
        wrong.append("the rewritten program gives other numbers in float32")
    if RAISES not in after["shown"] and before["shapes"] != after["shapes"]:
        wrong.append(f"the rewritten program gives {after['shapes']}, not {before['shapes']}")
    return wrong


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
