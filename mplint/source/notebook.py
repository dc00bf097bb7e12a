"""A Jupyter notebook as one program: its code cells in order, what only IPython understands masked.

A line of the program is a line of a cell, so that new text goes back line by line: every byte of the file that does not
belong to a changed line stays as it is.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Final

from mplint.source.file import Location, ParseFault, SourceError, SourceFile, Syntax
from mplint.source.magics import is_python, masked, prefixes

SUFFIX: Final = ".ipynb"

_SHEETS: Final = "worksheets"
"""What format 3 keeps the cells in."""
_DECODER: Final = json.JSONDecoder(strict=False)
_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_CHARACTER: Final = re.compile(r"\\u[0-9A-Fa-f]{4}|\\.|[^\\]", re.DOTALL)


@dataclass(frozen=True)
class _Cell:
    """A code cell: its place in the list of all cells (1-based), and where in the file its source stands."""

    number: int
    start: int
    end: int
    source: str | list[str]

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the source, each with its line feed; the last may have none."""
        return _LINE.findall(self.source if isinstance(self.source, str) else "".join(self.source))

    @cached_property
    def prefixes(self) -> list[str]:
        """What stands in front of the Python of each line."""
        return prefixes(self.lines)

    def magic(self, number: int, program: str) -> tuple[int, str]:
        """The magic in front of the statement of a line, which is `program` without it, and where it stands."""
        line, statement = self.lines[number][len(self.prefixes[number]) :], program.strip()
        indent = len(program) - len(program.lstrip())
        head = line.rstrip().removesuffix(statement)[indent:] if statement and line.rstrip().endswith(statement) else ""
        return indent, head


class Notebook(SourceFile):
    """A notebook. Offsets, rows and columns are those of the program that its code cells make."""

    def __init__(self, path: Path, raw: str, *, bom: bool = False) -> None:
        self._raw = raw
        content = _content(path, raw)
        language = _other_language(content.get("metadata"))
        self._cells = [] if language is not None else _code_cells(raw, content)
        self._mark = "# %% cell"
        while any(self._mark in line for cell in self._cells for line in cell.lines):
            self._mark += "%"
        self._masked: list[list[str]] = []
        self._starts: list[int] = []
        rows: list[str] = []
        faults: list[Syntax] = []
        for cell in self._cells:
            rows.append(f"{self._mark} {cell.number}\n")
            self._starts.append(len(rows))
            lines = [_ended(line) for line in masked(cell.lines)]
            syntax = _fault(path, "".join(lines))
            if syntax is not None:
                faults.append(Syntax(syntax.message, len(rows) + syntax.row, 1))
                lines = ["#\n"] * len(lines)
            self._masked.append(lines)
            rows += lines
        super().__init__(path, "".join(rows), bom=bom)
        self.faults = tuple(faults)
        self.language = language

    @classmethod
    def from_bytes(cls, path: Path, data: bytes) -> Notebook:
        """Decode a notebook, which is UTF-8; SourceError where it is no notebook that Jupyter could open."""
        bom = data.startswith(BOM_UTF8)
        try:
            raw = data[len(BOM_UTF8) if bom else 0 :].decode("utf-8")
        except UnicodeDecodeError as error:
            raise SourceError(path, f"is no UTF-8 ({error.reason} at byte {error.start}), as notebooks are") from error
        return cls(path, raw, bom=bom)

    def encode(self, text: str) -> bytes:
        """The notebook with `text` for its program; the lines that stay are the bytes that they were."""
        marks = re.compile(rf"^{re.escape(self._mark)} \d+\n", re.MULTILINE)
        _, *programs = marks.split(text)
        if len(programs) != len(self._cells):
            raise SourceError(self.path, "cannot be rewritten: the change would reach over the end of a cell")
        raw = self._raw
        for cell, before, program in reversed(list(zip(self._cells, self._masked, programs, strict=True))):
            after = _LINE.findall(program)
            if after != before:
                raw = raw[: cell.start] + _Writer(raw, cell).written(before, after) + raw[cell.end :]
        data = raw.encode("utf-8")
        return BOM_UTF8 + data if self.bom else data

    def location(self, offset: int) -> Location:
        """The cell, and the row and column in it."""
        row, column = self.position(offset)
        if not self._cells:
            return Location(None, row, column)
        cell, first, lines = self._at(row)
        if 0 <= row - first < len(lines):  # what the program is without
            magic = cell.magic(row - first, lines[row - first])
            column += len(magic[1]) * (column > magic[0]) + len(cell.prefixes[row - first])
        return Location(cell.number, row - first + 1, column)

    def shown(self, row: int) -> str:
        """The line as it stands in its cell."""
        if not self._cells:
            return self.line(row)
        cell, first, _ = self._at(row)
        return cell.lines[row - first].rstrip("\r\n") if 0 <= row - first < len(cell.lines) else self.line(row)

    def rows_together(self, row: int) -> tuple[int, int]:
        """The first and the last row of the program that stand in one cell with `row`."""
        if not self._cells:
            return super().rows_together(row)
        cell, first, _ = self._at(row)
        return first, first + len(cell.lines) - 1

    def _at(self, row: int) -> tuple[_Cell, int, Sequence[str]]:
        """The cell that a row of the program stands in, the row of its first line, and its lines in the program."""
        index = bisect_right(self._starts, row) - 1
        return self._cells[index], self._starts[index] + 1, self._masked[index]


