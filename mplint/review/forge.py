"""The small part of a forge that a review needs; each forge has a module in `forges`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from mplint.errors import MplintError
from mplint.review.comments import Comment
from mplint.review.summary import Status


class ForgeError(MplintError):
    """A forge that does not do what it is asked."""

    wait: float = 0.0
    """Seconds after which it wants to be asked again; 0 where it does not say so."""


class ReadOnly(ForgeError):
    """The token may read and not write, as in CI for a change from a fork."""


class Uncertain(ForgeError):
    """The answer was lost: what was asked for may have been done or not."""


@dataclass(frozen=True)
class PullRequest:
    """A change that is under review; `base` is where its history parted from its target, whose top is `target`."""

    base: str
    head: str
    target: str
    is_open: bool


@dataclass(frozen=True)
class Thread:
    """A comment of ours, and the talk that it began.

    `thread` is None where talks cannot be resolved; the rows are those where it stands now, None where these are gone.
    """

    note: str
    thread: str | None
    fingerprint: str
    body: str
    is_resolved: bool
    first: int | None
    last: int | None


@dataclass(frozen=True)
class Note:
    """A comment on the change as a whole."""

    note: str
    body: str


@dataclass(frozen=True)
class Said:
    """All that was said in earlier reviews."""

    threads: tuple[Thread, ...]
    summary: Note | None


class Forge(Protocol):
    """One pull request of one forge."""

    batch: int
    """Comments that are posted at once."""

    def body(self, comment: Comment) -> str:
        """The whole text of a comment, with its suggestion as the forge takes it."""

    async def pull_request(self) -> PullRequest:
        """The change, as it is now."""

    async def said(self) -> Said:
        """What was said before, by us."""

    async def post(self, pull: PullRequest, comments: Sequence[Comment]) -> tuple[Comment, ...]:
        """Post some comments; gives those that the forge takes at no such place. Raises Uncertain."""

    async def edit(self, thread: Thread, body: str) -> None:
        """Give a comment another text."""

    async def resolve(self, thread: Thread, *, resolved: bool) -> None:
        """Resolve a talk, or open it again."""

    async def summarize(self, before: Note | None, body: str) -> None:
        """Write the summary, or give the one there is another text. Raises Uncertain."""

    async def mark(self, pull: PullRequest, status: Status) -> None:
        """Mark the commit with the state of its review."""
