"""One Python file: its text, its tree, and where in the text the nodes of the tree are."""

from __future__ import annotations

import ast
import io
import os
import re
import stat
import tokenize
import warnings
from bisect import bisect_right
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from mplint.errors import MplintError
from mplint.findings import Span
from mplint.source.lexer import strings_and_comments
from mplint.source.nesting import too_deep
from mplint.source.stack import on_deep_stack
from mplint.source.suppressions import Suppressions
from mplint.source.tables import without_tables

if TYPE_CHECKING:
    import libcst as cst

    from mplint.source.positions import Positions

_Node = TypeVar("_Node", bound="cst.CSTNode")

_NEWLINE = re.compile(r"\r\n?|\n")
_LONE_RETURN = re.compile(r"\r(?!\n)")
_INDENT = re.compile(r"^[ \t\f]+", re.MULTILINE)
_BLANK = re.compile(r"^[ \t]+(?=\r?\n|\Z)", re.MULTILINE)


class SourceError(MplintError):
    """A file that cannot be read or decoded. Says what is wrong, where, and what to do."""

    def __init__(self, path: Path, problem: str, *, row: int = 1, column: int = 1) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem
        self.row = row
        self.column = column


@dataclass(frozen=True)
class Syntax:
    """Why a text is no Python, and where (both 1-based)."""

    message: str
    row: int
    column: int


@dataclass(frozen=True)
class Location:
    """A place as the author of a file sees it, all of it 1-based; in a notebook each cell counts its own rows."""

    cell: int | None
    """The place of the cell among all cells; None in a file that is no notebook."""
    row: int
    column: int

    @property
    def where(self) -> str:
        """The row as messages name it: `14`, in a notebook `cell 3:14`."""
        return f"{self.row}" if self.cell is None else f"cell {self.cell}:{self.row}"


class ParseFault(Exception):
    """The text of a file cannot be parsed."""

    def __init__(self, path: Path, syntax: Syntax) -> None:
        super().__init__(f"{path}:{syntax.row}:{syntax.column}: {syntax.message}")
        self.path = path
        self.syntax = syntax


