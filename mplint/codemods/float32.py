"""Operations on half-precision tensors that are to be computed in float32, and the result cast back.

What depends on such an operation in the same expression is computed in float32 with it.  Names for what is not yet of
the size of the data (a variance, an inverse root) stay float32, and the expressions that read them are computed in
float32 in turn.  What leaves these expressions has the dtype that it had, unless it is the output of a model, which is
to be float32: for tensors of float32 all stays the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import libcst as cst

from mplint import keras_api
from mplint.codemods import calls, casts, statements
from mplint.codemods.rewrite import Evidence, Rewrite
from mplint.codemods.wrapping import Wrap, wrapped
from mplint.findings import Applicability, Edit, Fix
from mplint.interpreter.computations import Computations
from mplint.interpreter.ends import half_ends
from mplint.interpreter.magnitudes import is_square
from mplint.interpreter.scalars import SHAPE
from mplint.interpreter.trace import Computed
from mplint.interpreter.values import FLOATS, HALF, WIDE, Class, Made, Place, Tensor, Unknown, Value, alternatives
from mplint.interpreter.world import World, outputs_of
from mplint.keras_api import operation
from mplint.keras_api.arithmetic import TIMES
from mplint.keras_api.stability import INVERSES, ROOTS, SENSITIVE, Sensitivity, is_heavy, sensitivity
from mplint.source.file import SourceFile
from mplint.source.walk import walk

_SUMMED: Final = frozenset({Sensitivity.SUM, Sensitivity.MEAN, Sensitivity.RUNNING})
_SETTLED: Final = frozenset({"tensorflow.math.l2_normalize", "keras.ops.normalize", "keras.backend.l2_normalize"})
"""Sensitive functions whose results are of the size of 1."""
_OPEN: Final = frozenset(
    {Sensitivity.SPREAD, Sensitivity.NORM, Sensitivity.SQUARE, Sensitivity.SUM, Sensitivity.EXPONENTIAL,
     Sensitivity.POWER}
)  # fmt: skip
_UNSETTLED: Final = frozenset(path for path, kind in SENSITIVE.items() if kind in _OPEN and path not in _SETTLED)
_ARITHMETIC: Final = frozenset({"operator.+", "operator.-", "operator.*", "operator./", "operator.r*", "operator.r/"})
_OF_ENDS: Final = "MP102"
"""The rule that wants the outputs of models in float32."""


class _Unwritable(Exception):
    """What would have to be cast cannot be told from the text."""


@dataclass(frozen=True)
class InFloat32(Rewrite):
    """Compute the operation at `at` in float32, and cast what comes of it back.

    What the operations at the places in `through` give is not cast back: float16 does not hold it.
    """

    world: World
    at: Place
    through: tuple[Place, ...] = ()
    what: str = "Compute it in float32, and cast the result back"

    def plan(self, evidence: Evidence) -> Fix | None:
        """The casts, written as the file writes one; None where one of them has no place."""
        node = self.at.node
        if not isinstance(node, (cst.BinaryOperation, cst.Call)):
            return None
        through = frozenset(place.node for place in self.through)
        island = _Island(self.world, evidence, self.at.source, statements.scope(self.at.source, node), through)
        try:
            edits = island.edits(node)
        except _Unwritable:
            return None
        return Fix(self.what, Applicability.UNSAFE if self._adds_layers else Applicability.SAFE, tuple(edits))

    @property
    def _adds_layers(self) -> bool:
        """Whether casts become layers of a model with several outputs: the order of its weights may change."""
        graphs = [model for model in self.world.models if model.form == "functional"]
        return any(len(outputs_of(self.world, model)) > 1 for model in graphs) and any(
            isinstance(event, Computed)
            and event.place == self.at
            and event.result is not None
            and event.result.symbolic
            for event in self.world.trace.events
        )


class _Island:
    """What is computed in float32 in one function."""

    def __init__(
        self,
        world: World,
        evidence: Evidence,
        source: SourceFile,
        scope: statements.Scope,
        through: frozenset[cst.CSTNode],
    ) -> None:
        self._world = world
        self._evidence = evidence
        self._source = source
        self._scope = scope
        self._through = through
        self._wide: set[cst.Name] = set()
        """Where names that stay float32 are read."""
        self._rebound: set[str] = set()
        """Names that stay float32: they do not tell the dtype of the data any more."""
        self._tops: dict[cst.BaseExpression, bool] = {}
        """The outermost expressions that are computed in float32, and whether a name for one stays float32."""
        self._loose: list[cst.Name] = []
        """Where a name that stays float32 is read by what is not computed in float32."""
        self._asked: list[cst.Attribute] = []
        """Where such a name is asked for its dtype."""
        self._unsure: dict[cst.BaseExpression, None] = {}
        """What meets half precision without a dtype that is known: what `compile` casts to that of the predictions."""

    def edits(self, seed: cst.BaseExpression) -> list[Edit]:
        """The casts that compute `seed`, and what depends on it, in float32."""
        self._spread(seed)
        inner: set[cst.BaseExpression] = set()
        leaves = {top: list(self._leaves(top, inner)) for top in self._tops}
        leaves = {top: found for top, found in leaves.items() if top not in inner}
        written = self._function(seed)
        if written is None:
            raise _Unwritable
        cast, float32 = written
        every = [leaf for found in leaves.values() for leaf in found]
        wraps = [Wrap(leaf, f"{cast}(", f", {float32})") for leaf in (*every, *self._unsure)]
        for top, found in leaves.items():
            if not self._tops[top] and not self._is_cast(top) and not self._is_end(top):
                wraps.append(Wrap(top, f"{cast}(", f", {self._dtype(top, found, every)})"))
        wraps += [Wrap(name, f"{cast}(", f", {self._dtype(seed, (), every)})") for name in self._loose]
        asked = [Edit(self._source.path, self._source.span(each), self._dtype(seed, (), every)) for each in self._asked]
        return [*wrapped(self._source, wraps), *asked]

    # -- which expressions

    def _spread(self, seed: cst.BaseExpression) -> None:
        left = [seed]
        while left:
            top = self._top(left.pop())
            if top in self._tops:
                continue
            kept = self._kept(top)
            if not kept and (self._gives_several(top) or (self._may_not_fit(top) and not self._stays_wide(top))):
                raise _Unwritable
            self._tops[top] = bool(kept)
            self._rebound |= kept.keys()
            for read in [read for reads in kept.values() for read in reads]:
                self._wide.add(read)
            for reads in kept.values():
                for read in reads:
                    user = self._user(read)
                    if user is not None:
                        left.append(user)
                    elif not self._is_of_no_numbers(read) and not self._is_cast(read):
                        self._loose.append(read)

    def _is_of_no_numbers(self, read: cst.Name) -> bool:
        """Whether a tensor is asked for its shape alone, or for its dtype (which is noted)."""
        source, parent = self._source, self._source.parent(read)
        if isinstance(parent, cst.Arg):
            call = source.parent(parent)
            called = call.func.attr if isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute) else None
            return called is not None and called.value == "shape"
        if not isinstance(parent, cst.Attribute) or parent.attr.value not in ("dtype", "shape", "ndim"):
            return False
        if parent.attr.value == "dtype":
            if isinstance(source.parent(parent), cst.Attribute):
                raise _Unwritable
            self._asked.append(parent)
        return True

    def _top(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """The outermost operation in the same expression that computes with what is not of the size of the data."""
        user = self._user(node)
        while user is not None and self._is_unsettled(node):
            node, user = user, self._user(user)
        return node

    def _is_cast(self, node: cst.BaseExpression) -> bool:
        """Whether the program itself casts what `node` gives."""
        argument = self._source.parent(node)
        call = self._source.parent(argument) if isinstance(argument, cst.Arg) else None
        if not isinstance(call, cst.Call) or call.args[0] is not argument:
            return False
        events = self._events(call)
        results = [event.result for event in events if event.result is not None]
        return (
            bool(events)
            and len(results) == len(events)
            and all(result.made.kind == "cast" and result.dtype in FLOATS for result in results)
        )

    def _stays_wide(self, top: cst.BaseExpression) -> bool:
        """Whether what an operation gives is float32 from then on, and need not fit half precision."""
        casts = self._source.parent(self._source.parent(top) or top) if self._is_cast(top) else None
        if isinstance(casts, cst.Call):
            return all(event.result is not None and event.result.dtype in WIDE for event in self._events(casts))
        return self._is_end(top)

    def _is_end(self, top: cst.BaseExpression) -> bool:
        """Whether an operation gives outputs of models and nothing else: those are float32 where no comment says no."""
        place, source = self._world.machine.program.place(self._source, top), self._source
        for world in self._evidence.worlds:
            computations = world.once(Computations)
            given = [event.result.made for event in computations.at(place) if event.result is not None]
            ends = world.once(half_ends) if given else frozenset()
            users = [user for made in given for user, _ in computations.users(made)]
            if any(made not in ends for made in given) or any(
                user.place.source is source and statements.scope(source, user.place.node) is self._scope
                for user in users
            ):
                return False
        span = source.statement(top)
        rows = source.position(span.start)[0], source.position(span.end)[0]
        return not source.suppressions.silencing(_OF_ENDS, *rows) and self._evidence.in_the_middle(place) is None

    def _gives_several(self, top: cst.BaseExpression) -> bool:
        """Whether an operation gives several tensors, around which no cast can be put."""
        found = (operation(event.by, self._world.generation) for event in self._events(top))
        return any(each is not None and each.gives_several for each in found)

    def _may_not_fit(self, top: cst.BaseExpression) -> bool:
        """Whether casting the result of an operation back is likely to lose what float32 is good for."""
        kinds = {sensitivity(event.by) for event in self._events(top)}
        if top in self._through:
            return True
        return bool(kinds & {Sensitivity.EXPONENTIAL, Sensitivity.SQUARE, Sensitivity.SUM}) and self._is_unsettled(top)

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
            and not is_heavy(event.by)
            for event in events
        )

    def _kept(self, top: cst.BaseExpression) -> dict[str, list[cst.Name]]:
        """The names for what is not of the size of the data yet, and where they are read, if that is all known."""
        statement = self._source.parent(top)
        if not isinstance(statement, cst.Assign) or not self._is_unsettled(top):
            return {}
        target = statements.target(statement)
        elements = target.elements if isinstance(target, cst.Tuple) else ()
        bound = [element.value for element in elements] if elements else [target]
        names = [node.value for node in bound if isinstance(node, cst.Name)]
        found = {name: self._reads(name, statement) for name in names}
        if len(found) < len(bound):
            return {}
        return {name: reads for name, reads in found.items() if reads is not None} if None not in found.values() else {}

    def _reads(self, name: str, statement: cst.Assign) -> list[cst.Name] | None:
        """Where a local name is read that the statement binds; None where it may have come from elsewhere, too."""
        source, here = self._source, self._scope
        reads, stores = statements.loads(source, here, name), statements.stores(source, here, name)
        named = (*reads, *stores)
        local = all(self._is_of_scope(each) for each in named)
        if isinstance(here, cst.Module) or not local:
            return None
        if len(stores) == 1:
            return reads
        block = statements.block(source, statement)
        in_block = [node for node in named if not _is_param(source, node)]
        if block is None or any(self._block(node) is not block for node in in_block):
            return None
        start = source.span(statement).end
        later = [source.span(statements.around(source, node) or node).end for node in stores]
        end = min((each for each in later if each > start), default=len(source.text))
        return [read for read in reads if start < source.span(read).start < end]

    def _is_of_scope(self, node: cst.Name) -> bool:
        """Whether a name stands in the function itself, and in no function or comprehension inside of it."""
        source = self._source
        apart = statements.scope(source, node) is not self._scope or source.enclosing(node, cst.Lambda) is not None
        return not apart and not statements.is_local(source, node)

    def _block(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The block of statements in which a name stands in a simple one."""
        statement = statements.around(self._source, node)
        return statements.block(self._source, statement) if statement is not None else None

    def _is_unsettled(self, node: cst.BaseExpression) -> bool:
        """Whether an operation gives a statistic, or what is computed from statistics alone."""
        events = self._events(node)
        paths = {event.by for event in events}
        if node in self._through:
            return True
        if not paths or paths <= ROOTS | INVERSES | _UNSETTLED:
            return bool(paths)
        if all(sensitivity(path) is Sensitivity.MEAN for path in paths):
            given = [way.made for event in events for value in _tensors(event) for way in alternatives(value)]
            return any(is_square(made) is not None for made in given) or any(
                self._is_wide(operand) or self._is_unsettled(operand) for operand, _ in self._operands(node)
            )
        if not paths <= _ARITHMETIC or not isinstance(node, cst.BinaryOperation):
            return False
        operands = [side for side in (node.left, node.right) if self._is_half(side, node)]
        if isinstance(node.operator, cst.Divide) and node.left in operands:
            return False
        return all(self._is_wide(side) or self._is_unsettled(side) for side in operands)

    def _is_wide(self, node: cst.BaseExpression) -> bool:
        """Whether an expression is a name that stays float32, or a part of one."""
        while isinstance(node, cst.Subscript):
            node = node.value
        return isinstance(node, cst.Name) and node in self._wide

    # -- what they are made from

    def _leaves(self, node: cst.BaseExpression, inner: set[cst.BaseExpression]) -> Iterator[cst.BaseExpression]:
        """The half-precision operands of an operation that are not computed in float32 with it, as `inner` ones are."""
        self._unsure.update(dict.fromkeys(self._unknown(node)))
        for operand, values in self._operands(node):
            if any(not isinstance(value, Tensor) for value in values):
                raise _Unwritable
            while isinstance(operand, cst.UnaryOperation):
                operand = operand.expression
            if self._is_wide(operand):
                continue
            if self._is_movable(operand) and (self._matters(operand) or self._is_summed_product(operand, node)):
                inner.add(operand)
                yield from self._leaves(operand, inner)
            else:
                yield operand

    def _matters(self, node: cst.BaseExpression) -> bool:
        """Whether it makes a difference that `node` is computed in float32, too, and not cast when it is there."""
        for each in walk(node):
            if each in self._wide or each in self._through:
                return True
            if not isinstance(each, (cst.BinaryOperation, cst.Call)):
                continue
            for event in self._events(each):
                squares = event.result is not None and is_square(event.result.made) is not None
                if squares or sensitivity(event.by) in _OPEN:
                    return True
        return False

    def _is_summed_product(self, node: cst.BaseExpression, user: cst.BaseExpression) -> bool:
        """Whether `node` is a product of two tensors that `user` sums up: it is rounded, or overflows, before that."""
        return any(sensitivity(event.by) in _SUMMED for event in self._events(user)) and any(
            event.result is not None and _is_product(event.result.made) for event in self._events(node)
        )

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

    def _unknown(self, node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
        """Those operands, as they are written, whose dtype is not known: half precision, where it meets that."""
        for event in self._events(node):
            for name, value in event.arguments:
                if isinstance(value, Unknown) and isinstance(node, cst.BinaryOperation):
                    side = node.left if name == "left" else node.right
                    if self._may_be_data(side, value):
                        yield side
                    continue
                if not isinstance(value, Tensor) or any(way.dtype is not None for way in alternatives(value)):
                    continue
                written = self._written(node, event, name)
                if written is None:
                    raise _Unwritable
                yield self._source_of(written, value.made)

    def _may_be_data(self, node: cst.BaseExpression, value: Unknown) -> bool:
        """Whether what nothing is known of may be a tensor as well as a number: what the function was given."""
        while isinstance(node, cst.Call) and node.args:
            node = node.args[0].value
        if not isinstance(node, cst.Name) or (value.symbol is not None and value.symbol.parts[0] == SHAPE):
            return False
        return any(_is_param(self._source, each) for each in statements.stores(self._source, self._scope, node.value))

    def _source_of(self, node: cst.BaseExpression, made: Made) -> cst.BaseExpression:
        """What the sums and the like in an expression are computed of, if that is one tensor."""
        while isinstance(node, cst.Call) and made.place is not None and made.place.node is node:
            known = keras_api.parameters(made.by, self._world.generation)
            if made.kind != "operation" or len(made.operands) != 1 or not known:
                break
            arg = calls.argument_of(node, made.by, known[0].name, self._world.generation)
            if arg is None or arg.star:
                break
            node, made = arg.value, made.operands[0].made
        return node

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
        return casts.function(self._world, self._source, seed, len(running) > 1, symbolic)

    def _dtype(
        self, at: cst.BaseExpression, own: Sequence[cst.BaseExpression], others: Sequence[cst.BaseExpression]
    ) -> str:
        """How the dtype of the half-precision tensors is written: of those in the same expression, or of others."""
        for leaf in (*own, *others):
            name = self._name(leaf)
            if name is None or name.value in self._rebound:
                continue
            if leaf in own or not statements.is_local(self._source, name):
                return f"{name.value}.dtype"
        receiver = compute_dtype(self._scope, self._events(at))
        if receiver is None:
            raise _Unwritable
        return receiver

    def _name(self, node: cst.BaseExpression) -> cst.Name | None:
        """A name for a half-precision tensor in an expression, whose dtype is that of the whole."""
        if isinstance(node, cst.Name):
            return node
        if isinstance(node, cst.Subscript):
            return self._name(node.value)
        if isinstance(node, cst.UnaryOperation):
            return self._name(node.expression)
        if not self._is_movable(node):
            return None
        return next((found for operand, _ in self._operands(node) if (found := self._name(operand)) is not None), None)


def _is_product(made: Made) -> bool:
    """Whether two tensors are multiplied, and what that gives with numbers."""
    while made.by in TIMES and len(made.operands) == 1:
        made = made.operands[0].made
    return made.by in TIMES and len(made.operands) > 1


def _tensors(event: Computed) -> Iterator[Tensor]:
    return (value for _, value in event.arguments if isinstance(value, Tensor))


def _is_param(source: SourceFile, node: cst.Name) -> bool:
    return isinstance(source.parent(node), cst.Param)


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
