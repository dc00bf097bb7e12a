"""Fixes as suggestions: whole lines that one click replaces, where a fix is such and stands its check."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Final, NamedTuple

from mplint.analysis import Report
from mplint.findings import Applicability, Finding
from mplint.fixer import Filter, fix
from mplint.project.modules import Project
from mplint.review.checking import Side
from mplint.review.diff import Diff
from mplint.review.selection import Kept
from mplint.source.file import SourceFile
from mplint.source.notebook import SUFFIX as NOTEBOOK

_BOM: Final = "\ufeff"
_TALLEST: Final = 30
"""Rows: nobody reads more of them for a few that change."""


@dataclass(frozen=True)
class Suggestion:
    """The rows `first` to `last` become `text`, which has their line ends.

    `fingerprints` are those of the findings that it mends, the worst first.
    """

    first: int
    last: int
    text: str
    fingerprints: tuple[str, ...]


@dataclass(frozen=True)
class _Change:
    """What a fix does: rows of one file, from 0, the last one excluded."""

    finding: Finding
    start: int
    end: int


def suggestions(kept: Sequence[Kept], head: Side, diff: Diff) -> dict[str, Suggestion]:
    """The suggestion for each finding that has one, by fingerprint.

    They are taken from what the fixer makes of the files when it mends just these findings, so that all of them give
    its text together. Findings whose fixes touch the same lines share one: the forges apply no two to a line.
    """
    possible = [change for one in kept if (change := _change(one, head, diff)) is not None]
    if not possible:
        return {}
    outcome = fix(
        head.project,
        head.targets,
        head.settings,
        unsafe=head.settings.unsafe_fixes,
        filters=(_only([change.finding.fingerprint for change in possible], head),),
        known=head.whole,
    )
    found: dict[str, Suggestion] = {}
    for path, text in outcome.files.items():
        made = [change for change in possible if change.finding.path == path and change.finding in outcome.applied]
        source, file = head.project.source(path), diff.files.get(head.path(path))
        for one in _of_file(made, source, text):
            if file is not None and one.last - one.first < _TALLEST and file.hunk_at(one.first, one.last) is not None:
                found |= dict.fromkeys(one.fingerprints, one)
    return found


def _change(one: Kept, head: Side, diff: Diff) -> _Change | None:
    """What a fix does, if all of it lies in one hunk of the finding's own file, and no choice is left open."""
    finding = one.finding
    allowed = (Applicability.SAFE, Applicability.UNSAFE) if head.settings.unsafe_fixes else (Applicability.SAFE,)
    if finding.fix is None or finding.fix.applicability not in allowed or finding.path.suffix == NOTEBOOK:
        return None
    edits, file = sorted(finding.fix.edits), diff.files.get(head.path(finding.path))
    if not edits or file is None or any(edit.path != finding.path for edit in edits):
        return None
    source = head.project.source(finding.path)
    if source.encoding not in ("utf-8", "ascii") or not _has_one_line_end(source.text):
        return None
    start = source.text.count("\n", 0, edits[0].span.start)
    end = max(source.text.count("\n", 0, max(edit.span.start, edit.span.end - 1)) + 1 for edit in edits)
    if end - start > _TALLEST or file.hunk_at(start + 1, end) is None:
        return None
    return _Change(finding, start, end)


def _only(wanted: Collection[str], head: Side) -> Filter:
    """Leaves out the fixes of all that was found before and is not wanted; what fixing brings to light stays."""
    others = {finding.fingerprint for finding in head.whole.findings} - set(wanted)

    def leave_out(report: Report, project: Project) -> Report:
        kept = (replace(one, fix=None) if one.fingerprint in others else one for one in report.findings)
        return replace(report, findings=tuple(kept))

    return leave_out


def _of_file(changes: Sequence[_Change], source: SourceFile, text: str) -> Iterator[Suggestion]:
    """The lines that differ in the new text of a file; nothing where some of them belong to no change."""
    old, new = _lines(source.text), _lines(text)
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    pieces = [_Piece(*piece) for kind, *piece in matcher.get_opcodes() if kind != "equal"]
    ranges = _joined((change.start, change.end) for change in changes)
    for piece in pieces:
        touched = [each for each in ranges if piece.touches(*each)]
        if not touched:
            return
        ranges = _joined((*ranges, (min(piece.start, touched[0][0]), max(piece.end, touched[-1][1]))))
    for start, end in ranges:
        inside = [piece for piece in pieces if piece.touches(start, end)]
        ahead = start + sum(piece.grows for piece in pieces if piece.end <= start and piece not in inside)
        before = "".join(old[start:end])
        after = "".join(new[ahead : ahead + end - start + sum(piece.grows for piece in inside)])
        if after == before or (after and after.endswith("\n") != before.endswith("\n")):
            continue
        if source.bom and start == 0:
            after = _BOM + after
        mended = [change.finding for change in changes if start <= change.start and change.end <= end]
        mended.sort(key=lambda finding: (-finding.severity, finding.span, finding.code))
        yield Suggestion(start + 1, end, after, tuple(finding.fingerprint for finding in mended))


class _Piece(NamedTuple):
    """Rows of the old text, and those that stand there in the new one."""

    start: int
    end: int
    new_start: int
    new_end: int

    @property
    def grows(self) -> int:
        return self.new_end - self.new_start - (self.end - self.start)

    def touches(self, start: int, end: int) -> bool:
        """Whether it changes these rows, or stands between them and others."""
        if self.start == self.end:
            return start <= self.start <= end
        return self.start < end and self.end > start


def _joined(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges in order, those in one that overlap."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _lines(text: str) -> list[str]:
    """The lines as git counts them, with their ends."""
    return [line for line in re.split(r"(?<=\n)", text) if line]


def _has_one_line_end(text: str) -> bool:
    """Whether all lines end alike: where they do not, a forge may change those of the whole file."""
    pairs = text.count("\r\n")
    return text.count("\r") == pairs and pairs in (0, text.count("\n"))
