"""Fix, look again, fix what that uncovered: until nothing is left to do."""

from __future__ import annotations

import gc
import warnings
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

from mplint.analysis import Report, analyze
from mplint.findings import Applicability, Edit, Finding, Span
from mplint.fixer.check import Verdict, judge, touching
from mplint.fixer.plan import choose, confine, displayed
from mplint.fixer.shift import Shift
from mplint.project.modules import Project
from mplint.settings import Settings
from mplint.source.edits import apply_edits
from mplint.source.file import ParseFault, SourceError, SourceFile

ROUNDS: Final = 10

_Place = tuple[Path, str, Span]


@dataclass(frozen=True)
class Outcome:
    """What fixing comes to; nothing is written yet.

    `files` holds the new text of each file that changes, `applied` the findings that were mended (at the places where
    they were found), `withdrawn` those whose fix failed its check, and why, `left` the report on the new texts, and
    `project` the project with these in place.
    """

    files: Mapping[Path, str]
    applied: tuple[Finding, ...]
    withdrawn: tuple[tuple[Finding, str], ...]
    left: Report
    project: Project


Filter = Callable[[Report, Project], Report]
"""What leaves findings out of a report that are not asked for, and says so."""


def look(project: Project, targets: Sequence[Path], settings: Settings, filters: Sequence[Filter] = ()) -> Outcome:
    """What there is to mend, without mending it."""
    return _Run(project, targets, settings, unsafe=False, filters=filters).outcome()


def fix(
    project: Project,
    targets: Sequence[Path],
    settings: Settings,
    *,
    unsafe: bool,
    untouched: Mapping[Path, str] = MappingProxyType({}),
    filters: Sequence[Filter] = (),
    known: Report | None = None,
) -> Outcome:
    """Make every fix that is allowed and stands its check, in the files `targets` only.

    `untouched` are files among them that are to stay as they are, and why; what the `filters` leave out stays, too.
    `known` is what the analysis says of the project as it is, where it was asked before.
    """
    run = _Run(project, targets, settings, unsafe, untouched, filters, known)
    for _ in range(ROUNDS):
        chosen = choose(run.candidates())
        if not chosen:
            return run.outcome()
        run.make(chosen)
    return run.outcome(unfinished=bool(run.candidates()))


class _Run:
    def __init__(
        self,
        project: Project,
        targets: Sequence[Path],
        settings: Settings,
        unsafe: bool,
        untouched: Mapping[Path, str] = MappingProxyType({}),
        filters: Sequence[Filter] = (),
        known: Report | None = None,
    ) -> None:
        self._targets, self._settings, self._untouched, self._filters = targets, settings, untouched, filters
        self._allowed = (Applicability.SAFE, Applicability.UNSAFE) if unsafe else (Applicability.SAFE,)
        self._original = self._project = project
        self._report = self._look(project, known)
        self._texts: dict[Path, str] = {}
        self._applied: list[Finding] = []
        self._refused: dict[_Place, str] = {}

    def candidates(self) -> list[Finding]:
        """What may be mended in the present text, by position; what is safe comes before all that is not."""
        for level in self._allowed:
            found = [one for one in self._report.findings if one.fix and one.fix.applicability is level]
            if left := [finding for finding in found if _place(finding) not in self._refused]:
                return left
        return []

    def make(self, chosen: Sequence[Finding]) -> None:
        """Make the fixes of `chosen` where they stand their check; refuse those that do not.

        Where it is not clear whose fault a failure is, half of them are tried; the rest waits for the next round.
        """
        shifts, texts, verdict = self._rewrite(chosen)
        if verdict.sound:
            after = self._project_with(texts)
            report = self._look(after)
            verdict = judge(self._report, chosen, shifts, report)
        if verdict.sound:
            self._project, self._report = after, report
            self._texts |= texts
            self._applied += chosen
            self._refused = {_moved(place, shifts): reason for place, reason in self._refused.items()}
        elif verdict.guilty:
            self._refused |= {_place(finding): reason for finding, reason in verdict.guilty.items()}
            if rest := [finding for finding in chosen if finding not in verdict.guilty]:
                self.make(rest)
        elif len(chosen) == 1:
            self._refused[_place(chosen[0])] = verdict.unexplained
        else:
            self.make(chosen[: len(chosen) // 2])

    def outcome(self, *, unfinished: bool = False) -> Outcome:
        """The result, with refused fixes shown as such."""
        withdrawn: list[tuple[Finding, str]] = []
        left: list[Finding] = []
        for finding in self._report.findings:
            if reason := self._refused.get(_place(finding)):
                withdrawn.append((finding, reason))
                finding = displayed(finding, f"withdrawn: {reason}")
            left.append(finding)
        more = (f"more can be mended: after {ROUNDS} rounds mplint stopped; run it again",) if unfinished else ()
        return Outcome(
            files={path: text for path, text in self._texts.items() if text != self._original.source(path).text},
            applied=tuple(self._applied),
            withdrawn=tuple(withdrawn),
            left=replace(self._report, findings=tuple(left), notes=(*self._report.notes, *more)),
            project=self._project,
        )

    def _look(self, project: Project, known: Report | None = None) -> Report:
        if not self._targets:
            return Report(())
        if project is not self._original:
            gc.collect()  # the look before has left all its runs in circles
        report = analyze(project, self._targets, self._settings) if known is None else known
        for leave_out in self._filters:
            report = leave_out(report, project)
        return confine(report, self._targets, self._untouched, project.naming)

    def _project_with(self, texts: Mapping[Path, str]) -> Project:
        """The project with new texts; what was read and parsed of the other files stays."""
        return self._project.edited({path: self._project.source(path).encode(text) for path, text in texts.items()})

    def _rewrite(self, chosen: Sequence[Finding]) -> tuple[dict[Path, Shift], dict[Path, str], Verdict]:
        """The new texts, and whether each can be written and read at all."""
        edits: dict[Path, set[Edit]] = defaultdict(set)
        for finding in chosen:
            for edit in finding.fix.edits if finding.fix else ():
                edits[edit.path].add(edit)
        verdict = Verdict()
        texts: dict[Path, str] = {}
        for path, group in edits.items():
            source = self._project.source(path)
            texts[path] = apply_edits(source.text, [(edit.span, edit.content) for edit in sorted(group)])
            if fault := _fault(source, texts[path]):
                verdict.blame(touching(path, chosen), fault)
        return {path: Shift(group) for path, group in edits.items()}, texts, verdict


def _fault(source: SourceFile, text: str) -> str:
    """Why the new text cannot stand in the file; empty where it can."""
    try:
        source.encode(text)
        _ = SourceFile(source.path, text).module
    except SourceError as error:
        return error.problem
    except ParseFault as fault:
        return f"the new text does not parse: {fault}"
    # LibCST takes more than Python does (an argument given twice), this Python less than the file may be written for.
    return "Python does not compile the new text" if _compiles(source.text) and not _compiles(text) else ""


def _compiles(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<mplint>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _place(finding: Finding) -> _Place:
    return finding.path, finding.code, finding.span


def _moved(place: _Place, shifts: Mapping[Path, Shift]) -> _Place:
    path, code, span = place
    return path, code, shifts[path].span(span) if path in shifts else span
