"""Reviewdog's diagnostics, with suggestions that it turns into comments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from mplint.analysis import Report
from mplint.findings import Applicability, Finding, Severity, Span
from mplint.output.changes import hunks
from mplint.output.context import Context
from mplint.source.edits import apply_edits

_SEVERITIES: Final = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.ADVICE: "INFO"}


def render(report: Report, context: Context) -> str:
    """One result for the whole run."""
    found = [_diagnostic(finding, context) for finding in report.findings]
    return json.dumps({"source": {"name": "mplint"}, "diagnostics": found}, indent=2) + "\n"


def _diagnostic(finding: Finding, context: Context) -> dict[str, object]:
    start = context.location(finding.path, finding.span.start)
    of_notebook = start.cell is not None  # its rows are those of a cell, which reviewdog cannot know
    place = {} if of_notebook else {"range": _range(finding.path, finding.span, context)}
    message = f"{start.where}: {finding.message}" if of_notebook else finding.message
    because = "".join(f"\nbecause {step}" for step in finding.trace)
    suggestions = [] if of_notebook else _suggestions(finding, context)
    return {
        "message": message + because,
        "location": {"path": context.relative(finding.path), **place},
        "severity": _SEVERITIES[finding.severity],
        "code": {"value": finding.code},
        **({"suggestions": suggestions} if suggestions else {}),
    }


def _suggestions(finding: Finding, context: Context) -> list[dict[str, object]]:
    """The fix as one suggestion, where it can be taken over as it stands.

    That is, all of it is in this file, on lines next to each other, and no choice is left open: half a fix is none.
    """
    fix, source = finding.fix, context.source(finding.path)
    if fix is None or source is None or fix.applicability is Applicability.DISPLAY:
        return []
    edits = sorted(fix.edits)
    if any(edit.path != finding.path for edit in edits) or len(list(hunks(source, edits))) != 1:
        return []
    start, end = edits[0].span.start, max(edit.span.end for edit in edits)
    inside = [(Span(edit.span.start - start, edit.span.end - start), edit.content) for edit in edits]
    text = apply_edits(source.text[start:end], inside)
    return [{"range": _range(finding.path, Span(start, end), context), "text": text}]


def _range(path: Path, span: Span, context: Context) -> dict[str, object]:
    return {"start": _position(path, span.start, context), "end": _position(path, span.end, context)}


def _position(path: Path, offset: int, context: Context) -> dict[str, int]:
    """Reviewdog counts columns in bytes of UTF-8."""
    location, source = context.location(path, offset), context.source(path)
    before = source.line(location.row)[: location.column - 1] if source is not None else ""
    return {"line": location.row, "column": len(before.encode(errors="replace")) + 1}
