"""The models of keras.applications: all are Functional models; the output dtype of a few was measured."""

from __future__ import annotations

from mplint.keras_api.names import canonical
from mplint.keras_api.table import section


def application_output_dtype(
    path: str, policy: str, generation: str | None = None, *, include_top: bool = True
) -> str | None:
    """The output dtype of the model that an application gives under a global policy, with or without its top."""
    found = section("applications", "applications").get(canonical(path), {})
    asked = "23" if generation is None else generation
    results = {((found.get(each) or {}).get("with" if include_top else "without") or {}).get(policy) for each in asked}
    return results.pop() if len(results) == 1 else None
