"""Which fixes of a report are made in one round."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from mplint.analysis import Report
from mplint.findings import Applicability, Edit, Finding
from mplint.project.naming import Naming


def confine(report: Report, targets: Collection[Path], untouched: Mapping[Path, str], naming: Naming) -> Report:
    """The report; a fix that would touch a file outside `targets`, or in `untouched`, is only shown, and that said."""
    named = frozenset(targets)
    findings: list[Finding] = []
    elsewhere: dict[Path, None] = {}
    kept_back = 0
    for finding in report.findings:
        fix = finding.fix
        outside = [path for path in _files(finding) if path not in named]
        if outside:
            if fix is not None and fix.applicability is not Applicability.DISPLAY:
                kept_back += 1
                elsewhere.update(dict.fromkeys(outside))
            finding = displayed(finding, f"not made: {_listed(outside, naming)} not among the files to check")
        else:
            refused = next((untouched[path] for path in _files(finding) if path in untouched), None)
            finding = finding if refused is None else displayed(finding, f"not made: {refused}")
        findings.append(finding)
    notes = report.notes
    if kept_back:
        fixes = "1 fix lies" if kept_back == 1 else f"{kept_back} fixes lie"
        were = "was" if len(elsewhere) == 1 else "were"
        notes = (*notes, f"{fixes} in {naming.files(sorted(elsewhere))}, which {were} not named")
    return replace(report, findings=tuple(findings), notes=notes)


def _files(finding: Finding) -> list[Path]:
    """The files that the fix of a finding touches."""
    return sorted({edit.path for edit in finding.fix.edits}) if finding.fix is not None else []


def _listed(paths: Sequence[Path], naming: Naming) -> str:
    return f"{naming.files(paths)} {'is' if len(paths) == 1 else 'are'}"


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


def _conflict(edit: Edit, other: Edit) -> bool:
    if edit == other:
        return False
    return edit.span == other.span or (edit.span.start < other.span.end and other.span.start < edit.span.end)
