"""What the server tells the process that reviews, and what that says at its end; both go through pipes, as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Final, Literal

from mplint.review.environment import ForgeName
from mplint.serve.configuration import Limits, Wish

Kind = Literal["reviewed", "unchanged", "closed", "superseded", "failed", "exhausted", "refused"]
"""How it went: the first three are done; the review of a change that is `superseded` is made anew.

What has `failed` may go well later; so may, with less hope, what has `exhausted` its limits. What is `refused` stays.
"""

ENDS: Final = ("reviewed", "unchanged", "closed")


@dataclass(frozen=True)
class Assignment:
    """One pull request to review, with the token for it.

    `address` is where git finds it; `reviewed` are the commits that it was last reviewed with.
    """

    forge: ForgeName
    api: str
    address: str
    repository: str
    number: int
    token: str = field(repr=False)
    reviewed: tuple[str, str] | None = None
    limits: Limits = field(default_factory=Limits)
    wish: Wish = field(default_factory=Wish)

    def as_json(self) -> bytes:
        """It on one line."""
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def from_json(cls, line: bytes) -> Assignment:
        """What `as_json` has written."""
        content = json.loads(line)
        limits, wish = Limits(**content.pop("limits")), Wish(**content.pop("wish"))
        reviewed = content.pop("reviewed")
        return cls(**content, limits=limits, wish=wish, reviewed=tuple(reviewed) if reviewed else None)


@dataclass(frozen=True)
class Outcome:
    """How a review went, with the commits that it was about.

    `reason` says why it is not done; `wait` are the seconds that the forge asks to wait before it is tried again.
    """

    kind: Kind
    reason: str = ""
    wait: float = 0.0
    base: str = ""
    head: str = ""
    found: int = 0
    said: int = 0
    resolved: int = 0
    requests: int = 0
    left: int | None = None

    def as_json(self) -> bytes:
        """It on one line."""
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def from_json(cls, line: bytes) -> Outcome:
        """What `as_json` has written. Raises ValueError, or TypeError, where it is not that."""
        return cls(**json.loads(line))
