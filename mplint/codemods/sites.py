"""float32 behind a call that gives a model's end, where what the call runs makes the middle of models, too."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from mplint.codemods import calls, layout
from mplint.codemods.behind import Behind, renamed
from mplint.codemods.casts import cast_to_float32, float32_activation
from mplint.codemods.counting import COUNTED_BY_PLACE, COUNTED_ON, is_one_of_several
from mplint.codemods.rewrite import Evidence, Rewrite, only_shown
from mplint.findings import Applicability, Fix
from mplint.interpreter.sites import Site
from mplint.interpreter.values import NONE
from mplint.interpreter.world import End, Layer, around


@dataclass(frozen=True)
class BehindSite(Rewrite):
    """A float32 activation, or a cast, behind the call that gives the end."""

    end: End
    site: Site

    def plan(self, evidence: Evidence) -> Fix | None:
        """The layer takes over the name of the one at the end, where that is written out."""
        site, source, call = self.site, self.site.place.source, self.site.place.node
        if not isinstance(call, cst.Call):
            return None
        met = evidence.mixed(self.end.layer.instance) if self.end.layer is not None else None
        conflict = evidence.row_of(met) if met is not None else None
        if not site.makes and not site.tensor.symbolic:
            conflict = conflict or evidence.in_the_middle(site.place)
            return cast_to_float32(self.end, source, call, False, conflict, evidence.is_in_both(site.place))
        named = self._named(call)
        name = f", name={layout.code(source, named.value)}" if named is not None else ""
        written = float32_activation(self.end.world, source, name)
        if written is None:
            return None
        needed = frozenset((written.partition("(")[0].partition(".")[0],))
        behind = Behind(source, call, written, needed).edits(result=not site.makes)
        if behind is None:
            return None
        what, edits = "Put a float32 activation behind it", (*behind, *renamed(source, named))
        if conflict is not None:
            return only_shown(what, conflict, edits, ": float32 would meet half precision there")
        loses_name = named is None and self._has_name
        counted_on = evidence.mentions(source.path, COUNTED_ON if named is not None else COUNTED_BY_PLACE)
        if loses_name or counted_on or is_one_of_several(self.end):
            what = f"{what}, if nothing counts on the last layer's name or place"
            return Fix(what, Applicability.DISPLAY, edits)
        return Fix(what, Applicability.SAFE, edits)

    @property
    def _in_graph(self) -> Layer | None:
        """The layer that the graph of the model shows at the end."""
        if self.site.layer is not None:
            return self.site.layer
        outer = next((made.layer for made in around(self.end.tensor) if made.kind == "composite"), None)
        return self.end.world.layer(outer) if outer is not None else self.end.layer

    @property
    def _has_name(self) -> bool:
        layer = self._in_graph
        return layer is not None and layer.argument("name") not in (None, NONE)

    def _named(self, call: cst.Call) -> cst.Arg | None:
        """The argument that names the layer at the end, where it is written out in the file of `call`."""
        site, layer, maker = self.site, self._in_graph, call
        if site.layer is not None and site.layer.place.source is site.place.source:
            node = site.layer.place.node
            maker = node if isinstance(node, cst.Call) else call
        named = calls.argument(maker, "name")
        if layer is None or named is None or not isinstance(named.value, cst.SimpleString):
            return None
        return named if named.value.evaluated_value == layer.constant("name") else None
