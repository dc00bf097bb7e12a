"""A review as JSON, in the words of GitHub's API: what `--dry-run` prints."""

from __future__ import annotations

import json
from collections.abc import Callable

from mplint.review import markers
from mplint.review.comments import Comment
from mplint.review.markdown import fenced
from mplint.review.reviewing import Review

Render = Callable[[Comment], str]
"""The whole body of a comment, as one forge wants it."""


def body(comment: Comment, fence: str = "suggestion") -> str:
    """The whole text of a comment; `fence` stands behind the fence of its suggestion."""
    parts = [f"{markers.mark(comment.code, comment.fingerprint)}\n{comment.body}"]
    if comment.suggestion is not None:
        parts.append(fenced(comment.suggestion.text, fence))
    return "\n\n".join(parts)


def placed(comment: Comment) -> dict[str, object]:
    """Where a comment stands: on the side of the new file, on one line or several."""
    at: dict[str, object] = {"path": comment.path, "line": comment.last, "side": "RIGHT"}
    if comment.first < comment.last:
        at |= {"start_line": comment.first, "start_side": "RIGHT"}
    return at


def as_json(review: Review, render: Render = body) -> str:
    """All that would be said."""
    content = {
        "version": 1,
        "base": review.change.base,
        "head": review.change.head,
        "event": "COMMENT",
        "comments": [
            {
                **placed(comment),
                "code": comment.code,
                "severity": str(comment.severity),
                "fingerprint": comment.fingerprint,
                "body": render(comment),
            }
            for comment in review.comments
        ],
        "summary": review.summary,
        "status": {"state": review.status.state, "description": review.status.description, "context": "mplint"},
        "found": review.found,
    }
    return json.dumps(content, indent=2) + "\n"
