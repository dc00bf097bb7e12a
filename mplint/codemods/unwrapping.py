"""Optimizers without a LossScaleOptimizer around them: one of two goes, or the only one with all that it scales."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import libcst as cst

from mplint.codemods import calls, layout, statements
from mplint.codemods.expressions import reduced
from mplint.codemods.rewrite import Evidence, Rewrite
from mplint.findings import Applicability, Edit, Fix
from mplint.interpreter.loops import Loops
from mplint.interpreter.scalers import Scalers
from mplint.interpreter.trace import OptimizerMade, OptimizerUsed
from mplint.interpreter.values import Place
from mplint.interpreter.world import World
from mplint.keras_api.optimizers import INNER, SCALE_ATTRIBUTES, SCALE_METHODS, UNSCALE_METHOD
from mplint.source.file import SourceFile

_STEPS: Final = frozenset({*SCALE_METHODS.values(), UNSCALE_METHOD})


@dataclass(frozen=True)
class WrapOnce(Rewrite):
    """Use the LossScaleOptimizer that the call at `at` is given, instead of one more around it."""

    world: World
    at: Place

    def plan(self, evidence: Evidence) -> Fix | None:
        """Where the call is also given plain optimizers, it asks first."""
        source, wrapping = self.at.source, _wrapping(self.at.node)
        if wrapping is None:
            return None
        call, given = wrapping
        edits: list[Edit] | None
        if self._is_always_nested(evidence):
            edits = reduced(source, call, given)
        elif isinstance(given, (cst.Name, cst.Attribute)):
            name = layout.code(source, given)
            asked = f"{name} if isinstance({name}, {layout.code(source, call.func)}) else {layout.code(source, call)}"
            inside = isinstance(source.parent(call), (cst.Assign, cst.AnnAssign, cst.Return))
            span = source.span(call, parentheses=True)
            edits = [Edit(source.path, span, asked if inside else f"({asked})")]
        else:
            return None
        return Fix("use the one that is there", Applicability.SAFE, tuple(edits)) if edits else None

    def _is_always_nested(self, evidence: Evidence) -> bool:
        for world in evidence.worlds:
            nested = list(world.once(Scalers).nested())
            for event in world.trace.events:
                if isinstance(event, OptimizerMade) and event.place is self.at and event not in nested:
                    return False
        return True


@dataclass(frozen=True)
class Unwrap(Rewrite):
    """Do without the LossScaleOptimizer that the call at `at` makes, and without all that it scales."""

    world: World
    at: Place

    def plan(self, evidence: Evidence) -> Fix | None:
        """Only where all that is asked of it is known; in Keras 3 `scale_loss` of a plain optimizer does nothing."""
        source, wrapping = self.at.source, _wrapping(self.at.node)
        if wrapping is None:
            return None
        call, given = wrapping
        edits = reduced(source, call, given)
        if edits is None:
            return None
        own: dict[Place, None] = {}
        shared: set[Place] = set()
        for event in _used(evidence):
            if event.optimizer.address.place is not self.at:
                shared.add(event.place)
            elif event.name in SCALE_ATTRIBUTES:
                return None
            elif event.name in _STEPS:
                own[event.place] = None
        level = Applicability.UNSAFE
        for place in own:
            if place in shared:
                level = level if self.world.generation == "3" else Applicability.DISPLAY
                continue
            gone = _without(place)
            if gone is None:
                return None
            edits += gone
        return Fix("leave the loss as it is", level, tuple(dict.fromkeys(edits)))


def _used(evidence: Evidence) -> Iterator[OptimizerUsed]:
    for world in evidence.worlds:
        yield from world.once(Loops).used()


def _wrapping(node: cst.CSTNode) -> tuple[cst.Call, cst.BaseExpression] | None:
    """The call that makes a wrapper, and the optimizer that it is put around."""
    arg = calls.argument_at(node, INNER, 0) if isinstance(node, cst.Call) else None
    return (node, arg.value) if isinstance(node, cst.Call) and arg is not None else None


def _without(place: Place) -> list[Edit] | None:
    """The loss, or the gradients, as they were given: under their own name, where they have one."""
    source, call = place.source, place.node
    if not isinstance(call, cst.Call) or len(call.args) != 1:
        return None
    given = call.args[0].value
    bound = statements.binding(source, call)
    renamed = _under_its_name(source, *bound, given) if bound is not None and isinstance(given, cst.Name) else None
    return renamed or reduced(source, call, given)


def _under_its_name(
    source: SourceFile, statement: cst.BaseSmallStatement, bound: cst.Name, given: cst.Name
) -> list[Edit] | None:
    """`scaled = f(loss)` goes, and what reads `scaled` reads `loss`; None where that may be another by then."""
    here = statements.scope(source, statement)
    block = statements.block(source, statement)
    if bound.value == given.value or block is None or len(block.body) == 1:
        return None
    start = source.span(statement).end
    again = [node for node in statements.stores(source, here, given.value) if source.span(node).start > start]
    if again or len(statements.stores(source, here, bound.value)) != 1:
        return None
    read = statements.loads(source, here, bound.value)
    return [
        statements.removed(source, statement),
        *(Edit(source.path, source.span(node), given.value) for node in read),
    ]
