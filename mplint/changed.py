"""What a branch has changed, so that a review of it speaks of that and of nothing else."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from mplint.analysis import Report
from mplint.errors import MplintError
from mplint.findings import Finding, Span
from mplint.git import commit_of, common_ancestor, git, top_of
from mplint.project.modules import Project
from mplint.settings import UNREADABLE
from mplint.source.file import SourceError
from mplint.source.reading import source_of

_NEWLINE: Final = re.compile(r"\r\n?|\n")


@dataclass(frozen=True)
class Changes:
    """The changes of a working tree since it left the history of a revision.

    `files` are the files that are not as they were then, by their absolute paths, each with its path in the repository
    at that time, None for a new one.
    """

    revision: str
    top: Path
    base: str
    files: Mapping[Path, str | None]
    _rows: dict[tuple[Path, str], frozenset[int] | None] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def since(cls, revision: str, folder: Path) -> Changes:
        """What is different from `revision`, or from where the work in `folder` was branched off it.

        What is not committed, and what git does not know yet, counts too. Raises MplintError where there is no git, no
        repository, or no such revision.
        """
        top = top_of(folder)
        base = common_ancestor(folder, commit_of(folder, revision), "HEAD")
        files: dict[Path, str | None] = {}
        for was, now in _renamed(git(top, "diff", "--name-status", "-z", "--find-renames", base, "--")):
            files[top / now] = was
        unknown = _names(git(top, "ls-files", "--others", "--exclude-standard", "-z"))
        files |= {top / name: None for name in unknown if name}
        return cls(revision, top, base, files)

    def leave_out(self, report: Report, project: Project) -> Report:
        """The report without the findings that have nothing to do with a changed line: neither they nor their cause."""
        kept = tuple(
            finding for finding in report.findings if finding.code == UNREADABLE or self._touches(finding, project)
        )
        left_out = len(report.findings) - len(kept)
        if not left_out:
            return report
        findings = "1 finding has" if left_out == 1 else f"{left_out} findings have"
        note = f"{findings} nothing to do with what changed since {self.revision}, and left out"
        return replace(report, findings=kept, notes=(*report.notes, note), hidden=report.hidden + left_out)

    def _touches(self, finding: Finding, project: Project) -> bool:
        places = [(finding.path, finding.statement), *finding.steps]
        return any(self._is_changed(path, span, project) for path, span in places)

    def _is_changed(self, path: Path, span: Span, project: Project) -> bool:
        real = path.resolve()
        if real not in self.files:
            return False
        try:
            source = project.source(path)
        except SourceError:
            return True
        rows = self._changed_rows(real, path, source.text)
        first, last = source.position(span.start)[0], source.position(max(span.start, span.end - 1))[0]
        return rows is None or not rows.isdisjoint(range(first, last + 1))

    def _changed_rows(self, real: Path, path: Path, text: str) -> frozenset[int] | None:
        """The rows (1-based) of the text that are not as they were; None for all of them."""
        key = real, text
        if key not in self._rows:
            before = self._before(real, path)
            self._rows[key] = None if before is None else frozenset(changed_rows(before, text))
        return self._rows[key]

    def _before(self, real: Path, path: Path) -> str | None:
        was = self.files[real]
        if was is None:
            return None
        try:
            return source_of(path, git(self.top, "cat-file", "blob", f"{self.base}:{was}")).text
        except (MplintError, SourceError):
            return None


def changed_rows(before: str, after: str) -> Iterator[int]:
    """The rows (1-based) of `after` that were not in `before`; where lines are gone, the rows next to the gap."""
    old, new = _NEWLINE.split(before), _NEWLINE.split(after)
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    matcher = difflib.SequenceMatcher(None, old[start : len(old) - end], new[start : len(new) - end], autojunk=False)
    for kind, _, _, first, last in matcher.get_opcodes():
        if kind == "delete":
            yield from (start + first, start + first + 1)
        elif kind != "equal":
            yield from range(start + first + 1, start + last + 1)


def _renamed(listing: bytes) -> Iterator[tuple[str | None, str]]:
    """What a file was called, None where there was none, and what it is called now."""
    parts = iter(_names(listing))
    for status in parts:
        if not status:
            return
        name = next(parts)
        if status[0] in "RC":
            yield (name, next(parts))
        elif status[0] != "D":
            yield (None if status[0] == "A" else name, name)


def _names(listing: bytes) -> list[str]:
    return listing.decode(errors="surrogateescape").split("\0")
