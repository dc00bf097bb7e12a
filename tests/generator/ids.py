"""Models that look ids up: how these get to the table decides whether they are rounded."""

from __future__ import annotations

from tests.generator import functional, heads
from tests.generator.author import Author, Written
from tests.generator.shapes import Shape

STEPS = 4


def looked_up(a: Author, shape: Shape) -> str:
    """An input of ids, some layers that move them, a table, a head."""
    inputs = functional.new_input(a, Shape((STEPS,), ids=a.choices.chance(0.4)))
    tensor = inputs
    for _ in range(a.choices.below(3)):
        tensor = functional.assigned(a, f"{_moved(a)}({tensor})")
    count = a.choices.pick(("10", "257", "2049", "2050", "30000"))
    tensor = functional.assigned(a, f"{a.layer('Embedding', count, '6')}({tensor})")
    tensor = functional.assigned(a, f"{a.layer('GlobalAveragePooling1D')}({tensor})")
    last, _ = heads.head(a, Shape((6,)))
    tensor = functional.wire(a, tensor, last)
    name = a.fresh("model")
    a.page.assign(name, functional.model_call(a, inputs, tensor))
    a.models[name] = Written("end")
    return name


def _moved(a: Author) -> str:
    dtype = a.text("float32") if a.choices.chance(0.2) else None
    match a.choices.pick(("Reshape", "Permute", "Flatten", "Lambda", "Activation")):
        case "Reshape":
            return a.layer("Reshape", f"({STEPS},)", dtype=dtype)
        case "Permute":
            return a.layer("Permute", "(1,)", dtype=dtype)
        case "Lambda":
            return a.layer("Lambda", "lambda ids: ids + 0", dtype=dtype)
        case "Activation":
            return a.layer("Activation", a.text("linear"), dtype=dtype)
        case _:
            return a.layer("Flatten", dtype=dtype)
