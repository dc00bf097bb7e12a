"""Markdown that says what it is given and nothing else: no names are called, no links made, no HTML let through."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_CODE: Final = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_SPECIAL: Final = re.compile(r"([\\`*{}\[\]<>#|~!$&]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))")
_CALLS: Final = re.compile(r"[@#!$%&~](?=\w)|:(?=//)|(?i:www)(?=\.)")
_TICKS: Final = re.compile(r"`+")
_JOINER: Final = "\u2060"
"""A character of no width: it parts `@` from the name behind it, which is then told nothing."""


def flat(text: str) -> str:
    """A text on one line; of a name that is no text, what no forge would take is replaced."""
    return " ".join(text.split()).encode(errors="replace").decode()


def escaped(text: str) -> str:
    """A text with nothing special in it but its code spans."""
    parts = _CODE.split(flat(text))
    return "".join(_plain(part) if number % 2 == 0 else code(part) for number, part in enumerate(parts))


def code(text: str) -> str:
    """A text as a code span, whatever backticks it holds."""
    text = flat(text)
    ticks = "`" * (1 + _longest(text))
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def fenced(text: str, about: str) -> str:
    """A block of code with `about` behind its fence, which is longer than any in the text; line ends stay."""
    fence = "`" * max(3, 1 + _longest(text))
    end = "" if not text or text.endswith("\n") else "\n"
    return f"{fence}{about}\n{text}{end}{fence}"


def folded(title: str, lines: Iterable[str]) -> str:
    """Lines that are shown when one asks for them."""
    return "\n".join((f"<details><summary>{title}</summary>", "", *lines, "", "</details>"))


def _plain(text: str) -> str:
    return _CALLS.sub(rf"\g<0>{_JOINER}", _SPECIAL.sub(r"\\\1", text))


def _longest(text: str) -> int:
    return max((len(run) for run in _TICKS.findall(text)), default=0)
