"""What is to be said, given what was said before: nothing twice, and nothing against what a person has decided."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mplint.review import markers
from mplint.review.comments import Comment
from mplint.review.forge import Said, Thread
from mplint.review.reviewing import Review


@dataclass(frozen=True)
class Plan:
    """What is to be done; where it is done already, there is nothing in it."""

    post: tuple[Comment, ...]
    reopen: tuple[Thread, ...]
    resolve: tuple[Thread, ...]
    edit: tuple[tuple[Thread, str], ...]


def plan(review: Review, said: Said, body: Callable[[Comment], str]) -> Plan:
    """Compare a review with what was said.

    A talk whose finding is gone, and was not just missed, is resolved, and says so; if it comes back, it is opened
    again. One that a person has resolved stays resolved, and one that a person has opened again stays open.
    """
    known = {thread.fingerprint for thread in said.threads}
    wanted = {comment.fingerprint: comment for comment in review.comments}
    reopen: list[Thread] = []
    resolve: list[Thread] = []
    edit: list[tuple[Thread, str]] = []
    for thread in said.threads:
        comment = wanted.get(thread.fingerprint)
        was_gone = markers.is_gone(thread.body)
        if thread.fingerprint not in review.alive:
            if not review.failed and not thread.is_resolved and not was_gone and thread.thread is not None:
                resolve.append(thread)
                edit.append((thread, _gone(thread.body, review.change.head)))
        elif comment is not None and (was_gone or not thread.is_resolved):
            if thread.is_resolved:
                reopen.append(thread)
            text = body(comment)
            if text != thread.body and (was_gone or _stands_at(thread, comment)):
                edit.append((thread, text if _stands_at(thread, comment) else _back(thread.body)))
    post = tuple(comment for comment in review.comments if comment.fingerprint not in known)
    return Plan(post, tuple(reopen), tuple(resolve), tuple(edit))


def _stands_at(thread: Thread, comment: Comment) -> bool:
    """Whether a talk is still at the rows of a comment, so that a new suggestion would replace these."""
    return (thread.first, thread.last) == (comment.first, comment.last)


def _gone(body: str, head: str) -> str:
    """The text of a comment whose finding is gone."""
    first, _, rest = body.partition("\n")
    return f"{first}\n{markers.GONE}_Gone at {head[:12]}._\n\n{rest}"


def _back(body: str) -> str:
    """The text of such a comment as it was before."""
    first, _, rest = body.partition("\n")
    return f"{first}\n{rest.partition(chr(10) * 2)[2]}" if markers.is_gone(body) else body
