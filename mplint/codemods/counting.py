"""What in a program makes the layer at a model's end count: one more behind it may change what the program does."""

from __future__ import annotations

import re
from typing import Final

from mplint.interpreter.world import End, outputs_of

_BY_PLACE: Final = rb"(?<!keras)\.layers\b(?!\.[A-Z])(?! import)|\.pop\(|get_config|from_config|_keras_history"

COUNTED_BY_PLACE: Final = re.compile(_BY_PLACE)
"""By its place."""
COUNTED_ON: Final = re.compile(rb"by_name|get_layer\(|load_weights|load_model|" + _BY_PLACE)
"""By its place, its name or its weights."""


def is_one_of_several(end: End) -> bool:
    """Whether the model has other ends, too: one more layer may change the order of its weights."""
    return len(outputs_of(end.world, end.model)) > 1
