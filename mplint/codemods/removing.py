"""Edits that take something out of a program: a statement, one of several items, a call around an argument."""

from __future__ import annotations

import libcst as cst

from mplint.codemods import layout
from mplint.findings import Edit, Span
from mplint.interpreter.values import Place
from mplint.source.file import SourceFile


def statement_of(source: SourceFile, node: cst.CSTNode) -> cst.CSTNode | None:
    """The simple statement that a node stands in."""
    here: cst.CSTNode | None = node
    while here is not None and not isinstance(here, cst.BaseSmallStatement):
        here = source.parent(here)
    return here


def statement_gone(at: Place) -> list[Edit] | None:
    """The edit that takes out the simple statement that `at` stands in, where it has its lines to itself."""
    source = at.source
    statement = statement_of(source, at.node)
    line = layout.own_line(source, statement) if statement is not None else None
    if statement is None or line is None:
        return None
    lines = lines_of(source, statement)
    block = source.parent(line)
    if lines is not None and isinstance(block, cst.IndentedBlock) and len(block.body) == 1:
        return [Edit(source.path, source.span(statement), "pass")]
    return [lines] if lines is not None else None


def lines_of(source: SourceFile, statement: cst.CSTNode) -> Edit | None:
    """The edit that takes out the lines of a statement; None where something else, or a comment, stands on them."""
    span = source.span(statement)
    start, end = layout.line_start(source, span.start), layout.next_line(source, span.end)
    if source.text[start : span.start].strip() or layout.comments_in(source.text[start:end]):
        return None
    return Edit(source.path, Span(start, end), "")


def item_gone(source: SourceFile, items: list[cst.BaseDictElement], gone: cst.BaseDictElement) -> list[Edit] | None:
    """The edit that takes one of several items out, with one comma."""
    index = items.index(gone)
    here = source.span(gone)
    if index + 1 < len(items):
        span = Span(here.start, source.span(items[index + 1]).start)
    elif index > 0:
        span = Span(source.span(items[index - 1]).end, here.end)
    else:
        end = here.end
        rest = source.text[end:]
        span = Span(here.start, end + (1 if rest.startswith(",") else 0))
    return None if layout.comments_in(source.text[span.start : span.end]) else [Edit(source.path, span, "")]


def in_place_of(source: SourceFile, call: cst.Call, given: cst.Arg) -> list[Edit]:
    """The edits that leave of a call what it is given; none where a comment would go."""
    span = source.span(call)
    text = layout.code(source, given.value)
    kept = source.span(given.value, parentheses=True)
    rest = source.text[span.start : kept.start] + source.text[kept.end : span.end]
    if layout.comments_in(rest):
        return []
    return [Edit(source.path, span, text if is_closed(given.value) else f"({text})")]


def is_closed(node: cst.BaseExpression) -> bool:
    """Whether an expression stays one whatever stands around it."""
    closed = (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.BaseNumber, cst.BaseList, cst.BaseDict, cst.BaseSet)
    return isinstance(node, closed) or bool(node.lpar)
