"""How functions are called, and with what they can be: read from texts in which strings hold no brackets."""

from __future__ import annotations

import re
from typing import Final

DEFINITION: Final = re.compile(r"(?:(?:async[ \t]+)?def|(?P<is_class>class))[ \t]+(?P<name>\w+)")
"""The beginning of a function or class, up to its parameters or bases."""
_LONGEST: Final = 4_000
"""A bracket of more characters is not read."""
_DEEPEST: Final = 12
"""More brackets inside each other are not read."""
_BRACKET: Final = re.compile(r"[()\[\]{},]")
_KEYWORD: Final = re.compile(r"\s*(\w+)\s*=(?!=)")
_PARAMETER: Final = re.compile(r"\s*(\**)\s*(\w*)")


def end_of_bracket(code: str, start: int) -> int | None:
    """Where the bracket that opens at `start` is closed; None where that is far away, or never."""
    pieces = _pieces(code, start)
    return None if pieces is None else pieces[-1][1] + 1


def keywords(code: str, start: int) -> frozenset[str]:
    """The names of the arguments in the call whose bracket opens at `start`, as far as they are written out."""
    found = (_KEYWORD.match(code, *piece) for piece in _pieces(code, start) or ())
    return frozenset(match[1] for match in found if match is not None)


def parameters(code: str, start: int) -> frozenset[str] | None:
    """With what the function whose parameters open at `start` is called by name; None where that may be anything."""
    pieces = _pieces(code, start)
    if pieces is None:
        return None
    found = [match for piece in pieces if (match := _PARAMETER.match(code, *piece)) is not None]
    return None if any(match[1] == "**" for match in found) else frozenset(match[2] for match in found)


def _pieces(code: str, start: int) -> list[tuple[int, int]] | None:
    """The pieces between the commas of the bracket that opens at `start`; None where it is not closed."""
    found: list[tuple[int, int]] = []
    depth, begin = 0, start + 1
    for match in _BRACKET.finditer(code, start, start + _LONGEST):
        if match[0] in "([{":
            depth += 1
            if depth > _DEEPEST:
                return None
        elif match[0] == ",":
            if depth == 1:
                found.append((begin, match.start()))
                begin = match.end()
        else:
            depth -= 1
            if depth == 0:
                return [*found, (begin, match.start())]
    return None
