"""Operations on half-precision tensors that are to be computed in float32, and the result cast back.

What depends on such an operation in the same expression is computed in float32 with it.  Names for what is not yet of
the size of the data (a variance, an inverse root) stay float32, and the expressions that read them are computed in
float32 in turn.  What leaves these expressions has the dtype that it had: for tensors of float32 all stays the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import libcst as cst

from mplint.codemods import calls, casts, statements
from mplint.codemods.rewrite import Evidence, Rewrite
from mplint.codemods.wrapping import Wrap, wrapped
from mplint.findings import Applicability, Edit, Fix
from mplint.interpreter.computations import Computations
from mplint.interpreter.trace import Computed
from mplint.interpreter.values import HALF, Class, Place, Tensor, Value
from mplint.interpreter.world import World
from mplint.keras_api.stability import HEAVY, INVERSES, ROOTS, SENSITIVE, Sensitivity
from mplint.source.file import SourceFile

_SETTLED: Final = frozenset(
    {"tensorflow.math.l2_normalize", "keras.ops.normalize", "keras.backend.l2_normalize"}
    | {path for path, kind in SENSITIVE.items() if kind is Sensitivity.SOFTMAX}
)
"""Sensitive functions whose results are of the size of 1."""
_UNSETTLED: Final = frozenset(path for path in SENSITIVE if path not in _SETTLED)
_ARITHMETIC: Final = frozenset({"operator.+", "operator.-", "operator.*", "operator./", "operator.r*", "operator.r/"})


class _Unwritable(Exception):
    """What would have to be cast cannot be told from the text."""


@dataclass(frozen=True)
class InFloat32(Rewrite):
    """Compute the operation at `at` in float32, and cast what comes of it back."""

    world: World
    at: Place
    what: str = "Compute it in float32, and cast the result back"

    def plan(self, evidence: Evidence) -> Fix | None:
        """The casts, written as the file writes one; None where one of them has no place."""
        node = self.at.node
        if not isinstance(node, (cst.BinaryOperation, cst.Call)):
            return None
        island = _Island(self.world, evidence, self.at.source, statements.scope(self.at.source, node))
        try:
            edits = island.edits(node)
        except _Unwritable:
            return None
        return Fix(self.what, Applicability.SAFE, tuple(edits))


class _Island:
    """What is computed in float32 in one function."""

    def __init__(self, world: World, evidence: Evidence, source: SourceFile, scope: statements.Scope) -> None:
        self._world = world
        self._evidence = evidence
        self._source = source
        self._scope = scope
        self._wide: set[str] = set()
        """The names that stay float32."""
        self._tops: dict[cst.BaseExpression, bool] = {}
        """The outermost expressions that are computed in float32, and whether a name for one stays float32."""
        self._loose: list[cst.Name] = []
        """Where a name that stays float32 is read by what is not computed in float32."""

    def edits(self, seed: cst.BaseExpression) -> list[Edit]:
        """The casts that compute `seed`, and what depends on it, in float32."""
        self._spread(seed)
        leaves = {top: list(self._leaves(top)) for top in self._tops}
        written = self._function(seed)
        if written is None:
            raise _Unwritable
        cast, float32 = written
        wraps = [Wrap(leaf, f"{cast}(", f", {float32})") for inner in leaves.values() for leaf in inner]
        every = [leaf for inner in leaves.values() for leaf in inner]
        for top, stays in self._tops.items():
            if not stays:
                wraps.append(Wrap(top, f"{cast}(", f", {self._dtype([*leaves[top], *every], top)})"))
        wraps += [Wrap(name, f"{cast}(", f", {self._dtype(every, seed)})") for name in self._loose]
        return wrapped(self._source, wraps)

    # -- which expressions

    def _spread(self, seed: cst.BaseExpression) -> None:
        left = [seed]
        while left:
            top = self._top(left.pop())
            if top in self._tops:
                continue
            names = self._kept(top)
            self._tops[top] = bool(names)
            for name in names:
                self._wide.add(name)
                for read in statements.loads(self._source, self._scope, name):
                    user = self._user(read)
                    if user is None:
                        self._loose.append(read)
                    else:
                        left.append(user)

    def _top(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """The outermost operation that depends on `node` in the same expression."""
        user = self._user(node)
        while user is not None:
            node, user = user, self._user(user)
        return node

    def _user(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        """The operation that takes `node` for an operand, where it can be computed in float32."""
        parent = self._source.parent(node)
        while isinstance(parent, (cst.UnaryOperation, cst.Arg, cst.Subscript)):
            if isinstance(parent, cst.Subscript) and parent.value is not node:
                return None
            if isinstance(parent, cst.Arg) and parent.star:
                return None
            node = parent if isinstance(parent, cst.BaseExpression) else node
            parent = self._source.parent(parent)
        if isinstance(parent, cst.Call) and parent.func is node:
            return None
        return parent if isinstance(parent, (cst.BinaryOperation, cst.Call)) and self._is_movable(parent) else None

    def _is_movable(self, node: cst.BaseExpression) -> bool:
        """Whether an operation can be computed in float32: it gives half precision, and is not what that is for."""
        events = self._events(node)
        return bool(events) and all(
            event.result is not None
            and event.result.dtype in HALF
            and event.result.made.kind == "operation"
            and event.by not in HEAVY
            for event in events
        )

    def _kept(self, top: cst.BaseExpression) -> tuple[str, ...]:
        """The names for what is not of the size of the data yet, where an assignment gives them and nothing else."""
        statement = self._source.parent(top)
        target = statements.target(statement) if isinstance(statement, cst.Assign) else None
        elements = target.elements if isinstance(target, cst.Tuple) else ()
        bound = [element.value for element in elements] if elements else [target]
        names = tuple(node.value for node in bound if isinstance(node, cst.Name))
        if not names or len(names) < len(bound) or not self._is_unsettled(top):
            return ()
        return names if all(map(self._is_bound_once, names)) else ()

    def _is_bound_once(self, name: str) -> bool:
        """Whether a local name is bound at one place, and read in the same function alone."""
        if isinstance(self._scope, cst.Module):
            return False
        reads = statements.loads(self._source, self._scope, name)
        return len(statements.stores(self._source, self._scope, name)) == 1 and all(
            statements.scope(self._source, read) is self._scope and not statements.is_local(self._source, read)
            for read in reads
        )

    def _is_unsettled(self, node: cst.BaseExpression) -> bool:
        """Whether an operation gives a statistic, or what is computed from statistics alone."""
        paths = {event.by for event in self._events(node)}
        if paths <= ROOTS | INVERSES | _UNSETTLED:
            return True
        if not paths <= _ARITHMETIC or not isinstance(node, cst.BinaryOperation):
            return False
        operands = [side for side in (node.left, node.right) if self._is_half(side, node)]
        return all(self._is_wide(side) or self._is_unsettled(side) for side in operands)

    def _is_wide(self, node: cst.BaseExpression) -> bool:
        """Whether an expression is a name that stays float32, or a part of one."""
        while isinstance(node, cst.Subscript):
            node = node.value
        return isinstance(node, cst.Name) and node.value in self._wide

    # -- what they are made from

    def _leaves(self, node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
        """The half-precision operands of an operation that are not computed in float32 with it."""
        for operand, values in self._operands(node):
            if any(not isinstance(value, Tensor) for value in values):
                raise _Unwritable
            while isinstance(operand, cst.UnaryOperation):
                operand = operand.expression
            if self._is_wide(operand):
                continue
            if self._is_movable(operand):
                yield from self._leaves(operand)
            else:
                yield operand

    def _operands(self, node: cst.BaseExpression) -> Iterator[tuple[cst.BaseExpression, list[Value]]]:
        """Those operands of an operation, as they are written, that are of half precision; and what they are."""
        found: dict[cst.BaseExpression, list[Value]] = {}
        for event in self._events(node):
            for name, value in event.arguments:
                if not any(isinstance(part, Tensor) and part.dtype in HALF for part in self._parts(value)):
                    continue
                written = self._written(node, event, name)
                if written is None:
                    raise _Unwritable
                found.setdefault(written, []).append(value)
        yield from found.items()

    def _is_half(self, operand: cst.BaseExpression, node: cst.BaseExpression) -> bool:
        return any(operand is written for written, _ in self._operands(node))

    def _parts(self, value: Value) -> Iterator[Value]:
        yield from self._world.machine.parts(value)

    def _written(self, node: cst.BaseExpression, event: Computed, name: str) -> cst.BaseExpression | None:
        """How the argument `name` of an operation is written."""
        if isinstance(node, cst.BinaryOperation):
            return node.left if name == "left" else node.right
        assert isinstance(node, cst.Call)
        arg = calls.argument_of(node, event.by, name, self._world.generation)
        return arg.value if arg is not None else None

    def _events(self, node: cst.BaseExpression) -> Sequence[Computed]:
        """What happens at an operation in all runs of the program."""
        if not isinstance(node, (cst.BinaryOperation, cst.Call)):
            return ()
        place = self._world.machine.program.place(self._source, node)
        return [event for world in self._evidence.worlds for event in world.once(Computations).at(place)]

    # -- how the casts are written

    def _function(self, seed: cst.BaseExpression) -> tuple[str, str] | None:
        place = self._world.machine.program.place(self._source, seed)
        running = {world.generation for world in self._evidence.worlds if world.once(Computations).at(place)}
        symbolic = any(
            part.symbolic
            for top in self._tops
            for event in self._events(top)
            for _, value in event.arguments
            for part in self._parts(value)
            if isinstance(part, Tensor)
        )
        return casts.function(self._world, self._source, len(running) > 1, symbolic)

    def _dtype(self, leaves: Sequence[cst.BaseExpression], at: cst.BaseExpression) -> str:
        """How the dtype of the half-precision tensors is written."""
        for leaf in leaves:
            if isinstance(leaf, cst.Name) and not statements.is_local(self._source, leaf):
                return f"{leaf.value}.dtype"
        receiver = compute_dtype(self._scope, self._events(at))
        if receiver is None:
            raise _Unwritable
        return receiver


def compute_dtype(scope: statements.Scope, events: Sequence[Computed]) -> str | None:
    """How a method of a layer writes the dtype in which the layer computes, where that is the dtype of its tensors."""
    if not isinstance(scope, cst.FunctionDef) or not scope.params.params or not events:
        return None
    inside = [event.inside for event in events]
    if any(layer is None or not isinstance(layer.cls, Class) or not _has(layer.cls, scope) for layer in inside):
        return None
    return f"{scope.params.params[0].name.value}.compute_dtype"


def _has(cls: Class, method: cst.FunctionDef) -> bool:
    """Whether a function is a method of the class, or of one that it derives from."""
    bodies = [each.code.node for each in cls.mro if isinstance(each, Class)]
    return any(isinstance(body, cst.ClassDef) and method in body.body.body for body in bodies)
