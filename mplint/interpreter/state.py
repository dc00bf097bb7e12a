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
"""Owner of what the whole process shares: the dtype policy, `floatx`."""
POLICY: Final[Cell] = (GLOBAL, "policy")

_AT_ONCE: Final = 4
"""States that are joined in one step."""
_NO_INDEX: Final[tuple[int, dict[object, list[str]]]] = (-1, {})


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

    def holding(self, content: object) -> list[Cell]:
        """The cells whose contents are `content`."""
        seen: set[Cell] = set()
        found: list[Cell] = []
        layer: State | None = self
        while layer is not None:
            found += [cell for cell, held in layer.cells.items() if cell not in seen and held == content]
            seen.update(layer.cells)
            layer = layer.parent
        return found

    def _names(self, owner: object) -> Iterable[str]:
        """What is written of `owner` in this layer; that cells have come since is seen by their number."""
        size, index = self._index
        if size != len(self.cells):
            if not self.pins:  # it goes on being written: an index would be of no use for long
                return [name for holder, name in self.cells if holder is owner or holder == owner]
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
    if len(states) > _AT_ONCE:  # neighbours, which have been kept one after the other, stand on a layer not far below
        middle = len(states) // 2
        states = [join(states[:middle], merge), join(states[middle:], merge)]
    base = common(states)
    assert base is not None, "all states of a run stand on its first"
    changes = [state.above(base) for state in states]
    shared = _shared(changes)
    cells: dict[Cell, object] = {}
    for position, change in enumerate(changes):
        for cell, value in change.items():
            if cell in shared:
                if cell in cells:
                    continue
                contents = _contents(cell, changes, base)
            elif (cell[0], MADE) in change:  # what one arm alone has made is as that arm left it
                cells[cell] = value
                continue
            else:
                below = _below(cell, base)
                contents = [value] if below is None else [value, below] if position == 0 else [below, value]
            different = _different(contents)
            if len(different) == 1:
                cells[cell] = value
            else:
                cells[cell] = merge(cell, different)
                if any(content is ABSENT for content in different):
                    cells[(cell[0], SHUFFLED)] = ABSENT
    return State(base, cells)


def _shared(changes: list[dict[Cell, object]]) -> set[Cell]:
    """The cells that more than one of `changes` writes."""
    if len(changes) == 2:
        return changes[0].keys() & changes[1].keys()
    seen: set[Cell] = set()
    shared: set[Cell] = set()
    for change in changes:
        shared |= change.keys() & seen
        seen |= change.keys()
    return shared


def _contents(cell: Cell, changes: list[dict[Cell, object]], base: State) -> list[object]:
    """What the states hold in `cell`, in their order."""
    contents = [change.get(cell) for change in changes]
    if None not in contents:
        return contents
    owner = cell[0]
    # what an arm has made itself is not below
    made = type(owner) is not Frame and any((owner, MADE) in change for change in changes)
    below = None if made else _below(cell, base)
    return [here for content in contents if (here := below if content is None else content) is not None]


def _below(cell: Cell, base: State) -> object | None:
    """What `cell` holds where an arm has not written it; None where the program cannot see that."""
    found = base.get(cell)
    # what one arm never made cannot be used behind the join unless the other arm was taken
    return ABSENT if found is None and _may_be_asked_for(cell, base) else found


def _different(contents: list[object]) -> list[object]:
    """`contents` without repetitions."""
    different = contents[:1]
    for content in contents[1:]:
        for seen in different:
            if content is seen or content == seen:
                break
        else:
            different.append(content)
    return different


def _may_be_asked_for(cell: Cell, base: State) -> bool:
    """Whether a program can ask if there is something in `cell`: an attribute of what `base` knows."""
    owner, name = cell
    if isinstance(owner, Frame) and owner.kind != "class":
        return False
    return is_attribute(name) and (isinstance(owner, str) or base.get((owner, MADE)) is not None)
