"""The objects of the JSON format, one a line: for what reads a stream."""

from __future__ import annotations

import json

from mplint.analysis import Report
from mplint.output.context import Context
from mplint.output.json import as_object


def render(report: Report, context: Context) -> str:
    """A line a finding."""
    return "".join(f"{json.dumps(as_object(finding, context))}\n" for finding in report.findings)
