"""From two revisions to what is to be said of the change between them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mplint.analysis import Report
from mplint.errors import MplintError
from mplint.findings import Severity
from mplint.output import findings as shown_as
from mplint.output.context import Context
from mplint.review.checking import Asked, Side, check, check_like
from mplint.review.comments import Comment, Writer
from mplint.review.diff import Diff
from mplint.review.markdown import code, escaped
from mplint.review.selection import Kept, Selection, select
from mplint.review.snapshot import write_snapshot
from mplint.review.suggestions import suggestions
from mplint.review.summary import Status, status, summarized


@dataclass(frozen=True)
class Change:
    """Two commits of a repository on disk: what was, and what is to be."""

    repository: Path
    base: str
    head: str


@dataclass(frozen=True)
class Taste:
    """How much is said, and how."""

    max_comments: int = 25
    docs: str | None = None
    fail_on: Severity | None = None


@dataclass(frozen=True)
class Review:
    """What is to be said of a change, for any forge.

    `alive` holds the fingerprints of all that is found at its head, told or not: what is not in it is gone, unless
    mplint itself `failed` in some files. `annotations` and `sarif` are what the review speaks of, in formats for where
    it may not speak.
    """

    change: Change
    comments: tuple[Comment, ...]
    summary: str
    status: Status
    alive: frozenset[str]
    found: int
    annotations: str
    sarif: str
    failed: tuple[str, ...]

    @property
    def is_silent(self) -> bool:
        """Whether there is nothing to say."""
        return not self.found


def review(change: Change, asked: Asked, taste: Taste) -> Review:
    """Check both revisions, and say what the change between them causes or touches."""
    diff = Diff.between(change.repository, change.base, change.head)
    with _folders() as (at_head, at_base):
        write_snapshot(change.repository, change.head, at_head)
        head = _checked(at_head, asked)
        base = None
        if head.report.findings:
            write_snapshot(change.repository, change.base, at_base)
            there = {diff.was(head.path(finding.path)) for finding in head.report.findings}
            base = check_like(head, at_base, {path for path in there if path is not None})
        return _told(change, head, select(head, base, diff), diff, taste)


def _checked(top: Path, asked: Asked) -> Side:
    """The head, checked; what is wrong with its configuration is told by its place in the repository."""
    try:
        return check(top, asked)
    except MplintError as error:
        raise MplintError(str(error).replace(f"{top}/", "")) from None


def _told(change: Change, head: Side, selection: Selection, diff: Diff, taste: Taste) -> Review:
    kept = selection.kept
    writer = Writer(head, diff, suggestions(kept, head, diff), taste.docs)
    every = tuple(writer.comments(kept))
    comments = every[: taste.max_comments]
    failed = tuple(sorted({head.path(failure.path) for failure in head.report.failures}))
    notes = [*map(escaped, head.report.notes), *(f"mplint itself failed in {code(path)}" for path in failed)]
    report = Report(tuple(one.finding for one in kept), head.report.failures, head.report.notes)
    context = Context(head.project, head.top, unsafe=head.settings.unsafe_fixes)
    return Review(
        change=change,
        comments=comments,
        summary=summarized(
            kept, _spoken_of(kept, comments), left=selection.left, notes=notes, docs=taste.docs, head=change.head
        ),
        status=status(kept, taste.fail_on),
        alive=selection.alive | {comment.fingerprint for comment in every},
        found=len(kept),
        annotations=shown_as("github")(report, context),
        sarif=shown_as("sarif")(report, context),
        failed=failed,
    )


def _spoken_of(kept: tuple[Kept, ...], comments: tuple[Comment, ...]) -> frozenset[str]:
    """The fingerprints of the findings that a comment tells, be it at their own line or at their cause."""
    own = {comment.fingerprint for comment in comments}
    causes = {(comment.path, comment.first) for comment in comments if comment.code == "cause"}
    return frozenset(
        one.finding.fingerprint
        for one in kept
        if one.finding.fingerprint in own
        or (one.anchor is not None and one.anchor.is_cause and (one.anchor.path, one.anchor.first) in causes)
    )


@contextmanager
def _folders() -> Iterator[tuple[Path, Path]]:
    with tempfile.TemporaryDirectory(prefix="mplint-review-") as folder:
        top = Path(folder).resolve()
        for name in ("head", "base"):
            (top / name).mkdir()
        yield top / "head", top / "base"
