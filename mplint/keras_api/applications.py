"""The models of keras.applications: all are Functional models, and all were built to see what they give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mplint.keras_api.names import canonical
from mplint.keras_api.table import section


@dataclass(frozen=True, slots=True)
class Application:
    """What the models have in common that one function of keras.applications builds."""

    head: str
    """The class of the last layer of a model with its top: it takes `classifier_activation`."""
    head_name: str
    output_dtypes: Mapping[str, str]
    """The dtype of what every layer inside gives, and of the model's output, by the global policy."""


def application(path: str, generation: str) -> Application | None:
    """What is known of the application at `path`; None for anything else, and where the generation has it not."""
    found = section("applications", "applications").get(canonical(path), {}).get(generation)
    if found is None:
        return None
    head, name = found["head"]
    return Application(head, name, found["outputs"])
