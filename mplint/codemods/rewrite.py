"""A rewrite that a rule asks for: planned once every world is known."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import libcst as cst

from mplint.findings import Applicability, Edit, Fix
from mplint.interpreter.values import HALF, Instance, Place
from mplint.interpreter.world import End, Layer, World
from mplint.project.modules import Project
from mplint.settings import OutputFix
from mplint.source.file import SourceFile


class Evidence:
    """All worlds of the program: what a rewrite must be right in."""

    def __init__(
        self,
        worlds: Sequence[World],
        project: Project,
        output_fix: OutputFix,
    ) -> None:
        self.worlds = worlds
        self.output_fix = output_fix
        self._project = project
        self._words: dict[tuple[Path, re.Pattern[bytes]], bool] = {}

    def worlds_of(self, generation: str) -> list[World]:
        """Those of one generation of Keras."""
        return [world for world in self.worlds if world.generation == generation]

    def row_of(self, place: Place) -> str:
        """The file and the row of a place, for a message."""
        return self._project.naming.row(place.source, place.node)

    def mentions(self, path: Path, words: re.Pattern[bytes]) -> bool:
        """Whether a file of any program that has `path` as a part contains such bytes.

        What one file of a program makes is handed to any other, whichever of them imports which.
        """
        return any(self._holds(other, words) for other in self._files_of(path))

    def _files_of(self, path: Path) -> list[Path]:
        users = self._project.importers(path)
        return sorted({path, *users, *self._project.closure(path)}.union(*map(self._project.closure, users)))

    def files_naming(self, path: Path, word: str) -> list[SourceFile]:
        """The files, of any program that has `path` as a part, that contain a word."""
        return [
            self._project.source(other)
            for other in self._files_of(path)
            if self._holds(other, re.compile(rb"\b%s\b" % re.escape(word.encode())))
        ]

    def is_named_elsewhere(self, path: Path, words: re.Pattern[bytes]) -> bool:
        """Whether a file that imports the one at `path` contains such bytes."""
        return any(self._holds(other, words) for other in sorted(self._project.importers(path) - {path}))

    def _holds(self, path: Path, words: re.Pattern[bytes]) -> bool:
        key = path, words
        if key not in self._words:
            self._words[key] = words.search(self._project.code(path)) is not None
        return self._words[key]

    def count(self, path: Path, words: re.Pattern[bytes]) -> int:
        """How often such bytes stand in a file, and in those that import it or that it imports."""
        return sum(1 for _ in self._mentioned(path, words))

    def _mentioned(self, path: Path, words: re.Pattern[bytes]) -> Iterator[tuple[Path, int]]:
        """The files, among `path` and those that are bound to it by imports, and the rows, that hold such words."""
        for other in sorted({path, *self._project.importers(path), *self._project.closure(path)}):
            data = self._project.code(other)
            for match in words.finditer(data):
                yield other, data.count(b"\n", 0, match.start()) + 1

    @cached_property
    def _made(self) -> dict[Place, dict[Instance, None]]:
        found: dict[Place, dict[Instance, None]] = {}
        for world in self.worlds:
            for place, layers in world.made_at.items():
                found.setdefault(place, {}).update(dict.fromkeys(layers))
        return found

    def made_by(self, place: Place) -> Iterable[Instance]:
        """The layers that the call at `place` makes, in all worlds."""
        return self._made.get(place, {})

    def layers_of(self, place: Place) -> Iterator[Layer]:
        """The layers that the call at `place` makes, as each world sees them."""
        for world in self.worlds:
            yield from filter(None, map(world.layer, world.made_at.get(place, ())))

    def computes_in_float64(self, place: Place) -> bool:
        """Whether the call at `place` makes a layer that is asked for more than float32 somewhere."""
        return any(layer.computes_in == "float64" for layer in self.layers_of(place))

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

    @cached_property
    def _ends_at(self) -> dict[Place, list[End]]:
        found: dict[Place, list[End]] = {}
        for world in self.worlds:
            for end in world.model_ends():
                layer = end.softmax_layer or end.layer
                if layer is not None:
                    found.setdefault(layer.place, []).append(end)
        return found

    def ends_of(self, place: Place) -> Sequence[End]:
        """The ends of models that layers made by the call at `place` compute, in all worlds."""
        return self._ends_at.get(place, ())

    def is_in_both(self, place: Place) -> bool:
        """Whether the expression at `place` makes ends of models in both generations of Keras."""
        return len(self._generations.get(place, ())) > 1

    @cached_property
    def _generations(self) -> dict[Place | None, set[str]]:
        found: dict[Place | None, set[str]] = {}
        for world in self.worlds:
            for end in world.model_ends():
                found.setdefault(end.place, set()).add(world.generation)
        return found

    def disagreement(self, place: Place) -> Place | None:
        """Where a layer that the call at `place` makes computes in half precision without being an end of a model.

        A rewrite of that call would change such a layer too.  None: the call makes ends only.
        """
        for instance in self.made_by(place):
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

    def mixed(self, maker: Instance | Place, but: Collection[Place | None] = ()) -> Place | None:
        """Where what a layer, or a call, gives meets another half-precision tensor in an operation.

        float32 would clash there, `but` at some places.
        """
        places = (place for world in self.worlds for place in world.trace.mixed.get(maker, ()))
        return next((place for place in places if place not in but), None)

    def in_the_middle(self, place: Place) -> str | None:
        """Where (file and row) what the expression at `place` gives may be used on the way to an output.

        A cast there would change the dtype in the middle of a model too.  None: it gives outputs only.
        """
        for world in self.worlds:
            if world.is_step(place):
                return self.row_of(place)
        owner = place.source.enclosing(place.node, cst.ClassDef)
        if owner is None:
            return None
        for world in self.worlds:
            for at in world.calls_in_the_middle(owner):
                return self.row_of(at)
        return None if any(world.is_model(owner) for world in self.worlds) else self._unseen(place, owner)

    def _unseen(self, place: Place, owner: cst.ClassDef) -> str | None:
        """Where a layer of the class `owner` is made that no run has seen called."""
        called = [at for at, layers in self._made.items() if all(layer in self._calls for layer in layers)]
        seen = {(at.source.path, _row(at)) for at in called}
        makes = re.compile(rb"(?<!class )\b%s\s*\(" % re.escape(owner.name.value.encode()))
        for path, row in self._mentioned(place.source.path, makes):
            if (path, row) not in seen:
                return f"{self._project.naming.file(path)}:{row}"
        return None


def _row(place: Place) -> int:
    return place.source.position(place.source.span(place.node).start)[0]


def only_shown(what: str, where: str, edits: Sequence[Edit], why: str = "") -> Fix:
    """A fix that reaches further than its fault: somebody must look at `where` first."""
    return Fix(f"{what}, and see to it that {where} still fits{why}", Applicability.DISPLAY, tuple(edits))


class Rewrite(ABC):
    """A change of the program that mends a fault."""

    @abstractmethod
    def plan(self, evidence: Evidence) -> Fix | None:
        """The edits, or None where nothing can be written."""


@dataclass(frozen=True)
class Together(Rewrite):
    """Several rewrites that mend one fault only together."""

    parts: tuple[Rewrite, ...]

    def plan(self, evidence: Evidence) -> Fix | None:
        """All of them, as cautious as the most cautious one; None where one cannot be written."""
        plans = [part.plan(evidence) for part in self.parts]
        fixes = [plan for plan in plans if plan is not None]
        if not fixes or len(fixes) < len(plans):
            return None
        least = max(fixes, key=lambda fix: list(Applicability).index(fix.applicability))
        edits = dict.fromkeys(edit for fix in fixes for edit in fix.edits)
        return Fix(least.message, least.applicability, tuple(edits))
