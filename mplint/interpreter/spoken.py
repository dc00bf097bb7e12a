"""What a program speaks of: only that can have been called by it where no call was seen.

A library is imported as a whole, and a program that sets a policy uses a part of it.  Everything here goes by names and
is read from texts, without a parser: what a program writes itself, what runs when its modules are imported, and what
stands in the definitions that these name.  Definitions, imports and what a decorator is put on speak of nothing yet.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from mplint.interpreter.headers import DEFINITION, end_of_bracket, keywords, parameters
from mplint.project.modules import Project
from mplint.source.file import SourceError
from mplint.source.lexer import CONTINUATION, Kind, strings_and_comments, with_pieces

_NAME: Final = re.compile(r"[A-Za-z_]\w*")
_PART: Final = re.compile(r"\.[ \t]*([A-Za-z_]\w*)")
_IMPORT: Final = re.compile(r"(?:from[ \t]*(?P<module>[.\w]+)[ \t]+)?import\b(?P<names>.*)", re.DOTALL)
_IMPORTED: Final = re.compile(r"(\*|[\w.]+)(?:\s+as\s+(\w+))?")
_ASSIGNED: Final = re.compile(r"(?P<targets>[\w.]+(?:\s*,\s*[\w.]+)*)\s*(?:\[|:(?!=)|=(?!=)|[-+|]=)")
_METHOD: Final = re.compile(r"(?P<targets>[A-Za-z_]\w*)(?:\.\w+)+\s*\(")
_CALL: Final = re.compile(r"(?P<called>[A-Za-z_]\w*)\s*\(")
_MAIN: Final = re.compile(r"if\b(?=.*__name__).*__main__")
_NAMED: Final = re.compile(r"[A-Za-z_][\w.:]{0,99}")
"""A string that may name something: `"Net"`, `"nets.rows:Net"`."""
_LOOKUP: Final = re.compile(
    r"\bgetattr\(\s*(?P<got>[\w.]+)\s*,\s*(?!['\"])|(?P<own>\b(?:globals|eval|exec)\(|\bsys\.modules\b)"
    r"|(?<![\w.])\.?(?P<of>\w[\w.]*)\.__dict__\b|\b(?:vars|dir|getmembers)\(\s*(?P<vars>[\w.]+)\s*[,)]|(?P<importer>\b(?:import_module|__import__)\()"
)
_LOOKING_UP: Final = (
    "getattr(", "globals(", "eval(", "exec(", "sys.modules", "__dict__", "vars(", "dir(", "getmembers(",
    "import_module(", "__import__("
)  # fmt: skip
"""Some of these is in each of them."""
_CONSTRUCTOR: Final = re.compile(r"^def[ \t]+__init__[ \t]*\(", re.MULTILINE)
_TARGET: Final = re.compile(r"(?:\A|\n)[ \t]*(\w+)[ \t]*=[ \t]*\Z")
_MAX_TARGET: Final = 200
_MAX_IMPORTS: Final = 20
"""What is passed on by more files than these is not followed to where it is defined."""
_ENDS: Final = re.compile(r"[ \t]*(?:[\r\n]|\Z)")
_CALLED: Final = re.compile(r"(?<![\w.])([A-Za-z_]\w*)\(")
_STATEMENTS: Final = frozenset(
    {"if", "elif", "else", "for", "while", "with", "try", "except", "finally", "assert", "del", "return", "raise"}
)
_OF_KERAS: Final = frozenset({"keras", "tf_keras", "keras_core", "tensorflow"})
_NO_REGISTRIES: Final = _OF_KERAS | sys.stdlib_module_names
"""Packages whose decorators put nothing where a program finds it by a name of its own."""
_OPENING: Final = re.compile(r"[(\[{]")
_CLOSING: Final = re.compile(r"[)\]}]")


@dataclass(frozen=True)
class _Lookup:
    """Something that is taken by a name that is not known."""

    of: str
    """The name of what it is taken out of; "" for its own file, "*" for an imported one."""
    given: frozenset[str] = frozenset()
    """With what it is called, by name, whenever that is seen."""


@dataclass(frozen=True)
class _Piece:
    """A definition, an assignment or a statement at the top level of a file: the names in it, and its look-ups."""

    names: frozenset[str]
    lookups: frozenset[_Lookup]
    parts: frozenset[str] = frozenset()
    """The names behind a dot: whose attributes they are is not known."""


@dataclass
class _Text:
    """What a file says."""

    all: _Piece
    runs: list[_Piece] = field(default_factory=list)
    """What runs when it is imported, beside definitions and assignments."""
    defined: dict[str, list[_Piece]] = field(default_factory=dict)
    """Functions, classes, variables and other names of what is imported."""
    classes: dict[str, frozenset[str]] = field(default_factory=dict)
    """The classes, and the names of what each derives from."""
    functions: set[str] = field(default_factory=set)
    parameters: dict[str, list[frozenset[str] | None]] = field(default_factory=dict)
    """With what functions and classes can be called by name; None where that may be anything."""
    variables: set[str] = field(default_factory=set)
    """The variables that may hold something."""
    decorated: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    """What stands under a decorator, and the names of that."""
    handed: list[tuple[frozenset[str], str]] = field(default_factory=list)
    """What is handed to a function at the top level, and to which."""
    modules: dict[str, str] = field(default_factory=dict)
    """The last parts of the modules that imported names may be."""
    packages: dict[str, str] = field(default_factory=dict)
    """The packages from which imported names come."""
    origins: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    """The modules from which names are imported, as they are written, and the names there."""
    stars: set[str] = field(default_factory=set)


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
        self._defined: dict[str, list[tuple[Path, _Piece]]] = {}
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

    def _read(self, path: Path) -> _Text | None:
        try:
            return self._project.glance(path, _text)
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

    def _say(self, path: Path, piece: _Piece) -> None:
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

    def _note_registries(self, text: _Text) -> None:
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

    def _library(self, text: _Text, decorator: tuple[str, ...]) -> set[str]:
        """The library that keeps what stands under its decorator."""
        package = text.packages.get(decorator[0])
        if package is None or package in _NO_REGISTRIES or package in self._folders:
            return set()
        return {decorator[0]}


def _text(text: str) -> _Text:
    """What the text of a file says."""
    code = _bare(text)
    found = _Text(_piece(code))
    held: list[str] = []  # the definition that is open
    decorators: list[str] = []
    depth, guard = -1, -1
    name = ""

    def close() -> None:
        if name:
            whole = "\n".join(held)
            found.defined.setdefault(name, []).append(_piece(whole))
            if name in found.classes:
                found.parameters.setdefault(name, []).append(_constructor(whole))

    for indent, line in _logical_lines(code):
        if name and indent > depth:
            held.append(line)
            continue
        close()
        name = ""
        if guard >= 0 and indent > guard:
            continue
        guard = -1
        definition = DEFINITION.match(line)
        if definition is not None:
            name, depth, held = definition["name"], indent, [line[definition.end() :]]
            found.decorated.extend((name, _head(one)) for one in decorators)
            if definition["is_class"]:
                found.classes[name] = frozenset(_NAME.findall(held[0]))
            else:
                found.functions.add(name)
                found.parameters.setdefault(name, []).append(parameters(line, definition.end()))
        elif line.startswith("@"):
            decorators.append(line[1:])
            continue
        elif _MAIN.match(line):
            guard = indent
        else:
            _statement(found, line)
        decorators = []
    close()
    _narrow(found)
    return found


def _narrow(found: _Text) -> None:
    """What the variables at the top level are called with is seen in the text as a whole."""
    given: dict[str, set[_Lookup]] = {}
    for lookup in found.all.lookups:
        given.setdefault(lookup.of, set()).add(lookup)
    variables = (name for name in found.defined if name not in found.classes and name not in found.functions)
    for pieces in (found.runs, *(found.defined[name] for name in variables)):
        for at, piece in enumerate(pieces):
            if piece.lookups:
                lookups = [given.get(one.of, {one}) for one in piece.lookups]
                pieces[at] = replace(piece, lookups=frozenset().union(*lookups))


def _statement(found: _Text, line: str) -> None:
    """Note what a statement at the top level says."""
    imported = _IMPORT.match(line)
    if imported is not None:
        _imports(found, imported["module"], imported["names"])
        return
    method = _METHOD.match(line)
    assigned = method or _ASSIGNED.match(line)
    called = _CALL.match(line)
    if called is not None:
        piece = _piece(line)
        found.handed.append((piece.names - {called["called"]}, called["called"]))
        found.runs.append(_Piece(frozenset({called["called"]}), piece.lookups))
    elif assigned is not None and _first(line) not in _STATEMENTS:
        written = {target.strip() for target in assigned["targets"].split(",")} - {"__all__"}
        targets = {target.partition(".")[0] for target in written}
        piece = _piece(line)
        for target in targets:
            found.defined.setdefault(target, []).append(_Piece(piece.names - targets, piece.lookups, piece.parts))
        if method is None and _OPENING.search(line):
            found.variables |= targets & written
    else:
        found.runs.append(_piece(line))


def _first(line: str) -> str:
    match = _NAME.match(line)
    return match[0] if match is not None else ""


def _imports(found: _Text, module: str | None, names: str) -> None:
    """What an import binds: nothing is spoken of by that."""
    for name, alias in _IMPORTED.findall(names):
        if name == "*":
            found.stars.add(module or "")
            continue
        bound = alias or (name if module else name.partition(".")[0])
        found.packages[bound] = (module or name).partition(".")[0]
        found.modules[bound] = name.rpartition(".")[2] if module or alias else bound
        if module:
            found.origins.setdefault(bound, set()).add((module, name))
        real = {name.rpartition(".")[2]} - {bound}
        found.defined.setdefault(bound, []).append(_Piece(frozenset(real), frozenset()))


def _head(decorator: str) -> tuple[str, ...]:
    """The names of a decorator, without its arguments."""
    return tuple(_NAME.findall(decorator.partition("(")[0]))


def _constructor(code: str) -> frozenset[str] | None:
    """With what a class can be called by name; None where it has no constructor of its own."""
    found = _CONSTRUCTOR.search(code)
    return None if found is None else parameters(code, found.end() - 1)


def _piece(code: str) -> _Piece:
    parts = frozenset(_PART.findall(code))
    return _Piece(frozenset(_NAME.findall(code)), frozenset(_lookups(code)), parts)


def _lookups(code: str) -> Iterator[_Lookup]:
    """What is taken out of something by a name that is not known, and with what it is called."""
    if not any(word in code for word in _LOOKING_UP):
        return
    bound: dict[str, list[str]] = {}
    for match in _LOOKUP.finditer(code):
        of = match["got"] or match["of"]
        if of is None:
            yield _Lookup("*" if match["importer"] else match["vars"] or "")
            continue
        end = end_of_bracket(code, match.start() + len("getattr") if match["got"] else match.end())
        target = _TARGET.search(code, max(match.start() - _MAX_TARGET, 0), match.start())
        if end is not None and code.startswith("(", end):
            yield _Lookup(of, keywords(code, end))
        elif end is not None and target is not None and _ENDS.match(code, end):
            bound.setdefault(target[1], []).append(of)
        else:
            yield _Lookup(of)
    given: dict[str, frozenset[str]] = {}
    read = 0
    for call in _CALLED.finditer(code) if bound else ():
        name = call[1]
        if name in bound and call.start() >= read:  # what stands inside another is left out: it would be read again
            named = keywords(code, call.end() - 1)
            given[name] = given[name] & named if name in given else named
            read = end_of_bracket(code, call.end() - 1) or call.end()
    for name, taken in bound.items():
        for of in taken:
            yield _Lookup(of, given.get(name, frozenset()))


def _bare(text: str) -> str:
    """`text` without comments and strings, but for those that may name something."""

    def kept(kind: Kind, piece: str) -> str:
        inner = piece.strip("'\"")
        match kind:
            case Kind.STRING:
                return f"'{inner}'" if _NAMED.fullmatch(inner) else "''"
            case Kind.FORMATTED:
                return "f()"
            case Kind.COMMENT:
                return ""

    return CONTINUATION.sub(" ", with_pieces(text, strings_and_comments(text), kept))


def _logical_lines(code: str) -> Iterator[tuple[int, str]]:
    """The lines of `code`, those joined over which brackets are open, and how far each is indented."""
    held: list[str] = []
    indent = depth = 0
    for line in code.split("\n"):
        stripped = line.strip()
        if not stripped:
            continue
        if not held:
            indent = len(line.expandtabs()) - len(line.expandtabs().lstrip())
        held.append(stripped)
        depth += len(_OPENING.findall(stripped)) - len(_CLOSING.findall(stripped))
        if depth <= 0:
            yield indent, " ".join(held)
            held, depth = [], 0
    if held:
        yield indent, " ".join(held)
