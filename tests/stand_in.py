"""A toy analysis over made-up words, so that the fixer, the formats and the command line are tested by themselves.

Each word, written as a call, is a fault with a fix of one kind; see `_WORDS`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from mplint.analysis import Report
from mplint.errors import MplintError
from mplint.findings import Applicability, Edit, Finding, Fix, Severity, Span
from mplint.fingerprints import with_fingerprints
from mplint.project.modules import Project
from mplint.settings import Settings
from mplint.source.file import ParseFault, SourceFile

_NAMES = {"MP001": "syntax-error", "MP101": "low-precision-softmax-output", "MP102": "low-precision-output"}

_WORDS = {
    "bad": ("MP101", Severity.ERROR, Applicability.SAFE, "good()"),
    "risky": ("MP102", Severity.WARNING, Applicability.UNSAFE, "good()"),
    "shown": ("MP102", Severity.WARNING, Applicability.DISPLAY, "good()"),
    "plain": ("MP102", Severity.ADVICE, None, ""),
    "stubborn": ("MP101", Severity.ERROR, Applicability.SAFE, "stubborn() "),  # its fix mends nothing
    "worse": ("MP102", Severity.WARNING, Applicability.SAFE, "bad()"),  # its fix writes another fault
    "broken": ("MP101", Severity.ERROR, Applicability.SAFE, "good("),  # its fix does not parse
    "doubled": ("MP101", Severity.ERROR, Applicability.SAFE, "good(a=1, a=2)"),  # parses, does not compile
    "foreign": ("MP101", Severity.ERROR, Applicability.SAFE, "good('☃')"),  # fits in no latin-1 file
    "sneaky": ("MP102", Severity.WARNING, Applicability.SAFE, "alarm"),  # its fix makes `latent()` a fault
    "latent": ("MP101", Severity.ERROR, None, ""),
    "switch": ("MP102", Severity.WARNING, Applicability.UNSAFE, "alarm"),  # the same, but that is what it is for
    "needy": ("MP101", Severity.ERROR, Applicability.SAFE, "good()"),  # its fix needs `import helper`
    "pair": ("MP101", Severity.ERROR, Applicability.SAFE, "good()"),  # its fix also mends `partner` in other.py
    "outer": ("MP102", Severity.WARNING, Applicability.SAFE, "good()"),  # holds its argument: outer(bad())
}


def analyze(project: Project, targets: Sequence[Path], settings: Settings) -> Report:
    """The faults of the files, as the real one would report them."""
    findings: list[Finding] = []
    alarm = any(project.mentions(path, b"alarm") for path in project.files)
    for path in targets:
        findings += _faults(project, path, alarm)
    wanted = (finding for finding in findings if settings.reports(finding.code, finding.path))
    return report(*with_fingerprints(wanted, project), files=len(targets))


def report(*findings: Finding, files: int = 1, notes: tuple[str, ...] = ()) -> Report:
    """A report of these findings."""
    return Report(findings=findings, notes=notes, files=files)


def finding(source: SourceFile, span: Span, **attributes: object) -> Finding:
    """A finding with what a test does not care about filled in."""
    fields: dict[str, object] = {
        "code": "MP101",
        "name": "low-precision-softmax-output",
        "severity": Severity.ERROR,
        "message": "`x` is the model's output and its softmax runs in float16",
        "path": source.path,
        "span": span,
        "statement": span,
    }
    return Finding(**{**fields, **attributes})  # type: ignore[arg-type]


def _faults(project: Project, path: Path, alarm: bool) -> Iterator[Finding]:
    try:
        source = project.source(path)
        _ = source.module
    except (ParseFault, MplintError) as error:
        yield Finding("MP001", _NAMES["MP001"], Severity.ERROR, str(error), path, Span(0, 0), Span(0, 0))
        return
    for match in re.finditer(r"\b(\w+)\(([^()]*(?:\(\))?[^()]*)\)", source.text):
        if match[1] not in _WORDS or (match[1] == "latent" and not alarm):
            continue
        yield _fault(project, source, Span(*match.span()), match[1])
        if match[1] == "outer":
            word = re.search(r"(\w+)\(\)", match[2])
            assert word
            start = match.start(2)
            yield _fault(project, source, Span(start + word.start(), start + word.end()), word[1])


def _fault(project: Project, source: SourceFile, span: Span, word: str) -> Finding:
    code, severity, applicability, content = _WORDS[word]
    text = source.text
    line = Span(text.rfind("\n", 0, span.start) + 1, text.find("\n", span.end) % (len(text) + 1))
    edits = [Edit(source.path, span, content)]
    if word == "needy" and "import helper" not in text:
        edits.append(Edit(source.path, Span(0, 0), "import helper\n"))
    if word == "pair":
        other = project.source(source.path.with_name("other.py"))
        start = other.text.index("partner")
        edits.append(Edit(other.path, Span(start, start + len("partner")), "friend"))
    fix = Fix(f"write `{content.strip()}`", applicability, tuple(edits)) if applicability else None
    return finding(
        source,
        span,
        code=code,
        name=_NAMES[code],
        severity=severity,
        message=f"`{word}` is a fault",
        statement=line,
        fix=fix,
        policy="mixed_float16",
        trace=("train.py:1 sets mixed_float16",),
        steps=((source.path.with_name("train.py"), Span(0, 1)),),
    )
