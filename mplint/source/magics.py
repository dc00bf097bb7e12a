"""What IPython adds to Python, line by line as something that Python understands."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from mplint.source.lexer import end_of_string

_CELL: Final = re.compile(r"%%(?P<name>[\w.]*)(?P<help>\?)?")
_PYTHON_CELLS: Final = frozenset(
    {"capture", "debug", "heat", "local", "lprun", "memit", "mprun", "prun", "pyinstrument", "scalene", "snakeviz",
     "time", "timeit", "wandb"}
)  # fmt: skip
"""Cell magics that run the cell as Python, in the notebook's own process and with its variables."""
_LANGUAGE: Final = re.compile(r"%(?:fs|md|md-sandbox|r|scala|sh|sql)\b")
"""What the first line of a cell begins with on Databricks, where that says what language the whole cell is in."""
_ESCAPE: Final = re.compile(r"(?P<indent>[ \t\f]*)(?:[!?;,/]|%(?P<magic>\w*)(?P<rest>.*))")
"""A command, a line magic, a question, a call without its parentheses."""
_AUTOMATIC: Final = re.compile(
    r"(?:alias|cat|cd|conda|cp|env|history|ldir|less|lf|lk|ll|load_ext|ls|lx|magic|mamba|man|matplotlib|mkdir|more|mv|pip"
    r"|prun|pwd|reload_ext|rm|rmdir|run|time|timeit|uv|who|whos)(?=\s)"
)
"""Magics that need no percent sign where they are all that is in a cell."""
_ASSIGNED: Final = re.compile(r"[ \t]*(?:!|%[A-Za-z_])")
_RUN: Final = re.compile(
    r"(?P<options>(?:\s+-(?:[inetGdN]\d*|[Dpb]))*)\s+"
    r"(?P<file>(?!-)[\w./~-]+|'[\w./~-]+'|\"[\w./~-]+\")(?=\s|$)"
)
_TIMED: Final = frozenset({"prun", "time", "timeit"})
_OPTIONS: Final = re.compile(r"(?:\s*-[A-Za-z]+(?:\s*\d+)?(?=\s))*\s+(?P<statement>[A-Za-z_(\[].*)")
_PROMPTS: Final = (
    (re.compile(r">>>(?: |(?=\r?\n|$))"), re.compile(r"(?:>>>|\.\.\.)(?: |(?=\r?\n|$))")),
    (re.compile(r"In \[\d+\]: ?"), re.compile(r"(?:In \[\d+\]|\s*\.{3,}): ?")),
)
"""Prompts that were pasted in with the code: of the first line, and of any."""
_TOKEN: Final = re.compile(r"#[^\r\n]*|'''|\"\"\"|['\"]|[()\[\]{}]|[-+*/%@&|^<>!:=]{0,3}=|\S")


def masked(lines: Sequence[str]) -> list[str]:
    """The lines of a cell as Python: as many, and the same where they are Python.

    A line magic or a command becomes `pass`, one whose result is kept a call of something unknown, and `%run file` the
    call that IPython makes of it, with `-i` and `-n` behind; of `%time statement` the statement is left.  A cell of
    another language (`%%bash`) becomes comments.  As in IPython, what stands in front of every line of the cell goes:
    an indentation, or prompts.
    """
    lines = [line[len(prefix) :] for line, prefix in zip(lines, prefixes(lines), strict=True)]
    head: list[str] = []
    while True:
        # Colab lets a title stand first
        first = next((place for place, line in enumerate(lines) if line.strip() and line[:2] != "#@"), len(lines))
        cell = _CELL.match(lines[first]) if first < len(lines) else None
        if cell is None:
            return [*head, *_without_cell_magics(lines, first)]
        head += [*lines[:first], _comment(lines[first])]
        lines = lines[first + 1 :]
        if cell["help"]:
            return [*head, *_statements(lines)]
        if cell["name"] not in _PYTHON_CELLS:
            return [*head, *map(_comment, lines)]
        # what is left is a cell of its own


def _without_cell_magics(lines: list[str], first: int) -> list[str]:
    """The lines of a cell, whose code begins at the place `first`, as Python."""
    if len(lines) == 1 and _AUTOMATIC.match(lines[0]) and not is_python(lines[0]):
        lines = [f"%{lines[0]}"]
    found = list(_statements(lines))
    if first < len(lines) and _LANGUAGE.match(lines[first]) and not is_python("".join(found)):
        return [*lines[:first], *map(_comment, lines[first:])]
    return found


