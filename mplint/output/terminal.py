"""Text for a terminal: colour, width, and nothing in it that a terminal would obey."""

from __future__ import annotations

import enum
import re
import unicodedata
from typing import Final

TAB: Final = 4


class Ink(enum.Enum):
    """What a piece of output is, as the terminal's colour for it."""

    ERROR = "1;31"
    WARNING = "1;33"
    ADVICE = "1;36"
    GUTTER = "1;34"
    STRONG = "1"
    ADDED = "32"
    REMOVED = "31"


def paint(text: str, ink: Ink, *, color: bool) -> str:
    """The text in its colour, or as it is."""
    return f"\x1b[{ink.value}m{text}\x1b[0m" if color and text else text


def printable(text: str) -> str:
    """The text with tabs as spaces and control characters made visible: a source file must not drive the terminal."""
    return "".join(_shown(text))


def width(text: str) -> int:
    """How many columns the printable text takes."""
    return sum(map(_columns, text))


def _shown(text: str) -> list[str]:
    pieces: list[str] = []
    column = 0
    for character in text:
        if character == "\t":
            piece = " " * (TAB - column % TAB)
        elif unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") and character != "\u200d":
            piece = "\ufffd"
        else:
            piece = character
        column += width(piece)
        pieces.append(piece)
    return pieces


def _columns(character: str) -> int:
    if unicodedata.combining(character) or character == "\u200d" or re.match("[\ufe00-\ufe0f]", character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
