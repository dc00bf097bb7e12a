"""Names for findings that stay the same while the file around them changes.

A baseline, a code review and every CI format that tracks findings over commits needs to know one again. Its line number
is no help: each line that is added above moves it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Final

from mplint.errors import MplintError
from mplint.findings import Finding
from mplint.project.modules import Project

_LENGTH: Final = 32
"""Hexadecimal digits: 128 bits, so that no two findings of one project ever share them."""


def with_fingerprints(findings: Iterable[Finding], project: Project) -> tuple[Finding, ...]:
    """All the findings of a run, by position, each with its fingerprint.

    It is made from the rule, the file as seen from the project's root, and the words of the statement. Where a file
    says the same thing several times, the second one counts as the second, and so on.
    """
    seen: Counter[tuple[str, ...]] = Counter()
    found: list[Finding] = []
    for finding in sorted(findings, key=lambda finding: (finding.path, finding.span, finding.code)):
        subject = (finding.code, relative(finding.path, project.root), words(finding, project))
        seen[subject] += 1
        text = "\0".join((*subject, str(seen[subject])))
        mark = sha256(text.encode(errors="surrogatepass")).hexdigest()[:_LENGTH]
        found.append(replace(finding, fingerprint=mark))
    return tuple(found)


def relative(path: Path, root: Path) -> str:
    """A file as seen from the root, the same on every system."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()


def words(finding: Finding, project: Project) -> str:
    """The statement, however it is indented and broken into lines; nothing where the file cannot be read."""
    try:
        text = project.source(finding.path).text
    except MplintError:
        return ""
    return " ".join(text[finding.statement.start : finding.statement.end].split())
