"""Comments that silence what is found, for code that is to stay as it is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from mplint.analysis import Report
from mplint.findings import Finding, Span
from mplint.project.modules import Project
from mplint.settings import UNREADABLE
from mplint.source.edits import apply_edits
from mplint.source.file import SourceFile
from mplint.source.lexer import Kind, strings_and_comments
from mplint.source.suppressions import Suppression


def ignore(report: Report, project: Project, reason: str = "") -> tuple[dict[Path, str], tuple[Finding, ...]]:
    """The new texts of the files of a report with a comment for each finding, and the findings that got one.

    A comment stands at the end of the row on which the fault ends, or else of another row of its statement. One that is
    there already, and is mplint's own, gets the codes that it lacks.
    """
    by_file: dict[Path, list[Finding]] = defaultdict(list)
    for finding in report.findings:
        if finding.code != UNREADABLE:
            by_file[finding.path].append(finding)
    texts: dict[Path, str] = {}
    silenced: list[Finding] = []
    for path, findings in by_file.items():
        source = project.source(path)
        edits, done = _File(source, reason).edits(findings)
        if edits:
            texts[path] = apply_edits(source.text, edits)
            silenced += done
    return texts, tuple(silenced)


class _File:
    def __init__(self, source: SourceFile, reason: str) -> None:
        self._source, self._reason = source, reason
        self._inside: list[Span] = []
        """The strings, in which no comment can stand."""
        self._comments: dict[int, Span] = {}
        """By row."""
        for kind, start, end in strings_and_comments(source.text):
            if kind is Kind.COMMENT:
                self._comments[source.position(start)[0]] = Span(start, end)
            else:
                self._inside.append(Span(start, end))

    def edits(self, findings: Sequence[Finding]) -> tuple[list[tuple[Span, str]], list[Finding]]:
        codes: dict[int, dict[str, None]] = defaultdict(dict)
        done: list[Finding] = []
        for finding in findings:
            row = self._row(finding)
            if row is not None:
                codes[row][finding.code] = None
                done.append(finding)
        return [self._edit(row, tuple(wanted)) for row, wanted in codes.items()], done

    def _row(self, finding: Finding) -> int | None:
        """The row at whose end a comment can stand: of those of the statement the nearest to the fault, below first."""
        row = self._rows(finding.span)[1]
        first, last = self._rows(finding.statement)
        rows = (*range(row, last + 1), *range(row - 1, first - 1, -1))
        return next((each for each in rows if self._takes_comment(each)), None)

    def _rows(self, span: Span) -> tuple[int, int]:
        return self._source.position(span.start)[0], self._source.position(max(span.start, span.end - 1))[0]

    def _takes_comment(self, row: int) -> bool:
        if row in self._comments:
            return True
        line = self._source.line(row)
        end = self._source.offset(row, len(line) + 1)
        return not line.endswith("\\") and not any(span.start < end < span.end for span in self._inside)

    def _edit(self, row: int, codes: tuple[str, ...]) -> tuple[Span, str]:
        present = next((one for one in self._source.suppressions.on(row, row) if one.own and one.places), None)
        if present is not None:
            return _extended(present, codes)
        text = f"  # mplint: ignore[{', '.join(codes)}]" + (f" {self._reason}" if self._reason else "")
        line = self._source.line(row)
        end = self._source.offset(row, len(line.rstrip()) + 1)
        return Span(end, self._source.offset(row, len(line) + 1)), text


def _extended(comment: Suppression, codes: tuple[str, ...]) -> tuple[Span, str]:
    behind = comment.places[-1].end
    return Span(behind, behind), "".join(f", {code}" for code in codes if not comment.names(code))
