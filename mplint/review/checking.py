"""The whole program at one revision, checked with the settings that it brings."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from mplint.analysis import Report, analyze, rules
from mplint.baseline import Baseline
from mplint.findings import Span
from mplint.project.discovery import Exclusions, discover
from mplint.project.modules import Project
from mplint.project.root import find_root
from mplint.settings import Settings
from mplint.source.file import SourceError
from mplint.source.notebook import SUFFIX as NOTEBOOK


@dataclass(frozen=True)
class Asked:
    """What is to be checked: places in the repository (none: all of it), and settings over those of the repository."""

    paths: tuple[PurePosixPath, ...] = ()
    config: tuple[str, ...] = ()
    isolated: bool = False
    overrides: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Side:
    """A revision whose files lie in the folder `top`, and what is found there.

    `whole` is all of it, `report` what a baseline does not leave out.
    """

    top: Path
    project: Project
    settings: Settings
    targets: tuple[Path, ...]
    whole: Report
    report: Report

    def path(self, file: Path) -> str:
        """A file as the repository names it."""
        return file.relative_to(self.top).as_posix() if file.is_relative_to(self.top) else file.as_posix()

    def rows(self, file: Path, span: Span) -> tuple[int, int] | None:
        """The first and the last row of a span as git counts; None in a notebook, whose rows are those of its cells."""
        if file.suffix == NOTEBOOK:
            return None
        try:
            text = self.project.source(file).text
        except SourceError:
            return 1, 1
        last = max(span.start, span.end - 1)
        return text.count("\n", 0, span.start) + 1, text.count("\n", 0, last) + 1


def check(top: Path, asked: Asked) -> Side:
    """Check the files in the folder `top`, with the settings that are there."""
    named = [top / path for path in asked.paths] or [top]
    root = find_root(named)
    settings = Settings.load(root, asked.config, asked.isolated, asked.overrides)
    settings.require_known({rule.code for rule in rules()})
    settings = replace(settings, cache_dir=None)  # which the change may have put anywhere
    side = _checked(top, settings, named)
    if settings.baseline is not None and (root / settings.baseline).resolve().is_relative_to(top.resolve()):
        baseline = Baseline.read(root / settings.baseline)
        return replace(side, report=baseline.leave_out(side.whole, side.project, side.targets))
    return side


def check_like(other: Side, top: Path, files: Collection[str]) -> Side:
    """Check some files of the revision in the folder `top` as those of another one: with its settings."""
    root = top / other.settings.root.relative_to(other.top)
    root.mkdir(parents=True, exist_ok=True)
    named = [path for path in map(top.joinpath, sorted(files)) if path.is_file()]
    return _checked(top, replace(other.settings, root=root), named)


def _checked(top: Path, settings: Settings, named: Sequence[Path]) -> Side:
    exclusions = Exclusions.configured(settings)
    targets = tuple(discover(named, exclusions, on_unreadable=lambda error: None))
    project = Project.at(settings.root, exclusions=exclusions, extra=targets, folder=top)
    report = analyze(project, targets, settings) if targets else Report(())
    return Side(top, project, settings, targets, report, report)
