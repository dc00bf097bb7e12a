"""What programs read: each format is judged by a reader that is not ours, or by the schema of those who read it."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import junitparser
import pytest

from mplint.analysis import Failure, Report
from mplint.findings import Span
from mplint.output import FOR_PEOPLE, findings, github, gitlab, html, json_lines, junit, rdjson, sarif
from mplint.output.context import Context
from mplint.settings import OUTPUT_FORMATS
from mplint.source.edits import apply_edits
from tests.output.conftest import Reported

Render = Callable[[Report, Context], str]

NASTY = "s = '100%, <b>&amp;</b> \U0001f600, ::error::x'; bad()\n"
_FOLDER = {"deep/er folder/é#1.py": "x = 1\nbad()\nrisky()\n"}

_GITLAB = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string"},
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]+$"},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "pattern": "^[^./]"},
                    "lines": {"type": "object", "required": ["begin"], "properties": {"begin": {"minimum": 1}}},
                },
            },
        },
    },
}


def notebook(*cells: str) -> str:
    return json.dumps(
        {
            "cells": [
                {"cell_type": "code", "source": cell, "metadata": {}, "outputs": [], "execution_count": None}
                for cell in cells
            ],
            "metadata": {},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    )


@pytest.mark.parametrize("form", OUTPUT_FORMATS)
def test_every_format_shows_every_finding_and_nothing_where_there_is_none(form: str, reported: Reported) -> None:
    files = {**_FOLDER, "n.ipynb": notebook("x = 1", "y = 1\nbad()")}
    report, context = reported(files=files, a=NASTY + "shown()\nplain()\n")
    assert len(report.findings) == 6
    text = findings(form)(report, context)
    assert text.endswith("\n")
    assert text.count("MP10") >= 6
    nothing = findings(form)(replace(report, findings=()), context)
    assert "MP10" not in nothing
    assert form not in FOR_PEOPLE or nothing == ""


# SARIF


def test_sarif_is_valid(reported: Reported, tmp_path: Path) -> None:
    validate = pytest.importorskip("sarif_kit.validate", reason="it needs Python 3.11")
    report, context = reported(files={**_FOLDER, "n.ipynb": notebook("bad()")}, a=NASTY + "plain()\n")
    report = replace(report, failures=(Failure(tmp_path / "a.py", "KeyError: 'x'"),))
    log = json.loads(sarif.render(report, context))
    validate.assert_valid(log)
    [run] = log["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["MP101", "MP102"]
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    assert run["invocations"][0]["executionSuccessful"] is False
    log["runs"][0]["results"][0]["level"] = "bad"
    assert validate.validation_errors(log), "the judge sees nothing"


def test_sarif_points_at_files_of_the_repository(reported: Reported) -> None:
    log = json.loads(sarif.render(*reported(files=_FOLDER)))
    [first, _] = log["runs"][0]["results"]
    physical = first["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"] == {"uri": "deep/er%20folder/%C3%A9%231.py", "uriBaseId": "SRCROOT"}
    assert physical["region"] == {"startLine": 2, "startColumn": 1, "endLine": 2, "endColumn": 6}


def test_sarif_holds_fixes_that_can_be_taken_over(reported: Reported) -> None:
    report, context = reported(a="pair()\n", other="x = 1\npartner\n", b="shown()\n")
    pair, shown = json.loads(sarif.render(report, context))["runs"][0]["results"]
    [fix] = pair["fixes"]
    changed = {
        change["artifactLocation"]["uri"]: [each["insertedContent"]["text"] for each in change["replacements"]]
        for change in fix["artifactChanges"]
    }
    assert changed == {"a.py": ["good()"], "other.py": ["friend"]}
    assert "fixes" not in shown


def test_sarif_says_which_cell(reported: Reported) -> None:
    log = json.loads(sarif.render(*reported(files={"n.ipynb": notebook("x = 1", "y = 1\nbad()")})))
    [result] = log["runs"][0]["results"]
    assert result["message"]["text"].startswith("cell 2:2:1: ")
    assert "region" not in result["locations"][0]["physicalLocation"]


# GitHub


def decoded(text: str, *characters: str) -> str:
    codes = {f"%{ord(character):02X}": character for character in characters}
    return re.sub("|".join(codes), lambda match: codes[match[0]], text)


def commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    """The commands as the runner reads them."""
    found = []
    for line in text.splitlines():
        match = re.fullmatch(r"::(\w+) (.*?)::(.*)", line)
        assert match, line
        properties = dict(pair.split("=", 1) for pair in match[2].split(","))
        plain = {key: decoded(value, ":", ",", "\r", "\n", "%") for key, value in properties.items()}
        found.append((match[1], plain, decoded(match[3], "\r", "\n", "%")))
    return found


def test_github(reported: Reported) -> None:
    report, context = reported(files={"a,b:c%.py": "x = [\n  plain(), bad(\n    1),\n]\n"})
    error, notice = commands(github.render(report, context))
    assert error[0] == "error"
    assert error[1] == {
        "title": "mplint MP101 (low-precision-softmax-output)",
        "file": "a,b:c%.py",
        "line": "2",
        "endLine": "3",
    }
    assert error[2].startswith("a,b:c%.py:2:12: MP101 ")
    assert "\nbecause " in error[2]
    assert notice[0] == "notice"
    assert (notice[1]["col"], notice[1]["endColumn"]) == ("3", "10")


def test_github_shows_the_worst_first(reported: Reported) -> None:
    text = github.render(*reported(a="plain()\nrisky()\nbad()\n"))
    assert [kind for kind, _, _ in commands(text)] == ["error", "warning", "notice"]


# GitLab


def test_gitlab(reported: Reported) -> None:
    report, context = reported(files={**_FOLDER, "n.ipynb": notebook("bad()")}, a=NASTY)
    issues = json.loads(gitlab.render(report, context))
    jsonschema.validate(issues, _GITLAB)
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)
    assert issues[-1]["description"].startswith("MP101: cell 1:1: ")


# JUnit


def test_junit(reported: Reported) -> None:
    report, context = reported(files=_FOLDER, a=NASTY)
    report = replace(report, findings=(replace(report.findings[0], message="`bad` \x1b\x00 <&>"), *report.findings[1:]))
    found = junitparser.JUnitXml.fromstring(junit.render(report, context).encode())
    suites = {suite.name: list(suite) for suite in found}
    assert {name: len(cases) for name, cases in suites.items()} == {"a.py": 1, "deep/er folder/é#1.py": 2}
    [failure] = suites["a.py"][0].result
    assert failure.message == "`bad` \ufffd\ufffd <&>"
    assert (found.tests, found.failures) == (3, 3)


def test_junit_of_a_clean_run_has_a_test_that_passed(reported: Reported) -> None:
    found = junitparser.JUnitXml.fromstring(junit.render(*reported(a="good()\n")).encode())
    assert (found.tests, found.failures) == (1, 0)


# reviewdog


def test_rdjson(reported: Reported) -> None:
    report, context = reported(a="é = 'ü'; bad()\n", b="shown()\n", c="needy()\n", d="x\nx\nx\nx\nneedy()\n")
    result = json.loads(rdjson.render(report, context))
    assert result["source"] == {"name": "mplint"}
    first, shown, near, far = result["diagnostics"]
    assert first["severity"] == "ERROR"
    assert first["location"]["range"] == {"start": {"line": 1, "column": 12}, "end": {"line": 1, "column": 17}}
    assert first["suggestions"] == [{"range": first["location"]["range"], "text": "good()"}]
    assert "suggestions" not in shown
    assert near["suggestions"][0]["text"] == "import helper\ngood()"
    assert "suggestions" not in far, "half of a fix was suggested"


# JSON lines


def test_json_lines(reported: Reported) -> None:
    report, context = reported(a="bad()\nplain()\n")
    lines = json_lines.render(report, context).splitlines()
    assert [json.loads(line) for line in lines] == json.loads(findings("json")(report, context))


# HTML


class Page(HTMLParser):
    """A reader of the page: its tags are closed, and it loads nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.words = io.StringIO()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not {name for name, _ in attrs} & {"src", "href", "onclick"}
        self.seen.append(tag)
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.write(data)


