"""Which functions may set half precision: those whose text speaks of it, and those that name such a function."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from mplint.interpreter.headers import DEFINITION
from mplint.interpreter.reach import HALF_WORDS
from mplint.project.modules import Project
from mplint.source.file import SourceError
from mplint.source.lexer import Kind, strings_and_comments, with_pieces

_WORDS: Final = tuple(word.decode() for word in (*HALF_WORDS, b"precision"))
"""What the text of a function holds where it sets half precision, or calls a helper that says so in its name."""
_LINE: Final = re.compile(r"(?P<indent>[ \t]*)(?P<code>\S[^\n]*)")
_NAME: Final = re.compile(r"[A-Za-z_]\w*")
_SETS: Final = re.compile(r"set_(?:\w*policy|floatx)$")
_CLOSING: Final = (")", "]", "}")
_MAX_NAMESAKES: Final = 24
"""A name that more files define than this says nothing of what is called."""


@dataclass(frozen=True)
class _Definition:
    """A function, method or class: the names in its text, and whether that speaks of half precision."""

    name: str
    names: frozenset[str]
    speaks: bool


class Setters:
    """The functions of a project that may set half precision, by name."""

    def __init__(self, project: Project, in_play: Callable[[], Collection[Path]]) -> None:
        self._project = project
        self._in_play = in_play

    def may_set(self, path: Path, name: str) -> bool:
        """Whether the function, method or class `name` in the file `path` may."""
        return name in self._speaking.get(path, ())

    def speaks(self, path: Path) -> bool:
        """Whether something in the file `path` may."""
        return path in self._speaking

    def sets(self, name: str) -> bool:
        """Whether some function, method or class of the project that is called `name` may."""
        return name in self._names

    def homes(self, name: str) -> tuple[Path, ...]:
        """The files in which what is called `name` may."""
        return tuple(path for path, names in self._speaking.items() if name in names)

    def speaks_itself(self, text: str) -> bool:
        """Whether the code in `text` sets it, or calls something that does so itself."""
        return any(word in text for word in _WORDS) or not self._direct.isdisjoint(_NAME.findall(text))

    def speaks_in(self, text: str) -> bool:
        """Whether the code in `text` may."""
        return any(word in text for word in _WORDS) or not self._names.isdisjoint(_NAME.findall(text))

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(name for names in self._speaking.values() for name in names if not name.startswith("__"))

    @cached_property
    def _direct(self) -> frozenset[str]:
        found = (one for path in self._in_play() for one in self._definitions(path) if one.speaks)
        setting = (one.name for one in found if any(map(_SETS.match, one.names)))
        return frozenset(name for name in setting if not name.startswith("__"))

    @cached_property
    def _speaking(self) -> dict[Path, set[str]]:
        defined = {path: self._definitions(path) for path in self._in_play()}
        homes: dict[str, set[Path]] = {}
        for path, definitions in defined.items():
            for one in definitions:
                homes.setdefault(one.name, set()).add(path)
        known = {name for name, paths in homes.items() if len(paths) <= _MAX_NAMESAKES and not name.startswith("__")}
        naming: dict[str, list[tuple[Path, str]]] = {}
        waiting: list[tuple[Path, str]] = []
        speaking: dict[Path, set[str]] = {}
        for path, definitions in defined.items():
            for one in definitions:
                for name in one.names & known:
                    naming.setdefault(name, []).append((path, one.name))
                if one.speaks:
                    speaking.setdefault(path, set()).add(one.name)
                    waiting.append((path, one.name))
        while waiting:
            home, name = waiting.pop()
            for path, other in naming.get(name, ()):
                if other not in speaking.get(path, ()) and self._calls_into(path, home):
                    speaking.setdefault(path, set()).add(other)
                    waiting.append((path, other))
        return speaking

    def _calls_into(self, path: Path, home: Path) -> bool:
        """Whether a name in `path` may be that of something in `home`.  A test sets its policy by itself."""
        return path == home or (not self._project.is_test(path) and home in self._project.closure(path))

    def _definitions(self, path: Path) -> tuple[_Definition, ...]:
        try:
            return self._project.glance(path, _definitions)
        except SourceError:
            return ()


def _definitions(text: str) -> tuple[_Definition, ...]:
    """What a text defines, read by its indentation."""
    found: list[_Definition] = []
    open_blocks: list[tuple[int, str, list[str]]] = []

    def close(depth: int) -> None:
        while open_blocks and open_blocks[-1][0] >= depth:
            _, name, lines = open_blocks.pop()
            body = "\n".join(lines)
            found.append(_Definition(name, frozenset(_NAME.findall(body)), any(word in body for word in _WORDS)))
            if open_blocks:
                open_blocks[-1][2].extend(lines)

    for line in _LINE.finditer(_without_long_strings(text)):
        depth, code = len(line["indent"].expandtabs()), line["code"]
        if not code.startswith(_CLOSING):
            close(depth)
        definition = DEFINITION.match(code)
        if definition is not None:
            open_blocks.append((depth, definition["name"], [code[definition.end() :]]))
        elif open_blocks:
            open_blocks[-1][2].append(code)
    close(0)
    return tuple(found)


def _without_long_strings(text: str) -> str:
    """`text` without comments and strings of several lines, which are of no indentation."""

    def kept(kind: Kind, piece: str) -> str:
        return "" if kind is Kind.COMMENT or "\n" in piece else piece

    return with_pieces(text, strings_and_comments(text), kept)
