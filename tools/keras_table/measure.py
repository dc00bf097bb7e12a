"""Everything that one process measures of its generation."""

from __future__ import annotations

import random
from typing import Any

from keras_table import activations, applications, functions, layers, names, packages


def measure() -> dict[str, Any]:
    """The raw findings of this process, as JSON can hold them."""
    random.seed(0)
    packages.np.random.seed(0)
    packages.tf.random.set_seed(0)
    found_names = names.measure()
    found_functions = functions.measure(found_names)
    return {
        "versions": packages.versions(),
        "names": found_names,
        "functions": found_functions,
        "activations": activations.measure(found_functions),
        "layers": layers.measure(),
        "applications": applications.measure(),
    }
