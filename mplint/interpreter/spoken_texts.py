"""What the text of a file says, by names and without a parser: what it defines, imports, runs and looks up."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from mplint.interpreter.headers import DEFINITION, end_of_bracket, keywords, parameters
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
_ENDS: Final = re.compile(r"[ \t]*(?:[\r\n]|\Z)")
_CALLED: Final = re.compile(r"(?<![\w.])([A-Za-z_]\w*)\(")
_STATEMENTS: Final = frozenset(
    {"if", "elif", "else", "for", "while", "with", "try", "except", "finally", "assert", "del", "return", "raise"}
)
_OPENING: Final = re.compile(r"[(\[{]")
_CLOSING: Final = re.compile(r"[)\]}]")


@dataclass(frozen=True)
class Lookup:
    """Something that is taken by a name that is not known."""

    of: str
    """The name of what it is taken out of; "" for its own file, "*" for an imported one."""
    given: frozenset[str] = frozenset()
    """With what it is called, by name, whenever that is seen."""


@dataclass(frozen=True)
class Piece:
    """A definition, an assignment or a statement at the top level of a file: the names in it, and its look-ups."""

    names: frozenset[str]
    lookups: frozenset[Lookup]
    parts: frozenset[str] = frozenset()
    """The names behind a dot: whose attributes they are is not known."""


@dataclass
class Text:
    """What a file says."""

    all: Piece
    runs: list[Piece] = field(default_factory=list)
    """What runs when it is imported, beside definitions and assignments."""
    defined: dict[str, list[Piece]] = field(default_factory=dict)
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


def read_text(text: str) -> Text:
    """What the text of a file says."""
    code = _bare(text)
    found = Text(_piece(code))
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


def _narrow(found: Text) -> None:
    """What the variables at the top level are called with is seen in the text as a whole."""
    given: dict[str, set[Lookup]] = {}
    for lookup in found.all.lookups:
        given.setdefault(lookup.of, set()).add(lookup)
    variables = (name for name in found.defined if name not in found.classes and name not in found.functions)
    for pieces in (found.runs, *(found.defined[name] for name in variables)):
        for at, piece in enumerate(pieces):
            if piece.lookups:
                lookups = [given.get(one.of, {one}) for one in piece.lookups]
                pieces[at] = replace(piece, lookups=frozenset().union(*lookups))


def _statement(found: Text, line: str) -> None:
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
        found.runs.append(Piece(frozenset({called["called"]}), piece.lookups))
    elif assigned is not None and _first(line) not in _STATEMENTS:
        written = {target.strip() for target in assigned["targets"].split(",")} - {"__all__"}
        targets = {target.partition(".")[0] for target in written}
        piece = _piece(line)
        for target in targets:
            found.defined.setdefault(target, []).append(Piece(piece.names - targets, piece.lookups, piece.parts))
        if method is None and _OPENING.search(line):
            found.variables |= targets & written
    else:
        found.runs.append(_piece(line))


def _first(line: str) -> str:
    match = _NAME.match(line)
    return match[0] if match is not None else ""


def _imports(found: Text, module: str | None, names: str) -> None:
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
        found.defined.setdefault(bound, []).append(Piece(frozenset(real), frozenset()))


def _head(decorator: str) -> tuple[str, ...]:
    """The names of a decorator, without its arguments."""
    return tuple(_NAME.findall(decorator.partition("(")[0]))


def _constructor(code: str) -> frozenset[str] | None:
    """With what a class can be called by name; None where it has no constructor of its own."""
    found = _CONSTRUCTOR.search(code)
    return None if found is None else parameters(code, found.end() - 1)


def _piece(code: str) -> Piece:
    parts = frozenset(_PART.findall(code))
    return Piece(frozenset(_NAME.findall(code)), frozenset(_lookups(code)), parts)


def _lookups(code: str) -> Iterator[Lookup]:
    """What is taken out of something by a name that is not known, and with what it is called."""
    if not any(word in code for word in _LOOKING_UP):
        return
    bound: dict[str, list[str]] = {}
    for match in _LOOKUP.finditer(code):
        of = match["got"] or match["of"]
        if of is None:
            yield Lookup("*" if match["importer"] else match["vars"] or "")
            continue
        end = end_of_bracket(code, match.start() + len("getattr") if match["got"] else match.end())
        target = _TARGET.search(code, max(match.start() - _MAX_TARGET, 0), match.start())
        if end is not None and code.startswith("(", end):
            yield Lookup(of, keywords(code, end))
        elif end is not None and target is not None and _ENDS.match(code, end):
            bound.setdefault(target[1], []).append(of)
        else:
            yield Lookup(of)
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
            yield Lookup(of, given.get(name, frozenset()))


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
