"""Whether the fixes of one round did what they promised, and only that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from mplint.analysis import Report
from mplint.findings import Applicability, Finding, Span
from mplint.fixer.shift import Shift, overlap


@dataclass
class Verdict:
    """What is wrong with a round: by fix where it is known whose doing it is, else for the round as a whole."""

    guilty: dict[Finding, str] = field(default_factory=dict)
    unexplained: str = ""

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.guilty and not self.unexplained

    def blame(self, suspects: Sequence[Finding], reason: str) -> None:
        """Note a fault that one of the suspects has caused."""
        if len(suspects) == 1:
            self.guilty.setdefault(suspects[0], reason)
        else:
            self.unexplained = self.unexplained or reason


def judge(before: Report, made: Sequence[Finding], shifts: Mapping[Path, Shift], after: Report) -> Verdict:
    """Compare the reports before and after the fixes of `made`.

    Each of them must be gone; nothing new may stand in what was written, nothing graver anywhere (unless an unsafe fix
    has switched half precision on: then it was uncovered, not caused, and in what was written the next round mends it;
    so does it what something graver has hidden);
    the analysis must not fail where it had not.
    """
    verdict = Verdict()
    images = {finding: _moved(finding, shifts) for finding in before.findings}
    expected = {_Place(one.path, one.code, images[one]) for one in images.keys() - set(made)}
    found = {_Place(one.path, one.code, one.span): one for one in after.findings}
    missing = expected - found.keys()
    for finding in [found[place] for place in found if place not in expected]:
        here = [one for one in made if one.path == finding.path and overlap(images[one], finding.span)]
        wrote = [
            one for one in made if any(overlap(span, finding.span) for span in _written(one, finding.path, shifts))
        ]
        if same := [one for one in here if one.code == finding.code]:
            verdict.guilty.setdefault(same[0], "the finding was still there afterwards")
        elif _was_there(finding, missing) or _is_next(finding, wrote):
            continue
        elif wrote:
            verdict.blame(wrote, f"it would cause {finding.code}: {finding.message}")
        elif _graver(finding, made):
            verdict.blame(made, f"it would cause {finding.code} elsewhere: {finding.message}")
    failed = {failure.path for failure in before.failures}
    for failure in after.failures:
        if failure.path not in failed:
            verdict.blame(touching(failure.path, made) or made, f"the analysis of {failure.path.name} fails afterwards")
    return verdict


def touching(path: Path, made: Iterable[Finding]) -> list[Finding]:
    """Those whose fix edits the file."""
    return [finding for finding in made if finding.fix and any(edit.path == path for edit in finding.fix.edits)]


class _Place(NamedTuple):
    path: Path
    code: str
    span: Span


def _moved(finding: Finding, shifts: Mapping[Path, Shift]) -> Span:
    return shifts[finding.path].span(finding.span) if finding.path in shifts else finding.span


def _written(finding: Finding, path: Path, shifts: Mapping[Path, Shift]) -> list[Span]:
    edits = finding.fix.edits if finding.fix else ()
    return [shifts[path].written(edit) for edit in edits if edit.path == path]


def _was_there(finding: Finding, missing: Iterable[_Place]) -> bool:
    """Whether it is an older one whose own text was rewritten, so that it stands elsewhere in that now."""
    same = (finding.path, finding.code)
    return any((place.path, place.code) == same and overlap(place.span, finding.span) for place in missing)


def _is_next(finding: Finding, wrote: Sequence[Finding]) -> bool:
    """Whether unsafe fixes alone have brought it, or something graver hid it, and it can be mended as they were."""
    level = finding.fix.applicability if finding.fix is not None else Applicability.DISPLAY
    if level is Applicability.SAFE and wrote and finding.severity < min(one.severity for one in wrote):
        return True
    unsafe = bool(wrote) and all(one.fix and one.fix.applicability is Applicability.UNSAFE for one in wrote)
    return unsafe and level in (Applicability.SAFE, Applicability.UNSAFE)


def _graver(finding: Finding, made: Sequence[Finding]) -> bool:
    uncovers = any(one.fix and one.fix.applicability is not Applicability.SAFE for one in made)
    return not uncovers and finding.severity > min(one.severity for one in made)
