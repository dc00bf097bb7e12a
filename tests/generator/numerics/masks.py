"""Masks: a large negative number is added to scores, or chosen in their place, before a softmax."""

from __future__ import annotations

from typing import Final

from tests.generator.author import Author
from tests.generator.numerics import owners
from tests.generator.numerics.functions import Functions
from tests.generator.numerics.owners import Arithmetic, Setting
from tests.generator.shapes import Shape

_SHAPE: Final = Shape((4, 4))
_LARGE: Final = ("-1e9", "-1e5", "-1e10", "-10000.0 * 1e3", "-2.0**31", "-1000000")
_SMALL: Final = ("-1e4", "-3e4", "-1000.0", "-2.0**15", "-65504.0")


def model(a: Author) -> str:
    """A model whose scores are masked."""
    place = owners.draw_place(a, single=False)
    mask = a.choices.weighted([(3, "float32"), (2, "bool"), (1, "int32"), (2, None)])
    arithmetic = Arithmetic(a, place, packed=a.choices.chance(0.4))
    functions = Functions.draw(a, in_call=place in owners.IN_CALL)
    layer_dtype = a.text("float32") if place == "layer" and a.choices.chance(0.1) else None
    scores = "x"
    if a.choices.chance(0.2):  # scores in float32
        arithmetic.lines.append(("x", functions.cast("x", functions.float32)))
    keep = _keep(arithmetic, functions, mask)
    form = a.choices.weighted([(5, "added"), (2, "subtracted"), (3, "chosen"), (1, "both")])
    constant = _constant(arithmetic, functions, form)
    if form == "chosen":
        condition = keep if mask == "bool" else f"{functions.cast(keep, a.text('bool'))}"
        masked = f"{functions('where')}({condition}, {scores}, {constant})"
    else:
        number = _as_number(arithmetic, functions, keep, mask)
        masked = _added(arithmetic, functions, form, number, constant)
    masked = arithmetic.let("masked", masked)
    softmax = functions("softmax")
    if a.choices.chance(0.2):
        masked = functions.cast(masked, functions.float32)
    arithmetic.result = f"{softmax}({masked}, axis=-1)" if a.choices.chance(0.3) else f"{softmax}({masked})"
    probes = (("ramp 3", "bits"), ("ramp 3", "all 0")) if mask else (("ramp 3",), ("all 0",))
    setting = Setting("masks", _SHAPE, probes, mask=mask, layer_dtype=layer_dtype)
    return owners.model(a, arithmetic, setting)


def _keep(arithmetic: Arithmetic, functions: Functions, mask: str | None) -> str:
    """What says which scores are kept: the second input, or what is known of the first."""
    if mask is not None:
        return "mask"
    a = arithmetic.a
    options = ["x > 0", "x > 0.5"]
    if functions.is_ops:
        options += [f"{a.keras('ops.not_equal')}(x, 0)", f"{a.keras('ops.tril')}({a.keras('ops.ones')}((4, 4)))"]
    else:
        band, ones = a.spelling.tensorflow("linalg.band_part"), a.spelling.tensorflow("ones")
        options += [f"{a.spelling.tensorflow('not_equal')}(x, 0)", f"{band}({ones}((4, 4)), -1, 0)"]
        options.append(f"{a.spelling.tensorflow('sequence_mask')}([1, 2, 3, 4], 4)")
    return arithmetic.let("keep", a.choices.pick(options))


def _as_number(arithmetic: Arithmetic, functions: Functions, keep: str, mask: str | None) -> str:
    a = arithmetic.a
    is_number = mask == "float32" or "band_part" in keep or "tril" in keep
    ways = [(5, "of x"), (2, "float32"), (1, "compute"), (2 if is_number else 0, "as it is")]
    match a.choices.weighted(ways):
        case "float32":
            return arithmetic.let("valid", functions.cast(keep, functions.float32))
        case "compute" if arithmetic.place in ("layer", "model"):
            return arithmetic.let("valid", functions.cast(keep, "self.compute_dtype"))
        case "as it is":
            return keep
        case _:
            return arithmetic.let("valid", functions.cast(keep, "x.dtype"))


def _added(arithmetic: Arithmetic, functions: Functions, form: str, number: str, constant: str) -> str:
    a = arithmetic.a
    away = a.choices.pick((f"(1.0 - {number})", f"(1 - {number})"))
    if form == "both":
        return f"x * {number} + {away} * {constant}"
    bias = a.choices.pick((f"{away} * {constant}", f"{constant} * {away}"))
    if form == "subtracted":
        bias = f"{away} * -{constant}" if constant.isidentifier() or "." in constant[:5] else f"{away} * -({constant})"
        return f"x - {bias}"
    if a.choices.chance(0.3):
        bias = arithmetic.let("bias", bias)
        if a.choices.chance(0.5):
            bias = functions.cast(bias, "x.dtype")
    elif a.choices.chance(0.2):
        return f"{functions('add')}(x, {bias})"
    return f"x + {bias}"


def _constant(arithmetic: Arithmetic, functions: Functions, form: str) -> str:
    a = arithmetic.a
    kinds = [(4, "large"), (3, "small"), (1, "infinity"), (2, "float32"), (1, "numpy")]
    in_call = arithmetic.place in ("layer", "model")
    kinds += [
        (1, "by dtype"),
        (1, "of dtype") if in_call and not functions.is_ops and form == "chosen" else (1, "by dtype"),
    ]
    match a.choices.weighted(kinds):
        case "small":
            return arithmetic.number("large", a.choices.pick(_SMALL))
        case "infinity":
            return a.choices.pick((f"-{a.spelling.numpy('inf')}", 'float("-inf")'))
        case "float32":
            return arithmetic.number("large", a.spelling.tensorflow("float32.min"))
        case "numpy":
            finfo = a.spelling.numpy("finfo")
            of = a.choices.pick((a.text("float32"), a.spelling.numpy("float32")))
            return arithmetic.number("large", f"{finfo}({of}).min")
        case "by dtype":
            return '(-3e4 if x.dtype == "float16" else -1e9)'
        case "of dtype":
            return "x.dtype.min"
        case _:
            return arithmetic.number("large", a.choices.pick(_LARGE))
