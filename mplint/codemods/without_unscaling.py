"""A loop that unscales its gradients, written without: what comes behind is given the scaled ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import libcst as cst

from mplint.codemods import layout
from mplint.codemods.removing import in_place_of, is_closed, lines_of, statement_of
from mplint.codemods.spelling import is_part
from mplint.findings import Applicability, Edit, Fix
from mplint.interpreter.code import dotted
from mplint.source.file import SourceFile
from mplint.source.walk import walk

UNSCALES: Final = "get_unscaled_gradients"
_APPLIES: Final = frozenset({"apply_gradients", "apply"})
_CLIPS: Final = {"clip_by_global_norm": (1,), "clip_by_norm": (1,), "clip_by_value": (1, 2)}
"""Functions of TensorFlow that hold gradients against numbers, and which of their arguments those are."""
_KEYWORDS: Final = {"clip_norm": 1, "clip_value_min": 1, "clip_value_max": 2}
_WHAT: Final = "leave the gradients scaled: apply_gradients divides by the scale"


@dataclass
class Unscaling:
    """One call of `get_unscaled_gradients`."""

    source: SourceFile
    call: cst.Call
    _edits: list[Edit] = field(default_factory=list)
    _doubts: bool = False
    _seen: set[int] = field(default_factory=set)

    def left_out(self) -> Fix | None:
        """The fix that leaves it out; only shown where something behind it may count on unscaled gradients."""
        call, source = self.call, self.source
        if len(call.args) != 1 or call.args[0].star or not isinstance(call.func, cst.Attribute):
            return None
        given = call.args[0].value
        statement = source.parent(call)
        target = _target(statement) if isinstance(statement, (cst.Assign, cst.AnnAssign)) else None
        if target is None:
            self._given_to(call)
            edits = self._argument()
        else:
            edits = self._assigned(statement, target, given)
        if edits is None:
            return None
        level = Applicability.DISPLAY if self._doubts else Applicability.SAFE
        what = f"{_WHAT}; see to it that what else reads them expects that" if self._doubts else _WHAT
        return Fix(what, level, (*edits, *self._edits))

    def _argument(self) -> list[Edit] | None:
        """The edits that put what the call is given in its place."""
        return in_place_of(self.source, self.call, self.call.args[0]) or None

    def _assigned(self, statement: cst.CSTNode | None, target: str, given: cst.BaseExpression) -> list[Edit] | None:
        """`gradients = optimizer.get_unscaled_gradients(scaled)`."""
        source = self.source
        assert isinstance(statement, (cst.Assign, cst.AnnAssign))
        uses = list(_reads_behind(source, statement, target))
        self._follow(uses)
        if not isinstance(given, cst.Name):
            return self._argument()
        if given.value != target and not _is_only_name(source, statement, target, given.value):
            return self._argument()
        gone = _statement_gone(source, statement)
        if gone is None:
            return self._argument() if given.value != target else None
        if given.value == target:
            return [gone]
        return [gone, *(Edit(source.path, source.span(use), given.value) for use in uses)]

    def _follow(self, uses: list[cst.Name]) -> None:
        for use in uses:
            if id(use) not in self._seen:
                self._seen.add(id(use))
                self._given_to(use)

    def _given_to(self, node: cst.BaseExpression) -> None:
        """Where gradients go from an expression that holds them: to the optimizer, or to something that clips them."""
        parent = self.source.parent(node)
        argument = parent if isinstance(parent, cst.Arg) else None
        outer = self.source.parent(argument) if argument is not None else None
        if isinstance(outer, cst.Call) and argument is not None:
            name = dotted(outer.func).rpartition(".")[2]
            if name in ("zip", "list", "tuple"):
                self._given_to(outer)
            elif name in _CLIPS and outer.args and outer.args[0] is argument:
                self._clipped(outer, name, whole=True)
            elif name not in _APPLIES:
                self._doubts = True
            return
        match parent:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]):
                self._follow(list(_reads_behind(self.source, parent, name)))
            case cst.CompFor(iter=held, target=cst.Name(value=each)) if held is node:
                self._each(parent, each)
            case _:
                self._doubts = True

    def _each(self, clause: cst.CompFor, name: str) -> None:
        """`[tf.clip_by_norm(g, 1.0) for g in gradients]`."""
        comprehension = self.source.parent(clause)
        if not isinstance(comprehension, (cst.ListComp, cst.GeneratorExp)) or clause.inner_for_in or clause.ifs:
            self._doubts = True
            return
        match comprehension.elt:
            case cst.Call(func=func, args=[cst.Arg(value=cst.Name(value=first)), *_]) as inner if first == name:
                last = dotted(func).rpartition(".")[2]
                if last in _CLIPS and last != "clip_by_global_norm":
                    self._clipped(inner, last, whole=False)
                    self._given_to(comprehension)
                    return
            case _:
                pass
        self._doubts = True

    def _clipped(self, call: cst.Call, name: str, *, whole: bool) -> None:
        """The numbers become scaled, too."""
        assert isinstance(self.call.func, cst.Attribute)
        scale = f"{layout.code(self.source, self.call.func.value)}.scale_loss(1.0)"
        for position, argument in enumerate(call.args):
            index = position if argument.keyword is None else _KEYWORDS.get(argument.keyword.value, 0)
            if argument.star or (argument.keyword is not None and argument.keyword.value == "use_norm"):
                self._doubts = True
            elif index in _CLIPS[name]:
                span = self.source.span(argument.value, parentheses=True)
                text = self.source.text[span.start : span.end]
                simple = is_closed(argument.value) or isinstance(argument.value, cst.UnaryOperation)
                limit = text if simple else f"({text})"
                self._edits.append(Edit(self.source.path, span, f"{limit} * {scale}"))
        if not whole:
            return
        if name != "clip_by_global_norm":
            self._given_to(call)
            return
        statement = self.source.parent(call)
        match statement:
            case cst.Assign(
                targets=[cst.AssignTarget(target=cst.Tuple(elements=[cst.Element(value=cst.Name(value=kept)), norm]))]
            ):
                self._follow(list(_reads_behind(self.source, statement, kept)))
                read = isinstance(norm.value, cst.Name) and any(_reads_behind(self.source, statement, norm.value.value))
                self._doubts = self._doubts or read or not isinstance(norm.value, cst.Name)
            case _:
                outer = self.source.parent(statement) if isinstance(statement, cst.Subscript) else None
                if isinstance(statement, cst.Subscript) and isinstance(outer, (cst.Arg, cst.Assign)):
                    self._given_to(statement)
                else:
                    self._doubts = True


def _target(statement: cst.Assign | cst.AnnAssign) -> str | None:
    """The one name that a statement assigns."""
    if isinstance(statement, cst.AnnAssign):
        target: cst.BaseExpression | None = statement.target
    else:
        target = statement.targets[0].target if len(statement.targets) == 1 else None
    return target.value if isinstance(target, cst.Name) else None


def scope_of(source: SourceFile, node: cst.CSTNode) -> cst.CSTNode:
    """The function around a node, else the module."""
    return source.enclosing(node, cst.FunctionDef) or source.module


def _reads_behind(source: SourceFile, statement: cst.CSTNode, name: str) -> Iterator[cst.Name]:
    """Where the variable `name` is read behind a statement that binds it, up to where it is bound anew."""
    start = source.span(statement).end
    found = [
        node
        for node in walk(scope_of(source, statement))
        if isinstance(node, cst.Name)
        and node.value == name
        and source.span(node).start >= start
        and not is_part(source, node)
    ]
    found.sort(key=lambda node: source.span(node).start)
    rebound: int | None = None
    for node in found:
        at = source.span(node).start
        if rebound is not None and at > rebound:
            return
        if binds(source, node):
            holder = statement_of(source, node)  # whose right side still reads it
            rebound = source.span(holder).end if holder is not None else at
            continue
        yield node


def binds(source: SourceFile, node: cst.Name) -> bool:
    """Whether a name is bound where it stands."""
    here: cst.CSTNode = node
    parent = source.parent(here)
    while isinstance(parent, (cst.Element, cst.StarredElement, cst.Tuple, cst.List)):
        here, parent = parent, source.parent(parent)
    match parent:
        case cst.AssignTarget() | cst.AugAssign() | cst.AnnAssign() | cst.For() | cst.CompFor() | cst.NamedExpr():
            return parent.target is here
        case cst.AsName() | cst.Param() | cst.ImportAlias() | cst.Global() | cst.NameItem():
            return True
        case _:
            return False


def _is_only_name(source: SourceFile, statement: cst.CSTNode, name: str, other: str) -> bool:
    """Whether `name` is bound by this statement alone and only read behind it, and `other` is not bound anew."""
    scope = scope_of(source, statement)
    if not isinstance(scope, cst.FunctionDef):
        return False  # another file may read it
    end = source.span(statement).end
    for node in walk(scope):
        if not isinstance(node, cst.Name) or is_part(source, node):
            continue
        at = source.span(node).start
        if node.value == other and at > end and binds(source, node):
            return False
        if node.value == name:
            inside = at >= source.span(statement).start
            if (binds(source, node) and not source.span(statement).start <= at < end) or not inside:
                return False
            if source.enclosing(node, cst.FunctionDef) is not scope or source.enclosing(node, cst.Lambda) is not None:
                return False
    return True


def _statement_gone(source: SourceFile, statement: cst.CSTNode) -> Edit | None:
    """The edit that takes out a statement that has its line to itself, with a condition around nothing else."""
    line = layout.own_line(source, statement)
    if line is None:
        return None
    block = source.parent(line)
    if isinstance(block, cst.IndentedBlock) and len(block.body) == 1:
        around = source.parent(block)
        if not isinstance(around, cst.If) or around.orelse is not None or not _is_plain(around.test):
            return None
        if isinstance(source.parent(around), cst.If):  # an elif
            return None
        outer = source.parent(around)
        if isinstance(outer, cst.IndentedBlock) and len(outer.body) == 1:
            return None
        return lines_of(source, around)
    return lines_of(source, statement)


def _is_plain(test: cst.BaseExpression) -> bool:
    """Whether nothing is lost with a test."""
    return not any(
        isinstance(node, cst.Call) and dotted(node.func) not in ("isinstance", "hasattr") for node in walk(test)
    ) and not any(isinstance(node, (cst.NamedExpr, cst.Await)) for node in walk(test))
