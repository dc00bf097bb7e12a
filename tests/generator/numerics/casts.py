"""Tensors that are made float32 and meet what a layer is given, and products of matrices behind a cast."""

from __future__ import annotations

from typing import Final

from tests.generator.author import Author
from tests.generator.numerics import owners
from tests.generator.numerics.functions import Functions
from tests.generator.numerics.owners import Arithmetic, Setting
from tests.generator.numerics.trial import Watch
from tests.generator.shapes import Shape

_SIZE: Final = 4
_PROBES: Final = (("ramp 2",),)


def model(a: Author) -> str:
    """A model in whose layer tensors of several dtypes may meet."""
    place = owners.draw_place(a)
    arithmetic = Arithmetic(a, place)
    functions = Functions.draw(a, in_call=place in owners.IN_CALL)
    layer_dtype = a.text("float32") if place == "layer" and a.choices.chance(0.1) else None
    multiplies = place in ("layer", "model") and a.choices.chance(0.4)
    watches: tuple[Watch, ...] = ("products",) if multiplies and place == "layer" and layer_dtype is None else ()
    tensor = "x"
    if multiplies and a.choices.chance(0.4):
        arithmetic.lines.append(("x", functions.cast("x", _dtype(arithmetic, functions))))
    operand = _operand(arithmetic, functions)
    if a.choices.chance(0.2):
        operand = functions.cast(operand, _dtype(arithmetic, functions))
    tensor = arithmetic.let("y", _met(arithmetic, functions, tensor, operand))
    if multiplies:
        kernel = _kernel(arithmetic)
        product = a.choices.pick((f"{functions('matmul')}({tensor}, {kernel})", f"{tensor} @ {kernel}"))
        tensor = arithmetic.let("z", product)
    if a.choices.chance(0.2):
        tensor = functions.cast(tensor, _dtype(arithmetic, functions))
    arithmetic.result = tensor
    if any(".Variable(" in made for _, made in arithmetic.built):
        watches = ()  # who makes a variable so may want float32 there
    setting = Setting("casts", Shape((_SIZE,)), _PROBES, watches, layer_dtype=layer_dtype, has_float32_end=multiplies)
    return owners.model(a, arithmetic, setting)


def _dtype(arithmetic: Arithmetic, functions: Functions) -> str:
    a = arithmetic.a
    options = [(4, "float32"), (4, "x.dtype")]
    if arithmetic.place in ("layer", "model"):
        options.append((2, "self.compute_dtype"))
        options.append((1, "self.dtype" if arithmetic.place == "layer" else "self.compute_dtype"))
    chosen = a.choices.weighted(options)
    return functions.float32 if chosen == "float32" else chosen


def _kernel(arithmetic: Arithmetic) -> str:
    """The weight of a product: the layer's own, or a variable that no layer casts."""
    a = arithmetic.a
    if a.choices.chance(0.85) or arithmetic.place == "model":
        shape = f"({_SIZE}, {_SIZE})"
        if a.choices.chance(0.3):
            shape = f"(input_shape[-1], {_SIZE})"
        dtype = a.text("float32") if a.choices.chance(0.1) else None
        made = a.page.call("self.add_weight", shape=shape, name=a.text("kernel"), dtype=dtype)
    else:
        made = f"{a.spelling.tensorflow('Variable')}({a.spelling.tensorflow('eye')}({_SIZE}))"
    arithmetic.built.append(("self.kernel", made))
    return "self.kernel"


