"""JUnit's XML, which every CI server shows as tests that failed."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import groupby

from mplint.analysis import Report
from mplint.findings import Finding
from mplint.output.context import Context
from mplint.output.terminal import printable


def render(report: Report, context: Context) -> str:
    """A suite a file and a failed case a finding; one passed case where nothing is found."""
    root = ET.Element("testsuites", name="mplint")
    for path, findings in groupby(report.findings, key=lambda finding: finding.path):
        cases = list(findings)
        suite = _suite(root, context.relative(path), len(cases), len(cases))
        for finding in cases:
            _case(suite, finding, context)
    if not report.findings:
        ET.SubElement(_suite(root, "mplint", 1, 0), "testcase", name="no findings", classname="mplint", time="0")
    total, failed = (sum(int(suite.get(key, "0")) for suite in root) for key in ("tests", "failures"))
    root.set("tests", str(total))
    root.set("failures", str(failed))
    ET.indent(root)
    return f"<?xml version='1.0' encoding='utf-8'?>\n{ET.tostring(root, encoding='unicode')}\n"


def _suite(root: ET.Element, name: str, tests: int, failures: int) -> ET.Element:
    counts = {"tests": str(tests), "failures": str(failures), "errors": "0", "skipped": "0", "time": "0"}
    return ET.SubElement(root, "testsuite", {"name": printable(name), **counts})


def _case(suite: ET.Element, finding: Finding, context: Context) -> None:
    path = printable(context.relative(finding.path))
    start = context.location(finding.path, finding.span.start)
    place = {"file": path} if start.cell is not None else {"file": path, "line": str(start.row)}
    where = f"{start.where}:{start.column}"
    case = ET.SubElement(
        suite, "testcase", {"name": f"{finding.code} {where}", "classname": path, "time": "0", **place}
    )
    message = printable(" ".join(finding.message.split()))
    failure = ET.SubElement(case, "failure", message=message, type=f"{finding.severity}: {finding.name}")
    failure.text = "\n".join((f"{path}:{where}: {finding.code} {message}", *map(printable, finding.trace)))
