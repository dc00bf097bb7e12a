"""How a file is laid out: its lines and what ends them, its indentation, its quotes, its comments."""

from __future__ import annotations

import re
from typing import Final

import libcst as cst

from mplint.source.file import SourceFile
from mplint.source.lexer import Kind, strings_and_comments

NEWLINE: Final = re.compile(r"\r\n?|\n")


def code(source: SourceFile, node: cst.CSTNode) -> str:
    """The text of `node`, its parentheses included."""
    span = source.span(node, parentheses=True)
    return source.text[span.start : span.end]


def comments_in(text: str) -> list[str]:
    """The comments in a piece of source."""
    return [text[start:end] for kind, start, end in strings_and_comments(text) if kind is Kind.COMMENT]


def quoted(source: SourceFile, text: str) -> str:
    """`text` as a string literal in the quotes that the file uses."""
    quote = "'" if source.text.count("'") > source.text.count('"') else '"'
    return f"{quote}{text}{quote}"


def line_start(source: SourceFile, offset: int) -> int:
    """The offset at which the line of `offset` starts."""
    return offset - source.position(offset)[1] + 1


def line_end(source: SourceFile, offset: int) -> int:
    """The offset at which the line of `offset` ends, before its newline."""
    found = NEWLINE.search(source.text, offset)
    return found.start() if found is not None else len(source.text)


def next_line(source: SourceFile, offset: int) -> int:
    """The offset at which the line behind that of `offset` starts; the end of the text where there is none."""
    found = NEWLINE.search(source.text, offset)
    return found.end() if found is not None else len(source.text)


def newline(source: SourceFile, offset: int = 0) -> str:
    """The line ending that is used at `offset`: that of its own line, else the file's first."""
    found = NEWLINE.search(source.text, offset) or NEWLINE.search(source.text)
    return found[0] if found is not None else "\n"


def indentation(source: SourceFile, offset: int) -> str:
    """The white space in front of the first code on the line of `offset`; a form feed starts it anew."""
    line = source.text[line_start(source, offset) : offset]
    return line[: len(line) - len(line.lstrip())].rpartition("\f")[2]


def starts_line(source: SourceFile, offset: int) -> bool:
    """Whether nothing but white space stands in front of `offset` on its line."""
    return not source.text[line_start(source, offset) : offset].strip()


def separator(source: SourceFile, offset: int) -> str:
    """What stands between a new item and the one at `offset`: a comma, and a new line where that one starts one."""
    return f",{newline(source, offset)}{indentation(source, offset)}" if starts_line(source, offset) else ", "


def own_line(source: SourceFile, statement: cst.CSTNode) -> cst.SimpleStatementLine | None:
    """The line of a simple statement that shares it with no other; None of any other node."""
    line = source.parent(statement)
    return line if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1 else None
