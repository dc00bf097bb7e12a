"""The ways in which programs put a model together."""

from __future__ import annotations

from collections.abc import Callable

from tests.generator import builders, composed, functional, ids, loops, merging, sequential, subclassed
from tests.generator.author import Author, Written
from tests.generator.shapes import Shape

_INPUTS = [(5, Shape((8,))), (3, Shape((4, 5))), (2, Shape((4, 4, 3))), (2, Shape((4,), ids=True))]


def _functional(a: Author, shape: Shape) -> str:
    name = a.fresh("model")
    a.page.assign(name, functional.chain(a, shape))
    a.models[name] = Written("end")
    return name


_STYLES: list[tuple[int, Callable[[Author, Shape], str]]] = [
    (8, _functional),
    (4, sequential.listed),
    (3, sequential.added),
    (7, subclassed.model),
    (1, subclassed.functional_class),
    (1, subclassed.sequential_class),
    (3, builders.plain),
    (2, builders.with_arguments),
    (1, builders.closure),
    (1, builders.partial),
    (1, builders.recursive),
    (2, builders.of_class),
    (2, builders.returns_parts),
    (1, builders.layer_makers),
    (5, loops.looped),
    (2, merging.layer_of_two),
    (2, merging.model_of_two),
    (1, merging.cell),
    (1, merging.masked),
    (2, ids.looked_up),
    (3, composed.nested),
    (1, composed.cloned),
    (1, composed.opened),
    (1, composed.features),
    (1, composed.reapplied),
]


def model(a: Author) -> str:
    """Write a model in some style; gives its name."""
    with a.choices.part("model"):
        name = a.choices.weighted(_STYLES)(a, a.choices.weighted(_INPUTS))
        if a.choices.chance(0.1):
            a.page.do(a.page.call(f"{name}.compile", optimizer=a.text("sgd"), loss=a.text("mse")))
        return name
