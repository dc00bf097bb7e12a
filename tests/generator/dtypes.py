"""The spellings of a layer's dtype."""

from __future__ import annotations

from tests.generator.author import Author, Options


def float32(a: Author) -> str:
    """An expression that gives a layer float32."""
    options = ["string"] * 6 + ["tensorflow", "tensorflow.dtypes", "numpy", "name", "policy", "floatx", "numpy.dtype"]
    if a.is_3:
        options += ["DTypePolicy", "FloatDTypePolicy"]
    match a.choices.pick(options):
        case "tensorflow":
            return a.spelling.tensorflow("float32")
        case "tensorflow.dtypes":
            return a.spelling.tensorflow("dtypes.float32")
        case "numpy":
            return a.spelling.numpy("float32")
        case "numpy.dtype":
            return f"{a.spelling.numpy('dtype')}({a.text('float32')})"
        case "name":
            return a.spelling.tensorflow("float32.name")
        case "policy":
            return a.page.call(a.keras("mixed_precision.Policy"), a.text("float32"))
        case "floatx":
            return f"{a.keras('backend.floatx')}()"
        case "DTypePolicy":
            return a.page.call(a.keras("DTypePolicy"), a.text("float32"))
        case "FloatDTypePolicy":
            return a.page.call(a.keras("dtype_policies.FloatDTypePolicy"), a.text("float32"))
        case _:
            return a.text("float32")


def half(a: Author) -> str:
    """An expression that gives a layer a mixed policy of its own."""
    name = a.choices.pick(("mixed_float16", "mixed_bfloat16"))
    if a.choices.chance(0.3):
        return a.page.call(a.keras("mixed_precision.Policy"), a.text(name))
    return a.text(name)


def hidden(a: Author) -> str | None:
    """The dtype of a layer in the middle: mostly none."""
    options: Options = [(40, lambda: None), (2, lambda: float32(a)), (1, lambda: half(a))]
    return a.choices.weighted(options)()
