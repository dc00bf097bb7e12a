"""Scaled losses that are kept under a name of their own, so that the plain loss is what is shown."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from mplint.codemods import layout, statements
from mplint.codemods.differentiated import Differentiated
from mplint.codemods.rewrite import Evidence, Rewrite
from mplint.findings import Applicability, Edit, Fix
from mplint.interpreter.keras.tapes import BY_FUNCTION
from mplint.interpreter.loops import Loops, Use
from mplint.interpreter.trace import GradientTaken
from mplint.interpreter.values import Place
from mplint.interpreter.world import World
from mplint.source.file import SourceFile
from mplint.source.walk import names_in, walk


@dataclass(frozen=True)
class ShowUnscaled(Rewrite):
    """Have the loss that `use` shows be the one that was not scaled."""

    world: World
    use: Use

    def plan(self, evidence: Evidence) -> Fix | None:
        """By a name of its own for the scaled loss, or by the name that the plain one has already."""
        factor = next((factor for factor in reversed(self.use.course.factors) if factor.power > 0), None)
        at = factor.place if factor is not None else None
        differentiated = self._differentiated(evidence, at) if at is not None else None
        if differentiated is not None:
            return differentiated
        source = self.use.at.source
        if at is None or at.source is not source or not isinstance(at.node, cst.Call) or len(at.node.args) != 1:
            return None
        bound = statements.binding(source, at.node)
        if bound is None:
            return None
        scaled = _Scaled(source, at.node, *bound, self._taken())
        inside = statements.scope(source, self.use.at.node) is scaled.here
        shown = [self.use.at.node] if inside else scaled.returned()
        edits = scaled.instead(shown) or (scaled.under_another_name() if shown else [])
        if not edits:
            return None
        return Fix("show the loss without the scale", Applicability.SAFE, tuple(edits))

    def _differentiated(self, evidence: Evidence, at: Place) -> Fix | None:
        """The plain loss beside the scaled one, where JAX differentiates the function that scales it."""
        for step in self.world.once(Loops).steps:
            function = Differentiated.of(evidence, self.world, step) if step.gradient.by == BY_FUNCTION else None
            if function is None or not isinstance(at.node, cst.Call):
                continue
            if function.source is at.source and statements.is_in(at.source, at.node, function.function):
                edits = function.shown(at.node)
                # who else calls the function must know what it gives now
                return (
                    Fix("give the loss without the scale, too", Applicability.UNSAFE, tuple(edits)) if edits else None
                )
        return None

    def _taken(self) -> list[cst.CSTNode]:
        """The calls that take gradients, in this file."""
        source = self.use.at.source
        places = {
            event.place
            for event in self.world.trace.events
            if isinstance(event, GradientTaken) and event.place.source is source
        }
        used = {event.place for event in self.world.once(Loops).used() if event.name == "minimize"}
        return [place.node for place in (*places, *used) if place.source is source]


@dataclass(frozen=True)
class _Scaled:
    """`name = optimizer.scale_loss(loss)`."""

    source: SourceFile
    call: cst.Call
    statement: cst.BaseSmallStatement
    name: cst.Name
    taken: list[cst.CSTNode]

    @property
    def here(self) -> statements.Scope:
        return statements.scope(self.source, self.statement)

    @property
    def _given(self) -> cst.BaseExpression:
        return self.call.args[0].value

    def returned(self) -> list[cst.CSTNode]:
        """What the function returns of it, where it takes the gradients itself: that is for its caller to show."""
        if not self._moved():
            return []
        own = [node for node in walk(self.here) if isinstance(node, cst.Return)]
        own = [node for node in own if statements.scope(self.source, node) is self.here]
        return [node for node in own if statements.loads(self.source, node, self.name.value)]

    def instead(self, shown: list[cst.CSTNode]) -> list[Edit]:
        """Show what was scaled, where it has a name that still means it, or the scaled loss is called just that."""
        given, source = self._given, self.source
        start = source.span(self.statement).end
        read = [name for node in shown for name in statements.loads(source, node, self.name.value)]
        if isinstance(given, cst.Name) and given.value != self.name.value:
            last = max((source.span(node).start for node in read), default=start)
            bound = [source.span(node).start for node in statements.stores(source, self.here, given.value)]
            again = any(start < offset < last for offset in bound)
            return [] if again else [Edit(source.path, source.span(node), given.value) for node in read]
        if isinstance(given, cst.Name) or "scaled" not in self.name.value:
            return []
        plain = self._free(self.name.value.replace("scaled", "").strip("_") or "loss", "unscaled_loss")
        if plain is None:
            return []
        return [
            statements.in_front(source, self.statement, f"{plain} = {layout.code(source, given)}"),
            Edit(source.path, source.span(given, parentheses=True), plain),
            *(Edit(source.path, source.span(node), plain) for node in read),
        ]

    def _moved(self) -> list[cst.Name]:
        """Where gradients are taken of it."""
        start = self.source.span(self.statement).end
        read = statements.loads(self.source, self.here, self.name.value)
        later = [node for node in read if self.source.span(node).start >= start]
        return [node for node in later if any(statements.is_in(self.source, node, call) for call in self.taken)]

    def under_another_name(self) -> list[Edit]:
        """The scaled loss gets a name of its own, and gradients are taken of that."""
        source, name = self.source, self.name.value
        other = self._free(f"scaled_{name}", f"scaled_{name}_for_gradients")
        start = source.span(self.statement).end
        before = [n for n in statements.stores(source, self.here, name) if n is not self.name]
        if other is None or any(source.span(node).start > start for node in before):
            return []  # what is made of it in between, or in the next round of a loop, is scaled, too
        read = [n for n in statements.loads(source, self.here, name) if source.span(n).start >= start]
        moved = self._moved()
        if not moved or any(self._is_computed_with(node) for node in read if node not in moved):
            return []
        edits = [Edit(source.path, source.span(node), other) for node in moved]
        given = self._given
        if isinstance(given, cst.Name) and given.value == name:
            return [Edit(source.path, source.span(self.name), other), *edits]
        plain = f"{name} = {layout.code(source, given)}"
        span = source.span(given, parentheses=True)
        return [
            statements.in_front(source, self.statement, plain),
            Edit(source.path, source.span(self.name), other),
            Edit(source.path, span, name),
            *edits,
        ]

    def _free(self, *wanted: str) -> str | None:
        taken = names_in(self.here)
        return next((word for word in wanted if word not in taken), None)

    def _is_computed_with(self, node: cst.CSTNode) -> bool:
        """Whether a name is read by arithmetic whose result may be what gradients are taken of."""
        bound = statements.target(statements.around(self.source, node))
        if not isinstance(bound, cst.Name):
            return False
        return any(statements.loads(self.source, call, bound.value) for call in self.taken)
