"""float32 for a layer that prepares data."""

from __future__ import annotations

from dataclasses import dataclass

from mplint.codemods import dtypes
from mplint.codemods.rewrite import Evidence, Rewrite, only_shown
from mplint.findings import Applicability, Fix
from mplint.interpreter.world import Layer


@dataclass(frozen=True)
class Float32Preprocessing(Rewrite):
    """Give float32 to `layer`: the next layer casts what it gives."""

    layer: Layer

    def plan(self, evidence: Evidence) -> Fix | None:
        """The dtype, where the layer is made; only shown where what it gives meets half precision without a cast."""
        edits = tuple(dtypes.own_float32(self.layer))
        if not edits:
            return None
        what = "give the layer dtype float32"
        met = next(filter(None, map(evidence.mixed, evidence.made_by(self.layer.place))), None)
        if met is not None:
            return only_shown(what, evidence.row_of(met), edits)
        return Fix(what, Applicability.SAFE, edits)
