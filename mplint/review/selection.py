"""Which findings a change causes or touches, and the place in the change where each is to be told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from mplint.findings import Finding
from mplint.fingerprints import words
from mplint.review.checking import Side
from mplint.review.diff import Diff
from mplint.review.snapshot import is_read
from mplint.source.file import SourceError

_TALLEST: Final = 12
"""Rows that a comment is set on; what is taller is told at its first row."""

_Identity = tuple[str, str, str]


@dataclass(frozen=True)
class Anchor:
    """Rows of one hunk, where a comment can stand. `is_cause`: what makes the finding wrong, not the finding itself."""

    path: str
    first: int
    last: int
    is_cause: bool = False


@dataclass(frozen=True)
class Kept:
    """A finding that a review speaks of; `anchor` is None where no line of the change has to do with it.

    `is_new`: it was not there before the change. `place` says where it lies.
    """

    finding: Finding
    place: str
    is_new: bool
    anchor: Anchor | None


@dataclass(frozen=True)
class Selection:
    """What a review speaks of, by place; `left` counts what was there before, `alive` are all fingerprints now."""

    kept: tuple[Kept, ...]
    left: int
    alive: frozenset[str]


def select(head: Side, base: Side | None, diff: Diff) -> Selection:
    """Keep what was not there at `base`, and what lies on changed lines. Without a base, all counts as new."""
    findings = head.report.findings
    new = set(_new(head, base, diff))
    kept = tuple(
        Kept(finding, _place(finding, head), finding in new, _anchor(finding, head, diff))
        for finding in findings
        if finding in new or _is_touched(finding, head, diff)
    )
    return Selection(kept, len(findings) - len(kept), frozenset(finding.fingerprint for finding in findings))


def _new(head: Side, base: Side | None, diff: Diff) -> Iterator[Finding]:
    """The findings that the base has not: of several that say the same the ones on changed lines, then the last."""
    before: Counter[_Identity] = Counter()
    if base is not None:
        before.update((one.code, base.path(one.path), words(one, base.project)) for one in base.report.findings)
    groups: dict[_Identity, list[Finding]] = {}
    for finding in head.whole.findings:
        was = diff.was(head.path(finding.path)) or ""
        groups.setdefault((finding.code, was, words(finding, head.project)), []).append(finding)
    for identity, group in groups.items():
        group.sort(key=lambda finding: (not _is_touched(finding, head, diff), -finding.span.start))
        yield from group[: max(0, len(group) - before[identity])]


def _is_touched(finding: Finding, head: Side, diff: Diff) -> bool:
    file, rows = diff.files.get(head.path(finding.path)), head.rows(finding.path, finding.statement)
    return file is not None and rows is not None and file.changed_in(*rows) is not None


def _anchor(finding: Finding, head: Side, diff: Diff) -> Anchor | None:
    """Where it is told: at its own rows, else at the change that causes it."""
    path, rows = head.path(finding.path), head.rows(finding.path, finding.span)
    if path in diff.files and rows is not None:
        first, last = rows if rows[1] - rows[0] < _TALLEST else (rows[0], rows[0])
        if diff.files[path].hunk_at(first, last) is not None:
            return Anchor(path, first, last)
        if diff.files[path].hunk_at(first, first) is not None:
            return Anchor(path, first, first)
    return _cause(finding, head, diff) or _only_change(diff)


def _cause(finding: Finding, head: Side, diff: Diff) -> Anchor | None:
    """The changed line on the way that brings the policy: the one that sets it, else the last."""
    setters: list[Anchor] = []
    others: list[Anchor] = []
    for step, (file, span) in zip(finding.trace, finding.steps, strict=False):
        path, rows = head.path(file), head.rows(file, span)
        row = diff.files[path].changed_in(*rows) if path in diff.files and rows is not None else None
        if row is not None:
            (setters if f" sets {finding.policy}" in step else others).append(Anchor(path, row, row, is_cause=True))
    return next(reversed(setters or others), None)


def _only_change(diff: Diff) -> Anchor | None:
    """The one place that is changed, if there is but one: it is the cause, whatever the way."""
    files = [file for path, file in diff.files.items() if is_read(path)]
    if len(files) != 1 or any(map(is_read, diff.gone)) or files[0].was not in (None, files[0].path):
        return None
    changed = [hunk.changed for hunk in files[0].hunks]
    if len(changed) != 1 or not changed[0]:
        return None
    return Anchor(files[0].path, min(changed[0]), min(changed[0]), is_cause=True)


def _place(finding: Finding, head: Side) -> str:
    """`file:row`, in a notebook `file:cell 3:2`."""
    path = head.path(finding.path)
    rows = head.rows(finding.path, finding.span)
    if rows is not None:
        return f"{path}:{rows[0]}"
    try:
        return f"{path}:{head.project.source(finding.path).location(finding.span.start).where}"
    except SourceError:
        return path


def worst_first(kept: Sequence[Kept]) -> list[Kept]:
    """What is worst comes first, then by place."""
    return sorted(kept, key=lambda one: (-one.finding.severity, one.finding.path, one.finding.span, one.finding.code))
