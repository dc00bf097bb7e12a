"""Fixes as suggestions: whole lines that one click replaces, where a fix is such and stands its check."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from mplint.analysis import Report
from mplint.findings import Applicability, Edit, Finding, Span
from mplint.fixer import fix
from mplint.project.modules import Project
from mplint.review.checking import Side
from mplint.review.diff import Diff
from mplint.review.selection import Kept
from mplint.source.edits import apply_edits
from mplint.source.file import SourceFile
from mplint.source.notebook import SUFFIX as NOTEBOOK

_BOM: Final = "\ufeff"
_TALLEST: Final = 30
"""Rows: nobody reads more of them for a few that change."""


@dataclass(frozen=True)
class Suggestion:
    """The rows `first` to `last` become `text`, which has their line ends. `fingerprints`: the findings it mends."""

    first: int
    last: int
    text: str
    fingerprints: tuple[str, ...]


@dataclass(frozen=True)
class _Change:
    finding: Finding
    edits: tuple[Edit, ...]
    first: int
    last: int


def suggestions(kept: Sequence[Kept], head: Side, diff: Diff) -> dict[str, Suggestion]:
    """The suggestion for each finding that has one, by fingerprint.

    Findings whose fixes touch the same lines share one: the forges apply no two to a line.
    """
    possible = [change for one in kept if (change := _change(one, head, diff)) is not None]
    sound = _sound([change.finding for change in possible], head)
    changes = [change for change in possible if change.finding.fingerprint in sound]
    found: dict[str, Suggestion] = {}
    for group in _together(changes):
        made = _suggestion(group, head.project.source(group[0].finding.path))
        if made is not None and diff.files[head.path(group[0].finding.path)].hunk_at(made.first, made.last):
            found |= dict.fromkeys(made.fingerprints, made)
    return found


def _change(one: Kept, head: Side, diff: Diff) -> _Change | None:
    """What a fix does, if all of it lies in one hunk of the finding's own file, and no choice is left open."""
    finding = one.finding
    allowed = (Applicability.SAFE, Applicability.UNSAFE) if head.settings.unsafe_fixes else (Applicability.SAFE,)
    if finding.fix is None or finding.fix.applicability not in allowed or finding.path.suffix == NOTEBOOK:
        return None
    edits, file = tuple(sorted(finding.fix.edits)), diff.files.get(head.path(finding.path))
    if not edits or file is None or any(edit.path != finding.path for edit in edits):
        return None
    source = head.project.source(finding.path)
    if source.encoding not in ("utf-8", "ascii") or not _has_one_line_end(source.text):
        return None
    first, last = _rows(source.text, Span(edits[0].span.start, max(edit.span.end for edit in edits)))
    if last - first >= _TALLEST or file.hunk_at(first, last) is None:
        return None
    return _Change(finding, edits, first, last)


def _sound(findings: Sequence[Finding], head: Side) -> frozenset[str]:
    """Those whose fixes stand their check when they are really made, all together."""
    if not findings:
        return frozenset()
    wanted = {finding.fingerprint for finding in findings}

    def only_wanted(report: Report, project: Project) -> Report:
        kept = (one if one.fingerprint in wanted else replace(one, fix=None) for one in report.findings)
        return replace(report, findings=tuple(kept))

    outcome = fix(head.project, head.targets, head.settings, unsafe=head.settings.unsafe_fixes, filters=(only_wanted,))
    return frozenset(finding.fingerprint for finding in outcome.applied if finding in findings)


def _together(changes: Sequence[_Change]) -> Iterator[list[_Change]]:
    """The changes, those together that touch the same rows of a file."""
    group: list[_Change] = []
    last = 0
    for change in sorted(changes, key=lambda change: (change.finding.path, change.first, change.last)):
        if group and (change.finding.path != group[0].finding.path or change.first > last):
            yield group
            group = []
        last = max(last, change.last) if group else change.last
        group.append(change)
    if group:
        yield group


def _suggestion(group: Sequence[_Change], source: SourceFile) -> Suggestion | None:
    first, last = min(change.first for change in group), max(change.last for change in group)
    block = _block(source.text, first, last)
    before = source.text[block.start : block.end]
    edits = {edit for change in group for edit in change.edits}
    inside = [(Span(e.span.start - block.start, e.span.end - block.start), e.content) for e in sorted(edits)]
    after = apply_edits(before, inside)
    if after == before or (bool(after) and after.endswith("\n") != before.endswith("\n")):
        return None
    if source.bom and first == 1:
        after = _BOM + after
    return Suggestion(first, last, after, tuple(change.finding.fingerprint for change in group))


def _rows(text: str, span: Span) -> tuple[int, int]:
    """The rows that hold a span; where it takes a line end away behind which nothing is left, the next row, too."""
    first, last = text.count("\n", 0, span.start) + 1, text.count("\n", 0, max(span.start, span.end - 1)) + 1
    starts_row = span.start == 0 or text[span.start - 1] == "\n"
    takes_end = span.end > span.start and text[span.end - 1] == "\n" and not starts_row
    return first, last + 1 if takes_end and span.end < len(text) else last


def _block(text: str, first: int, last: int) -> Span:
    """Where the rows stand, the last one with its line end."""
    start = 0
    for _ in range(first - 1):
        start = text.index("\n", start) + 1
    end = start
    for _ in range(last - first + 1):
        end = text.find("\n", end) + 1 or len(text)
    return Span(start, end)


def _has_one_line_end(text: str) -> bool:
    """Whether all lines end alike: where they do not, a forge may change those of the whole file."""
    pairs = text.count("\r\n")
    return text.count("\r") == pairs and pairs in (0, text.count("\n"))
