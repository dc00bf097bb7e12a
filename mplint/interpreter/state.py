"""The state of a run: one persistent map from cells to values.

A cell is a pair of an owner and a name: `(frame, "x")` a variable, `(address, "attr")` a field of an object,
`(GLOBAL, "policy")` the global policy.  Maps are stacked in layers, so that a fork costs nothing and a join costs what
changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from mplint.interpreter.frames import Frame
from mplint.interpreter.values import ABSENT

Cell = tuple[object, str]

MADE: Final = "@made"
"""The field of an object, or of a class, that says that it was made."""
SHUFFLED: Final = "@shuffled"
"""The field of an object that says that the order of its attributes is not known."""
GLOBAL: Final = object()
"""Owner of what the whole process shares: the dtype policy, the distribution strategy."""
POLICY: Final[Cell] = (GLOBAL, "policy")

_MISSING: Final = object()
_NO_INDEX: Final[tuple[int, dict[object, list[str]]]] = (0, {})


def is_attribute(name: str) -> bool:
    """Whether a cell of this name is something that the program can name, not one of the interpreter's own."""
    return name[:1] not in ("@", "[", "{")


class State:
    """A layer over `parent`.

    While `pins` is not 0, others stand on the layer (branches that are being run, states in which a function was left),
    and it must not be written.
    """

    __slots__ = ("_index", "cells", "depth", "parent", "pins")

    def __init__(self, parent: State | None = None, cells: dict[Cell, object] | None = None) -> None:
        self.parent = parent
        self.cells: dict[Cell, object] = {} if cells is None else cells
        self.depth: int = parent.depth + 1 if parent else 0
        self.pins = 0
        self._index = _NO_INDEX

    def get(self, cell: Cell) -> object | None:
        """The contents of `cell`, or None when nothing was written there."""
        layer: State | None = self
        while layer is not None:
            found = layer.cells.get(cell)
            if found is not None:
                return found
            layer = layer.parent
        return None

    def of(self, owner: object) -> dict[str, object]:
        """All that is written of `owner`, by name."""
        layers: list[State] = []
        layer: State | None = self
        while layer is not None:
            layers.append(layer)
            layer = layer.parent
        found: dict[str, object] = {}
        for layer in reversed(layers):
            found.update({name: layer.cells[(owner, name)] for name in layer._names(owner)})
        return found

    def _names(self, owner: object) -> Iterable[str]:
        """What is written of `owner` in this layer; that cells have come since is seen by their number."""
        size, index = self._index
        if size != len(self.cells):
            index = {}
            for holder, name in self.cells:
                index.setdefault(holder, []).append(name)
            self._index = (len(self.cells), index)
        return index.get(owner, ())

    def set(self, cell: Cell, value: object) -> None:
        """Write `cell`."""
        self.cells[cell] = value

    def drop(self, owner: object, names: Iterable[str]) -> None:
        """Forget what this layer has written to `names` of `owner`."""
        for name in names:
            self.cells.pop((owner, name), None)
        self._index = _NO_INDEX

    def fork(self) -> State:
        """A state that starts as this one; this one must not be written while the fork lives."""
        return State(self)

    def settled(self, base: State) -> State:
        """The same contents as close to `base`, a layer below, as can be: in it, or in one layer on top."""
        if self is base:
            return base
        changes = self.above(base)
        if base.pins:
            return State(base, changes)
        base.cells.update(changes)
        return base

    def above(self, ancestor: State) -> dict[Cell, object]:
        """What was written since `ancestor`, newest first wins."""
        layers = []
        layer: State | None = self
        while layer is not ancestor:
            assert layer is not None
            layers.append(layer.cells)
            layer = layer.parent
        if len(layers) == 1:
            return layers[0]
        merged: dict[Cell, object] = {}
        for cells in reversed(layers):
            merged.update(cells)
        return merged


def common(states: Iterable[State]) -> State | None:
    """The nearest layer that all of `states` stand on."""
    meeting: State | None = None
    for state in states:
        if meeting is None:
            meeting = state
            continue
        left: State | None = meeting
        right: State | None = state
        while left is not right:
            if left is None or right is None:
                return None
            if left.depth >= right.depth:
                left = left.parent
            else:
                right = right.parent
        meeting = left
    return meeting


def join(states: list[State], merge: Callable[[Cell, list[object]], object]) -> State:
    """The state in which each of `states` is possible; `merge` joins the differing contents of a cell."""
    if len(states) == 1:
        return states[0]
    base = common(states)
    assert base is not None, "all states of a run stand on its first"
    changes = [state.above(base) for state in states]
    cells: dict[Cell, object] = {}
    for change in changes:
        others = [other for other in changes if other is not change]
        # what one arm alone has made is as that arm left it: most of what a join sees
        fresh = {owner for owner, name in change if name == MADE and base.get((owner, MADE)) is None}
        for cell, value in change.items():
            if cell[0] in fresh and not any(cell in other for other in others):
                cells[cell] = value
            elif cell not in cells:
                values = _contents(cell, value, changes, change, base)
                cells[cell] = value if len(values) == 1 else merge(cell, values)
                if len(values) > 1 and any(content is ABSENT for content in values):
                    cells[(cell[0], SHUFFLED)] = ABSENT
    return State(base, cells)


def _contents(
    cell: Cell, value: object, changes: list[dict[Cell, object]], change: dict[Cell, object], base: State
) -> list[object]:
    """The different contents of `cell`, which is `value` in `change`, in the order of the states."""
    values: list[object] = []
    owner = cell[0]
    for other in changes:
        here = value if other is change else other.get(cell, _MISSING)
        if here is _MISSING:
            # what an arm has made itself is not below
            here = None if type(owner) is not Frame and (owner, MADE) in change else base.get(cell)
            if here is None:  # what one arm never made cannot be used behind the join unless the other arm was taken
                if not _may_be_asked_for(cell, base):
                    continue
                here = ABSENT  # but an object that both know may have the attribute, or not
        if not any(here is seen or here == seen for seen in values):
            values.append(here)
    return values


def _may_be_asked_for(cell: Cell, base: State) -> bool:
    """Whether a program can ask if there is something in `cell`: an attribute of what `base` knows."""
    owner, name = cell
    if isinstance(owner, Frame) and owner.kind != "class":
        return False
    return is_attribute(name) and (isinstance(owner, str) or base.get((owner, MADE)) is not None)
