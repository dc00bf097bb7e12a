"""How deeply a text nests, before a parser sees it.

LibCST's parser is native and recursive: what nests too deeply does not raise, it ends the process, and before that
takes time and memory that grow with the square of the depth and worse. Python itself refuses more than 200 nested
brackets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mplint.source.lexer import Kind, strings_and_comments

MAX_BRACKETS = 200
"""As Python's own tokenizer."""
MAX_CHAIN = 6000
"""Tokens of one expression that may nest in each other: operators, calls, attributes, strings beside each other."""
MAX_ELIF = 5000
"""Clauses of one `if`: each is nested in the one before."""

MAX_PATTERN = 8
"""Brackets in each other in a `case`: LibCST's time grows with the power of their number."""

_ROOMY_CHAIN = 400
"""Deeper than this, a parser wants a stack of known size."""

_LONG_LINE = 1500
_LONG_EXPRESSION = 4000
_MANY_CONTINUATIONS = 200

_BRACKET = re.compile(r"[()\[\]{}]")
_TOKEN = re.compile(r"\w+|\\\r?\n|\\\r|[\r\n]|[^\w\s]")
_CASE = re.compile(r"^[ \t\f]*case\b(?!\s*[=.,:)\]])", re.MULTILINE)
_IN_PATTERN = re.compile(r"[()\[\]{}:\r\n]")
_CLAUSE = re.compile(r"^([ \t\f]*)(if|elif)\b", re.MULTILINE)


@dataclass(frozen=True)
class Depth:
    """`at` is the offset where a text becomes too deep to parse, None if it does not."""

    at: int | None
    needs_stack: bool


def too_deep(text: str) -> Depth:
    """Whether `text` nests too deeply. An estimate that costs a fiftieth of a parse clears almost every text."""
    clauses = text.count("elif") > _ROOMY_CHAIN
    if clauses and (at := _long_elif(text)) is not None:
        return Depth(at, True)
    if "case" in text and (at := _deep_pattern(text)) is not None:
        return Depth(at, True)
    if _may_be_deep(text):
        depth = _measure(text)
        return Depth(depth.at, depth.needs_stack or clauses)
    return Depth(None, clauses)


def _may_be_deep(text: str) -> bool:
    """An estimate that takes strings and comments for code, and so errs by saying yes."""
    if len(text) < 2 * MAX_BRACKETS:
        return False
    if max(map(len, re.split(r"[\r\n]", text))) > _LONG_LINE or text.count("\\\n") > _MANY_CONTINUATIONS:
        return True
    depth = 0
    start = 0
    for match in _BRACKET.finditer(text):
        if match[0] in "([{":
            if depth == 0:
                start = match.start()
            depth += 1
            if depth > MAX_BRACKETS:
                return True
        elif depth:
            depth -= 1
            if depth == 0 and match.start() - start > _LONG_EXPRESSION:
                return True
    return depth > 0 and len(text) - start > _LONG_EXPRESSION


def _measure(text: str) -> Depth:
    """An upper bound of the depth, by counting between commas and statements the tokens that could nest."""
    levels = [0]
    total = deepest = 0
    position = 0
    pieces = [*strings_and_comments(text), (Kind.COMMENT, len(text), len(text))]
    for kind, start, end in pieces:
        for match in _TOKEN.finditer(text, position, start):
            token = match[0]
            if token in "([{":
                levels.append(0)
                if len(levels) > MAX_BRACKETS + 1:
                    return Depth(match.start(), True)
            elif token in ")]}":
                if len(levels) > 1:
                    total -= levels.pop()
                levels[-1] += 1
                total += 1
            elif token == "," or (len(levels) == 1 and token in ";\r\n"):
                total -= levels[-1]
                levels[-1] = 0
            elif token[0] not in "\r\n\\":
                levels[-1] += 1
                total += 1
            deepest = max(deepest, total)
            if total > MAX_CHAIN:
                return Depth(match.start(), True)
        position = end
        if kind is Kind.COMMENT:
            continue
        levels[-1] += 1
        total += 1
        if kind is Kind.FORMATTED and len(levels) + _braces(text[start:end]) > MAX_BRACKETS + 1:
            return Depth(start, True)
    return Depth(None, deepest > _ROOMY_CHAIN)


def _braces(formatted: str) -> int:
    depth = deepest = 0
    for brace in re.findall(r"[()\[\]{}]", formatted.replace("{{", "").replace("}}", "")):
        depth += 1 if brace in "([{" else -1
        deepest = max(deepest, depth)
    return deepest


def _deep_pattern(text: str) -> int | None:
    for case in _CASE.finditer(text):
        depth = 0
        for match in _IN_PATTERN.finditer(text, case.end()):
            if match[0] in "([{":
                depth += 1
                if depth > MAX_PATTERN:
                    return match.start()
            elif match[0] in ")]}":
                depth -= 1
            elif depth <= 0:
                break
    return None


def _long_elif(text: str) -> int | None:
    chains: dict[str, int] = {}
    for match in _CLAUSE.finditer(text):
        indent, keyword = match[1], match[2]
        chains[indent] = chains.get(indent, 0) + 1 if keyword == "elif" else 0
        if chains[indent] > MAX_ELIF:
            return match.start()
    return None