_Line = tuple[int | None, str]
"""A line to be written, and the number of the old line that it is; None of a new one."""


class _Writer:
    """Writes the source of one cell in the style of the file."""

    def __init__(self, raw: str, cell: _Cell) -> None:
        self._raw, self._cell = raw, cell
        self._ascii = raw.isascii()

    def written(self, before: Sequence[str], after: Sequence[str]) -> str:
        """The value of `source` where the lines `before` of the program have become `after`."""
        old = self._cell.lines
        ends = bool(old) and old[-1].endswith("\n")
        lines: list[_Line] = []
        kept = list(self._kept(before, after))
        for place, (number, line) in enumerate(kept):
            text = _ended(line) if ends or place < len(kept) - 1 else line.removesuffix("\n")
            lines.append((number if number is not None and text == old[number] else None, text))
        return self._as_string(lines) if isinstance(self._cell.source, str) else self._as_list(lines)

    def _kept(self, before: Sequence[str], after: Sequence[str]) -> Iterator[_Line]:
        """The lines as they stand in the cell: the old ones as they are, new ones behind what they all stand behind."""
        for kind, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
            if kind == "equal":
                yield from ((number, self._cell.lines[number]) for number in range(i, j))
                continue
            outer = self._prefix(i, j)
            became = dict(self._became(before, range(i, j), after[k:m]))
            for place, line in enumerate(after[k:m]):
                old = became.get(place)
                at, magic = (0, "") if old is None else self._cell.magic(old, before[old])
                prefix = outer if old is None else self._cell.prefixes[old]
                yield None, f"{prefix}{line[:at]}{magic}{line[at:]}" if line.strip() else line

    def _became(self, before: Sequence[str], old: range, new: Sequence[str]) -> Iterator[tuple[int, int]]:
        """The places of `new` lines, each with the one of the `old` that it comes from: those where that matters.

        As many lines are the same ones; of others those count in which a magic stands in front of a statement.
        """
        if len(new) == len(old):
            yield from enumerate(old)
            return
        free = 0
        for number in old:
            at, magic = self._cell.magic(number, before[number])
            places = [place for place in range(free, len(new)) if new[place][:at].isspace() == bool(at)]
            if magic and places:
                found = max(places, key=lambda place: _alike(before[number], new[place]))
                free = found + 1
                yield found, number

    def _prefix(self, first: int, end: int) -> str:
        """What new lines in place of the lines from `first` to `end`, or in front of them, stand behind."""
        lines = self._cell.lines
        code = [place for place, line in enumerate(lines) if line.strip()]
        nearest = next((place for place in reversed(code) if place < max(end, first + 1)), next(iter(code), None))
        return self._cell.prefixes[nearest] if nearest is not None else ""

    def _as_string(self, lines: Sequence[_Line]) -> str:
        before = _raw_lines(self._raw[self._cell.start + 1 : self._cell.end - 1])
        return '"' + "".join(self._escaped(text) if number is None else before[number] for number, text in lines) + '"'

    def _as_list(self, lines: Sequence[_Line]) -> str:
        spans = list(_items(self._raw, self._cell.start))
        if self._cell.source != self._cell.lines:  # not as Jupyter writes it: a line an element, from now on
            lines = [(None, text) for _, text in lines]
        opening = self._raw[self._cell.start + 1 : spans[0][0]] if spans else ""
        closing = self._raw[spans[-1][1] : self._cell.end - 1] if spans else ""
        gaps = [self._raw[end:start] for (_, end), (start, _) in pairwise(spans)]
        usual = gaps[0] if gaps else f",{opening}" if opening else ", "
        parts: list[str] = []
        for place, (number, text) in enumerate(lines):
            if place:
                follows = number is not None and lines[place - 1][0] == number - 1
                parts.append(gaps[number - 1] if follows and number else usual)
            parts.append(self._raw[slice(*spans[number])] if number is not None else f'"{self._escaped(text)}"')
        return f"[{opening}{''.join(parts)}{closing}]"

    def _escaped(self, text: str) -> str:
        return json.dumps(text, ensure_ascii=self._ascii)[1:-1]


