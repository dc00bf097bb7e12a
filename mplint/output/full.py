"""A finding as a story: what and where, the lines, why the policy reaches them, what to write instead."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from mplint.analysis import Report
from mplint.findings import Applicability, Edit, Finding, Fix, Span
from mplint.output.context import INKS, Context
from mplint.output.excerpt import excerpt
from mplint.output.terminal import Ink, printable
from mplint.source.edits import apply_edits
from mplint.source.file import SourceFile

_NEWLINE = re.compile(r"\r\n?|\n")

_LEVELS = {
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
            for hunk in _hunks(source, edits):
                yield from _hunk(source, hunk, context)


def _hunks(source: SourceFile, edits: Iterable[Edit]) -> Iterator[list[Edit]]:
    """The edits, those together that touch the same lines or neighbours."""
    hunk: list[Edit] = []
    for edit in edits:
        if hunk and source.position(edit.span.start)[0] > source.position(hunk[-1].span.end)[0] + 1:
            yield hunk
            hunk = []
        hunk.append(edit)
    if hunk:
        yield hunk


def _hunk(source: SourceFile, edits: list[Edit], context: Context) -> Iterator[str]:
    """The lines that the edits change, as they are and as they would be, numbered as the file is now."""
    first, column = source.position(edits[0].span.start)
    start = edits[0].span.start - column + 1
    last, column = source.position(edits[-1].span.end)
    stop = edits[-1].span.end - column + 1 + len(source.line(last))
    before = source.text[start:stop]
    after = apply_edits(before, [(Span(e.span.start - start, e.span.end - start), e.content) for e in edits])
    old, new = _NEWLINE.split(before), _NEWLINE.split(after)
    number = first - source.rows_together(first)[0] + 1
    for kind, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            removed = [(f"{number + i + n:>4} - ", line, Ink.REMOVED) for n, line in enumerate(old[i:j])]
            added = [(f"{number + i + n:>4} + ", line, Ink.ADDED) for n, line in enumerate(new[k:m])]
            for margin, line, ink in (*removed, *added):
                yield context.paint(margin + printable(line), ink)


def _message(text: str) -> str:
    return printable(" ".join(text.split()))
