"""A finding as a story: what and where, the lines, why the policy reaches them, what to write instead."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Final

from mplint.analysis import Report
from mplint.findings import Applicability, Finding, Fix
from mplint.output.changes import changes
from mplint.output.context import INKS, Context
from mplint.output.excerpt import excerpt
from mplint.output.terminal import Ink, printable

_LEVELS: Final = {
    Applicability.SAFE: "help",
    Applicability.UNSAFE: "help (unsafe fix)",
    Applicability.DISPLAY: "help (not applied by --fix)",
}


def render(report: Report, context: Context) -> str:
    """Each finding in full, an empty line behind each."""
    return "".join(f"{line}\n" for finding in report.findings for line in (*_lines(finding, context), ""))


def _lines(finding: Finding, context: Context) -> Iterator[str]:
    ink = INKS[finding.severity]
    mark = " [*]" if context.fixes(finding) else ""
    severity = context.paint(f"{finding.severity}:", ink)
    yield f"{context.paint(finding.code, ink)}{mark} {severity} {_message(finding.message)}"
    yield f"{context.paint('-->', Ink.GUTTER)} {context.place(finding)}"
    source = context.source(finding.path)
    if source is not None:
        yield from excerpt(source, finding.span, ink, color=context.color)
    for head, step in zip(("because:", *[""] * len(finding.trace)), finding.trace, strict=False):
        yield f"{context.paint(f'{head:8}', Ink.STRONG)} {_message(step)}"
    if finding.fix is not None:
        yield from _fix(finding, finding.fix, context)
    yield f"{context.paint('docs:', Ink.STRONG)} mplint rule {finding.code}"


def _fix(finding: Finding, fix: Fix, context: Context) -> Iterator[str]:
    yield f"{context.paint(f'{_LEVELS[fix.applicability]}:', Ink.STRONG)} {_message(fix.message)}"
    for path, edits in groupby(sorted(fix.edits), key=lambda edit: edit.path):
        source = context.source(path)
        if source is not None:
            if path != finding.path:
                yield f"{context.paint('-->', Ink.GUTTER)} {context.name(path)}"
            for change in changes(source, edits):
                ink = Ink.REMOVED if change.sign == "-" else Ink.ADDED
                yield context.paint(f"{change.row:>4} {change.sign} {printable(change.text)}", ink)


def _message(text: str) -> str:
    return printable(" ".join(text.split()))
