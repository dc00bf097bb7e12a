"""New texts onto the disk: what belongs together is written together or not at all."""

from __future__ import annotations

from pathlib import Path

from mplint.errors import MplintError
from mplint.findings import Finding
from mplint.fixer.fixpoint import Outcome
from mplint.project.modules import Project
from mplint.source.write import replace_atomically


def write(outcome: Outcome, project: Project) -> dict[Path, MplintError]:
    """Write the outcome's files over those of `project`, from which it was computed.

    Each file is the old one or the new one at any moment. Files that one fix spans are all written or, where one of
    them cannot be, put back: then the result holds the error for each of them. Other files are written all the same.
    """
    failures: dict[Path, MplintError] = {}
    for group in _groups(outcome):
        try:
            _write_together({path: outcome.files[path] for path in group}, project)
        except MplintError as error:
            failures |= dict.fromkeys(group, error)
    return failures


def _write_together(texts: dict[Path, str], project: Project) -> None:
    changes = [(path, project.data(path), project.source(path).encode(text)) for path, text in texts.items()]
    for number, (path, old, new) in enumerate(changes):
        try:
            replace_atomically(path, new, expected=old)
        except MplintError as error:
            stuck = [failure for done in changes[:number] if (failure := _put_back(*done))]
            if stuck:
                raise MplintError(f"{error}; and these could not be put back: {'; '.join(map(str, stuck))}") from error
            raise


def _put_back(path: Path, old: bytes, new: bytes) -> MplintError | None:
    try:
        replace_atomically(path, old, expected=new)
    except MplintError as error:
        return error
    return None


def _groups(outcome: Outcome) -> list[list[Path]]:
    """The changed files, those together that a fix spans."""
    groups: list[set[Path]] = [{path} for path in outcome.files]
    for finding in outcome.applied:
        spanned = _files(finding)
        joined = [group for group in groups if group & spanned]
        groups = [group for group in groups if not group & spanned] + [set().union(*joined)]
    return [sorted(group) for group in groups if group]


def _files(finding: Finding) -> set[Path]:
    return {edit.path for edit in finding.fix.edits} if finding.fix else set()
