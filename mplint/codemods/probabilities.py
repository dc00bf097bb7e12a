"""Probabilities that are computed in float32, for the logarithm that is taken of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from mplint.codemods import casts, dtypes
from mplint.codemods.logits import are
from mplint.codemods.rewrite import Evidence, Rewrite
from mplint.codemods.wrapping import Wrap, wrapped
from mplint.findings import Applicability, Edit, Fix
from mplint.interpreter.computations import Computations
from mplint.interpreter.half_losses import HalfLosses
from mplint.interpreter.probabilities import RoundedLoss
from mplint.interpreter.trace import LayerCalled
from mplint.interpreter.values import Class, Place
from mplint.interpreter.world import Layer, World, tensors_of


@dataclass(frozen=True)
class Float32Probabilities(Rewrite):
    """Compute the softmax (or sigmoid) of `rounded` in float32, of logits that are half precision."""

    world: World
    rounded: RoundedLoss

    def plan(self, evidence: Evidence) -> Fix | None:
        """In the layer that computes it, or by a cast of what a function is given."""
        layer = self._layer()
        edits = self._in_layer(evidence, layer) if layer is not None else self._in_call()
        if not edits:
            return None
        what = f"compute the {self.rounded.activation} in float32"
        other = next(self._read_elsewhere(evidence), None)
        if other is None:
            return Fix(what, Applicability.SAFE, tuple(edits))
        return Fix(f"{what}, as {evidence.row_of(other)} will see it, too", Applicability.UNSAFE, tuple(edits))

    def _layer(self) -> Layer | None:
        instance = self.rounded.maker.layer
        return self.world.layer(instance) if instance is not None else None

    def _in_layer(self, evidence: Evidence, layer: Layer) -> Sequence[Edit]:
        if layer.constructed_by_program or layer.hidden or dtypes.misses_a_part(self.world, layer):
            return ()
        return list(dtypes.own_float32(layer)) if len(list(evidence.made_by(layer.place))) == 1 else ()

    def _in_call(self) -> Sequence[Edit]:
        """A cast of the logits, the first argument of a function."""
        place, maker = self.rounded.maker.place, self.rounded.maker
        if maker.kind != "operation" or place is None or not isinstance(place.node, cst.Call) or not place.node.args:
            return ()
        first = place.node.args[0]
        symbolic = any(operand.symbolic for operand in maker.operands)
        written = casts.function(self.world, place.source, first.value, in_both=False, symbolic=symbolic)
        if written is None or first.star or first.keyword is not None:
            return ()
        cast, float32 = written
        return wrapped(place.source, [Wrap(first.value, f"{cast}(", f", {float32})")])

    def _read_elsewhere(self, evidence: Evidence) -> Iterator[Place]:
        """Where something else than the loss sees the probabilities, but for layers, which cast what they are given."""
        for world in evidence.worlds:
            followed = world.once(HalfLosses).followed
            for event in world.once(Computations).events:
                made = event.result.made if event.result is not None else None
                if made is not None and made not in followed and are(made.operands, [self.rounded.maker]):
                    yield event.place
            for called in world.trace.events:
                if not isinstance(called, LayerCalled) or not isinstance(called.layer.cls, Class):
                    continue
                if are(tensors_of(world, called.output), [self.rounded.maker]):
                    yield called.place
