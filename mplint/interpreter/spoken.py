"""What a program speaks of: only that can have been called by it where no call was seen.

A library is imported as a whole, and a program that sets a policy uses a part of it.  Everything here goes by names and
is read from texts, without a parser: what a program writes itself, what runs when its modules are imported, and what
stands in the definitions that these name.  Definitions, imports and what a decorator is put on speak of nothing yet.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Final

from mplint.interpreter.spoken_texts import Piece, Text, read_text
from mplint.project.modules import Project
from mplint.source.file import SourceError

_MAX_IMPORTS: Final = 20
"""What is passed on by more files than these is not followed to where it is defined."""
_OF_KERAS: Final = frozenset({"keras", "tf_keras", "keras_core", "tensorflow"})
_NO_REGISTRIES: Final = _OF_KERAS | sys.stdlib_module_names
"""Packages whose decorators put nothing where a program finds it by a name of its own."""


class Spoken:
    """The names of which the programs of a project speak."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known: dict[tuple[Path, frozenset[Path]], _Search] = {}

    def of(
        self, path: Path, program: Path, looked_up: frozenset[Path] = frozenset()
    ) -> tuple[Collection[str], Collection[str]]:
        """The names of which the program that starts in the file `program` speaks: anywhere, and of the file `path`.

        Only these may mean something there.  Both may be many.  In `looked_up`, something is taken out of a module by
        a name that is not known.
        """
        found = self._search(program, looked_up)
        return found.words, found.own.get(path, frozenset())

    def _search(self, program: Path, looked_up: frozenset[Path]) -> _Search:
        key = (program, looked_up & self._project.closure(program) | looked_up & {program})
        if key not in self._known:
            found = self._known[key] = _Search(self._project, program)
            found.run(key[1])
        return self._known[key]


