"""GitLab's code quality report."""

from __future__ import annotations

import json
from typing import Final

from mplint.analysis import Report
from mplint.findings import Finding, Severity
from mplint.output.context import Context

_SEVERITIES: Final = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.ADVICE: "info"}


def render(report: Report, context: Context) -> str:
    """A list of issues; GitLab compares their fingerprints with those of the target branch."""
    return json.dumps([_issue(finding, context) for finding in report.findings], indent=2) + "\n"


def _issue(finding: Finding, context: Context) -> dict[str, object]:
    start, end = (context.location(finding.path, offset) for offset in (finding.span.start, finding.span.end))
    cell = "" if start.cell is None else f"{start.where}: "
    lines = {"begin": start.row, "end": end.row} if start.cell is None else {"begin": 1}
    return {
        "check_name": finding.code,
        "description": f"{finding.code}: {cell}{finding.message}",
        "severity": _SEVERITIES[finding.severity],
        "fingerprint": finding.fingerprint,
        "location": {"path": context.relative(finding.path), "lines": lines},
    }
