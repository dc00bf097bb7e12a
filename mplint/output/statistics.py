"""How often each rule fired, in place of the findings."""

from __future__ import annotations

import json
from collections import Counter

from mplint.analysis import Report
from mplint.output.context import INKS, Context


def render(report: Report, context: Context) -> str:
    """A line a rule, the most frequent first."""
    counts = _counts(report)
    fixable = _fixable(report, context)
    severities = {finding.code: finding.severity for finding in report.findings}
    digits = max((len(str(count)) for count in counts.values()), default=0)
    return "".join(
        f"{count:>{digits}}  {context.paint(code, INKS[severities[code]])} {'[*]' if fixable[code] else '   '} {name}\n"
        for (code, name), count in counts.items()
    )


def render_json(report: Report, context: Context) -> str:
    """The same with ruff's field names."""
    fixable = _fixable(report, context)
    rows = [
        {"code": code, "name": name, "count": count, "fixable": fixable[code] > 0, "fixable_count": fixable[code]}
        for (code, name), count in _counts(report).items()
    ]
    return json.dumps(rows, indent=2) + "\n"


def _counts(report: Report) -> dict[tuple[str, str], int]:
    counts = Counter((finding.code, finding.name) for finding in report.findings)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _fixable(report: Report, context: Context) -> Counter[str]:
    return Counter(finding.code for finding in report.findings if context.fixes(finding))
