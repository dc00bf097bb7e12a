"""The half-precision operands of operations in a loss, cast to float32 as the other operands are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from mplint.codemods import calls, statements
from mplint.codemods.casts import function
from mplint.codemods.operands import operands
from mplint.codemods.wrapping import Wrap, wrapped
from mplint.findings import Edit
from mplint.interpreter.computations import Computations
from mplint.interpreter.trace import Computed
from mplint.interpreter.values import HALF, Tensor, Unknown
from mplint.interpreter.world import World
from mplint.keras_api.stability import is_heavy
from mplint.source.file import SourceFile


def raised(world: World, events: Sequence[Computed]) -> list[Edit] | None:
    """The casts, as far inside of the expressions of one file as goes; None where one of them has no place."""
    source = events[0].place.source
    written = function(world, source, events[0].place.node, in_both=False)
    if written is None:
        return None
    cast, float32 = written
    leaves: dict[cst.BaseExpression, None] = {}
    edits: list[Edit] = []
    for event in events:
        halves = [operand.node for operand in operands(world, event) if operand.tensor.dtype in HALF]
        if not halves:
            return None
        for node in halves:
            operation = event.place.node
            if not isinstance(operation, cst.AugAssign) or node is not operation.target:
                leaves.update(dict.fromkeys(_leaves(world, source, node)))
                continue
            statement = statements.around(source, operation)
            if not isinstance(node, cst.Name) or statement is None:
                return None
            edits.append(statements.in_front(source, statement, f"{node.value} = {cast}({node.value}, {float32})"))
    dtypes = {leaf: dtype for leaf in leaves if (dtype := _dtype_of_cast(world, source, leaf)) is not None}
    edits += [Edit(source.path, source.span(dtype, parentheses=True), float32) for dtype in dtypes.values()]
    wraps = [Wrap(leaf, f"{cast}(", f", {float32})") for leaf in leaves if leaf not in dtypes]
    return [*dict.fromkeys(edits), *wrapped(source, wraps)]


def _dtype_of_cast(world: World, source: SourceFile, node: cst.BaseExpression) -> cst.BaseExpression | None:
    """The dtype that an expression casts to, where it is a cast."""
    events = _events(world, source, node)
    if not isinstance(node, cst.Call) or not events or any(not _is_cast(event) for event in events):
        return None
    arg = calls.argument_of(node, events[0].by, "dtype", world.generation)
    return arg.value if arg is not None and not arg.star else None


def _is_cast(event: Computed) -> bool:
    return event.result is not None and event.result.made.kind == "cast"


def _events(world: World, source: SourceFile, node: cst.BaseExpression) -> Sequence[Computed]:
    if not isinstance(node, (cst.BinaryOperation, cst.Call)):
        return ()
    return world.once(Computations).at(world.machine.program.place(source, node))


def _leaves(world: World, source: SourceFile, node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """What an expression is computed of in half precision: all of it is float32 where that is."""
    if isinstance(node, cst.UnaryOperation):
        yield from _leaves(world, source, node.expression)
        return
    events = _events(world, source, node)
    if not events or not all(map(_is_movable, events)):
        yield node
        return
    found = [operands(world, event) for event in events]
    if not all(each and all(operand.tensor.dtype in HALF for operand in each) for each in found):
        yield node
        return
    for inner in dict.fromkeys(operand.node for each in found for operand in each):
        yield from _leaves(world, source, inner)


def _is_movable(event: Computed) -> bool:
    """Whether an operation gives float32 where its operands that are known to be half precision are float32."""
    result = event.result
    if result is None or result.dtype not in HALF or result.made.kind != "operation" or is_heavy(event.by):
        return False
    values = [value for _, value in event.arguments]
    if event.by.startswith("operator.") and any(isinstance(value, Unknown) for value in values):
        return False
    return not any(isinstance(value, Tensor) and value.dtype is None for value in values)
