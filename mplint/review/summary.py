"""What a review says as a whole: counts, and what no line of the change has to do with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from mplint.findings import Severity
from mplint.review import markers
from mplint.review.comments import listed, titled
from mplint.review.markdown import folded
from mplint.review.selection import Kept, worst_first

_MOST: Final = 50
_LONGEST: Final = 12_000
"""Lines of each kind that are listed, and their characters: a forge takes no more than 65,536 in all."""


@dataclass(frozen=True)
class Status:
    """What a commit is marked with. It fails only where that was asked for."""

    state: Literal["success", "failure"]
    description: str


def summarized(
    kept: Sequence[Kept], told: frozenset[str], *, left: int, notes: Sequence[str], docs: str | None, head: str
) -> str:
    """The text that stands below a change; `told` are the fingerprints that comments on its lines speak of."""
    parts = [markers.SUMMARY + "\n### mplint", counted(kept)]
    if kept:
        parts.append(_table(kept, docs))
    untold = [one for one in worst_first(kept) if one.finding.fingerprint not in told]
    outside = [one for one in untold if one.anchor is None]
    beyond = [one for one in untold if one.anchor is not None]
    if outside:
        parts.append(_list("Outside of the lines that this change shows", outside, docs))
    if beyond:
        parts.append(_list("More than there are comments for", beyond, docs))
    closing = [f"Checked at {head[:12]}."]
    if left:
        there = "1 finding that was there before is" if left == 1 else f"{left} findings that were there before are"
        closing.append(f"{there} left out.")
    if notes:
        parts.append(folded("What was not checked, and why", _some(notes, len(notes))))
    parts.append(f"<sub>{' '.join(closing)}</sub>")
    return "\n\n".join(parts)


def counted(kept: Sequence[Kept]) -> str:
    """How much is found, in one sentence."""
    if not kept:
        return "Nothing found in this change."
    counts = Counter(one.finding.severity for one in kept)
    parts = [_number(counts[severity], severity) for severity in reversed(Severity) if counts[severity]]
    return f"Found {len(kept)} in this change: {', '.join(parts)}."


def status(kept: Sequence[Kept], fail_on: Severity | None) -> Status:
    """Success, unless something is at least as bad as `fail_on`."""
    fails = fail_on is not None and any(one.finding.severity >= fail_on for one in kept)
    return Status("failure" if fails else "success", counted(kept))


def _table(kept: Sequence[Kept], docs: str | None) -> str:
    rows = Counter((-one.finding.severity, one.finding.code) for one in kept)
    of_code = {one.finding.code: one.finding for one in kept}
    lines = ["| rule | severity | findings |", "|---|---|---|"]
    lines += [
        f"| {titled(of_code[code], docs)} | {Severity(-severity)} | {count} |"
        for (severity, code), count in sorted(rows.items())
    ]
    return "\n".join(lines)


def _list(title: str, kept: Sequence[Kept], docs: str | None) -> str:
    return folded(f"{title}: {len(kept)}", _some(list(listed(kept[:_MOST], docs)), len(kept)))


def _some(lines: Sequence[str], count: int) -> list[str]:
    """As many of the lines as there is room for, and how many of `count` there are beside them."""
    room = _LONGEST
    shown: list[str] = []
    for line in lines[:_MOST]:
        room -= len(line)
        if room < 0:
            break
        shown.append(f"- {line}")
    return shown if len(shown) == count else [*shown, f"- and {count - len(shown)} more"]


def _number(count: int, severity: Severity) -> str:
    if severity is Severity.ADVICE:
        return f"{count} of advice"
    return f"1 {severity}" if count == 1 else f"{count} {severity}s"


def with_refused(summary: str, briefs: Sequence[str]) -> str:
    """The summary with what the forge took no comment for."""
    if not briefs:
        return summary
    title = f"On lines that take no comment: {len(briefs)}"
    return "\n\n".join((summary, folded(title, _some(briefs, len(briefs)))))
