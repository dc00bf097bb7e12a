"""Epsilons that keep a division, a logarithm or a root from 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tests.generator.author import Author
from tests.generator.numerics import owners
from tests.generator.numerics.functions import Functions
from tests.generator.numerics.owners import Arithmetic, Setting
from tests.generator.numerics.trial import Watch
from tests.generator.shapes import Shape

_EPSILONS: Final = ("1e-8", "1e-12", "1e-3", "1e-7", "1e-10", "1e-4", "1e-6", "1e-5", "2e-8", "1e-2", "10 ** -8")


def model(a: Author) -> str:
    """A model with an epsilon."""
    place = owners.draw_place(a)
    arithmetic = Arithmetic(a, place)
    functions = Functions.draw(a, in_call=place in owners.IN_CALL)
    layer_dtype = a.text("float32") if place == "layer" and a.choices.chance(0.1) else None
    tensor = "x"
    if a.choices.chance(0.2):  # all of it in float32
        cast = functions.cast("x", functions.float32)
        if place == "lambda":
            tensor = cast
        else:
            arithmetic.lines.append(("x", cast))
    guard, watches = a.choices.weighted(_GUARDS)
    known = _EPSILONS if guard is not root else [each for each in _EPSILONS if each != "1e-12"]
    if a.choices.chance(0.1):
        epsilon = f"{a.keras('backend.epsilon')}()"
    else:
        epsilon = arithmetic.number(a.choices.pick(("eps", "epsilon", "tiny")), a.choices.pick(known))
    arithmetic.result = guard(arithmetic, functions, tensor, epsilon)
    if arithmetic.lines and arithmetic.lines[0][0] == "x" and a.choices.chance(0.5):
        arithmetic.result = functions.cast(arithmetic.result, functions.float32)
    probes = (("all 0",), ("alternate 1",), ("alternate 60",), ("all -60",), ("all 60",))
    return owners.model(a, arithmetic, Setting("epsilons", Shape((4,)), probes, watches, layer_dtype=layer_dtype))


Guard = Callable[[Arithmetic, Functions, str, str], str]


def _statistic(arithmetic: Arithmetic, f: Functions, x: str) -> str:
    """Something of a row that is not negative."""
    kind = arithmetic.a.choices.pick(("mean", "max", "sum"))
    return arithmetic.let("scale", f"{f(kind)}({f('abs')}({x}), axis=-1, keepdims=True)")


def _share(arithmetic: Arithmetic, f: Functions, x: str) -> str:
    """Something from 0 to 1, or from 0 on."""
    return arithmetic.let("share", f"{f(arithmetic.a.choices.pick(('sigmoid', 'relu', 'softmax')))}({x})")


def divided(arithmetic: Arithmetic, f: Functions, x: str, epsilon: str) -> str:
    scale = _statistic(arithmetic, f, x)
    forms = [f"{x} / ({scale} + {epsilon})", f"{x} / {f('maximum')}({scale}, {epsilon})"]
    forms.append(f"{x} / ({epsilon} + {scale})")
    forms.append(f"{f('divide')}({x}, {scale} + {epsilon})")
    if not f.is_ops:
        forms.append(f"{f('math.divide_no_nan')}({x}, {scale} + {epsilon})")
    return arithmetic.a.choices.pick(forms)


def logarithm(arithmetic: Arithmetic, f: Functions, x: str, epsilon: str) -> str:
    share = _share(arithmetic, f, x)
    forms = [
        f"{f('log')}({share} + {epsilon})",
        f"{f('log')}({f('clip')}({share}, {epsilon}, 1.0))",
        f"{f('log')}({f('maximum')}({share}, {epsilon}))",
        f"-{share} * {f('log')}({share} + {epsilon})",
        f"{f('log1p')}({share} + {epsilon})",
    ]
    return arithmetic.a.choices.pick(forms)


def both_logarithms(arithmetic: Arithmetic, f: Functions, x: str, epsilon: str) -> str:
    share = f"{f('sigmoid')}({x})"
    held = arithmetic.let("share", f"{f('clip')}({share}, {epsilon}, 1.0 - {epsilon})")
    return arithmetic.a.choices.pick((f"{f('log')}(1.0 - {held})", f"{f('log')}({held}) - {f('log')}(1 - {held})"))


def root(arithmetic: Arithmetic, f: Functions, x: str, epsilon: str) -> str:
    """A root of what may be 0: its gradient there, 5e5 for an epsilon of 1e-12, must fit float16, too."""
    share = arithmetic.let("share", f"{f('relu')}({x})")
    return f"{f('sqrt')}({share} + {epsilon})"


def inverse_root(arithmetic: Arithmetic, f: Functions, x: str, epsilon: str) -> str:
    scale = _statistic(arithmetic, f, x)
    forms = [f"{x} * {f('rsqrt')}({scale} + {epsilon})", f"{x} / {f('sqrt')}({scale} + {epsilon})"]
    return arithmetic.a.choices.pick(forms)


def inverse(arithmetic: Arithmetic, f: Functions, x: str, epsilon: str) -> str:
    size = arithmetic.let("size", f"{f('abs')}({x})")
    forms = (f"{x} * (1.0 / ({size} + {epsilon}))", f"{x} * (1 / {f('maximum')}({size}, {epsilon}))")
    return arithmetic.a.choices.pick(forms)


_GUARDS: Final[list[tuple[int, tuple[Guard, tuple[Watch, ...]]]]] = [
    (4, (divided, ())),
    (4, (logarithm, ())),
    (2, (both_logarithms, ())),
    (2, (root, ("gradient",))),
    (2, (inverse_root, ())),
    (2, (inverse, ())),
]
