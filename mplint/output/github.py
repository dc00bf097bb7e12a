"""Workflow commands, which GitHub Actions shows as annotations on the changed lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mplint.analysis import Report
from mplint.findings import Finding, Severity
from mplint.output.context import Context

_COMMANDS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.ADVICE: "notice"}


def render(report: Report, context: Context) -> str:
    """A command a finding, the worst first: of each kind GitHub shows only ten a step."""
    worst_first = sorted(report.findings, key=lambda finding: -finding.severity)
    return "".join(f"{_command(finding, context)}\n" for finding in worst_first)


def _command(finding: Finding, context: Context) -> str:
    properties = ",".join(f"{key}={_property(value)}" for key, value in _properties(finding, context))
    message = f"{context.relative(finding.path)}:{_where(finding, context)}: {finding.code} {finding.message}"
    because = "".join(f"\nbecause {step}" for step in finding.trace)
    return f"::{_COMMANDS[finding.severity]} {properties}::{_data(message + because)}"


def _properties(finding: Finding, context: Context) -> Iterator[tuple[str, str]]:
    yield "title", f"mplint {finding.code} ({finding.name})"
    yield "file", context.relative(finding.path)
    start, end = (context.location(finding.path, offset) for offset in (finding.span.start, finding.span.end))
    if start.cell is None:  # the rows of a cell are not those of the notebook's file
        yield "line", str(start.row)
        yield "endLine", str(end.row)
        if start.row == end.row:  # GitHub takes columns only within one line
            yield "col", str(start.column)
            yield "endColumn", str(end.column)


def _where(finding: Finding, context: Context) -> str:
    start = context.location(finding.path, finding.span.start)
    return f"{start.where}:{start.column}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
