"""The findings of each file together, under its name."""

from __future__ import annotations

from itertools import groupby

from mplint.analysis import Report
from mplint.findings import Finding
from mplint.output.context import INKS, Context
from mplint.output.terminal import Ink, printable


def render(report: Report, context: Context) -> str:
    """A paragraph a file; rows, columns and codes stand below each other."""
    paragraphs = [
        _paragraph(list(findings), context) for _, findings in groupby(report.findings, key=lambda each: each.path)
    ]
    return "".join(f"{paragraph}\n" for paragraph in paragraphs)


def _paragraph(findings: list[Finding], context: Context) -> str:
    places = [context.location(finding.path, finding.span.start) for finding in findings]
    where = [f"{place.where}:{place.column}" for place in places]
    width = max(map(len, where))
    lines = [context.paint(f"{context.name(findings[0].path)}:", Ink.STRONG)]
    for finding, start in zip(findings, where, strict=True):
        mark = "[*]" if context.fixes(finding) else "   "
        message = printable(" ".join(finding.message.split()))
        lines.append(f"  {start:<{width}}  {context.paint(finding.code, INKS[finding.severity])} {mark} {message}")
    return "".join(f"{line}\n" for line in lines)
