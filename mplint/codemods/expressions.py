"""Expressions that become a part of another one, or give way to one of their own parts."""

from __future__ import annotations

import libcst as cst

from mplint.codemods import layout, statements
from mplint.findings import Edit, Span
from mplint.source.file import SourceFile
from mplint.source.walk import names_in, walk


def enclosed(source: SourceFile, node: cst.CSTNode, before: str, behind: str) -> list[Edit]:
    """The edits that put `node`, its parentheses included, between two pieces of text."""
    span = source.span(node, parentheses=True)
    at_start, at_end = Span(span.start, span.start), Span(span.end, span.end)
    return [Edit(source.path, at_start, before), Edit(source.path, at_end, behind)]


def is_closed(node: cst.BaseExpression) -> bool:
    """Whether an expression stays one whatever stands around it."""
    closed = (
        cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.BaseNumber, cst.BaseString, cst.BaseList, cst.BaseDict,
        cst.BaseSet,
    )  # fmt: skip
    return isinstance(node, closed) or bool(node.lpar)


def as_operand(source: SourceFile, expression: cst.BaseExpression) -> str:
    """The text of an expression, in parentheses where an operator beside it would bind tighter."""
    text = layout.code(source, expression)
    return text if is_closed(expression) else f"({text})"


def reduced(source: SourceFile, whole: cst.BaseExpression, part: cst.BaseExpression) -> list[Edit] | None:
    """The edits that leave `part` of `whole`: of `clean(x)` `x`.

    A comprehension, or a call of `map_structure`, that then gives back what it is given gives way to that; a statement
    that then assigns a name to itself goes.  None where comments would be lost.
    """
    while (wider := _wider(source, whole, part)) is not None:
        whole, part = wider
    statement = statements.around(source, whole)
    bound = statements.target(statement)
    is_all = statements.value(statement) is whole
    if statement and bound and is_all and _is_same(source, bound, part):
        return [statements.removed(source, statement)]
    span = source.span(whole, parentheses=True)
    kept = _written(source, whole, part)
    if len(layout.comments_in(source.text[span.start : span.end])) > len(layout.comments_in(kept)):
        return None
    return [Edit(source.path, span, kept)]


def _is_same(source: SourceFile, one: cst.BaseExpression, other: cst.BaseExpression) -> bool:
    return layout.code(source, one) == layout.code(source, other)


def _written(source: SourceFile, whole: cst.BaseExpression, part: cst.BaseExpression) -> str:
    parent = source.parent(whole)
    operators = (cst.BinaryOperation, cst.UnaryOperation, cst.Attribute, cst.Subscript, cst.Call, cst.ComparisonTarget)
    if isinstance(parent, operators) or whole.lpar:
        return as_operand(source, part)
    return layout.code(source, part)


def _wider(
    source: SourceFile, whole: cst.BaseExpression, part: cst.BaseExpression
) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """What is around `whole`, where that only hands on each item once `whole` is `part`, and what it hands on."""
    parent = source.parent(whole)
    match parent:
        case cst.ListComp(
            elt=elt, for_in=cst.CompFor(target=cst.Name(value=name), iter=held, ifs=(), inner_for_in=None)
        ):
            if elt is whole and isinstance(part, cst.Name) and part.value == name:
                return parent, held
        case cst.IfExp(test=test, body=body, orelse=cst.Name(value="None")):
            if body is whole and _asks_for_none(test, part):  # `clean(g) if g is not None else None`
                return parent, part
        case cst.IfExp(test=test, body=body, orelse=other) if whole is not test:  # `loss if amp else loss`
            arm = other if body is whole else body
            if _is_same(source, arm, part) and _does_nothing(test):
                return parent, part
        case cst.Lambda(params=cst.Parameters(params=[cst.Param(name=cst.Name(value=name))])):
            if isinstance(part, cst.Name) and part.value == name:
                return _mapped(source, parent)
        case _:
            pass
    return None


def _asks_for_none(test: cst.BaseExpression, part: cst.BaseExpression) -> bool:
    return isinstance(part, cst.Name) and names_in(test) == {part.value, "None"}


def _does_nothing(test: cst.BaseExpression) -> bool:
    """Whether nothing is lost where a question is not asked."""
    return not any(isinstance(node, (cst.Call, cst.NamedExpr, cst.Await)) for node in walk(test))


def _mapped(source: SourceFile, function: cst.Lambda) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """A call of `map_structure` with `function`, and what it is mapped over."""
    argument = source.parent(function)
    call = source.parent(argument) if isinstance(argument, cst.Arg) else None
    match call:
        case cst.Call(func=cst.Attribute(attr=cst.Name("map_structure")), args=[first, cst.Arg(value=held)]):
            return (call, held) if first is argument else None
        case _:
            return None
