"""Simple statements and the names in them: which one an expression stands in, one more in front of it, or one less."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import libcst as cst

from mplint.codemods import layout
from mplint.findings import Edit, Span
from mplint.interpreter.code import dotted
from mplint.source.file import SourceFile
from mplint.source.walk import walk

Scope = cst.FunctionDef | cst.Module
_SCOPES: Final = (cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp, cst.Lambda)
_COMMENT: Final = re.compile(r"[ \t]*#[^\r\n]*")


def scope(source: SourceFile, node: cst.CSTNode) -> Scope:
    """The function in which `node` stands, or the module."""
    return source.enclosing(node, cst.FunctionDef) or source.module


def around(source: SourceFile, node: cst.CSTNode) -> cst.BaseSmallStatement | None:
    """The simple statement in which `node` stands, where that is one with a line to itself."""
    here: cst.CSTNode | None = node
    while here is not None and not isinstance(here, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
        here = source.parent(here)
    if not isinstance(here, cst.BaseSmallStatement) or layout.own_line(source, here) is None:
        return None
    return here if layout.starts_line(source, source.span(here).start) else None


def block(source: SourceFile, statement: cst.CSTNode) -> tuple[cst.IndentedBlock | cst.Module, int] | None:
    """The block that a statement with a line to itself is one of, and which."""
    line = source.parent(statement)
    outer = source.parent(line) if isinstance(line, cst.SimpleStatementLine) else None
    if not isinstance(outer, (cst.IndentedBlock, cst.Module)):
        return None
    return outer, next(index for index, other in enumerate(outer.body) if other is line)


def in_front(source: SourceFile, statement: cst.BaseSmallStatement, written: str) -> Edit:
    """One more statement on a line in front of `statement`."""
    start = source.span(statement).start
    return Edit(source.path, Span(start, start), written + layout.newline(source, start) + indent(source, start))


def behind(source: SourceFile, statement: cst.BaseSmallStatement, written: str) -> Edit:
    """One more statement on a line behind `statement`; a comment on its line stays there."""
    span = source.span(statement)
    end = layout.line_end(source, span.end)
    text = layout.newline(source, span.end) + indent(source, span.start) + written
    return Edit(source.path, Span(end, end), text)


def indent(source: SourceFile, offset: int) -> str:
    """The white space that a line is indented by."""
    return layout.indentation(source, offset)


def removed(source: SourceFile, statement: cst.BaseSmallStatement) -> Edit:
    """Without the statement, which has a line to itself: a comment on it stays; `pass` where it is all of its block."""
    span = source.span(statement)
    found = block(source, statement)
    if found is None or len(found[0].body) == 1:
        return Edit(source.path, span, "pass")
    comment = _COMMENT.match(source.text, span.end)
    if comment is not None:
        return Edit(source.path, Span(span.start, comment.start() + comment[0].index("#")), "")
    start, end = layout.line_start(source, span.start), layout.next_line(source, span.end)
    before = source.text[layout.line_start(source, start - 1) : start] if start else ""
    following = layout.next_line(source, end)
    if not before.strip() and end < len(source.text) and not source.text[end:following].strip():
        end = following  # of the blank lines before and behind it one is enough
    return Edit(source.path, Span(start, end), "")


def target(statement: cst.CSTNode | None) -> cst.BaseExpression | None:
    """What an assignment with one target binds."""
    match statement:
        case cst.Assign(targets=[cst.AssignTarget(target=target)]) | cst.AnnAssign(target=target):
            return target
        case _:
            return None


def loads(source: SourceFile, within: cst.CSTNode, name: str) -> list[cst.Name]:
    """Where `name` is read below `within`, in the order of the text."""
    return [node for node in _names(within, name) if not _is_bound(source, node)]


def stores(source: SourceFile, within: cst.CSTNode, name: str) -> list[cst.Name]:
    """Where `name` is bound below `within`, in the order of the text."""
    return [node for node in _names(within, name) if _is_bound(source, node)]


def _names(within: cst.CSTNode, name: str) -> Iterator[cst.Name]:
    return (node for node in walk(within) if isinstance(node, cst.Name) and node.value == name)


def _is_bound(source: SourceFile, node: cst.Name) -> bool:
    """Whether a name stands where it is bound, or is no variable at all."""
    here: cst.CSTNode = node
    parent = source.parent(here)
    while isinstance(parent, (cst.Element, cst.Tuple, cst.List, cst.StarredElement)):
        here, parent = parent, source.parent(parent)
    match parent:
        case cst.AssignTarget() | cst.Param() | cst.AsName() | cst.NameItem() | cst.FunctionDef() | cst.ClassDef():
            return not (isinstance(parent, cst.Param) and parent.default is node)
        case cst.AnnAssign(target=target) | cst.AugAssign(target=target) | cst.For(target=target):
            return target is here
        case cst.CompFor(target=target) | cst.NamedExpr(target=target):
            return target is here
        case cst.Attribute(attr=attr):
            return attr is node
        case cst.Arg(keyword=keyword):
            return keyword is node
        case cst.ImportAlias():
            return True
        case _:
            return False


def is_local(source: SourceFile, node: cst.Name) -> bool:
    """Whether a name is bound by a comprehension or a lambda around it: it means nothing in front of the statement."""
    here = source.parent(node)
    while here is not None and not isinstance(here, cst.BaseStatement):
        if isinstance(here, _SCOPES):
            for other in walk(here):
                match other:
                    case cst.CompFor(target=bound):
                        names = {part.value for part in walk(bound) if isinstance(part, cst.Name)}
                    case cst.Param(name=cst.Name(value=word)):
                        names = {word}
                    case _:
                        continue
                if node.value in names:
                    return True
        here = source.parent(here)
    return False


def words(expression: cst.CSTNode) -> set[str]:
    """The names that an expression is written with, without those of attributes."""
    found: set[str] = set()
    for node in walk(expression):
        if isinstance(node, cst.Attribute) and dotted(node):
            found.add(dotted(node).partition(".")[0])
        elif isinstance(node, cst.Name):
            found.add(node.value)
    return found


def written_as_operand(source: SourceFile, expression: cst.BaseExpression) -> str:
    """The text of an expression, in parentheses where an operator beside it would bind tighter."""
    text = layout.code(source, expression)
    atoms = (
        cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.BaseNumber, cst.BaseString, cst.List, cst.ListComp,
        cst.Dict, cst.Set,
    )  # fmt: skip
    return text if isinstance(expression, atoms) or expression.lpar else f"({text})"
