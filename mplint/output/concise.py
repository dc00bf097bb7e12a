"""One line a finding, as ruff writes it and editors read it."""

from __future__ import annotations

from mplint.analysis import Report
from mplint.findings import Finding
from mplint.output.context import INKS, Context
from mplint.output.terminal import Ink, printable


def render(report: Report, context: Context) -> str:
    """`file:row:column: CODE [*] message`, where `[*]` marks what `--fix` mends."""
    return "".join(f"{_line(finding, context)}\n" for finding in report.findings)


def _line(finding: Finding, context: Context) -> str:
    code = context.paint(finding.code, INKS[finding.severity])
    mark = " [*]" if context.fixes(finding) else ""
    message = printable(" ".join(finding.message.split()))
    return f"{context.paint(context.place(finding), Ink.STRONG)}: {code}{mark} {message}"
