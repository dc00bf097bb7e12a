"""Everything that one process measures of its generation."""

from __future__ import annotations

import random
from typing import Any

from keras_table import activations, functions, layers, names, packages, policies


def measure() -> dict[str, Any]:
    """The raw findings of this process, as JSON can hold them."""
    random.seed(0)
    packages.np.random.seed(0)
    packages.tf.random.set_seed(0)
    before = layers.witness()
    found_layers = layers.measure()
    found_names = names.measure()
    found_functions = functions.measure(found_names)
    found = {
        "versions": packages.versions(),
        "names": found_names,
        "layers": found_layers,
        "functions": found_functions,
        "activations": activations.measure(found_functions),
        "policies": policies.measure(),
    }
    after = layers.witness()
    if after != before:
        changed = [(one, other) for one, other in zip(before, after, strict=True) if one != other]
        raise RuntimeError(f"something that was called has changed this process: {changed}")
    return found
