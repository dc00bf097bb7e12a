"""How many features a layer or an operation gives: what it is told, as many as it is given, or of all its inputs.

Written by hand, beside the names of the parameters that hold sizes; a test holds it against Keras.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from mplint.keras_api.activations import activation_of
from mplint.keras_api.calls import size_parameters
from mplint.keras_api.names import canonical
from mplint.keras_api.table import section

Features = Literal["given", "kept", "met", "joined", "flattened"]
"""What decides the number of features of a result.

given: an argument; kept: those of the (first) input; met: those of all inputs, which must have as many; joined: all of
them together; flattened: those at all positions together.
"""

_HALVES = frozenset({"glu"})
"""Activations that do not give as many features as they get."""


@lru_cache(maxsize=4096)
def features_of(path: str) -> Features | None:
    """What decides how many features the layer or function at `path` gives; None where that is not known."""
    found = canonical(path)
    for table in ("features", "operations"):
        how: Features
        for how, names in section("sizes", table).items():
            if found in names:
                return how
    activation = activation_of(found)
    return "kept" if activation is not None and activation not in _HALVES else None


def given_features(path: str) -> str | None:
    """The parameter of a layer that says how many features it gives."""
    return next(iter(size_parameters(path)), None) if features_of(path) == "given" else None
