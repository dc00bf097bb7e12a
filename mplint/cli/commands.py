"""The names of the commands."""

from __future__ import annotations

import difflib
from typing import Final

COMMANDS: Final = ("check", "verify", "review", "serve", "rule", "config", "init")
"""Each is in the module of its name, which is imported when it is asked for."""

ELSEWHERE: Final = {"explain": "rule", "lint": "check"}
"""What other tools call them."""

DEFAULT: Final = "check"
"""The command that is meant where none is named."""


def near(word: str) -> str | None:
    """The command that was probably meant by a word that is none."""
    close = difflib.get_close_matches(word, COMMANDS, n=1)
    return ELSEWHERE.get(word) or next(iter(close), None)