def _operand(arithmetic: Arithmetic, functions: Functions) -> str:
    a = arithmetic.a
    in_own = arithmetic.place in ("layer", "model")
    ones = f"({_SIZE},)"
    kinds: list[tuple[int, str]] = [(2, "number"), (3, "ones"), (2, "like"), (2, "x"), (2, "numpy"), (1, "compared")]
    kinds += [(1, "statistic"), (1, "softmax")]
    kinds += [(3, "variable"), (3, "weight")] if in_own else []
    kinds += [(2, "random"), (2, "constant"), (1, "range")] if not functions.is_ops else [(1, "arange")]
    match a.choices.weighted(kinds):
        case "ones":
            made = f"{functions(a.choices.pick(('ones', 'zeros')))}"
            dtype = _dtype(arithmetic, functions) if a.choices.chance(0.4) else None
            operand = a.page.call(made, ones, dtype=dtype)
        case "like":
            made = f"{functions(a.choices.pick(('ones_like', 'zeros_like')))}"
            dtype = _dtype(arithmetic, functions) if a.choices.chance(0.4) else None
            operand = a.page.call(made, "x", dtype=dtype)
        case "x":
            operand = functions.cast("x", _dtype(arithmetic, functions))
        case "numpy":
            operand = a.choices.pick(
                (
                    f"{a.spelling.numpy('ones')}({ones})",
                    f"{a.spelling.numpy('ones')}({ones}, {a.text('float32')})",
                    f"{a.spelling.numpy('float32')}(2.0)",
                    f"{a.spelling.numpy('sqrt')}(2.0)",
                )
            )
        case "compared":
            operand = functions.cast("x > 0", _dtype(arithmetic, functions))
        case "statistic":
            inner = functions.cast("x", functions.float32)
            operand = f"{functions('mean')}({inner}, axis=-1, keepdims=True)"
        case "softmax":
            inner = functions.cast("x", functions.float32)
            operand = f"{functions('softmax')}({inner if a.choices.chance(0.5) else 'x'})"
        case "variable":
            value = f"{a.spelling.tensorflow('ones')}({ones})"
            if a.choices.chance(0.4):
                value = f"{a.spelling.numpy('ones')}({ones}, {a.text('float32')})"
            dtype = _dtype_of_variable(arithmetic) if "tf." not in value and a.choices.chance(0.5) else None
            made = a.page.call(a.spelling.tensorflow("Variable"), value, dtype=dtype)
            arithmetic.built.append(("self.scale", made))
            operand = "self.scale"
        case "weight":
            dtype = a.text("float32") if a.choices.chance(0.2) else None
            made = a.page.call(
                "self.add_weight", shape=ones, initializer=a.text("ones"), name=a.text("scale"), dtype=dtype
            )
            arithmetic.built.append(("self.scale", made))
            operand = "self.scale"
        case "random":
            name = a.choices.pick(("random.normal", "random.uniform"))
            dtype = _dtype(arithmetic, functions) if a.choices.chance(0.4) else None
            noise = a.page.call(functions(name), f"{functions('shape')}(x)", dtype=dtype)
            operand = f"0.0 * {noise}" if a.choices.chance(0.5) else f"{noise} * 0.0"
        case "constant":
            dtype = _dtype(arithmetic, functions) if a.choices.chance(0.3) else None
            operand = a.page.call(functions("constant"), a.choices.pick(("2.0", "[1.0, 2.0, 3.0, 4.0]")), dtype=dtype)
        case "range":
            operand = a.choices.pick(
                (
                    f"{functions('range')}(4.0)",
                    functions.cast(f"{functions('range')}({_SIZE})", _dtype(arithmetic, functions)),
                )
            )
        case "arange":
            dtype = functions.float32 if a.choices.chance(0.5) else None
            operand = a.page.call(functions("arange"), str(_SIZE), dtype=dtype)
            if a.choices.chance(0.6):
                operand = functions.cast(operand, _dtype(arithmetic, functions))
        case _:
            return a.choices.pick(("2.0", "3", "0.5"))
    return arithmetic.let("other", operand) if a.choices.chance(0.5) else operand


def _dtype_of_variable(arithmetic: Arithmetic) -> str:
    a = arithmetic.a
    return a.choices.pick((a.spelling.tensorflow("float32"), "self.compute_dtype"))


def _met(arithmetic: Arithmetic, functions: Functions, tensor: str, operand: str) -> str:
    a = arithmetic.a
    forms = [f"{tensor} + {operand}", f"{tensor} * {operand}", f"{operand} * {tensor}", f"{tensor} - {operand}"]
    forms.append(f"{operand} + {tensor}")
    forms += [f"{functions(name)}({tensor}, {operand})" for name in ("add", "multiply", "maximum", "subtract")]
    forms.append(f"{functions('where')}({tensor} > 0, {tensor}, {operand})")
    return a.choices.pick(forms)
