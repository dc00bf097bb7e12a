"""The graph behind the outputs of a Functional model: its layers, in the order in which Keras lists them.

Both generations search backwards from the outputs, give each layer the length of its longest way to one, and list the
layers from the farthest to the nearest, those at one distance in the order in which the search met them.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final

from mplint.interpreter.values import UNKNOWN, Made, Tensor, Value

_ONE_STEP: Final = ("operator.", "keras.ops.", "tensorflow.", "part")
"""The operations on symbolic tensors that are one node of the graph each; others may be several."""


class _Untold(Exception):
    """The graph is not known in full."""


def layers_between(inputs: Sequence[Tensor], outputs: Sequence[Tensor], generation: str) -> list[Value] | None:
    """The layers from `inputs` to `outputs`, as `model.layers` lists them; None where that is not known.

    An operation is a layer of its own in Keras 2 (UNKNOWN here), and none in Keras 3.
    """
    search = _Search(inputs)
    try:
        for output in outputs:
            search.visit(output)
    except _Untold:
        return None
    found = search.sorted(inputs)
    if not search.one_step and not _is_chain(found):
        return None
    listed = [(made.layer if made.kind in _LAYERS else None) for made in found]
    return [layer or UNKNOWN for layer in listed if layer is not None or generation == "2"]


_LAYERS: Final = frozenset({"layer", "model", "composite", "input"})


class _Search:
    """The search backwards from outputs."""

    def __init__(self, inputs: Sequence[Tensor]) -> None:
        self._stops = {_key(tensor.made) for tensor in inputs}
        self._first: dict[Hashable, Made] = {}
        """The nodes' layers in the order in which they are met, each with its first node."""
        self._done: list[Made] = []
        """The nodes, each behind all those that it needs."""
        self._seen: set[Hashable] = set()
        self.one_step = True

    def visit(self, tensor: Tensor) -> None:
        """Search on from `tensor`."""
        made = _node(tensor)
        if made is None or _key(made) in self._seen:
            return
        self._seen.add(_key(made))
        self._first.setdefault(_layer_key(made), made)
        if made.kind not in _LAYERS:
            if made.layer is not None:  # layers that only the library knows
                raise _Untold
            self.one_step &= made.by.startswith(_ONE_STEP)
        if _key(made) not in self._stops:
            for operand in made.inputs:
                self.visit(operand)
        self._done.append(made)

    def sorted(self, inputs: Sequence[Tensor]) -> list[Made]:
        """One node of each layer, from the farthest to the nearest; inputs that nothing uses come last."""
        far: dict[Hashable, int] = {}
        depth: dict[Hashable, int] = {}
        for made in reversed(self._done):
            own = max(depth.get(_key(made), 0), far.get(_layer_key(made), 0))
            far[_layer_key(made)] = own
            if _key(made) in self._stops:
                continue
            for operand in made.inputs:
                node = _node(operand)
                if node is not None:
                    depth[_key(node)] = max(own + 1, depth.get(_key(node), 0))
        order = {key: position for position, key in enumerate(self._first)}
        for tensor in inputs:
            if _layer_key(tensor.made) not in far:
                self._first[_layer_key(tensor.made)] = tensor.made
                far[_layer_key(tensor.made)], order[_layer_key(tensor.made)] = 0, -1
        return [self._first[key] for key in sorted(far, key=lambda key: (-far[key], order[key]))]


def _node(tensor: Tensor) -> Made | None:
    """The node of the graph that gives `tensor`; None of a constant."""
    made = tensor.made
    while made.by == "autocast" and made.operands:
        made = made.operands[0].made
    if made.kind in ("joined", "argument") or (tensor.symbolic is None and made.kind not in _LAYERS):
        raise _Untold
    return made if tensor.symbolic else None


def _key(made: Made) -> Hashable:
    return made.kind, made.layer, made.place, made.context


def _layer_key(made: Made) -> Hashable:
    return made.layer if made.layer is not None and made.kind in _LAYERS else _key(made)


def _is_chain(nodes: Sequence[Made]) -> bool:
    return all(len({_key(operand.made) for operand in node.inputs}) < 2 for node in nodes)
