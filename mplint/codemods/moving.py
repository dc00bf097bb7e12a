"""The setter of a dtype policy in front of what was made before it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from mplint.codemods import layout, statements
from mplint.codemods.rewrite import Evidence, Rewrite
from mplint.findings import Applicability, Edit, Fix, Span
from mplint.interpreter.code import dotted
from mplint.interpreter.values import Place
from mplint.source.file import SourceFile
from mplint.source.walk import names_in, walk


@dataclass(frozen=True)
class SetEarlier(Rewrite):
    """Move the statement that holds `at` in front of the one that holds `before`."""

    at: Place
    before: Place | None

    def plan(self, evidence: Evidence) -> Fix | None:
        """Only where both stand in one block and the moved statement reads nothing that is bound in between."""
        source = self.at.source
        statement = source.parent(self.at.node)
        if self.before is None or self.before.source is not source or not isinstance(statement, cst.Expr):
            return None
        moved = moved_in_front(source, self.before.node, statement)
        if moved is None:
            return None
        return Fix("set the policy before layers are made", Applicability.UNSAFE, tuple(moved[1]))


def moved_in_front(
    source: SourceFile, anchor: cst.CSTNode, statement: cst.BaseSmallStatement, but: str = ""
) -> tuple[cst.CSTNode, list[Edit]] | None:
    """The statement, around `anchor`, that a later `statement` of the same block can be moved in front of, and how.

    A condition around just that statement goes with it.  None where they stand in no block together, or a name that is
    read, `but` one, is bound in between.
    """
    shared = _shared_block(source, anchor, statement)
    if shared is None:
        return None
    block, first, last = shared
    before, moved = block.body[first], block.body[last]
    read = names_in(moved) - {but}
    if first >= last or not _is_only(moved, statement) or any(read & _bound(one) for one in block.body[first:last]):
        return None
    lines = _lines(source, moved)
    start = layout.line_start(source, source.span(before).start)
    text = source.text[lines.start : lines.end]
    text = text if text.endswith(("\n", "\r")) else text + layout.newline(source)
    gone = Edit(source.path, _with_blank_line(source, lines), "")
    return before, [Edit(source.path, Span(start, start), text), gone]


def _shared_block(source: SourceFile, one: cst.CSTNode, other: cst.CSTNode) -> tuple[statements.Block, int, int] | None:
    """The innermost block that holds both nodes, and which of its statements they stand in."""
    around = {id(block): index for block, index in _blocks(source, other)}
    for block, index in _blocks(source, one):
        if id(block) in around:
            return block, index, around[id(block)]
    return None


def _blocks(source: SourceFile, node: cst.CSTNode) -> Iterator[tuple[statements.Block, int]]:
    """The blocks that `node` stands in, innermost first, each with the number of its statement that holds `node`."""
    parent = source.parent(node)
    while parent is not None:
        if isinstance(parent, (cst.IndentedBlock, cst.Module)):
            yield parent, next(index for index, statement in enumerate(parent.body) if statement is node)
        node, parent = parent, source.parent(parent)


def _is_only(outer: cst.CSTNode, statement: cst.BaseSmallStatement) -> bool:
    """Whether `outer` is `statement` and nothing else, or a condition around just that."""
    match outer:
        case cst.SimpleStatementLine(body=[inner]):
            return inner is statement
        case cst.If(body=cst.IndentedBlock(body=[inner]), orelse=None):
            return _is_only(inner, statement)
        case _:
            return False


def _bound(statement: cst.CSTNode) -> set[str]:
    """Every name that a statement may bind."""
    found: set[str] = set()
    for node in walk(statement):
        match node:
            case cst.AssignTarget(target=target) | cst.AnnAssign(target=target) | cst.For(target=target):
                found |= names_in(target)
            case cst.FunctionDef(name=name) | cst.ClassDef(name=name):
                found.add(name.value)
            case cst.ImportAlias(name=imported, asname=asname):
                found.add(dotted(asname.name) if asname is not None else dotted(imported).partition(".")[0])
            case cst.NamedExpr(target=cst.Name(value=value)):
                found.add(value)
            case _:
                pass
    return found


def _lines(source: SourceFile, statement: cst.CSTNode) -> Span:
    """The whole lines of a statement, with the comments directly above it."""
    span = source.span(statement)
    start = layout.line_start(source, span.start)
    while start > 0:
        above = layout.line_start(source, start - 1)
        if not source.text[above:start].lstrip().startswith("#"):
            break
        start = above
    return Span(start, layout.next_line(source, span.end))


def _with_blank_line(source: SourceFile, lines: Span) -> Span:
    """What goes with lines that are taken out: the blank line behind them where one stands before them, too."""
    before = source.text[layout.line_start(source, lines.start - 1) : lines.start] if lines.start else ""
    end = layout.next_line(source, lines.end)
    return lines if before.strip() or source.text[lines.end : end].strip() else Span(lines.start, end)
