"""A list of objects with ruff's field names, and ours beside them."""

from __future__ import annotations

import json
from pathlib import Path

from mplint.analysis import Report
from mplint.findings import Edit, Finding
from mplint.output.context import Context


def render(report: Report, context: Context) -> str:
    """The findings as JSON; rows and columns are 1-based, `cell` is null outside notebooks."""
    return json.dumps([as_object(finding, context) for finding in report.findings], indent=2) + "\n"


def as_object(finding: Finding, context: Context) -> dict[str, object]:
    """One finding as both JSON formats write it."""
    fix = finding.fix
    last_character = max(finding.statement.start, finding.statement.end - 1)
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": str(finding.severity),
        "message": finding.message,
        "url": None,  # the pages are in `mplint rule CODE`; they have no address on the web yet
        "filename": context.filename(finding.path),
        "cell": context.location(finding.path, finding.span.start).cell,
        "location": _location(finding.path, finding.span.start, context),
        "end_location": _location(finding.path, finding.span.end, context),
        "fix": fix
        and {
            "applicability": str(fix.applicability),
            "message": fix.message,
            "edits": [_edit(edit, finding, context) for edit in fix.edits],
        },
        "noqa_row": context.location(finding.path, last_character).row,
        "policy": finding.policy,
        "keras": finding.keras,
        "trace": list(finding.trace),
    }


def _edit(edit: Edit, finding: Finding, context: Context) -> dict[str, object]:
    # Only an edit in another file than the finding's says which: every other one looks exactly as ruff's.
    elsewhere = {} if edit.path == finding.path else {"filename": context.filename(edit.path)}
    return {
        "content": edit.content,
        "location": _location(edit.path, edit.span.start, context),
        "end_location": _location(edit.path, edit.span.end, context),
        **elsewhere,
    }


def _location(path: Path, offset: int, context: Context) -> dict[str, int]:
    location = context.location(path, offset)
    return {"row": location.row, "column": location.column}
