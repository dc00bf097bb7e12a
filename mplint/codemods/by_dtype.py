"""Numbers that do not fit a half dtype: another one there, and the same one in every other dtype."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import libcst as cst

from mplint.codemods import calls, layout, names, statements
from mplint.codemods.float32 import compute_dtype
from mplint.codemods.rewrite import Evidence, Rewrite
from mplint.codemods.wrapping import Wrap, wrapped
from mplint.findings import Applicability, Edit, Fix
from mplint.interpreter.computations import Computations
from mplint.interpreter.magnitudes import numbers, overflows
from mplint.interpreter.numerics import Overflow, Underflow
from mplint.interpreter.trace import Computed
from mplint.interpreter.values import Const, Symbol, Tensor, Unknown, Value
from mplint.interpreter.world import World

_MASKS: Final = {"float16": "3e4", "bfloat16": "1e9"}
"""Large enough for a softmax to give 0, and small enough for two of them, and a logit, to be added up."""
_BOUNDS: Final = {"float16": "65504.0", "bfloat16": "3e38"}
_DIVISOR: Final = "1e-4"
_CHOOSES: Final = "condition"
"""The parameter of `where` whose elements are none of the result's."""
_DTYPES: Final = (".dtype", "dtype", "compute_dtype")
"""How names end that stand for a dtype."""


