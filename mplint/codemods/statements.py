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
from mplint.source.walk import names_in, walk

Scope = cst.FunctionDef | cst.Module
Block = cst.IndentedBlock | cst.Module
_SCOPES: Final = (cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp, cst.Lambda)
_COMMENT: Final = re.compile(r"[ \t]*#[^\r\n]*")


def scope(source: SourceFile, node: cst.CSTNode) -> Scope:
    """The function in which `node` stands, or the module."""
    return source.enclosing(node, cst.FunctionDef) or source.module


def simple(source: SourceFile, node: cst.CSTNode) -> cst.BaseSmallStatement | None:
    """The simple statement in which `node` stands."""
    here: cst.CSTNode | None = node
    while here is not None and not isinstance(here, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
        here = source.parent(here)
    return here if isinstance(here, cst.BaseSmallStatement) else None


def around(source: SourceFile, node: cst.CSTNode) -> cst.BaseSmallStatement | None:
    """The simple statement in which `node` stands, where that is one with a line to itself."""
    here = simple(source, node)
    if here is None or layout.own_line(source, here) is None:
        return None
    return here if layout.starts_line(source, source.span(here).start) else None


def block(source: SourceFile, statement: cst.CSTNode) -> Block | None:
    """The block that a statement is one of; None of what stands on the line of a header."""
    outer = source.parent(statement)
    outer = source.parent(outer) if isinstance(outer, cst.SimpleStatementLine) else outer
    return outer if isinstance(outer, (cst.IndentedBlock, cst.Module)) else None


def is_in(source: SourceFile, node: cst.CSTNode, outer: cst.CSTNode) -> bool:
    """Whether `node` is `outer`, or stands in it."""
    here: cst.CSTNode | None = node
    while here is not None and here is not outer:
        here = source.parent(here)
    return here is outer


def in_front(source: SourceFile, statement: cst.BaseSmallStatement, written: str) -> Edit:
    """One more statement on a line in front of `statement`."""
    start = source.span(statement).start
    line_end = layout.newline(source, start) + layout.indentation(source, start)
    return Edit(source.path, Span(start, start), written + line_end)


def behind(source: SourceFile, statement: cst.BaseSmallStatement, *written: str) -> Edit:
    """More lines behind `statement`; a comment on its line stays there."""
    span = source.span(statement)
    end = layout.line_end(source, span.end)
    start = layout.newline(source, span.end) + layout.indentation(source, span.start)
    return Edit(source.path, Span(end, end), "".join(f"{start}{line}" for line in written))


def removed(source: SourceFile, statement: cst.CSTNode) -> Edit:
    """Without the statement, which has its lines to itself: a comment behind it stays; `pass` where it was alone."""
    span = source.span(statement)
    outer = block(source, statement)
    if outer is None or len(outer.body) == 1:
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


def value(statement: cst.CSTNode | None) -> cst.BaseExpression | None:
    """What such an assignment binds it to."""
    return statement.value if isinstance(statement, (cst.Assign, cst.AnnAssign)) and target(statement) else None


def binding(source: SourceFile, node: cst.CSTNode) -> tuple[cst.BaseSmallStatement, cst.Name] | None:
    """The assignment with a line to itself that binds one name to what `node` gives, and that name."""
    statement = around(source, node)
    name = target(statement)
    if statement is None or not isinstance(name, cst.Name) or value(statement) is not node:
        return None
    return statement, name


def only_value(source: SourceFile, within: cst.CSTNode, name: str) -> cst.BaseExpression | None:
    """What a name that is bound once below `within`, by an assignment with a line to itself, is bound to."""
    bound = stores(source, within, name)
    statement = around(source, bound[0]) if len(bound) == 1 else None
    return value(statement) if bound and target(statement) is bound[0] else None


def loads(source: SourceFile, within: cst.CSTNode, name: str) -> list[cst.Name]:
    """Where `name` is read below `within`, in the order of the text."""
    return [node for node in variables(source, within, name) if not _is_bound(source, node)]


def stores(source: SourceFile, within: cst.CSTNode, name: str) -> list[cst.Name]:
    """Where `name` is bound below `within`, in the order of the text."""
    return [node for node in variables(source, within, name) if _is_bound(source, node)]


def variables(source: SourceFile, within: cst.CSTNode, name: str) -> Iterator[cst.Name]:
    """Where the variable `name` stands below `within`, not an attribute or a keyword that is called so."""
    for node in walk(within):
        if isinstance(node, cst.Name) and node.value == name:
            match source.parent(node):
                case cst.Attribute(attr=part) | cst.Arg(keyword=part) if part is node:
                    pass
                case _:
                    yield node


def _is_bound(source: SourceFile, node: cst.Name) -> bool:
    """Whether a variable stands where it is bound."""
    here: cst.CSTNode = node
    parent = source.parent(here)
    while isinstance(parent, (cst.Element, cst.Tuple, cst.List, cst.StarredElement)):
        here, parent = parent, source.parent(parent)
    match parent:
        case cst.AnnAssign() | cst.AugAssign() | cst.For() | cst.CompFor() | cst.NamedExpr():
            return parent.target is here
        case cst.Param(default=default):
            return default is not here
        case cst.AssignTarget() | cst.AsName() | cst.NameItem() | cst.ImportAlias():
            return True
        case _:
            return isinstance(parent, (cst.FunctionDef, cst.ClassDef))


def is_local(source: SourceFile, node: cst.Name) -> bool:
    """Whether a name is bound by a comprehension or a lambda around it: it means nothing in front of the statement."""
    here = source.parent(node)
    while here is not None and not isinstance(here, cst.BaseStatement):
        if isinstance(here, _SCOPES):
            for other in walk(here):
                match other:
                    case cst.CompFor(target=bound):
                        names = names_in(bound)
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
