"""Which fixes of a report are made in one round."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from mplint.analysis import Report
from mplint.findings import Applicability, Edit, Finding


def confine(report: Report, targets: Collection[Path], untouched: Mapping[Path, str]) -> Report:
    """The report with every fix only shown that would touch a file outside `targets`, or in `untouched`."""
    named = frozenset(targets)
    return replace(report, findings=tuple(_confined(finding, named, untouched) for finding in report.findings))


def displayed(finding: Finding, why: str) -> Finding:
    """The finding with its fix only shown, and why."""
    if finding.fix is None:
        return finding
    message = f"{finding.fix.message} ({why})"
    return replace(finding, fix=replace(finding.fix, message=message, applicability=Applicability.DISPLAY))


def choose(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings whose fixes can be made together: of those that conflict the first by position.

    An edit that two fixes share (the import that both need) is made once and is no conflict.
    """
    taken: dict[Path, set[Edit]] = defaultdict(set)
    chosen: list[Finding] = []
    for finding in findings:
        edits = finding.fix.edits if finding.fix else ()
        if edits and not any(_conflict(edit, other) for edit in edits for other in taken[edit.path]):
            chosen.append(finding)
            for edit in edits:
                taken[edit.path].add(edit)
    return tuple(chosen)


def _confined(finding: Finding, targets: frozenset[Path], untouched: Mapping[Path, str]) -> Finding:
    for path in sorted({edit.path for edit in finding.fix.edits} if finding.fix else ()):
        if path not in targets:
            return displayed(finding, f"not made: {path.name} is not among the files to check")
        if path in untouched:
            return displayed(finding, f"not made: {untouched[path]}")
    return finding


def _conflict(edit: Edit, other: Edit) -> bool:
    if edit == other:
        return False
    return edit.span == other.span or (edit.span.start < other.span.end and other.span.start < edit.span.end)
