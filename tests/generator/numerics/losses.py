"""Losses that a layer or a training step computes itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tests.generator.author import Author
from tests.generator.numerics import owners
from tests.generator.numerics.functions import Functions
from tests.generator.numerics.owners import Arithmetic, Setting
from tests.generator.numerics.trial import Watch
from tests.generator.shapes import Shape

_ROW: Final = Shape((4,))


def model(a: Author) -> str:
    """A model whose layer adds a loss."""
    if a.choices.chance(0.35):
        return _of_classes(a)
    place = owners.draw_place(a, graph=False, single=False)
    arithmetic = Arithmetic(a, place)
    functions = Functions.draw(a)
    layer_dtype = a.text("float32") if place == "layer" and a.choices.chance(0.1) else None
    write, probes = a.choices.weighted(_TERMS)
    tensor = "x"
    if a.choices.chance(0.35):
        tensor = "wide"
        arithmetic.lines.append(("wide", functions.cast("x", functions.float32)))
    loss = arithmetic.let("loss", write(functions, tensor))
    if a.choices.chance(0.3):
        loss = functions.cast(loss, functions.float32)
    arithmetic.effects.append(f"self.add_loss({a.choices.pick((loss, f'1e-3 * {loss}'))})")
    setting = Setting("losses", _ROW, probes, ("off",), layer_dtype=layer_dtype, has_float32_end=True)
    return owners.model(a, arithmetic, setting)


def squares(f: Functions, x: str) -> str:
    return f"{f('mean')}({f('square')}({x}))"


def exponentials(f: Functions, x: str) -> str:
    return f"-0.5 * {f('mean')}(1.0 + {x} - {f('exp')}({x}))"


def logarithms(f: Functions, x: str) -> str:
    return f"-{f('mean')}({f('log')}({f('sigmoid')}({x}) + 1e-8))"


def totals(f: Functions, x: str) -> str:
    return f"{f('sum')}({f('abs')}({x}))"


def powers(f: Functions, x: str) -> str:
    return f"{f('mean')}({f('sum')}({x} * {x}, axis=-1))"


_TERMS: Final[list[tuple[int, tuple[Callable[[Functions, str], str], tuple[tuple[str, ...], ...]]]]] = [
    (3, (squares, (("all 300",),))),
    (2, (exponentials, (("all 12",),))),
    (2, (logarithms, (("all -60",),))),
    (2, (totals, (("all 30000",),))),
    (2, (powers, (("all 300",),))),
]


def _of_classes(a: Author) -> str:
    """A cross-entropy of what a softmax puts out."""
    arithmetic = Arithmetic(a, "layer", packed=a.choices.chance(0.4))
    f = Functions.draw(a)
    tensor = "x"
    if a.choices.chance(0.3):
        arithmetic.lines.append(("x", f.cast("x", f.float32)))
    inside = a.choices.weighted([(3, "function"), (3, "layer"), (2, "float32 layer"), (2, "logits")])
    kind = "SparseCategoricalCrossentropy"
    logits = "from_logits=True" if inside == "logits" else None
    match inside:
        case "function":
            tensor = arithmetic.let("guess", f"{f('softmax')}({tensor})")
        case "logits":
            pass
        case _:
            dtype = a.text("float32") if inside == "float32 layer" else None
            made = a.choices.pick(
                (
                    a.layer("Activation", a.text("softmax"), dtype=dtype),
                    a.layer("Softmax", dtype=dtype),
                    a.layer("Dense", "4", activation=a.text("softmax"), dtype=dtype),
                )
            )
            arithmetic.built.append(("self.guess", made))
            tensor = arithmetic.let("guess", f"self.guess({tensor})")
    if a.choices.chance(0.3):
        tensor = arithmetic.let("given", f.cast(tensor, f.float32))
    labels = "mask"
    if a.choices.chance(0.5):
        arithmetic.built.append(("self.criterion", f"{a.keras(f'losses.{kind}')}({logits or ''})"))
        loss = f"self.criterion({labels}, {tensor})"
    else:
        function = a.keras("losses.sparse_categorical_crossentropy")
        each = a.page.call(function, labels, tensor, *([logits] if logits else []))
        loss = f"{f('mean')}({each})"
    arithmetic.effects.append(f"self.add_loss({arithmetic.let('loss', loss)})")
    probes = (("slope 18", "all 0"), ("slope 18", "all 3"))
    watches: tuple[Watch, ...] = ("off", "gradient")
    setting = Setting("losses", _ROW, probes, watches, "int32", Shape(()), has_float32_end=True)
    return owners.model(a, arithmetic, setting)
