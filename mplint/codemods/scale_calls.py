"""The calls by which a training loop scales its loss, as the other generation of Keras has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import libcst as cst

from mplint.codemods import calls, layout
from mplint.codemods.removing import in_place_of, statement_gone
from mplint.codemods.rewrite import Evidence, Rewrite
from mplint.codemods.without_unscaling import UNSCALES, Unscaling
from mplint.findings import Applicability, Edit, Fix, Span
from mplint.interpreter.values import Place
from mplint.interpreter.world import World

_SCALES_2: Final = "get_scaled_loss"
_SCALES_3: Final = "scale_loss"
_ONE: Final = frozenset({"1", "1.0", "1."})


@dataclass(frozen=True)
class ScaleRead(Rewrite):
    """The scale itself, where `optimizer.loss_scale` is read or called at `at`."""

    world: World
    at: Place

    def plan(self, evidence: Evidence) -> Fix | None:
        """An attribute in Keras 2, the scaled 1.0 in Keras 3."""
        source, node = self.at.source, self.at.node
        read = node.func if isinstance(node, cst.Call) else node
        if not isinstance(read, cst.Attribute) or (isinstance(node, cst.Call) and node.args):
            return None
        start, end = source.span(read.value, parentheses=True).end, source.span(node).end
        now = ".loss_scale" if self.world.generation == "2" else f".{_SCALES_3}(1.0)"
        return Fix(f"read it with {now[1:]}", Applicability.SAFE, (Edit(source.path, Span(start, end), now),))


@dataclass(frozen=True)
class ScaledByKeras3(Rewrite):
    """`get_scaled_loss(loss)` at `at` becomes `scale_loss(loss)`."""

    at: Place

    def plan(self, evidence: Evidence) -> Fix | None:
        """The other name; Keras 3 takes no function."""
        source, call = self.at.source, self.at.node
        if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute) or len(call.args) != 1:
            return None
        given = call.args[0]
        level = Applicability.DISPLAY if isinstance(given.value, cst.Lambda) else Applicability.SAFE
        return Fix(f"use {_SCALES_3}", level, (Edit(source.path, source.span(call.func.attr), _SCALES_3),))


@dataclass(frozen=True)
class LeftToKeras3(Rewrite):
    """`get_unscaled_gradients(gradients)` at `at` goes: `apply_gradients` divides by the scale."""

    at: Place

    def plan(self, evidence: Evidence) -> Fix | None:
        """What comes behind reads the scaled gradients, and what holds them against a number has to know the scale."""
        source, call = self.at.source, self.at.node
        if not isinstance(call, cst.Call):
            return None
        return Unscaling(source, call).left_out()


@dataclass(frozen=True)
class AlwaysDynamic(Rewrite):
    """`optimizer.dynamic` at `at`: in Keras 3 the scale always is."""

    at: Place

    def plan(self, evidence: Evidence) -> Fix | None:
        """The answer in its place."""
        source = self.at.source
        return Fix("it always is", Applicability.SAFE, (Edit(source.path, source.span(self.at.node), "True"),))


@dataclass(frozen=True)
class ScaledByKeras2(Rewrite):
    """`scale_loss(loss)` at `at` becomes `get_scaled_loss(loss)`, or the loss where the optimizer does not scale."""

    at: Place
    scales: bool

    def plan(self, evidence: Evidence) -> Fix | None:
        """The other name; the scale itself for the scaled 1.0."""
        source, call = self.at.source, self.at.node
        if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute) or len(call.args) != 1:
            return None
        given = call.args[0]
        if given.star:
            return None
        if not self.scales:
            edits = self._unscaled(call, given)
            what = "this optimizer scales nothing"
        elif layout.code(source, given.value) in _ONE:
            start = source.span(call.func.value, parentheses=True).end
            edits = [Edit(source.path, Span(start, source.span(call).end), ".loss_scale")]
            what = "use loss_scale"
        else:
            edits = [Edit(source.path, source.span(call.func.attr), _SCALES_2)]
            what = f"use {_SCALES_2}"
        return Fix(what, Applicability.SAFE, tuple(edits)) if edits else None

    def _unscaled(self, call: cst.Call, given: cst.Arg) -> list[Edit]:
        """The loss as it is; a statement that only gives it its own name goes."""
        source = self.at.source
        match source.parent(call):
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]) if (
                isinstance(given.value, cst.Name) and given.value.value == name
            ):
                gone = statement_gone(self.at)
                if gone is not None:
                    return gone
            case _:
                pass
        return in_place_of(source, call, given)


@dataclass(frozen=True)
class AppliedByKeras2(Rewrite):
    """`apply(gradients, variables)` at `at` becomes `apply_gradients`, with the gradients unscaled in front of it."""

    at: Place
    scales: bool

    def plan(self, evidence: Evidence) -> Fix | None:
        """A statement of its own unscales gradients that have a name."""
        source, call = self.at.source, self.at.node
        if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute):
            return None
        gradients = calls.argument_at(call, "grads", 0)
        variables = calls.argument_at(call, "trainable_variables", 1)
        if gradients is None or variables is None or len(call.args) != 2 or gradients.star or variables.star:
            return None
        optimizer = layout.code(source, call.func.value)
        given, trained = layout.code(source, gradients.value), layout.code(source, variables.value)
        statement = source.parent(call)
        edits: list[Edit] = []
        alone = isinstance(statement, cst.Expr) and layout.own_line(source, statement) is not None
        if self.scales and alone and statement is not None and isinstance(gradients.value, cst.Name):
            start = source.span(statement).start
            if not layout.starts_line(source, start):
                return None
            line = f"{given} = {optimizer}.{UNSCALES}({given}){layout.newline(source, start)}"
            edits.append(Edit(source.path, Span(start, start), line + layout.indentation(source, start)))
        elif self.scales:
            given = f"{optimizer}.{UNSCALES}({given})"
        span = source.span(call)
        start = source.span(call.func.attr).start
        if layout.comments_in(source.text[start : span.end]):
            return None
        edits.append(Edit(source.path, Span(start, span.end), f"apply_gradients(zip({given}, {trained}))"))
        return Fix("use apply_gradients", Applicability.SAFE, tuple(edits))
