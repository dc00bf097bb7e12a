"""What a file imports, read from its text without a parser, which would cost ten times as much."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mplint.project.dynamic import named_at_run_time
from mplint.source.lexer import CONTINUATION, Kind, Piece, strings_and_comments, with_pieces

_IMPORT = re.compile(
    r"(?:^|[;:])(?P<indent>[ \t\f]*)"
    r"(?:import[ \t]+(?P<modules>[^\r\n;]*)"
    r"|from[ \t]*(?=[.\w])(?P<dots>\.*)(?P<module>(?:\w[\w.]*)?)[ \t]*\bimport\b"
    r"[ \t]*(?:\((?P<lines>[^)]*)|(?P<names>[^\r\n;(]*)))",
    re.MULTILINE,
)
_FOR_TYPE_CHECKERS = re.compile(r"^(?P<indent>[ \t]*)if[ \t]+(?:\w+\.)?TYPE_CHECKING[ \t]*:", re.MULTILINE)


@dataclass(frozen=True)
class Import:
    """One `import module` or `from module import names`; `level` counts the leading dots.

    Where `start` is given, it is any of the modules right below `module` whose names start so: which of them is decided
    at run time.
    """

    module: str
    level: int = 0
    names: tuple[str, ...] = ()
    start: str | None = None


def imports_of(text: str) -> tuple[Import, ...]:
    """All imports that may run: in functions, too, and `import_module("a.b")`; not those under `if TYPE_CHECKING`.

    Of modules that are named at run time (`import_module(f"models.{name}")`), all that the name may mean.

    Works on a text that does not parse as well: Python 2, or syntax newer than the Python that runs mplint.
    """
    if "import" not in text and "_target_" not in text:
        return ()
    pieces = list(strings_and_comments(text))
    found = [*_statements(code_alone(text, pieces)), *_calls(text, pieces)]
    return tuple(dict.fromkeys(found))


def code_alone(text: str, pieces: list[Piece]) -> str:
    """`text` without its comments, its strings emptied (`pieces` are both), and its continued lines joined."""
    code = with_pieces(text, pieces, lambda kind, _: "" if kind is Kind.COMMENT else "''")
    return CONTINUATION.sub(" ", code)


def _statements(code: str) -> Iterator[Import]:
    blocks = [_block(code, match) for match in _FOR_TYPE_CHECKERS.finditer(code)] if "TYPE_CHECKING" in code else []
    blocks.reverse()
    hidden_until = 0
    for match in _IMPORT.finditer(code):
        while blocks and blocks[-1][0] <= match.start():
            hidden_until = max(hidden_until, blocks.pop()[1])
        if match.start() < hidden_until:
            continue
        if match["modules"] is not None:
            for name in _names(match["modules"]):
                yield Import(name)
        elif match["dots"] or match["module"]:
            names = match["lines"] if match["lines"] is not None else match["names"]
            yield Import(match["module"], len(match["dots"]), tuple(_names(names)))


def _names(listed: str) -> Iterator[str]:
    for part in listed.split(","):
        words = part.split(None, 1)
        if words:
            yield words[0]


def _block(code: str, header: re.Match[str]) -> tuple[int, int]:
    """From the colon of an `if` to the first line that is indented no deeper."""
    outside = re.compile(rf"^[ \t]{{0,{len(header['indent'])}}}[^ \t\r\n]", re.MULTILINE)
    line_end = code.find("\n", header.end())
    end = outside.search(code, line_end + 1) if line_end >= 0 else None
    return header.end() - 1, len(code) if end is None else end.start()


def _calls(text: str, pieces: list[Piece]) -> Iterator[Import]:
    for named in named_at_run_time(text, pieces):
        if named.open:
            package, _, start = named.name.rpartition(".")
            yield Import(package, named.level, (), start)
        else:
            yield Import(named.name, named.level)
