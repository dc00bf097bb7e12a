"""A unified diff of exact bytes: what `patch` and `git apply -p0` take."""

from __future__ import annotations

import difflib
from typing import Final

from mplint.output.terminal import Ink

_INKS: Final = {b"+": Ink.ADDED, b"-": Ink.REMOVED, b"@": Ink.GUTTER}


def render(name: str, before: bytes, after: bytes, *, color: bool = False) -> bytes:
    """The difference between two contents of the file `name`, empty where there is none."""
    header = name.encode(errors="surrogateescape")
    lines = difflib.diff_bytes(difflib.unified_diff, _lines(before), _lines(after), header, header)
    return b"".join(_marked(_painted(line) if color else line) for line in lines)


def _lines(content: bytes) -> list[bytes]:
    """The lines with their ends; only a line feed ends one, so that CRLF shows up as it is."""
    lines = [line + b"\n" for line in content.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _painted(line: bytes) -> bytes:
    if (ink := _INKS.get(line[:1])) is None:
        return line
    content = line.removesuffix(b"\n")
    return b"\x1b[%sm%s\x1b[0m" % (ink.value.encode(), content) + line[len(content) :]


def _marked(line: bytes) -> bytes:
    return line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"
