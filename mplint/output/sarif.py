"""SARIF 2.1.0, which GitHub code scanning and other servers keep."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Final
from urllib.parse import quote

from mplint import __version__
from mplint.analysis import Failure, Report, RuleInfo, rules
from mplint.findings import Applicability, Edit, Finding, Fix, Severity, Span
from mplint.output.context import Context

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOT: Final = "SRCROOT"
"""The base that the paths are relative to: the server puts the repository's place there."""
_LEVELS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.ADVICE: "note"}

Object = dict[str, object]


def render(report: Report, context: Context) -> str:
    """One run, with the rules that found something, and mplint's own failures as notifications."""
    told = {finding.code for finding in report.findings}
    known = [rule for rule in rules() if rule.code in told]
    places = {rule.code: number for number, rule in enumerate(known)}
    run: Object = {
        "tool": {
            "driver": {
                "name": "mplint",
                "semanticVersion": __version__,
                "rules": [_rule(rule) for rule in known],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The top of the repository."}}},
        "invocations": [_invocation(report.failures, context)],
        "results": [_result(finding, places, context) for finding in report.findings],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(rule: RuleInfo) -> Object:
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "help": {"text": rule.documentation, "markdown": rule.documentation},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"tags": ["keras", "mixed-precision"], "precision": "very-high"},
    }


def _invocation(failures: Iterable[Failure], context: Context) -> Object:
    told = [
        {
            "level": "error",
            "message": {"text": f"mplint itself failed here: {failure.text}"},
            "locations": [{"physicalLocation": {"artifactLocation": _artifact(context.relative(failure.path))}}],
        }
        for failure in failures
    ]
    return {"executionSuccessful": not told, "toolExecutionNotifications": told}


def _result(finding: Finding, places: Mapping[str, int], context: Context) -> Object:
    start = context.location(finding.path, finding.span.start)
    physical: Object = {"artifactLocation": _artifact(context.relative(finding.path))}
    text = finding.message
    if start.cell is None:
        physical["region"] = _region(finding.path, finding.span, context)
    else:  # a region counts the rows of the file, and those that the author sees are a cell's
        text = f"{start.where}:{start.column}: {text}"
    fix = finding.fix
    fixable = fix is not None and fix.applicability is not Applicability.DISPLAY and start.cell is None
    return {
        "ruleId": finding.code,
        **({"ruleIndex": places[finding.code]} if finding.code in places else {}),
        "level": _LEVELS[finding.severity],
        "message": {"text": "".join((text, *(f"\nbecause {step}" for step in finding.trace)))},
        "locations": [{"physicalLocation": physical}],
        "partialFingerprints": {"mplint/v1": finding.fingerprint, "primaryLocationLineHash": finding.fingerprint},
        **({"fixes": [_fix(fix, context)]} if fix is not None and fixable else {}),
        "properties": {"policy": finding.policy, "keras": finding.keras},
    }


def _fix(fix: Fix, context: Context) -> Object:
    by_file = groupby(sorted(fix.edits), key=lambda edit: edit.path)
    return {
        "description": {"text": f"{fix.message} ({fix.applicability})"},
        "artifactChanges": [
            {
                "artifactLocation": _artifact(context.relative(path)),
                "replacements": [_replacement(edit, context) for edit in edits],
            }
            for path, edits in by_file
        ],
    }


def _replacement(edit: Edit, context: Context) -> Object:
    return {
        "deletedRegion": _region(edit.path, edit.span, context),
        "insertedContent": {"text": edit.content},
    }


def _region(path: Path, span: Span, context: Context) -> Object:
    start, end = (context.location(path, offset) for offset in (span.start, span.end))
    return {"startLine": start.row, "startColumn": start.column, "endLine": end.row, "endColumn": end.column}


def _artifact(path: str) -> Object:
    """A path as a URI: relative to the repository where it is inside, else as it is."""
    if path.startswith("/"):
        return {"uri": f"file://{quote(path, errors='surrogateescape')}"}
    return {"uri": quote(path, errors="surrogateescape"), "uriBaseId": _ROOT}
