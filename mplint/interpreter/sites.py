"""Where a model gets its end, when the code that computes it is used elsewhere in the middle of models, too.

A class of layers, or a function, that the program uses in both ways must stay as it is: what is to be said of the end,
and done about it, belongs to the call that uses it at the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mplint.interpreter.frames import Context
from mplint.interpreter.trace import LayerCalled
from mplint.interpreter.values import HALF, Place, Tensor, alternatives
from mplint.interpreter.world import End, Layer, World, core


@dataclass(frozen=True)
class Site:
    """A call that gives the end of a model, and nothing else."""

    place: Place
    """The call: of a layer of the program or of a function, or the one that makes a layer that a Sequential holds."""
    tensor: Tensor
    """What it gives there."""
    layer: Layer | None
    """The layer that is called."""

    @property
    def makes(self) -> bool:
        """Whether `place` makes the layer, which a Sequential then calls."""
        return self.layer is not None and self.layer.place == self.place


def site_of(end: End) -> Site | None:
    """The innermost call that gives the end, where what computes it is shared with the middle of a model.

    None where it is not shared, or no call outside gives the end alone.  A softmax must be float32 itself, wherever
    it is.
    """
    made, program = core(end.tensor).made, end.world.machine.program
    if made.place is None or made.context is None or end.softmax_dtype in HALF:
        return None
    if not program.middle.get(made.place, set()) - {made.context}:
        return None
    outer: Context | None = made.context
    while outer is not None and outer.site is not None:
        place, outer = outer.site, outer.parent
        if place not in program.middle:
            for site in _calls(end.world, place, outer):
                if any(core(way).made.same(made) for way in alternatives(site.tensor)):
                    return site
    return None


def _calls(world: World, place: Place, context: Context | None) -> Iterator[Site]:
    """The calls at `place` in `context` that give a tensor."""
    for event in world.calls.get((place, context), ()):
        if isinstance(event.output, Tensor):
            layer = world.layer(event.layer) if isinstance(event, LayerCalled) else None
            yield Site(place, event.output, layer)
