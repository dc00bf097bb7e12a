"""What IPython adds to Python, line by line as something that Python understands."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

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
_QUOTED: Final = {
    "'": re.compile(r"[^'\\\r\n]*(?:\\(?:\r\n|[\s\S])[^'\\\r\n]*)*'?"),
    '"': re.compile(r'[^"\\\r\n]*(?:\\(?:\r\n|[\s\S])[^"\\\r\n]*)*"?'),
    "'''": re.compile(r"[^'\\]*(?:(?:\\[\s\S]|'(?!''))[^'\\]*)*(?:''')?"),
    '"""': re.compile(r'[^"\\]*(?:(?:\\[\s\S]|"(?!""))[^"\\]*)*(?:""")?'),
}
"""From behind an opening quote to behind the closing one; to the end where it is missing."""
_TOKEN: Final = re.compile(r"#[^\r\n]*|'''|\"\"\"|['\"]|[()\[\]{}]|[-+*/%@&|^<>!:=]*=|\S")


def masked(lines: Sequence[str]) -> list[str]:
    """The lines of a cell as Python: as many, and the same where they are Python.

    A line magic or a command becomes `pass`, one whose result is kept a call of something unknown, and `%run file` the
    call that IPython makes of it, with `-i` and `-n` behind; of `%time statement` the statement is left.  A cell of
    another language (`%%bash`) becomes comments.  As in IPython, what stands in front of every line of the cell goes:
    an indentation, or prompts.
    """
    lines = [line[len(prefix) :] for line, prefix in zip(lines, prefixes(lines), strict=True)]
    # Colab lets a title stand first
    first = next((place for place, line in enumerate(lines) if line.strip() and line[:2] != "#@"), len(lines))
    if len(lines) == 1 and _AUTOMATIC.match(lines[0]) and not _is_python(lines[0]):
        lines = [f"%{lines[0]}"]
    cell = _CELL.match(lines[first]) if first < len(lines) else None
    if cell is None:
        found = list(_statements(lines))
        if first < len(lines) and _LANGUAGE.match(lines[first]) and not _is_python("".join(found)):
            return [*lines[:first], *map(_comment, lines[first:])]
        return found
    head = [*lines[:first], _comment(lines[first])]
    if not cell["help"] and cell["name"] not in _PYTHON_CELLS:
        return [*head, *map(_comment, lines[first + 1 :])]
    return [*head, *masked(lines[first + 1 :])]


def prefixes(lines: Sequence[str]) -> list[str]:
    """What stands in front of the Python of each line: the indentation of the first line with code, or prompts."""
    begin = next((place for place, line in enumerate(lines) if line.strip()), len(lines))
    first, second = [*lines[begin : begin + 2], "", ""][:2]
    outer = first[: len(first) - len(first.lstrip(" \t"))]
    if first.startswith("%%", len(outer)):  # what follows is a cell of its own
        head = [line[: len(outer)] if line.startswith(outer) else "" for line in lines[: begin + 1]]
        rest = [line.removeprefix(outer) for line in lines[begin + 1 :]]
        taken = [line[: len(line) - len(short)] for line, short in zip(lines[begin + 1 :], rest, strict=True)]
        return [*head, *(one + other for one, other in zip(taken, prefixes(rest), strict=True))]
    found = [outer if line.startswith(outer) else "" for line in lines]
    for initial, prompt in _PROMPTS:
        if not initial.match(first, len(outer)) and not prompt.match(second, len(outer)):
            continue
        for place, line in enumerate(lines):
            match = prompt.match(line, len(found[place]))
            if match is not None:
                found[place] = line[: match.end()]
    return found


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
            if token in _QUOTED:
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
        match = _QUOTED[quote].match(line, at)
        end = match.end() if match is not None else at
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
    if timed is not None and _is_python(timed["statement"]):
        return f"{indent}{timed['statement']}{end}"
    return f"{indent}pass{end}"


def _is_python(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<cell>", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _comment(line: str) -> str:
    return "#" + line[len(line.rstrip("\r\n")) :]
