"""The operands of an operation as they are written, and how to write the dtype of one of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import libcst as cst

from mplint.codemods import calls, layout
from mplint.interpreter.code import dotted
from mplint.interpreter.trace import Computed
from mplint.interpreter.values import FLOATS, List, Place, Tensor, Tuple, Value
from mplint.interpreter.world import World
from mplint.source.file import SourceFile

_DEEPEST: Final = 12


@dataclass(frozen=True)
class Operand:
    """A tensor that goes into an operation, and the expression that stands for it there."""

    node: cst.BaseExpression
    tensor: Tensor


def operands(world: World, event: Computed) -> list[Operand]:
    """The operands whose expressions are known; none of an operation that is written in another way."""
    given = dict(event.arguments)
    found: list[Operand] = []
    pairs: list[tuple[cst.BaseExpression, Value | None]]
    match event.place.node:
        case cst.BinaryOperation(left=left, right=right) | cst.AugAssign(target=left, value=right):
            pairs = [
                (left, given.get("left")), (right, given.get("right"))
            ]  # fmt: skip
        case cst.Comparison(left=left, comparisons=[part]):
            pairs = [(left, given.get("left")), (part.comparator, given.get("right"))]
        case cst.Call(func=cst.Attribute(value=variable), args=[only]) if "ref" in given:
            pairs = [(variable, given["ref"]), (only.value, given.get("value"))]
        case cst.Call() as call:
            pairs = []
            for name, given_value in event.arguments:
                named = calls.argument_of(call, event.by, name, world.generation)
                if named is not None and not named.star:
                    pairs.append((named.value, given_value))
            if len(pairs) < len(event.arguments):
                return _variable(event, call)
        case _:
            return []
    for node, value in pairs:
        if isinstance(value, Tensor):
            found.append(Operand(node, value))
        elif isinstance(value, (List, Tuple)) and isinstance(node, (cst.List, cst.Tuple)):
            items = world.machine.items(value) if isinstance(value, List) else value
            found += _listed(event, [element.value for element in node.elements], items)
    return found


def _variable(event: Computed, call: cst.Call) -> list[Operand]:
    """The operands of a function that takes any number of them."""
    items = next((value for name, value in event.arguments if name.startswith("*")), None)
    positional = [argument.value for argument in call.args if argument.keyword is None]
    if not isinstance(items, Tuple) or any(argument.star for argument in call.args):
        return []
    return _listed(event, positional[len(positional) - len(items.items) :], items)


def _listed(event: Computed, nodes: Sequence[cst.BaseExpression], items: Tuple) -> list[Operand]:
    """The tensors among `items`, as they are read there, and the expressions that stand for them."""
    if items.rest is not None or len(nodes) != len(items.items):
        return []
    read = {id(tensor.made): tensor for tensor in event.operands}
    pairs = zip(nodes, items.items, strict=True)
    return [Operand(node, read.get(id(item.made), item)) for node, item in pairs if isinstance(item, Tensor)]


@dataclass(frozen=True)
class Named:
    """A variable that holds a tensor, as an expression reads it."""

    node: cst.Name | cst.Attribute
    text: str

    @property
    def name(self) -> str:
        """The variable itself, or the object whose attribute it is."""
        return self.text.partition(".")[0]


class Dtypes:
    """How to write the dtype of what the expressions of one world give."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._events: dict[Place, Computed] = {}
        for event in world.trace.events:
            if isinstance(event, Computed):
                self._events.setdefault(event.place, event)
        self._places = {place.node: place for place in self._events}

    def named(self, source: SourceFile, operand: Operand) -> list[Named]:
        """The variables in the expression of `operand` that have its dtype."""
        return list(self._named(source, operand, operand.tensor.dtype, 0))

    def _named(self, source: SourceFile, operand: Operand, dtype: str | None, depth: int) -> Iterator[Named]:
        node, tensor = operand.node, operand.tensor
        if tensor.dtype != dtype or dtype not in FLOATS or depth > _DEEPEST:
            return
        match node:
            case cst.Name():
                yield Named(node, node.value)
            case cst.Attribute() if dotted(node):
                if dotted(node).startswith("self."):
                    yield Named(node, layout.code(source, node))
            case cst.Subscript(value=value) | cst.UnaryOperation(expression=value) | cst.Attribute(value=value):
                yield from self._named(source, Operand(value, tensor), dtype, depth + 1)
            case cst.BinaryOperation() | cst.Call():
                place = self._places.get(node)
                event = self._events.get(place) if place is not None else None
                for inner in operands(self._world, event) if event is not None else ():
                    yield from self._named(source, inner, dtype, depth + 1)
            case _:
                return
