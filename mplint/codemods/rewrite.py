"""A rewrite that a rule asks for: planned once every world is known."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal

import libcst as cst

from mplint.findings import Fix
from mplint.interpreter.values import HALF, Instance, Place
from mplint.interpreter.world import World

OutputFix = Literal["auto", "split", "dtype"]


class Evidence:
    """All worlds of the program: what a rewrite must be right in."""

    def __init__(
        self, worlds: Sequence[World], output_fix: OutputFix, mentions: Callable[[Path, re.Pattern[bytes]], bool]
    ) -> None:
        self.worlds = worlds
        self.output_fix = output_fix
        self.mentions = mentions
        """Whether a file, or one that imports it or that it imports, contains such bytes."""

    @cached_property
    def _made(self) -> dict[Place, set[Instance]]:
        found: dict[Place, set[Instance]] = {}
        for world in self.worlds:
            for place, layers in world.made_at.items():
                found.setdefault(place, set()).update(layers)
        return found

    @cached_property
    def _calls(self) -> dict[Instance, list[tuple[World, Place]]]:
        found: dict[Instance, list[tuple[World, Place]]] = {}
        for world in self.worlds:
            for layer, place in world.layer_calls():
                found.setdefault(layer, []).append((world, place))
        return found

    @cached_property
    def _end_calls(self) -> set[tuple[Instance, Place | None]]:
        return {call for world in self.worlds for call in world.end_calls()}

    @cached_property
    def _ends(self) -> set[Instance]:
        return {layer for layer, _ in self._end_calls}

    def disagreement(self, place: Place) -> Place | None:
        """Where a layer that the call at `place` makes computes in half precision without being an end of a model.

        A rewrite of that call would change such a layer too.  None: the call makes ends only.
        """
        for instance in self._made.get(place, set()):
            calls = self._calls.get(instance, ())
            if instance in self._ends and len({at for _, at in calls}) < 2:
                continue
            for world, at in calls:
                if (instance, at) in self._end_calls:
                    continue
                layer = world.layer(instance)
                if layer is not None and (layer.computes_in is None or layer.computes_in in HALF):
                    return at
        return None

    def mixed(self, layer: Instance) -> Place | None:
        """Where what `layer` gives meets another half-precision tensor in an operation: float32 would clash there."""
        return next((world.trace.mixed[layer] for world in self.worlds if layer in world.trace.mixed), None)

    def in_the_middle(self, place: Place) -> Place | None:
        """Where what the expression at `place` gives is used on the way to an output, and is none itself.

        A cast there would change the dtype in the middle of a model too.
        """
        for world in self.worlds:
            if world.is_step(place):
                return place
        owner = place.source.enclosing(place.node, cst.ClassDef)
        if owner is None:
            return None
        for world in self.worlds:
            for at in world.calls_in_the_middle(owner):
                return at
        return None


class Rewrite(ABC):
    """A change of the program that mends a fault."""

    @abstractmethod
    def plan(self, evidence: Evidence) -> Fix | None:
        """The edits, or None where nothing can be written."""
