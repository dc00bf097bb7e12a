"""Half precision for heavy operations that run in float32."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from mplint.codemods import calls
from mplint.codemods.dtype_sites import Site, of_layer
from mplint.codemods.matching import contains, is_bound_for
from mplint.codemods.rewrite import Evidence, Rewrite
from mplint.findings import Applicability, Edit, Fix
from mplint.interpreter.defeated import Defeat
from mplint.interpreter.world import World


@dataclass(frozen=True)
class Lowered(Rewrite):
    """Give the operations of `defeat` operands in the compute dtype of their layer."""

    world: World
    defeat: Defeat

    def plan(self, evidence: Evidence) -> Fix | None:
        """In the cast that makes them float32, where it is for nothing else; else right before each operation."""
        sites = [Site.of(self.world, heavy.event, self.defeat.half) for heavy in self.defeat.operations]
        found = [site for site in sites if site is not None]
        if len(found) < len(sites):
            return None
        cast = self._cast(found)
        edits = [cast] if cast is not None else [edit for site in found for edit in site.casts(self.world)]
        if not edits or (cast is None and any(not site.casts(self.world) for site in found)):
            return None
        return Fix("Compute in the dtype of the layer", Applicability.UNSAFE, tuple(dict.fromkeys(edits)))

    def _cast(self, sites: Sequence[Site]) -> Edit | None:
        """Another dtype for the cast itself."""
        source, call = self.defeat.at.source, self.defeat.at.node
        if not self.defeat.is_cast or not isinstance(call, cst.Call):
            return None
        if any(len(site.wides) != 1 or site.source is not source for site in sites):
            return None
        dtype = of_layer(self.world, self.defeat.at, self.defeat.half)
        inline = len(sites) == 1 and contains(source, sites[0].wides[0].node, call)
        if dtype is None or not (inline or is_bound_for(source, call, sites)):
            return None
        by = sites[0].wides[0].tensor.made.by
        present = calls.argument_of(call, by, "dtype", self.world.generation)
        return Edit(source.path, source.span(present.value, parentheses=True), dtype) if present is not None else None