@dataclass(frozen=True)
class FitFloat16(Rewrite):
    """Where the tensors that it meets are float16 (or bfloat16), take a number that this holds."""

    world: World
    fault: Overflow | Underflow

    def plan(self, evidence: Evidence) -> Fix | None:
        """A conditional expression in the place of the number, however that is written."""
        if isinstance(self.fault, Overflow) and self.fault.is_cast:
            return self._inside(self.fault.arguments[0])
        names = self.fault.arguments if isinstance(self.fault, Overflow) else (self.fault.argument,)
        edits: list[Edit] = []
        for name in names:
            node = _argument(self.world, self.fault.event, name)
            dtype = self._dtype(node) if node is not None else None
            if node is None or dtype is None:
                return None
            edits.append(self._edit(node, dtype, self._other(dict(self.fault.event.arguments)[name])))
        return self._fix(edits)

    def _fix(self, edits: Sequence[Edit]) -> Fix:
        dtype = self.fault.dtype
        return Fix(f"Take a number that {dtype} holds where it is {dtype}", Applicability.SAFE, tuple(edits))

    def _other(self, value: Value) -> str:
        """The number that fits, instead of a value."""
        if isinstance(self.fault, Underflow):
            return _DIVISOR
        dtype = self.fault.dtype
        too_large = (number for number in numbers(value) if overflows(number, dtype))
        negative = next(too_large, self.fault.number) < 0
        return ("-" if negative else "") + (_BOUNDS if self.fault.is_bound else _MASKS)[dtype]

    def _edit(self, node: cst.BaseExpression, dtype: str, other: str) -> Edit:
        source = self.fault.at.source
        half = layout.quoted(source, self.fault.dtype)
        otherwise = layout.code(source, node)
        text = f"{other} if {dtype} == {half} else {otherwise}"
        if not isinstance(source.parent(node), (cst.Arg, cst.Assign)) or isinstance(node, (cst.IfExp, cst.Lambda)):
            text = f"({text})"
        return Edit(source.path, source.span(node, parentheses=True), text)

    # -- whose dtype decides

    def _dtype(self, node: cst.BaseExpression) -> str | None:
        """How the dtype of what the number meets is written."""
        event, source = self.fault.event, self.fault.at.source
        for name, value in event.arguments:
            if isinstance(value, Tensor) and value.dtype == self.fault.dtype and name != _CHOOSES:
                found = self._written_dtype(_argument(self.world, event, name), value)
                if found is not None:
                    return found
        asked = (
            calls.argument_of(event.place.node, event.by, "dtype", self.world.generation)
            if isinstance(event.place.node, cst.Call)
            else None
        )
        if asked is not None and isinstance(asked.value, cst.Attribute) and asked.value.attr.value.endswith(_DTYPES):
            return layout.code(source, asked.value)
        return compute_dtype(statements.scope(source, node), [event])

    def _written_dtype(self, node: cst.BaseExpression | None, given: Tensor) -> str | None:
        """How the dtype of an expression is written, which is the half tensor `given`: that of a name in it."""
        source = self.fault.at.source
        if isinstance(node, cst.Name):
            return f"{node.value}.dtype"
        if isinstance(node, cst.UnaryOperation):
            return self._written_dtype(node.expression, given)
        if isinstance(node, cst.Subscript):
            if given.made.by == "part":
                return self._written_dtype(node.value, given.made.operands[0])
            return f"{layout.code(source, node)}.dtype" if isinstance(node.value, cst.Name) else None  # of a list
        if not isinstance(node, (cst.BinaryOperation, cst.Call)):
            return None
        place = self.world.machine.program.place(source, node)
        for event in self.world.once(Computations).at(place):
            if event.result is not None and event.result.made.kind == "cast":
                return self._asked(event)
            if event.result is None or event.result.made.kind != "operation":
                continue
            for name, value in event.arguments:
                if isinstance(value, Tensor) and value.dtype == self.fault.dtype:
                    found = self._written_dtype(_argument(self.world, event, name), value)
                    if found is not None:
                        return found
        return None

    # -- a number inside of what it meets

    def _inside(self, name: str) -> Fix | None:
        """The same for a number in the arithmetic that gives what is cast or added, where that is written there.

        What is cast and comes from elsewhere is bounded before.
        """
        event = self.fault.event
        node, value = _argument(self.world, event, name), dict(event.arguments)[name]
        dtype = self._target(event)
        if dtype is None or node is None:
            return None
        found = list(self._numbers(node, value))
        if found:
            return self._fix([self._edit(each, dtype, self._other(Const(self.fault.number))) for each in found])
        return self._bounded(node, dtype) if isinstance(value, Tensor) else None

    def _bounded(self, node: cst.BaseExpression, dtype: str) -> Fix | None:
        """What is cast, no lower (or no higher) than the dtype reaches."""
        source, negative = self.fault.at.source, self.fault.number < 0
        function = "maximum" if negative else "minimum"
        written = names.written(self.world, source, f"tensorflow.math.{function}") or names.written(
            self.world, source, f"keras.ops.{function}"
        )
        if written is None:
            return None
        half, infinite = layout.quoted(source, self.fault.dtype), layout.quoted(source, "-inf" if negative else "inf")
        bound = f"{self._other(Const(self.fault.number))} if {dtype} == {half} else float({infinite})"
        return self._fix(wrapped(source, [Wrap(node, f"{written}(", f", {bound})")]))

    def _target(self, event: Computed) -> str | None:
        """How the dtype is written that something is cast to, or of what it is added to."""
        if event.result is None or event.result.made.kind != "cast":
            written = [
                self._written_dtype(_argument(self.world, event, name), value)
                for name, value in event.arguments
                if isinstance(value, Tensor) and value.dtype == self.fault.dtype
            ]
            return next((dtype for dtype in written if dtype is not None), None)
        return self._asked(event)

    def _asked(self, event: Computed) -> str | None:
        """How the dtype is written that something is cast to, where that is the dtype of something."""
        node = event.place.node
        if not isinstance(node, cst.Call):
            return None
        position = 0 if event.by == "astype" else 1
        asked = calls.argument_at(node, "dtype", position)
        if asked is None or not isinstance(asked.value, (cst.Name, cst.Attribute)):
            return None
        text = layout.code(self.fault.at.source, asked.value)
        return text if text.endswith(_DTYPES) else None

    def _numbers(self, node: cst.BaseExpression | None, value: Value | Symbol) -> Iterator[cst.BaseExpression]:
        """The expressions in `node` that are numbers which do not fit."""
        if isinstance(value, Unknown) and value.symbol is not None:
            value = value.symbol
        match node, value:
            case cst.BinaryOperation(), Symbol(parts=(_, left, right)):
                held: Sequence[tuple[cst.BaseExpression, object]] = ((node.left, left), (node.right, right))
            case cst.BinaryOperation(), Tensor() if len(value.made.arguments) == 2:
                (_, left), (_, right) = value.made.arguments
                held = ((node.left, left), (node.right, right))
            case cst.Call(), Tensor() if value.made.by not in ("part", "autocast"):
                held = [
                    (arg.value, argument)
                    for name, argument in value.made.arguments
                    if (arg := calls.argument_of(node, value.made.by, name, self.world.generation)) is not None
                ]
            case cst.Subscript(), _:
                whole = value.made.operands[0] if isinstance(value, Tensor) and value.made.by == "part" else value
                yield from self._numbers(node.value, whole)
                return
            case _:
                return
        for inner, each in held:
            if isinstance(each, (Value, Symbol)):
                if isinstance(each, Value) and any(number == self.fault.number for number in numbers(each)):
                    yield inner
                else:
                    yield from self._numbers(inner, each)


def _argument(world: World, event: Computed, name: str) -> cst.BaseExpression | None:
    """How an argument of an operation is written."""
    match event.place.node:
        case cst.BinaryOperation() as node:
            return node.left if name == "left" else node.right
        case cst.AugAssign() as node:
            return node.target if name == "left" else node.value
        case cst.Call() as node if event.by == "astype":
            return node.func.value if isinstance(node.func, cst.Attribute) else None
        case cst.Call() as node:
            arg = calls.argument_of(node, event.by, name, world.generation)
            return arg.value if arg is not None else None
        case _:
            return None
