"""Everything that one process measures of its generation."""

from __future__ import annotations

from typing import Any

from keras_table import names, packages


def measure() -> dict[str, Any]:
    """The raw findings of this process, as JSON can hold them."""
    return {"versions": packages.versions(), "names": names.measure()}
