"""Losses that are computed in float32: what they are computed of is cast, once or where it is used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import libcst as cst

from mplint.codemods import layout, statements
from mplint.codemods.casts import caster
from mplint.codemods.rewrite import Evidence, Rewrite, only_shown
from mplint.findings import Applicability, Edit, Fix
from mplint.interpreter.half_losses import OF_CLASS, HalfLoss, HalfLosses
from mplint.interpreter.trace import Computed, LayerCalled
from mplint.interpreter.values import HALF, List, Tensor, Tuple, Value
from mplint.interpreter.world import World
from mplint.source.file import SourceFile
from mplint.source.walk import walk

_WHAT: Final = "compute the loss in float32"
_NARROW: Final = ("float16", "half", "compute_dtype")
"""Words of arguments that keep an operation in half precision."""


@dataclass(frozen=True)
class LossInFloat32(Rewrite):
    """Cast to float32 what a loss is computed of."""

    world: World
    loss: HalfLoss

    def plan(self, evidence: Evidence) -> Fix | None:
        """By name in front of the loss, where a name stands for it there; else where it is used."""
        functions: dict[cst.CSTNode, _Function] = {}
        for event in self.loss.operations:
            operands = _operands(event.place.node)
            if operands is None or any(
                word in layout.code(event.place.source, arg) for arg in operands for word in _NARROW
            ):
                return None
            scope = statements.scope(event.place.source, event.place.node)
            here = functions.setdefault(scope, _Function(self.world, event.place.source, scope))
            if not here.take(event, operands):
                return None
        edits: list[Edit] = []
        for function in functions.values():
            written = function.edits(evidence)
            if written is None:
                return None
            edits += written
        if not edits:
            return None
        other = self._elsewhere(evidence)
        return only_shown(_WHAT, other, edits) if other is not None else Fix(_WHAT, Applicability.SAFE, tuple(edits))

    def _elsewhere(self, evidence: Evidence) -> str | None:
        """Where (file and row) one of its operations is no part of a loss in some other call."""
        places = {event.place for event in self.loss.operations}
        for world in evidence.worlds:
            losses = world.once(HalfLosses)
            for event in world.trace.events:
                if not isinstance(event, Computed) or event.place not in places or event.result is None:
                    continue
                if event.result.dtype in HALF and event.result.made not in losses.members:
                    return evidence.row_of(event.place)
        return None


@dataclass
class _Function:
    """What is to be cast in one function, or at the top level of a module."""

    world: World
    source: SourceFile
    scope: statements.Scope
    leaves: list[tuple[cst.BaseExpression, Tensor]] = field(default_factory=list)

    def take(self, event: Computed, operands: Sequence[cst.BaseExpression]) -> bool:
        """Note the operands of an operation that come from elsewhere; False where they cannot be told apart."""
        values = [value for _, value in event.arguments]
        if event.by == OF_CLASS:
            return True
        if len(values) < len(operands):
            return False
        return all(self._take(node, value) for node, value in zip(operands, values, strict=False))

    def _take(self, node: cst.BaseExpression, value: Value) -> bool:
        losses = self.world.once(HalfLosses)
        match value:
            case Tensor():
                if (
                    value.dtype in HALF
                    and not losses.is_member(value)
                    and all(node is not leaf for leaf, _ in self.leaves)
                ):
                    self.leaves.append((node, value))
                    parent = self.source.parent(node)
                    return not (isinstance(parent, cst.AugAssign) and parent.target is node)
                return True
            case Tuple() | List():
                held = value if isinstance(value, Tuple) else self.world.machine.items(value)
                if not any(isinstance(part, Tensor) and part.dtype in HALF for part in self.world.machine.parts(held)):
                    return True
                if not isinstance(node, (cst.Tuple, cst.List)) or held.rest is not None:
                    return all(
                        losses.is_member(part) for part in self.world.machine.parts(held) if isinstance(part, Tensor)
                    )
                if len(node.elements) != len(held.items):
                    return False
                return all(
                    self._take(element.value, item) for element, item in zip(node.elements, held.items, strict=True)
                )
            case _:
                return True

    def edits(self, evidence: Evidence) -> list[Edit] | None:
        """The casts; None where the file cannot write one."""
        if not self.leaves:
            return []
        symbolic = self.world.generation == "3" and any(value.symbolic for _, value in self.leaves)
        written = caster(self.world, self.source, self.leaves[0][0], symbolic, self._is_in_both(evidence))
        if written is None:
            return None
        before, after = written
        if len(self.leaves) > 1:
            named = self._named(before, after)
            if named is not None:
                return named
        return [self._around(node, before, after) for node, _ in self.leaves]

    def _is_in_both(self, evidence: Evidence) -> bool:
        generations = {
            world.generation
            for world in evidence.worlds
            for event in world.once(HalfLosses).members
            if event.place is not None and event.place.source is self.source
            and statements.scope(self.source, event.place.node) is self.scope
        }  # fmt: skip
        return len(generations) > 1

    def _around(self, node: cst.BaseExpression, before: str, after: str) -> Edit:
        span = self.source.span(node, parentheses=True)
        text = self.source.text[span.start : span.end]
        if node.lpar and text.startswith("(") and text.endswith(")") and "\n" not in text:
            text = text[1:-1]
        return Edit(self.source.path, span, before + text + after)

    # -- once, by name

    def _named(self, before: str, after: str) -> list[Edit] | None:
        """One statement in front of the loss that binds the names anew, and casts of what has no name."""
        names: dict[str, list[cst.Name]] = {}
        others: list[cst.BaseExpression] = []
        for node in sorted((leaf for leaf, _ in self.leaves), key=lambda leaf: self.source.span(leaf).start):
            if isinstance(node, cst.Name) and not statements.is_local(self.source, node):
                names.setdefault(node.value, []).append(node)
            else:
                others.append(node)
        followers = {
            name: statement for name, nodes in names.items() if (statement := self._follows(name, names)) is not None
        }
        bound = [name for name in names if name not in followers]
        uses = [node for name in bound for node in names[name]]
        if not bound or len(uses) + sum(len(names[name]) for name in followers) < 2:
            return None
        at = self._in_front([*uses, *followers.values()])
        if at is None or not all(self._is_free(name, names[name], at) for name in bound):
            return None
        if any(not self._is_free(name, names[name], followers[name], own=True) for name in followers):
            return None
        casts = ", ".join(f"{before}{name}{after}" for name in bound)
        return [
            statements.in_front(self.source, at, f"{', '.join(bound)} = {casts}"),
            *(self._around(node, before, after) for node in others),
        ]

    def _follows(self, name: str, names: dict[str, list[cst.Name]]) -> cst.BaseSmallStatement | None:
        """The statement that casts `name` to the dtype of another of `names`: when that is float32, to float32."""
        for statement in walk(self.scope):
            target = statements.target(statement)
            if not isinstance(target, cst.Name) or target.value != name:
                continue
            value = getattr(statement, "value", None)
            dtypes = [
                arg.value.value.value
                for arg in (value.args if isinstance(value, cst.Call) else ())
                if isinstance(arg.value, cst.Attribute)
                and arg.value.attr.value == "dtype"
                and isinstance(arg.value.value, cst.Name)
            ]
            if isinstance(statement, cst.BaseSmallStatement) and any(word in names and word != name for word in dtypes):
                return statement
        return None

    def _in_front(self, nodes: Sequence[cst.CSTNode]) -> cst.BaseSmallStatement | None:
        """The first statement with one of `nodes`, where all the others stand behind it in its block."""
        first = min(nodes, key=lambda node: self.source.span(node).start)
        statement = statements.around(self.source, first)
        block = statements.block(self.source, statement) if statement is not None else None
        if statement is None or block is None:
            return None
        line = self.source.parent(statement)
        index = next((number for number, each in enumerate(block.body) if each is line), len(block.body))
        rest = {id(node) for each in block.body[index:] for node in walk(each)}
        return statement if all(id(node) in rest for node in nodes) else None

    def _is_free(self, name: str, leaves: Sequence[cst.Name], at: cst.BaseSmallStatement, *, own: bool = False) -> bool:
        """Whether all that reads `name` from the statement `at` on can as well read it in float32."""
        start = self.source.span(at).start
        stored = [node for node in statements.stores(self.source, self.scope, name) if self._binds(node)]
        if any(self.source.span(node).start >= start for node in stored if not (own and self._is_in(node, at))):
            return False
        if not own and not any(self.source.span(node).start < start for node in stored):
            return False
        loop = self.source.enclosing(at, cst.For) or self.source.enclosing(at, cst.While)
        if loop is not None and self._is_in(loop, self.scope) and not any(self._is_in(node, loop) for node in stored):
            return False  # the next pass of the loop would find it cast
        return all(
            any(node is leaf for leaf in leaves) or self._takes_any(node) or (own and self._is_in(node, at))
            for node in statements.loads(self.source, self.scope, name)
            if self.source.span(node).start >= start
        )

    def _binds(self, node: cst.Name) -> bool:
        return not isinstance(self.source.parent(node), (cst.Attribute, cst.Arg))

    def _is_in(self, node: cst.CSTNode, outer: cst.CSTNode) -> bool:
        span, around = self.source.span(node), self.source.span(outer)
        return around.start <= span.start and span.end <= around.end

    def _takes_any(self, node: cst.Name) -> bool:
        """Whether what reads the name there does not mind its dtype: a layer, which casts it itself, or its shape."""
        parent = self.source.parent(node)
        if isinstance(parent, cst.Attribute):
            return parent.attr.value in ("shape", "dtype")
        call = self.source.parent(parent) if isinstance(parent, cst.Arg) else None
        return call is not None and call in self._layer_calls

    @property
    def _layer_calls(self) -> set[cst.CSTNode]:
        return {event.place.node for event in self.world.trace.events if isinstance(event, LayerCalled)}


def _operands(node: cst.CSTNode) -> list[cst.BaseExpression] | None:
    """The expressions of what an operation is done to, in the order in which the trace has them."""
    match node:
        case cst.BinaryOperation(left=left, right=right):
            return [left, right]
        case cst.AugAssign(target=left, value=right):
            return [left, right]
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(comparator=right)]):
            return [left, right]
        case cst.Call(args=args) if not any(arg.star for arg in args):
            return [arg.value for arg in args]
        case _:
            return None
