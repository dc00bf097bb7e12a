"""One review of one pull request: from its two commits to what its forge shows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mplint.git import commit_of
from mplint.review.checking import Asked
from mplint.review.comments import Comment
from mplint.review.forge import Forge, PullRequest, ReadOnly, Said, Uncertain
from mplint.review.manners import Plan, plan
from mplint.review.payload import body
from mplint.review.reviewing import Change, Review, Taste, review
from mplint.review.summary import with_refused

_TRIES: Final = 5
"""How often it is looked again what is there, after an answer was lost."""


@dataclass(frozen=True)
class Told:
    """How a review of a pull request went. `said` counts new comments; `is_superseded`: it has changed meanwhile.

    `review` is None where the pull request is closed. `read_only` says why nothing could be told, where that is so, and
    `forbidden` what else the token may not do. `body` is how its forge wants a comment.
    """

    review: Review | None = None
    said: int = 0
    resolved: int = 0
    is_superseded: bool = False
    read_only: str = ""
    forbidden: tuple[str, ...] = ()
    body: Callable[[Comment], str] = body

    @property
    def in_words(self) -> str:
        """How it went, for a log."""
        if self.review is None:
            return "Closed: nothing to review."
        if self.is_superseded:
            return "Changed meanwhile: the next run reviews it."
        counts = f"{self.said} said, {self.resolved} resolved."
        return "\n".join((f"{self.review.status.description} {counts}", *self.forbidden))


async def review_pull_request(
    forge: Forge,
    repository: Path,
    asked: Asked,
    taste: Taste,
    *,
    pull: PullRequest | None = None,
    with_status: bool = False,
    dry_run: bool = False,
) -> Told:
    """Review the pull request that `forge` is about; both its commits are in the `repository` on disk.

    This is all that a command or a server has to call. Whatever happens on the way, a later call takes it up where it
    was left, and says nothing twice. `pull` is the pull request where the caller has asked for it already.
    """
    pull = pull or await forge.pull_request()
    if not pull.is_open:
        return Told()
    for commit in (pull.base, pull.head):
        commit_of(repository, commit)
    done = await asyncio.to_thread(review, Change(repository, pull.base, pull.head), asked, taste)
    if dry_run:
        return Told(done, body=forge.body)
    if (await forge.pull_request()).head != pull.head:
        return Told(done, is_superseded=True)
    try:
        return await _tell(forge, pull, done, with_status=with_status)
    except ReadOnly as error:
        return Told(done, read_only=str(error))


async def _tell(forge: Forge, pull: PullRequest, done: Review, *, with_status: bool) -> Told:
    said = await forge.said()
    to_do = plan(done, said, forge.body)
    refused = await _post(forge, pull, done, to_do)
    forbidden: dict[str, None] = {}
    resolved = 0
    for thread in (*to_do.resolve, *to_do.reopen):
        try:
            await forge.resolve(thread, resolved=thread in to_do.resolve)
            resolved += thread in to_do.resolve
        except ReadOnly as error:  # GitHub wants a permission for this that comments do without
            forbidden[f"Talks are not resolved, but say that they are done: {error}"] = None
    for thread, text in to_do.edit:
        await forge.edit(thread, text)
    await _summarize(forge, done, said, refused)
    if with_status:
        try:
            await forge.mark(pull, done.status)
        except ReadOnly as error:
            forbidden[f"The commit is not marked: {error}"] = None
    return Told(done, len(to_do.post) - len(refused), resolved, forbidden=tuple(forbidden))


async def _post(forge: Forge, pull: PullRequest, done: Review, to_do: Plan) -> tuple[Comment, ...]:
    """Post what was not said before; where an answer was lost, look first what has arrived. Gives what is refused."""
    refused: list[Comment] = []
    waiting = to_do.post
    for left in reversed(range(_TRIES)):
        try:
            for start in range(0, len(waiting), forge.batch):
                refused += await forge.post(pull, waiting[start : start + forge.batch])
        except Uncertain:
            if not left:
                raise
            now = plan(done, await forge.said(), forge.body)
            waiting = tuple(comment for comment in now.post if comment not in refused)
        else:
            break
    return tuple(refused)


async def _summarize(forge: Forge, done: Review, said: Said, refused: Sequence[Comment]) -> None:
    """Keep the summary up to date; where there is nothing to say and was not before, there is none."""
    text = with_refused(done.summary, [comment.brief for comment in refused])
    before = said.summary
    for left in reversed(range(_TRIES)):
        if done.is_silent if before is None else before.body == text:
            return
        try:
            await forge.summarize(before, text)
        except Uncertain:
            if not left:
                raise
            before = (await forge.said()).summary
        else:
            return
