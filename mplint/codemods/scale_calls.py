"""The calls by which a training loop scales its loss, as the other generation of Keras has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import libcst as cst

from mplint.codemods import calls, layout, statements
from mplint.codemods.expressions import reduced
from mplint.codemods.rewrite import Evidence, Rewrite
from mplint.findings import Applicability, Edit, Fix, Span
from mplint.interpreter.values import Place
from mplint.interpreter.world import World
from mplint.keras_api.optimizers import SCALE_METHODS, UNSCALE_METHOD

_SCALES_2: Final = SCALE_METHODS["2"]
_SCALES_3: Final = SCALE_METHODS["3"]
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
        """The other name; the scale itself for the scaled 1.0; the loss as it is."""
        source, call = self.at.source, self.at.node
        if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute) or len(call.args) != 1:
            return None
        given = call.args[0]
        if given.star:
            return None
        edits: list[Edit] | None
        if not self.scales:
            edits = reduced(source, call, given.value)
            what = "this optimizer scales nothing"
        elif layout.code(source, given.value) in _ONE:
            start = source.span(call.func.value, parentheses=True).end
            edits = [Edit(source.path, Span(start, source.span(call).end), ".loss_scale")]
            what = "use loss_scale"
        else:
            edits = [Edit(source.path, source.span(call.func.attr), _SCALES_2)]
            what = f"use {_SCALES_2}"
        return Fix(what, Applicability.SAFE, tuple(edits)) if edits else None


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
        start, end = source.span(call.func.attr).start, source.span(call).end
        if layout.comments_in(source.text[start:end]):
            return None
        given, trained = layout.code(source, gradients.value), layout.code(source, variables.value)
        edits: list[Edit] = []
        if self.scales:
            unscaled = f"{layout.code(source, call.func.value)}.{UNSCALE_METHOD}({given})"
            statement = statements.around(source, call)
            if isinstance(statement, cst.Expr) and statement.value is call and isinstance(gradients.value, cst.Name):
                edits.append(statements.in_front(source, statement, f"{given} = {unscaled}"))
            else:
                given = unscaled
        edits.append(Edit(source.path, Span(start, end), f"apply_gradients(zip({given}, {trained}))"))
        return Fix("use apply_gradients", Applicability.SAFE, tuple(edits))
