"""Sequential models."""

from __future__ import annotations

from tests.generator import bodies, heads
from tests.generator.author import Author, Written
from tests.generator.functional import input_call
from tests.generator.shapes import Shape


def stack(a: Author, shape: Shape) -> tuple[list[str], Shape]:
    """A whole stack of layers, from the input to the output."""
    made, behind = bodies.steps(a, shape)
    last, behind = heads.head(a, behind)
    return made + last, behind


def constructor(a: Author) -> str:
    """`Sequential` as the program writes it."""
    return a.keras(a.choices.pick(("Sequential", "models.Sequential")))


def listed(a: Author, shape: Shape) -> str:
    """`Sequential([…])`."""
    name = a.fresh("model")
    made, _ = stack(a, shape)
    items, written = _with_input(a, shape, made)
    if a.choices.chance(0.15):
        held = a.fresh("parts")
        a.page.assign(held, a.page.listed(items))
        a.page.assign(name, f"{constructor(a)}({held})")
    else:
        a.page.assign(name, a.page.call(constructor(a), a.page.listed(items)))
    a.models[name] = written
    return name


def added(a: Author, shape: Shape) -> str:
    """`model.add(…)`, one by one or in a loop."""
    name = a.fresh("model")
    made, _ = stack(a, shape)
    items, written = _with_input(a, shape, made)
    a.page.assign(name, a.page.call(constructor(a)))
    if a.choices.chance(0.2):
        with a.page.inside(f"for layer in {a.page.listed(items, '()')}:"):
            a.page.do(f"{name}.add(layer)")
    else:
        for item in items:
            a.page.do(a.page.call(f"{name}.add", item))
    a.models[name] = written
    return name


def _with_input(a: Author, shape: Shape, made: list[str]) -> tuple[list[str], Written]:
    if a.choices.chance(0.3):
        return made, Written("end", [shape.spec])
    return [input_call(a, shape), *made], Written("end")