def test_html(reported: Reported) -> None:
    report, context = reported(files=_FOLDER, a="s = '<script>alert(1)</script>'; bad()\nshown()\nneedy()\n")
    page = Page()
    page.feed(html.render(report, context))
    assert page.open == []
    assert page.seen.count("details") == len(report.findings) == 5
    assert page.seen.count("script") == 1
    words = page.words.getvalue()
    assert "<script>alert(1)</script>" in words
    assert "import helper" in words
    assert "deep/er folder" in words


# Fingerprints


def marks(report: Report, context: Context) -> list[str]:
    return [issue["fingerprint"] for issue in json.loads(gitlab.render(report, context))]


def test_fingerprints_survive_what_does_not_touch_the_statement(reported: Reported) -> None:
    before = marks(*reported(a="bad(1)\ny = bad(2)\nbad(1)\n"))
    assert len(set(before)) == 3
    moved = marks(*reported(a="import x\n\n\nif x:\n    bad(1)\n    y = bad(2)\n\nbad(1)\n"))
    assert before == moved


def test_fingerprints_change_with_the_statement_the_file_and_the_rule(reported: Reported) -> None:
    [first] = marks(*reported(a="bad(1)\n"))
    assert marks(*reported(a="bad(2)\n")) != [first]
    assert marks(*reported(b="bad(1)\n")) != [first]
    assert marks(*reported(a="risky(1)\n")) != [first]


def test_the_text_of_a_suggestion_is_what_fix_writes(reported: Reported) -> None:
    report, context = reported(c="needy()\n")
    [diagnostic] = json.loads(rdjson.render(report, context))["diagnostics"]
    [finding] = report.findings
    assert finding.fix is not None
    source = context.source(finding.path)
    assert source is not None
    fixed = apply_edits(source.text, [(edit.span, edit.content) for edit in finding.fix.edits])
    [suggestion] = diagnostic["suggestions"]
    span = Span(*(source.offset(at["line"], at["column"]) for at in suggestion["range"].values()))
    assert apply_edits(source.text, [(span, suggestion["text"])]) == fixed
