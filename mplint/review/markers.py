"""Hidden marks in comments, by which a later review knows what was said."""

from __future__ import annotations

import re
from typing import Final

SUMMARY: Final = "<!-- mplint:summary -->"
GONE: Final = "<!-- mplint:gone -->"
"""In a comment that was resolved because its finding is gone; without it, a person has resolved it."""

_MARK: Final = re.compile(r"\A<!-- mplint:(?:MP\d+|cause):([0-9a-f]{8,64}) -->")


def mark(code: str, fingerprint: str) -> str:
    """The mark that a comment begins with."""
    return f"<!-- mplint:{code}:{fingerprint} -->"


def is_gone(body: str) -> bool:
    """Whether a comment of ours says so behind its mark; further on, it may be a word of the code."""
    return body.partition("\n")[2].startswith(GONE)


def fingerprint_in(body: str) -> str | None:
    """The fingerprint of the finding that a comment of ours is about; None where it is no such comment."""
    match = _MARK.match(body)
    return match[1] if match else None
