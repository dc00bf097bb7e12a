"""Statistics by hand: normalizations, norms, running sums, sums of many, a softmax without a maximum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tests.generator.author import Author
from tests.generator.numerics import owners
from tests.generator.numerics.functions import Functions
from tests.generator.numerics.owners import Arithmetic, Setting
from tests.generator.shapes import Shape

_IMAGE: Final = Shape((4, 4, 3))
_ROW: Final = Shape((4,))


def model(a: Author) -> str:
    """A model with a statistic."""
    place = owners.draw_place(a, graph=False)
    arithmetic = Arithmetic(a, place)
    functions = Functions.draw(a)
    layer_dtype = a.text("float32") if place == "layer" and a.choices.chance(0.1) else None
    write, shape, probes = a.choices.weighted(_KINDS)
    tensor = "x"
    in_float32 = a.choices.chance(0.3)
    if in_float32:
        cast = functions.cast("x", functions.float32)
        if place == "lambda":
            tensor = cast
        else:
            tensor = "wide"
            arithmetic.lines.append(("wide", cast))
    arithmetic.result = write(arithmetic, functions, tensor)
    if in_float32 and a.choices.chance(0.5):
        arithmetic.result = functions.cast(arithmetic.result, "x.dtype")
    return owners.model(a, arithmetic, Setting("statistics", shape, probes, ("off",), layer_dtype=layer_dtype))


def normalized(arithmetic: Arithmetic, f: Functions, x: str) -> str:
    """What differs from the mean, in units of the deviation."""
    axes = "axes=[1, 2]"
    if arithmetic.place == "lambda":
        mean = f"{f('mean')}({x}, axis=[1, 2], keepdims=True)"
        return f"({x} - {mean}) / ({f('deviation')}({x}, axis=[1, 2], keepdims=True) + 1e-3)"
    form = arithmetic.a.choices.pick(("moments", "variance", "squares"))
    if form == "moments":
        arithmetic.lines.append(("mean, variance", f"{f('moments')}({x}, {axes}, keepdims=True)"))
        return f"({x} - mean) * {f('rsqrt')}(variance + 1e-3)"
    arithmetic.lines.append(("mean", f"{f('mean')}({x}, axis=-1, keepdims=True)"))
    if form == "variance":
        arithmetic.lines.append(("variance", f"{f('variance')}({x}, axis=-1, keepdims=True)"))
    else:
        inner = f"{f('square')}({x} - mean)"
        arithmetic.lines.append(("variance", f"{f('mean')}({inner}, axis=-1, keepdims=True)"))
    return f"({x} - mean) / {f('sqrt')}(variance + 1e-3)"


def by_norm(arithmetic: Arithmetic, f: Functions, x: str) -> str:
    """A row over its length."""
    squares = arithmetic.a.choices.pick((f"{f('square')}({x})", f"{x} * {x}", f"{x} ** 2"))
    length = f"{f('sqrt')}({f('sum')}({squares}, axis=-1, keepdims=True))"
    if arithmetic.a.choices.chance(0.4):
        length = f"{f('norm')}({x}, axis=-1, keepdims=True)"
        if f.is_ops:
            length = f"{arithmetic.a.keras('ops.norm')}({x}, axis=-1, keepdims=True)"
    return f"{x} / ({length} + 1e-3)"


def running(arithmetic: Arithmetic, f: Functions, x: str) -> str:
    """A running sum, over 4096 steps."""
    return f"{f('cumsum')}({x}, axis=1) / 4096.0"


def of_many(arithmetic: Arithmetic, f: Functions, x: str) -> str:
    """A mean or a sum of all elements of a row."""
    name = arithmetic.a.choices.pick(("mean", "sum"))
    total = f"{f(name)}({x}, axis=[1, 2], keepdims=True)"
    return f"{x} * ({total} / 6e4)"


def softmax_by_hand(arithmetic: Arithmetic, f: Functions, x: str) -> str:
    """exp over a sum of exp."""
    inner = x
    if arithmetic.a.choices.chance(0.4):
        inner = f"{x} - {f('max')}({x}, axis=-1, keepdims=True)"
    grown = arithmetic.let("grown", f"{f('exp')}({inner})")
    return f"{grown} / {f('sum')}({grown}, axis=-1, keepdims=True)"


def power(arithmetic: Arithmetic, f: Functions, x: str) -> str:
    """A power, and its root."""
    return f"({x} ** 4) / 1e4"


def harmless(arithmetic: Arithmetic, f: Functions, x: str) -> str:
    """What half precision does as well."""
    forms = [
        f"{f('softmax')}({x})",
        f"{x} - {f('max')}({x}, axis=-1, keepdims=True)",
        f"{f('mean')}({x}, axis=-1, keepdims=True) + {x}",
        f"{x} / (1.0 + {f('abs')}({x}))",
        f"{f('tanh')}({x}) ** 2",
        f"{f('exp')}(-{f('square')}({f('tanh')}({x})))",
        f"{f('variance')}({f('sigmoid')}({x}), axis=-1, keepdims=True) + {x}",
    ]
    return arithmetic.a.choices.pick(forms)


Write = Callable[[Arithmetic, Functions, str], str]
_LARGE: Final = (("alternate 300",),)
_KINDS: Final[list[tuple[int, tuple[Write, Shape, tuple[tuple[str, ...], ...]]]]] = [
    (4, (normalized, _IMAGE, (("alternate 300",),))),
    (3, (by_norm, _ROW, _LARGE)),
    (1, (running, Shape((4096, 1)), (("all 1",),))),
    (2, (of_many, Shape((16, 16, 1)), (("all 3000",),))),
    (2, (softmax_by_hand, _ROW, (("alternate 20",),))),
    (1, (power, _ROW, (("all 20",),))),
    (3, (harmless, _ROW, _LARGE)),
]
