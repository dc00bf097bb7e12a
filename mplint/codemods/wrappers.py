"""float32 for a wrapper and the layer inside, where one of them has it already."""

from __future__ import annotations

from dataclasses import dataclass

from mplint.codemods import dtypes
from mplint.codemods.rewrite import Evidence, Rewrite, only_shown
from mplint.findings import Applicability, Fix
from mplint.interpreter.ineffective import ineffective
from mplint.interpreter.values import Place
from mplint.interpreter.world import Layer, World


@dataclass(frozen=True)
class Float32Wrapper(Rewrite):
    """Give float32 to both sides of a wrapper, so that it holds in each generation of Keras."""

    world: World
    wrapper: Layer

    def plan(self, evidence: Evidence) -> Fix | None:
        """The dtype for the side that has none; only shown where it would reach more than was asked for."""
        edits = tuple(dtypes.float32(self.world, self.wrapper))
        if not edits or dtypes.misses_a_part(self.world, self.wrapper):
            return None
        elsewhere = self._elsewhere(evidence) or evidence.mixed(self.wrapper.instance)
        what = "Give the wrapper and the layer inside dtype float32"
        if elsewhere is None:
            return Fix(what, Applicability.SAFE, edits)
        return only_shown(what, evidence.row_of(elsewhere), edits)

    def _elsewhere(self, evidence: Evidence) -> Place | None:
        """Where the calls to be changed also make layers for which nobody asked for float32."""
        alike = {
            layer.instance
            for world in evidence.worlds
            for asked in ineffective(world)
            if asked.wrapper is not None
            for layer in dtypes.nested(world, asked.wrapper)
        }
        places = [layer.place for layer in dtypes.nested(self.world, self.wrapper)]
        return next((place for place in places if not alike.issuperset(evidence.made_by(place))), None)
