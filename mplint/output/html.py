"""One page with everything in it, to keep as an artifact of a CI run or to send to somebody."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from html import escape
from importlib import resources
from itertools import groupby
from pathlib import PurePosixPath
from string import Template
from typing import Final

from mplint.analysis import Report
from mplint.findings import Applicability, Finding, Fix, Severity
from mplint.output import summary
from mplint.output.changes import changes
from mplint.output.context import Context
from mplint.output.excerpt import excerpt
from mplint.output.terminal import Ink, printable

_LEVELS: Final = {
    Applicability.SAFE: "Fix",
    Applicability.UNSAFE: "Unsafe fix",
    Applicability.DISPLAY: "What to write, not applied by --fix",
}
_MOST_BARS: Final = 12
"""Bars of one chart; what is left is counted together."""
_SEVERITIES: Final = (Severity.ERROR, Severity.WARNING, Severity.ADVICE)


def render(report: Report, context: Context) -> str:
    """The page: it loads nothing from elsewhere, and everything from the sources in it is escaped."""
    page = Template((resources.files("mplint.output") / "page.html").read_text(encoding="utf-8"))
    told = summary.found(report, context, complete=not report.failures)
    return page.substitute(
        title=escape(told),
        summary=escape(f"{told} {report.files} {'file' if report.files == 1 else 'files'} checked."),
        charts="".join(_charts(report, context)),
        switches="".join(_switch(severity) for severity in _SEVERITIES),
        findings="".join(_finding(finding, context) for finding in report.findings),
    )


def _charts(report: Report, context: Context) -> Iterator[str]:
    found = report.findings
    severity_of = {finding.code: finding.severity for finding in sorted(found, key=lambda each: each.severity)}
    by_severity = Counter(str(finding.severity) for finding in found)
    yield _chart("By severity", {str(each): by_severity[str(each)] for each in _SEVERITIES}, {
        str(each): str(each) for each in _SEVERITIES
    })  # fmt: skip
    rules = Counter(f"{finding.code} {finding.name}" for finding in found)
    yield _chart("By rule", _largest(rules), {rule: str(severity_of[rule.split()[0]]) for rule in rules})
    folders = Counter(str(PurePosixPath(context.relative(finding.path)).parent) for finding in found)
    yield _chart("By folder", _largest(folders), {})


def _largest(counts: Counter[str]) -> dict[str, int]:
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    rest = sum(count for _, count in ranked[_MOST_BARS:])
    return dict(ranked[:_MOST_BARS]) | ({f"{len(ranked) - _MOST_BARS} more": rest} if rest else {})


def _chart(title: str, counts: Mapping[str, int], shades: Mapping[str, str]) -> str:
    # what is left over comes last, and may be more than all: the others are measured by the largest of them
    longest = max(list(counts.values())[:_MOST_BARS], default=0) or 1
    rows = "".join(
        f"<tr><td>{_text(name)}</td>"
        f'<td><div class="bar {shades.get(name, "")}" style="width:{min(100 * count / longest, 100):.1f}%"></div></td>'
        f"<td>{count}</td></tr>"
        for name, count in counts.items()
    )
    return f'<div class="chart"><h2>{title}</h2><table>{rows}</table></div>'


def _switch(severity: Severity) -> str:
    return f'<label><input type="checkbox" value="{severity}" checked> {severity}</label>'


def _finding(finding: Finding, context: Context) -> str:
    source = context.source(finding.path)
    lines = excerpt(source, finding.span, Ink.ERROR, color=False) if source is not None else []
    parts = [f"<pre>{_text_of(lines)}</pre>" if lines else ""]
    if finding.trace:
        parts.append(f"<p>Because:</p><ul>{''.join(f'<li>{_text(step)}</li>' for step in finding.trace)}</ul>")
    if finding.fix is not None:
        parts.append(_fix(finding, finding.fix, context))
    parts.append(f'<p class="quiet">mplint rule {finding.code}</p>')
    return (
        f'<details class="{finding.severity}" data-severity="{finding.severity}"><summary>'
        f'<code>{finding.code}</code> <span class="quiet">{_text(context.place(finding))}</span> '
        f'{_text(finding.message)}</summary><div class="body">{"".join(parts)}</div></details>\n'
    )


def _fix(finding: Finding, fix: Fix, context: Context) -> str:
    lines: list[str] = []
    for path, edits in groupby(sorted(fix.edits), key=lambda edit: edit.path):
        source = context.source(path)
        if source is None:
            continue
        if path != finding.path:
            lines.append(f"{_text(context.name(path))}\n")
        for change in changes(source, edits):
            kind = "gone" if change.sign == "-" else "come"
            lines.append(f'<span class="{kind}">{change.row:>4} {change.sign} {_text(change.text)}</span>')
    shown = f"<pre>{''.join(lines)}</pre>" if lines else ""
    return f"<p>{_LEVELS[fix.applicability]}: {_text(fix.message)}</p>{shown}"


def _text(text: str) -> str:
    return escape(printable(text))


def _text_of(lines: list[str]) -> str:
    return escape("\n".join(lines))
