"""A loop that unscales its gradients, written without: what comes behind is given the scaled ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import libcst as cst

from mplint.codemods import layout, statements
from mplint.codemods.clipping import NORM_GIVEN, limits, times_scale
from mplint.codemods.expressions import reduced
from mplint.codemods.rewrite import Evidence, Rewrite
from mplint.findings import Applicability, Edit, Fix
from mplint.interpreter.code import dotted
from mplint.interpreter.keras.training import APPLIES
from mplint.interpreter.values import Place
from mplint.keras_api.arithmetic import LIMITS
from mplint.keras_api.optimizers import SCALE_METHODS
from mplint.source.file import SourceFile
from mplint.source.walk import walk

_GLOBALLY: Final = "clip_by_global_norm"
_CLIPS: Final = {path.rpartition(".")[2]: path for path in LIMITS if path.startswith("tensorflow.")}
_WHAT: Final = "leave the gradients scaled: apply_gradients divides by the scale"


@dataclass(frozen=True)
class LeftToKeras3(Rewrite):
    """`get_unscaled_gradients(gradients)` at `at` goes: `apply_gradients` divides by the scale."""

    at: Place

    def plan(self, evidence: Evidence) -> Fix | None:
        """What comes behind reads the scaled gradients, and what holds them against a number has to know the scale."""
        call = self.at.node
        if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute):
            return None
        if len(call.args) != 1 or call.args[0].star:
            return None
        scale = f"{layout.code(self.at.source, call.func.value)}.{SCALE_METHODS['3']}(1.0)"
        return _Unscaling(self.at.source, call, scale).left_out()


@dataclass
class _Unscaling:
    """One call of `get_unscaled_gradients`, and what its optimizer says of its scale in Keras 3."""

    source: SourceFile
    call: cst.Call
    scale: str
    _edits: list[Edit] = field(default_factory=list)
    _doubts: bool = False
    _seen: set[int] = field(default_factory=set)

    def left_out(self) -> Fix | None:
        """The fix that leaves it out; only shown where something behind it may count on unscaled gradients."""
        statement = statements.simple(self.source, self.call)
        target = statements.target(statement)
        if statement is not None and isinstance(target, cst.Name) and statements.value(statement) is self.call:
            edits = self._assigned(statement, target.value)
        else:
            self._given_to(self.call)
            edits = self._argument()
        if edits is None:
            return None
        level = Applicability.DISPLAY if self._doubts else Applicability.SAFE
        what = f"{_WHAT}; see to it that what else reads them expects that" if self._doubts else _WHAT
        return Fix(what, level, (*edits, *self._edits))

    def _argument(self) -> list[Edit] | None:
        """The edits that put what the call is given in its place."""
        return reduced(self.source, self.call, self.call.args[0].value)

    def _assigned(self, statement: cst.BaseSmallStatement, target: str) -> list[Edit] | None:
        """`gradients = optimizer.get_unscaled_gradients(scaled)`."""
        source, given = self.source, self.call.args[0].value
        uses = list(_reads_behind(source, statement, target))
        self._follow(uses)
        if not isinstance(given, cst.Name):
            return self._argument()
        if given.value != target and not _is_only_name(source, statement, target, given.value):
            return self._argument()
        gone = _gone(source, statement)
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
            elif name not in APPLIES:
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
                if last in _CLIPS and last != _GLOBALLY:
                    self._clipped(inner, last, whole=False)
                    self._given_to(comprehension)
                    return
            case _:
                pass
        self._doubts = True

    def _clipped(self, call: cst.Call, name: str, *, whole: bool) -> None:
        """The numbers become scaled, too."""
        keywords = (argument.keyword.value for argument in call.args if argument.keyword is not None)
        if NORM_GIVEN in keywords or any(argument.star for argument in call.args):
            self._doubts = True
        self._edits += [times_scale(self.source, limit, self.scale) for limit in limits(call, _CLIPS[name])]
        if not whole:
            return
        if name != _GLOBALLY:
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


def _reads_behind(source: SourceFile, statement: cst.CSTNode, name: str) -> Iterator[cst.Name]:
    """Where the variable `name` is read behind a statement that binds it, up to where it is bound anew."""
    start, stop = source.span(statement).end, len(source.text)
    here = statements.scope(source, statement)
    bound = [node for node in statements.stores(source, here, name) if source.span(node).start >= start]
    if bound:
        first = min(bound, key=lambda node: source.span(node).start)
        stop = source.span(statements.simple(source, first) or first).end  # whose right side still reads it
    for node in statements.loads(source, here, name):
        if start <= source.span(node).start <= stop:
            yield node


def _is_only_name(source: SourceFile, statement: cst.CSTNode, name: str, other: str) -> bool:
    """Whether `name` is bound by this statement alone and only read behind it, and `other` is not bound anew."""
    scope, span = statements.scope(source, statement), source.span(statement)
    if not isinstance(scope, cst.FunctionDef):
        return False  # another file may read it
    if any(source.span(node).start > span.end for node in statements.stores(source, scope, other)):
        return False
    bound, read = statements.stores(source, scope, name), statements.loads(source, scope, name)
    return (
        all(span.start <= source.span(node).start < span.end for node in bound)
        and all(source.span(node).start >= span.start for node in read)
        and all(statements.scope(source, node) is scope for node in (*bound, *read))
        and all(source.enclosing(node, cst.Lambda) is None for node in (*bound, *read))
    )


def _gone(source: SourceFile, statement: cst.BaseSmallStatement) -> Edit | None:
    """Without a statement that has its line to itself, and without a condition around nothing else.

    None where a comment stands there: it would speak of what is gone.
    """
    block = statements.block(source, statement)
    if block is None or statements.around(source, statement) is None:
        return None
    whole: cst.CSTNode = statement
    if len(block.body) == 1 and isinstance(block, cst.IndentedBlock):
        condition = source.parent(block)
        if not isinstance(condition, cst.If) or condition.orelse is not None or not _is_plain(condition.test):
            return None
        outer = statements.block(source, condition)  # None of an elif
        if outer is None or len(outer.body) == 1:
            return None
        whole = condition
    span = source.span(whole)
    is_told_of = layout.comments_in(source.text[span.start : layout.line_end(source, span.end)])
    return None if is_told_of else statements.removed(source, whole)


def _is_plain(test: cst.BaseExpression) -> bool:
    """Whether nothing is lost with a test."""
    return not any(
        isinstance(node, (cst.NamedExpr, cst.Await))
        or (isinstance(node, cst.Call) and dotted(node.func) not in ("isinstance", "hasattr"))
        for node in walk(test)
    )
