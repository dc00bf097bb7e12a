"""Logits that a cross-entropy is given in place of probabilities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from mplint.codemods import calls, layout, statements
from mplint.codemods.rewrite import Evidence, Rewrite
from mplint.findings import Applicability, Edit, Fix
from mplint.interpreter.code import dotted
from mplint.interpreter.probabilities import PREDICTIONS, RoundedLoss
from mplint.interpreter.trace import Computed, LayerCalled, Reported
from mplint.interpreter.values import Made, Place, Tensor, alternatives
from mplint.interpreter.world import Layer, World, core
from mplint.source.walk import walk


@dataclass(frozen=True)
class KeepLogits(Rewrite):
    """Take the activation off the layer, and tell the loss that it is given logits."""

    world: World
    rounded: RoundedLoss

    def plan(self, evidence: Evidence) -> Fix | None:
        """Only shown where something else reads the probabilities, or the loss may be used for others."""
        layer, event = self._layer(), self.rounded.event
        if layer is None or event is None or len(list(evidence.made_by(layer.place))) != 1:
            return None
        told = self._told(event)
        activation = calls.argument(layer.place.node, "activation") if isinstance(layer.place.node, cst.Call) else None
        if told is None or activation is None or not isinstance(layer.place.node, cst.Call):
            return None
        edits, _ = calls.without(layer.place.source, layer.place.node, activation)
        what = f"keep the logits: no {self.rounded.activation} in the layer, and from_logits=True"
        other = next(self._read_elsewhere(evidence), None)
        shared = self._is_shared() or self._is_read_twice(event)
        level = Applicability.DISPLAY if other is not None or shared else Applicability.UNSAFE
        if other is not None:
            what = f"{what}; {evidence.row_of(other)} reads the probabilities, too"
        return Fix(what, level, (*edits, told))

    def _layer(self) -> Layer | None:
        instance = self.rounded.maker.layer
        layer = self.world.layer(instance) if instance is not None else None
        return layer if layer is not None and not layer.of_program and not layer.hidden else None

    def _told(self, event: Computed) -> Edit | None:
        """`from_logits=True` where the loss is made, or called."""
        loss = self.rounded.loss
        place = loss.address.place if loss is not None else event.place
        if not isinstance(place.node, cst.Call) or calls.has_star(place.node, "**"):
            return None
        name = dotted(place.node.func).rpartition(".")[2].lower()
        return calls.set_argument(place.source, place.node, "from_logits", "True") if "entropy" in name else None

    def _read_elsewhere(self, evidence: Evidence) -> Iterator[Place]:
        """Where something else than a cross-entropy is done to the probabilities, casts of them seen through."""
        for world in evidence.worlds:
            kept = [self.rounded.maker]
            for event in world.trace.events:
                match event:
                    case Computed(result=result, place=place) if place is not self.rounded.at:
                        found = result.made.operands if result is not None else ()
                        if result is not None and result.made.kind == "cast" and are(found, kept):
                            kept.append(result.made)
                            continue
                    case LayerCalled(inputs=inputs, place=place):
                        found = inputs
                    case Reported(values=values, place=place):
                        found = values
                    case _:
                        continue
                if are(found, kept):
                    yield place

    def _is_read_twice(self, event: Computed) -> bool:
        """Whether the name that the loss is given is read by something else: what that does in float32 is not known."""
        source = event.place.source
        given = event.place.node.args if isinstance(event.place.node, cst.Call) else ()
        position = next((at for at, (name, _) in enumerate(event.arguments) if name in PREDICTIONS), None)
        value = given[position].value if position is not None and position < len(given) else None
        if not isinstance(value, cst.Name):
            return False
        return len(statements.loads(source, statements.scope(source, value), value.value)) != 1

    def _is_shared(self) -> bool:
        """Whether the object that computes the loss is called at other places, or handed on."""
        loss = self.rounded.loss
        if loss is None:
            return False
        source = loss.address.place.source
        statement = statements.around(source, loss.address.place.node)
        target = statements.target(statement)
        if statement is None or target is None or source is not self.rounded.at.source:
            return loss.address.place is not self.rounded.at
        written = layout.code(source, target)
        read = [
            node
            for node in walk(source.module)
            if isinstance(node, (cst.Name, cst.Attribute)) and dotted(node) == written and node is not target
        ]
        return len(read) != 1


def are(tensors: Iterable[Tensor], kept: Sequence[Made]) -> bool:
    """Whether one of `tensors` is what one of `kept` gives."""
    return any(core(way).made.same(made) for tensor in tensors for way in alternatives(tensor) for made in kept)