class _Search:
    """Goes from what a program says to what the definitions say that it names."""

    def __init__(self, project: Project, program: Path) -> None:
        self._project = project
        self._program = program
        self.words: set[str] = set()
        self.own: dict[Path, set[str]] = {}
        """What is spoken of in one file: what is imported from elsewhere under that name is another thing."""
        self._texts = {path: text for path in {program, *project.closure(program)} if (text := self._read(path))}
        self._defined: dict[str, list[tuple[Path, Piece]]] = {}
        self._variables: set[str] = set()
        self._classes: set[str] = set()
        self._functions: set[str] = set()
        self._parameters: dict[str, list[frozenset[str] | None]] = {}
        self._narrowly: set[Path] = set()
        """The files out of which only what can be called so is taken by a name that is not known."""
        self._folders: set[str] = set()
        self._asks_for_subclasses = False
        for path, text in self._texts.items():
            self._variables |= text.variables
            self._classes |= text.classes.keys()
            self._functions |= text.functions
            self._folders |= {path.stem, *path.parts}
            self._asks_for_subclasses |= "__subclasses__" in text.all.names
            for name, headers in text.parameters.items():
                self._parameters.setdefault(name, []).extend(headers)
            for name, pieces in text.defined.items():
                self._defined.setdefault(name, []).extend((path, piece) for piece in pieces)
        self._registering = {name for name in self._classes if self._registers(name)}
        self._waiting: list[tuple[Path | None, str]] = []
        self._homes: dict[tuple[Path, str], tuple[Path, str] | None] = {}
        self._handed: dict[str, set[str]] = {}

    def run(self, looked_up: Iterable[Path]) -> None:
        """Find all the words."""
        for text in self._texts.values():
            self._note_registries(text)
        for path, text in self._texts.items():
            if path == self._program:
                self._say(path, text.all)
            else:
                for piece in text.runs:
                    self._say(path, piece)
        self._go_on()
        for path in looked_up:
            if path not in self._narrowly:
                self._open(path)
        self._go_on()

    def _go_on(self) -> None:
        while self._waiting:
            home, name = self._waiting.pop()
            self._add(self._handed.get(name, ()))
            for path, piece in self._defined.get(name, ()):
                if home is None or home == path:
                    self._say(path, piece)

    def _registers(self, name: str) -> bool:
        """Whether what derives from the class `name` is known by that."""
        if self._asks_for_subclasses:
            return True
        pieces = [piece.names for _, piece in self._defined[name]]
        return any(
            "__init_subclass__" in names or ("metaclass" in names and "ABCMeta" not in names) for names in pieces
        )

    def _read(self, path: Path) -> Text | None:
        try:
            return self._project.glance(path, read_text)
        except SourceError:
            return None

    def _add(self, names: Iterable[str]) -> None:
        fresh = set(names) - self.words
        self.words |= fresh
        self._waiting.extend((None, name) for name in fresh)

    def _add_own(self, path: Path, name: str) -> None:
        own = self.own.setdefault(path, set())
        if name not in own and name not in self.words:
            own.add(name)
            self._waiting.append((path, name))

    def _home(self, path: Path, name: str) -> tuple[Path, str] | None:
        """The file in which what `path` calls `name` is defined, and its name there; None where that is not known."""
        key = (path, name)
        if key not in self._homes:
            self._homes[key] = self._followed(path, name)
        return self._homes[key]

    def _followed(self, path: Path, name: str) -> tuple[Path, str] | None:
        for _ in range(_MAX_IMPORTS):
            text = self._texts.get(path)
            if text is None or name not in text.origins:
                is_defined = text is not None and (name in text.classes or name in text.functions)
                return (path, name) if is_defined else None
            origins = text.origins[name]
            if len(origins) > 1 or name in text.classes or name in text.functions:
                return None
            ((module, name),) = origins
            found = self._module(path, module)
            if found is None:
                return None
            path = found
        return None

    def _module(self, path: Path, written: str) -> Path | None:
        """The file of the project that an import in `path` means."""
        bare = written.lstrip(".")
        found = self._project.resolve(bare, len(written) - len(bare), path)
        return found if isinstance(found, Path) else None

    def _say(self, path: Path, piece: Piece) -> None:
        names = set(piece.names)
        for name in piece.names - piece.parts:
            home = self._home(path, name)
            if home is not None:
                names.discard(name)
                self._add_own(*home)
        self._add(names)
        for lookup in piece.lookups:
            if not lookup.of:
                self._open(path)
            elif lookup.of == "*":
                for other in self._project.imports(path):
                    self._open(other)
            else:
                first, _, last = lookup.of.partition(".")
                named = self._texts[path].modules.get(first)
                if named is not None and last:
                    named = last.rpartition(".")[2]
                for other in self._texts if named is not None else ():
                    if named == (other.parent.name if other.stem == "__init__" else other.stem):
                        self._open(other, lookup.given)
                        if lookup.given:
                            self._narrowly.add(other)

    def _open(self, path: Path, given: frozenset[str] = frozenset(), done: frozenset[Path] = frozenset()) -> None:
        """Everything in the namespace of a module is spoken of that can be called with what is `given` by name."""
        text = self._texts.get(path)
        if text is None or path in done:
            return
        self._add(name for name in text.defined if self._takes(name, given))
        for star in text.stars:
            other = self._module(path, star)
            if other is not None:
                self._open(other, given, done | {path})

    def _takes(self, name: str, given: frozenset[str]) -> bool:
        """Whether something of this name can be called so."""
        known = self._parameters.get(name)
        return not given or not known or any(each is None or given <= each for each in known)

    def _note_registries(self, text: Text) -> None:
        """Note what stands in the registries that a file fills by decorators, calls and deriving from a class."""
        for name, decorator in text.decorated:
            self._note({name}, self._containers(decorator) | self._library(text, decorator))
        for names, function in text.handed:
            containers = self._containers((function,)) | self._library(text, (function,))
            if not containers and function in self._functions:
                self._add(names)  # it may call what it is given
            self._note(names, containers)
        for name, bases in text.classes.items():
            for base in bases & self._registering:
                self._note({name}, {base, *self._containers((base,))})

    def _note(self, names: Iterable[str], containers: Iterable[str]) -> None:
        for container in containers:
            self._handed.setdefault(container, set()).update(names)

    def _containers(self, names: tuple[str, ...]) -> set[str]:
        """Where a function may put something to which it is handed: the variables that it names, or what holds it."""
        found = {name for name in names if name in self._variables or (name in self._classes and len(names) > 1)}
        for name in names:
            for _, piece in self._defined.get(name, ()):
                found |= piece.names & self._variables
        return found

    def _library(self, text: Text, decorator: tuple[str, ...]) -> set[str]:
        """The library that keeps what stands under its decorator."""
        package = text.packages.get(decorator[0])
        if package is None or package in _NO_REGISTRIES or package in self._folders:
            return set()
        return {decorator[0]}
