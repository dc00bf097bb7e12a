"""Which activation a value stands for, and which operations leave values as they are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from mplint.keras_api.layers import layer_carries, layer_joins
from mplint.keras_api.names import Kind, canonical, generations, kind
from mplint.keras_api.operations import operation
from mplint.keras_api.table import section

_LAST: Final = re.compile(
    r"keras\.layers\.(Activation|Dense|EinsumDense|(Depthwise|Separable)?Conv[123]D(Transpose)?)$"
)


def activation_of(value: object) -> str | None:
    """The name Keras gives an activation: from that string, or from the path of its function or layer; else None.

    "softmax", `keras.activations.softmax`, `tensorflow.nn.softmax`, `keras.ops.softmax` and `keras.layers.Softmax` are
    all "softmax".
    """
    if not isinstance(value, str):
        return None
    table: Mapping[str, str] = section("activations", "activations")
    return table.get(value if "." not in value else canonical(value))


def activates_last(path: str) -> bool:
    """Whether the activation of the layer at `path` is the last thing that it does (it is not in a recurrent layer).

    Measured: such a layer gives what its activation gives, whatever dtype that has.
    """
    return bool(_LAST.match(canonical(path)))


def carries(path: str, variant: Mapping[str, object] | None = None, generation: str | None = None) -> bool:
    """Whether a layer or function only passes on elements of its argument, from places that do not depend on values.

    Reshape, Flatten, Permute, Identity, Dropout (as in inference), slicing, transposing, casting: a softmax stays a
    softmax behind them.
    Without a generation, in all that have the name.
    """
    found = canonical(path)
    sort = kind(found)
    asked = (generation,) if generation is not None else sorted(generations(found))
    if sort in (Kind.LAYER, Kind.WRAPPER, Kind.CELL):
        return bool(asked) and all(layer_carries(found, variant or {}, each) is True for each in asked)
    measured = [operation(found, each) for each in asked]
    return bool(measured) and all(each is not None and each.carries for each in measured)


def joins(path: str, generation: str) -> bool:
    """Whether a layer or function only puts elements of several tensors together: concatenating, stacking."""
    found = canonical(path)
    if kind(found) is Kind.LAYER:
        return layer_joins(found, generation)
    measured = operation(found, generation)
    return measured is not None and measured.joins