def prefixes(lines: Sequence[str]) -> list[str]:
    """What stands in front of the Python of each line: the indentation of the first line with code, or prompts."""
    found, left = [""] * len(lines), list(lines)
    begin = 0

    def take(number: int, prefix: str) -> None:
        found[number] += prefix
        left[number] = left[number].removeprefix(prefix)

    while True:
        place = next((place for place in range(begin, len(left)) if left[place].strip()), len(left))
        first, second = [*left[place : place + 2], "", ""][:2]
        outer = first[: len(first) - len(first.lstrip(" \t"))]
        for number in range(begin, len(left)) if outer else ():
            if left[number].startswith(outer):
                take(number, outer)
        first, second = first.removeprefix(outer), second.removeprefix(outer)
        for initial, prompt in _PROMPTS:
            if not initial.match(first) and not prompt.match(second):
                continue
            for number in range(begin, len(left)):
                match = prompt.match(left[number])
                if match is not None:
                    take(number, match[0])
        cell = _CELL.match(left[place]) if place < len(left) else None
        if cell is None or cell["help"]:
            return found
        begin = place + 1  # what follows is a cell of its own


def _statements(lines: Sequence[str]) -> Iterator[str]:
    """The lines with what is no Python in them masked."""
    statement = _Statement()
    continued = False  # a command, by a backslash
    for line in lines:
        if continued:
            continued = line.rstrip().endswith("\\")
            yield _comment(line)
            continue
        plain = None
        if not statement.is_open:
            statement = _Statement()
            statement.read(line)
            plain = _as_python(line, statement)
        else:
            statement.read(line)
        if plain is not None:
            statement = _Statement()
            continued = line.rstrip().endswith("\\")
        yield line if plain is None else plain


@dataclass
class _Statement:
    """How far a statement has been read: which brackets and strings are open, and what IPython looks for in it."""

    depth: int = 0
    quote: str = ""
    continued: bool = False
    assigned: int | None = None
    """Where, on its first line, what follows the first `=` begins."""
    ends_in_code: bool = False
    """Whether the last line read ends in neither a string nor a comment."""

    @property
    def is_open(self) -> bool:
        """Whether the next line belongs to it, too."""
        return bool(self.depth or self.quote or self.continued)

    def read(self, line: str) -> None:
        """Go on by a line."""
        at = 0
        self.continued = self.ends_in_code = False
        if self.quote:
            at = self._string(line, at, self.quote)
        while (match := _TOKEN.search(line, at)) is not None:
            token, at = match[0], match.end()
            self.ends_in_code = token[0] != "#"
            if token[0] in "'\"":
                self.ends_in_code = False
                at = self._string(line, at, token)
            elif token in "([{":
                self.depth += 1
            elif token in ")]}":
                self.depth = max(0, self.depth - 1)
            elif token == "=" and not self.depth and self.assigned is None:
                self.assigned = at
            elif token == "\\" and not line[at:].strip("\r\n"):
                self.continued = True

    def _string(self, line: str, at: int, quote: str) -> int:
        """Behind a string that is open at `at`, which may go on on the next line."""
        end = end_of_string(line, at, quote)
        closed = line[at:end].endswith(quote) and not line[at : end - len(quote)].endswith("\\")
        goes_on = len(quote) == 3 or line[:end].endswith(("\\\n", "\\\r\n"))
        self.quote = "" if closed or not goes_on else quote
        return end


def _as_python(line: str, statement: _Statement) -> str | None:
    """The first line of a statement that only IPython understands as Python; None for any other."""
    end = line[len(line.rstrip("\r\n")) :]
    match = _ESCAPE.match(line)
    if match is None:
        if statement.ends_in_code and not statement.is_open and line.rstrip().endswith("?"):
            indent = line[: len(line) - len(line.lstrip())]
            return f"{indent}pass{end}"
        if statement.assigned is not None and _ASSIGNED.match(line, statement.assigned):
            return f"{line[: statement.assigned]} get_ipython().getoutput(){end}"
        return None
    indent, magic = match["indent"], match["magic"]
    run = _RUN.match(match["rest"]) if magic == "run" else None
    if run is not None:
        options = "".join(f", '{option}'" for option in ("-i", "-n") if option in run["options"].split())
        # a pair of either quote: fixes are written in those that prevail in the program
        file = run["file"].strip("'\"")
        return f"{indent}get_ipython().run_line_magic(\"run\", '{file}'{options}){end}"
    timed = _OPTIONS.fullmatch(match["rest"].rstrip("\r\n")) if magic in _TIMED else None
    if timed is not None and is_python(timed["statement"]):
        return f"{indent}{timed['statement']}{end}"
    return f"{indent}pass{end}"


def is_python(text: str) -> bool:
    """Whether the text of a cell, without magics, is Python that the Python which runs mplint understands."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<cell>", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _comment(line: str) -> str:
    return "#" + line[len(line.rstrip("\r\n")) :]