class SourceFile:
    """A decoded file. Parsing, positions and suppressions are computed when first asked for, and kept.

    Offsets count characters of `text`: the file without its byte order mark, with its newlines as they are.
    """

    def __init__(self, path: Path, text: str, *, encoding: str = "utf-8", bom: bool = False) -> None:
        self.path = absolute(path)
        self.text = text
        self.faults: tuple[Syntax, ...] = ()
        """Why parts of the file, which are left out of `text`, are no Python."""
        self.language: str | None = None
        """What a notebook is written in where that is not Python: then `text` is empty."""
        self.encoding = encoding
        self.bom = bom
        self._module: cst.Module | None = None
        self._fault: ParseFault | None = None

    @classmethod
    def read(cls, path: Path) -> SourceFile:
        """Read and decode a regular file (or a link to one)."""
        return cls.from_bytes(path, read_bytes(path))

    @classmethod
    def from_bytes(cls, path: Path, data: bytes) -> SourceFile:
        """Decode as Python does: a UTF-8 byte order mark, else a PEP 263 coding comment, else UTF-8."""
        if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
            raise SourceError(path, "is UTF-16, which Python does not read; save it as UTF-8")
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        except SyntaxError as error:
            raise _misdeclared(path, data, error) from error
        bom = data.startswith(BOM_UTF8)
        if bom:
            encoding, data = "utf-8", data[len(BOM_UTF8) :]
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError as error:
            raise _undecodable(path, data, encoding) from error
        except (LookupError, ValueError) as error:
            raise SourceError(path, f"cannot be decoded as {encoding} ({error}); save it as UTF-8") from error
        return cls(path, text, encoding=encoding, bom=bom)

    def encode(self, text: str) -> bytes:
        """`text` as bytes in this file's encoding, with its byte order mark where it had one."""
        try:
            data = text.encode(self.encoding)
        except UnicodeEncodeError as error:
            raise SourceError(
                self.path, f"{text[error.start]!r} cannot be written in {self.encoding}; save the file as UTF-8"
            ) from error
        return BOM_UTF8 + data if self.bom else data

    @property
    def module(self) -> cst.Module:
        """The tree. Raises ParseFault, the same one each time."""
        if self._fault is not None:
            raise self._fault
        if self._module is None:
            try:
                self._module = self._parse()
            except ParseFault as fault:
                self._fault = fault
                raise
        return self._module

    @property
    def is_parsed(self) -> bool | None:
        """Whether there is a tree; None before anybody has asked for it."""
        return True if self._module is not None else False if self._fault is not None else None

    def span(self, node: cst.CSTNode, *, parentheses: bool = False) -> Span:
        """Where `node` is, without surrounding whitespace and comments.

        As LibCST counts, an expression's own parentheses (`node.lpar`, `node.rpar`) are not part of it: the span of
        `x` in `y = (x)` is the `x`. With `parentheses=True` they are: that is the span to replace when the new text
        is generated from the node, since generating includes them.
        """
        start, end = self._offsets(node)
        if parentheses:
            # In an import or a class these fields hold a single node: brackets inside its syntax.
            left, right = getattr(node, "lpar", None), getattr(node, "rpar", None)
            if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)) and left and right:
                start, end = self._offsets(left[0])[0], self._offsets(right[-1])[1]
        return Span(start, min(end, len(self.text)))

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The node of which `node` is a direct child; None for the module."""
        self._offsets(node)
        return self._positions.parents.get(id(node))

    def enclosing(self, node: cst.CSTNode, kind: type[_Node]) -> _Node | None:
        """The nearest node of `kind` around `node`; None where there is none."""
        current = self.parent(node)
        while current is not None and not isinstance(current, kind):
            current = self.parent(current)
        return current

    def statement(self, node: cst.CSTNode) -> Span:
        """The innermost logical statement around `node`.

        All of a simple statement's line (with the others on it, when they are joined by semicolons); of a compound
        statement, its clauses, and `except`, `else`, `finally`, `case`, only the header, from the keyword to the
        colon. A decorator is a statement of its own. Outside any statement: the span of the node.
        """
        import libcst as cst

        current: cst.CSTNode | None = node
        while current is not None:
            if isinstance(current, (cst.SimpleStatementLine, cst.SimpleStatementSuite, cst.Decorator)):
                return self.span(current)
            if isinstance(current, cst.Match):
                start = self._offsets(current)[0]
                subject = self.span(current.subject, parentheses=True)
                return Span(start, self.text.index(":", subject.end) + 1)
            body = getattr(current, "body", None)
            if isinstance(body, cst.IndentedBlock):
                return Span(self._offsets(current)[0], self._offsets(body.header)[0])
            if isinstance(body, cst.SimpleStatementSuite):
                return Span(self._offsets(current)[0], self._offsets(body.leading_whitespace)[0])
            current = self._positions.parents.get(id(current))
        return self.span(node)

    def position(self, offset: int) -> tuple[int, int]:
        """Row and column of an offset, both 1-based; the column counts characters."""
        row = bisect_right(self._line_starts, offset)
        return row, offset - self._line_starts[row - 1] + 1

    def location(self, offset: int) -> Location:
        """Where its author sees an offset."""
        return Location(None, *self.position(offset))

    def rows_together(self, row: int) -> tuple[int, int]:
        """The first and the last row that are counted with `row`: those of a cell, or of the whole file."""
        rows, column = self.position(len(self.text))
        return 1, rows - (column == 1)

    def offset(self, row: int, column: int) -> int:
        """The offset of a 1-based row and column, inside the text."""
        start = self._line_starts[min(row, len(self._line_starts)) - 1]
        return min(start + column - 1, len(self.text))

    def line(self, row: int) -> str:
        """The text of a row (1-based) without its newline; empty past the end."""
        if not 1 <= row <= len(self._line_starts):
            return ""
        start = self._line_starts[row - 1]
        end = self._line_starts[row] if row < len(self._line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")

    def shown(self, row: int) -> str:
        """The text of a row (1-based) as its author sees it."""
        return self.line(row)

    @cached_property
    def suppressions(self) -> Suppressions:
        """The comments of this file that silence findings; found in a file that does not parse, too."""
        return Suppressions(self.text)

    @cached_property
    def _line_starts(self) -> list[int]:
        # Not str.splitlines: Python's newlines are these three only, a form feed or U+2028 is none.
        return [0, *(match.end() for match in _NEWLINE.finditer(self.text))]

    @cached_property
    def _positions(self) -> Positions:
        from mplint.source.positions import locate

        module = self.module
        try:
            positions = locate(module)
        except RecursionError:
            positions = on_deep_stack(lambda: locate(module))
        text = _parsable(self.text)
        if positions.text != text:
            # Offsets in a text that is not the file's would put edits in the wrong place.
            at = _first_difference(positions.text, text)
            self._fault = self._fault_at(at, "LibCST does not reproduce this text")
            raise self._fault
        return positions

    def _offsets(self, node: cst.CSTNode) -> tuple[int, int]:
        try:
            return self._positions.spans[id(node)]
        except KeyError:
            raise ValueError(f"{type(node).__name__} is not a node of {self.path}") from None

    def _parse(self) -> cst.Module:
        import libcst as cst

        nul = self.text.find("\0")
        if nul >= 0:
            raise self._fault_at(nul, "source code cannot contain null bytes")
        text = _parsable(self.text)
        depth = too_deep(text)
        if depth.at is not None:
            raise self._fault_at(depth.at, "nested too deeply to be analyzed")
        try:
            if depth.needs_stack:
                return on_deep_stack(lambda: cst.parse_module(text))
            return cst.parse_module(text)
        except cst.ParserSyntaxError as error:
            raise ParseFault(self.path, self._python_says() or _libcst_says(error)) from error
        except UnicodeError as error:  # lone surrogates: only possible in text that did not come from bytes
            at = error.start if isinstance(error, UnicodeEncodeError) else 0
            raise self._fault_at(at, "source code cannot contain lone surrogates") from error
        except RecursionError as error:
            raise self._fault_at(0, "nested too deeply to be analyzed") from error
        except BaseException as error:
            # A panic in LibCST's native parser is no Exception, so that only its name tells it from Ctrl-C.
            if type(error).__name__ != "PanicException":
                raise
            raise ParseFault(self.path, self._python_says() or Syntax("LibCST cannot parse this file", 1, 1)) from error

    def _fault_at(self, offset: int, message: str) -> ParseFault:
        return ParseFault(self.path, Syntax(message, *self.position(offset)))

    def _python_says(self) -> Syntax | None:
        """Python's own verdict: its messages name the mistake ("'(' was never closed"), LibCST's name tokens."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ast.parse(self.text)
        except SyntaxError as error:
            return Syntax(error.msg, max(error.lineno or 1, 1), max(error.offset or 1, 1))
        except (ValueError, MemoryError, RecursionError):
            return None
        return None


def absolute(path: Path) -> Path:
    """`path` from the root on and without `..`, but with its links: the name under which users know the file."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - resolve() follows links, absolute() keeps ".."


def read_bytes(path: Path) -> bytes:
    """The content of a regular file; SourceError for anything else, without ever waiting on a pipe or a device."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise SourceError(path, "is a directory; name a Python file in it")
        if not stat.S_ISREG(mode):
            raise SourceError(path, "is not a regular file; name a file on disk, or `-` to read standard input")
        return path.read_bytes()
    except FileNotFoundError as error:
        raise SourceError(path, "does not exist; check the path") from error
    except PermissionError as error:
        raise SourceError(path, "may not be read; check its permissions or exclude it") from error
    except OSError as error:
        raise SourceError(path, f"cannot be read ({error.strerror}); mend or exclude it") from error
    except ValueError as error:  # a null byte in the path
        raise SourceError(path, f"is no valid path ({error})") from error


def _misdeclared(path: Path, data: bytes, error: SyntaxError) -> SourceError:
    if b"coding" not in b"".join(data.split(b"\n", 2)[:2]):
        return _undecodable(path, data, "utf-8")
    advice = "correct the coding comment or save the file as UTF-8"
    if data.startswith(BOM_UTF8):
        return SourceError(path, f"has the byte order mark of UTF-8 and declares another encoding; {advice}")
    return SourceError(path, f"declares an encoding that Python does not have ({error.msg}); {advice}")


def _undecodable(path: Path, data: bytes, encoding: str) -> SourceError:
    try:
        data.decode(encoding)
    except UnicodeDecodeError as error:
        before = data[: error.start].decode(encoding, "replace")
        breaks = list(_NEWLINE.finditer(before))
        row = len(breaks) + 1
        column = len(before) - (breaks[-1].end() if breaks else 0) + 1
        return SourceError(
            path,
            f"byte 0x{data[error.start]:02x} at {row}:{column} is not {encoding}; "
            "save the file as UTF-8 or declare its encoding in a coding comment",
            row=row,
            column=column,
        )
    return SourceError(path, f"cannot be decoded as {encoding}; save it as UTF-8")


def _parsable(text: str) -> str:
    """`text`, character by character the same, but for large tables of data, and whitespace that LibCST misreads.

    A carriage return alone is a newline. A form feed is a space, or, in front of a line's code, sets the indentation
    back to nothing, which is what a newline does there. Behind the last statement LibCST loses lines where blank ones
    hold spaces; made of newlines, they stay.
    """
    text = without_tables(text)
    if "\r" in text:
        text = _LONE_RETURN.sub("\n", text)
    if "\f" in text:
        parts: list[str] = []
        position = 0
        for _, start, end in (*strings_and_comments(text), (None, len(text), len(text))):
            parts += (_INDENT.sub(_feeds_as_newlines, text[position:start]).replace("\f", " "), text[start:end])
            position = end
        text = "".join(parts)
    footer = _footer(text)
    if _BLANK.search(text, footer):
        text = text[:footer] + _INDENT.sub(_as_newlines, text[footer:])
    return text


def _footer(text: str) -> int:
    """Where the blank lines and comments behind the last statement begin."""
    start = len(text)
    while start > 0:
        line = text.rfind("\n", 0, start - 1) + 1
        if (code := text[line:start].strip()) and not code.startswith("#"):
            break
        start = line
    return start


def _feeds_as_newlines(indent: re.Match[str]) -> str:
    return indent[0].replace("\f", "\n")


def _as_newlines(blank: re.Match[str]) -> str:
    return "\n" * len(blank[0])


def _libcst_says(error: cst.ParserSyntaxError) -> Syntax:
    return Syntax(error.message, error.editor_line, error.editor_column)


def _first_difference(left: str, right: str) -> int:
    return next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