def _raw_lines(inner: str) -> list[str]:
    """The lines of a string literal without its quotes, as they are written."""
    lines = [""]
    for match in _CHARACTER.finditer(inner):
        lines[-1] += match[0]
        if match[0] in ("\\n", "\\u000a", "\\u000A", "\n"):
            lines.append("")
    return lines if lines[-1] else lines[:-1]


def _fault(path: Path, text: str) -> Syntax | None:
    """Why the text of a cell is no Python; such a cell fails alone, and the others run."""
    if is_python(text):
        return None
    try:  # which knows the syntax of newer versions, too
        _ = SourceFile(path, text).module
    except ParseFault as fault:
        return fault.syntax
    return None


def _alike(one: str, other: str) -> int:
    """How many characters two lines begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (left, right) in pairs if left != right), min(len(one), len(other)))


def _ended(line: str) -> str:
    return line if line.endswith("\n") else line + "\n"


# -- the file


def _content(path: Path, raw: str) -> dict[str, object]:
    """A notebook as JSON says it."""
    try:
        content = json.loads(raw, strict=False)
    except json.JSONDecodeError as error:
        problem = f"is no notebook: {error.msg}; mend or exclude it"
        raise SourceError(path, problem, row=error.lineno, column=error.colno) from error
    except ValueError as error:  # a number of too many digits
        raise SourceError(path, f"is no notebook: {error}; mend or exclude it") from error
    except RecursionError as error:
        raise SourceError(path, "is no notebook: it is nested too deeply; mend or exclude it") from error
    if not isinstance(content, dict) or not any(isinstance(content.get(key), list) for key in ("cells", _SHEETS)):
        raise SourceError(path, "is no notebook: it has no list of cells; mend or exclude it")
    return content


def _code_cells(raw: str, content: Mapping[str, object]) -> list[_Cell]:
    """The code cells of a notebook."""
    spans = (
        _items(raw, _last(_members(raw, _skip(raw, 0)), "cells"))
        if isinstance(content.get("cells"), list)
        else _in_sheets(raw)
    )
    return [cell for number, (start, _) in enumerate(spans, 1) if (cell := _code_cell(raw, start, number)) is not None]


def _in_sheets(raw: str) -> Iterator[tuple[int, int]]:
    """Where the cells of a notebook in format 3 stand."""
    for start, _ in _items(raw, _last(_members(raw, _skip(raw, 0)), _SHEETS)):
        if raw[start] == "{":
            held = [(begin, value) for key, value, begin, _ in _members(raw, start) if key == "cells"]
            if held and isinstance(held[-1][1], list):
                yield from _items(raw, held[-1][0])


def _code_cell(raw: str, start: int, number: int) -> _Cell | None:
    """The cell at `start`, if it is code: its text is its `source`, in format 3 its `input`."""
    if raw[start] != "{":
        return None
    fields = {key: (value, begin, end) for key, value, begin, end in _members(raw, start)}
    kind, language = (fields.get(key, ("",))[0] for key in ("cell_type", "language"))
    source, begin, end = fields.get("source") or fields.get("input") or ("", 0, 0)
    if kind != "code" or not end or language not in ("", "python"):
        return None
    if isinstance(source, str):
        return _Cell(number, begin, end, source)
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        return _Cell(number, begin, end, source)
    return None


def _other_language(metadata: object) -> str | None:
    """The language that a notebook is for; None where that is Python, or it does not say."""
    for section, key in (("language_info", "name"), ("kernelspec", "language")):
        held = metadata.get(section) if isinstance(metadata, Mapping) else None
        language = held.get(key) if isinstance(held, Mapping) else None
        if isinstance(language, str):
            return None if language.lower().startswith(("python", "ipython")) else language
    return None


def _last(members: Iterator[tuple[str, object, int, int]], wanted: str) -> int:
    """Where the value of a key stands; of one that is given twice, the last counts."""
    return [start for key, _, start, _ in members if key == wanted][-1]


def _members(raw: str, at: int) -> Iterator[tuple[str, object, int, int]]:
    """The keys and values of the object at `at`, and where each value stands."""
    at = _skip(raw, at + 1)
    while raw[at] != "}":
        key, at = _DECODER.raw_decode(raw, at)
        start = _skip(raw, _skip(raw, at) + 1)
        value, end = _DECODER.raw_decode(raw, start)
        yield key, value, start, end
        at = _skip(raw, end)
        at = _skip(raw, at + 1) if raw[at] == "," else at


def _items(raw: str, at: int) -> Iterator[tuple[int, int]]:
    """Where the values of the list at `at` stand."""
    at = _skip(raw, at + 1)
    while raw[at] != "]":
        _, end = _DECODER.raw_decode(raw, at)
        yield at, end
        at = _skip(raw, end)
        at = _skip(raw, at + 1) if raw[at] == "," else at


def _skip(raw: str, at: int) -> int:
    match = _SPACE.match(raw, at)
    return match.end() if match is not None else at
