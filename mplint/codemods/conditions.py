"""The conditions under which a place of the program is run, as they are written around it."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from mplint.codemods import layout, statements, variables
from mplint.interpreter.scaling import Course
from mplint.interpreter.values import Place
from mplint.source.file import SourceFile


def is_scaled_under_more(course: Course, at: Place) -> bool:
    """Whether a loss is scaled under a condition that does not hold wherever the program comes to `at`.

    Then the optimizer may be a plain one at `at`, and in Keras 2 that has none of the methods for it.
    """
    here = _around(at.source, at.node)
    return any(
        not _around(factor.place.source, factor.place.node) <= here
        for factor in course.factors
        if factor.power > 0 and factor.place is not None
    )


def of_scaling(course: Course, at: Place) -> str | None:
    """The one condition under which a loss is scaled beside those of `at`, as it can be written there again.

    None where there are more, or where it may come out otherwise there.
    """
    here, source = _around(at.source, at.node), at.source
    found: set[tuple[str, bool]] = set()
    start = source.span(at.node).start
    for factor in course.factors:
        place = factor.place
        if factor.power <= 0 or place is None:
            continue
        if place.source is not source or statements.scope(source, place.node) is not statements.scope(source, at.node):
            return None
        found |= _around(source, place.node) - here
        start = min(start, source.span(place.node).start)
    if len(found) != 1:
        return None
    text, holds = found.pop()
    test = cst.parse_expression(text)
    end = source.span(at.node).start
    if not _is_steady(test) or any(
        variables.is_bound_between(source, read, start, end) for read in sorted(_read_by(test))
    ):
        return None
    return text if holds else f"not {text}"


def _is_steady(test: cst.BaseExpression) -> bool:
    """Whether a condition, asked twice, comes out the same where nothing that it reads is bound between."""
    match test:
        case cst.Call(func=cst.Name("isinstance" | "hasattr"), args=args):
            return all(_is_steady(arg.value) for arg in args)
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(comparator=right)]):
            return _is_steady(left) and _is_steady(right)
        case cst.SimpleString() | cst.Integer():
            return True
        case _:
            return variables.is_plain(test)


def _read_by(test: cst.BaseExpression) -> set[str]:
    """The variables and attributes that such a condition reads."""
    match test:
        case cst.Call(args=args):
            return {read for arg in args for read in _read_by(arg.value)}
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(comparator=right)]):
            return _read_by(left) | _read_by(right)
        case cst.SimpleString() | cst.Integer():
            return set()
        case _:
            return {cst.Module(()).code_for_node(test)}


def _around(source: SourceFile, node: cst.CSTNode) -> frozenset[tuple[str, bool]]:
    """The conditions under which a node is reached, inside its function, and how they come out.

    Those around it, and those that leave what it stands in before it.
    """
    found: set[tuple[str, bool]] = set()
    inner, outer = node, source.parent(node)
    while outer is not None and not isinstance(outer, (cst.FunctionDef, cst.ClassDef)):
        if isinstance(outer, (cst.If, cst.IfExp)) and inner is not outer.test:
            found.add(_condition(source, outer.test, inner is outer.body))
        elif isinstance(outer, (cst.IndentedBlock, cst.Module)):
            found.update(_left_before(source, outer, inner))
        inner, outer = outer, source.parent(outer)
    return frozenset(found)


def _left_before(
    source: SourceFile, block: cst.IndentedBlock | cst.Module, statement: cst.CSTNode
) -> Iterator[tuple[str, bool]]:
    """The conditions that leave a block before one of its statements, as they are where it is reached."""
    for before in block.body:
        if before is statement:
            return
        if not isinstance(before, cst.If):
            continue
        other = before.orelse.body if isinstance(before.orelse, cst.Else) else None
        if _leaves(before.body) and not isinstance(before.orelse, cst.If):
            yield _condition(source, before.test, False)
        elif other is not None and _leaves(other):
            yield _condition(source, before.test, True)


def _leaves(body: cst.BaseSuite) -> bool:
    """Whether nothing behind a block is reached from it."""
    last = body.body[-1] if body.body else None
    if isinstance(last, cst.SimpleStatementLine):
        last = last.body[-1]
    return isinstance(last, (cst.Return, cst.Raise, cst.Continue, cst.Break))


def _condition(source: SourceFile, test: cst.BaseExpression, holds: bool) -> tuple[str, bool]:
    """A condition as it is written, without the `not` in front of it, and how it comes out."""
    while isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        test, holds = test.expression, not holds
    return layout.code(source, test), holds
