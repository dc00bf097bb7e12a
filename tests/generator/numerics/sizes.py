"""Hidden sizes and batches, written in the ways in which programs write them."""

from __future__ import annotations

from typing import Final

from tests.generator.author import Author, Written
from tests.generator.functional import model_call
from tests.generator.numerics.trial import Trial

_SIZES: Final = ("12", "16", "20", "100", "32", "30", "50", "24", "8", "6")
_CLASSES: Final = ("10", "3", "1", "11")
_BATCHES: Final = ("12", "16", "30", "32", "8", "6", "20")


def model(a: Author) -> str:
    """A model with hidden layers of some sizes."""
    name = a.fresh("model")
    classes = a.choices.pick(_CLASSES)
    form = a.choices.weighted(_FORMS)
    inputs, tensor = form(a)
    dtype = a.text("float32") if a.choices.chance(0.7) else None
    units = a.fresh("CLASSES") if a.choices.chance(0.3) else classes
    if units != classes:
        a.page.assign(units, classes)
    end = a.layer("Dense", units, dtype=dtype)
    a.page.assign(name, model_call(a, inputs, f"{end}({tensor})"))
    a.models[name] = Written("end")
    if a.choices.chance(0.4):
        _fitted(a, name)
    a.trials.append(Trial("sizes", name, (("ramp 1",),)))
    return name


def _fitted(a: Author, name: str) -> None:
    a.page.do(f"{name}.compile({a.text('sgd')}, {a.text('mse')})")
    batch = a.choices.pick(_BATCHES)
    if a.choices.chance(0.4):
        constant = a.fresh("BATCH_SIZE")
        a.page.assign(constant, batch)
        batch = constant
    zeros = a.spelling.numpy("zeros")
    shape = f"(64, *{name}.input_shape[1:])"
    x, y = f"{zeros}({shape})", f"{zeros}((64, 1))"
    if a.choices.chance(0.3):
        data = a.fresh("data")
        a.page.assign(data, f"{a.spelling.tensorflow('data.Dataset.from_tensor_slices')}(({x}, {y})).batch({batch})")
        a.page.do(a.page.call(f"{name}.fit", data, verbose="0"))
    else:
        a.page.do(a.page.call(f"{name}.fit", x, y, batch_size=batch, verbose="0"))


def _size(a: Author) -> str:
    """A size as it is written in a call."""
    number = a.choices.pick(_SIZES)
    match a.choices.weighted([(6, "literal"), (3, "constant"), (2, "mapping"), (1, "field"), (1, "product")]):
        case "constant":
            name = a.fresh("UNITS")
            a.page.assign(name, number)
            return name
        case "mapping":
            name = a.fresh("config")
            a.page.assign(name, a.mapping({"units": number, "rate": "0.1"}))
            return f"{name}[{a.text('units')}]"
        case "field":
            owner = a.fresh("Config")
            with a.page.inside(f"class {owner}:"):
                a.page.assign("units", number)
            a.page.blank(2)
            return f"{owner}.units"
        case "product":
            name = a.fresh("WIDTH")
            a.page.assign(name, "12" if number == "6" else number)  # a computed size counts from 16 on
            return f"{name} * {a.choices.pick(('2', '3'))}"
        case _:
            return number


def _start(a: Author, shape: str, dtype: str | None = None) -> str:
    name = a.fresh("inputs")
    a.page.assign(name, a.page.call(a.keras("Input"), shape, dtype=a.text(dtype) if dtype else None))
    return name


def _relu(a: Author) -> str | None:
    return a.text("relu") if a.choices.chance(0.6) else None


def _through(a: Author, tensor: str, *layers: str) -> str:
    for text in layers:
        a.page.assign("x", f"{text}({tensor})")
        tensor = "x"
    return tensor


def stacked(a: Author) -> tuple[str, str]:
    """Dense layers one behind the other."""
    inputs = _start(a, "(16,)")
    made = [a.layer("Dense", _size(a), activation=_relu(a)) for _ in range(1 + a.choices.below(3))]
    if a.choices.chance(0.3):
        made.insert(1, a.layer("Dropout", "0.1"))
    return inputs, _through(a, inputs, *made)


def looped(a: Author) -> tuple[str, str]:
    """Sizes in a list."""
    inputs = _start(a, "(16,)")
    sizes = ", ".join(a.choices.pick(_SIZES) for _ in range(2))
    over = f"[{sizes}]"
    if a.choices.chance(0.4):
        over = a.fresh("HIDDEN")
        a.page.assign(over, f"({sizes})")
    a.page.assign("x", inputs)
    with a.page.inside(f"for width in {over}:"):
        a.page.assign("x", f"{a.layer('Dense', 'width', activation=_relu(a))}(x)")
    return inputs, "x"


def by_function(a: Author) -> tuple[str, str]:
    """A block with the size as an argument."""
    function = a.fresh("block")
    default = a.choices.pick(_SIZES)
    with a.page.inside(f"def {function}(x, units={default}):"):
        a.page.assign("x", f"{a.layer('Dense', 'units', activation=_relu(a))}(x)")
        a.page.do(f"return {a.layer('BatchNormalization')}(x)")
    a.page.blank(2)
    inputs = _start(a, "(16,)")
    calls = [f"{function}({{}})", f"{function}({{}}, {a.choices.pick(_SIZES)})"]
    a.page.assign("x", a.choices.pick(calls).format(inputs))
    if a.choices.chance(0.5):
        a.page.assign("x", a.choices.pick((f"{function}(x)", f"{function}(x, units={a.choices.pick(_SIZES)})")))
    return inputs, "x"


def residual(a: Author) -> tuple[str, str]:
    """What is added must be as large."""
    inputs = _start(a, "(16,)")
    number = _size(a)
    a.page.assign("x", f"{a.layer('Dense', number, activation=_relu(a))}({inputs})")
    y = a.fresh("y")
    a.page.assign(y, f"{a.layer('Dense', number, activation=_relu(a))}(x)")
    a.page.assign("x", a.choices.pick((f"x + {y}", f"{a.layer('Add')}([x, {y}])", f"{a.layer('Multiply')}([{y}, x])")))
    return inputs, "x"


def concatenated(a: Author) -> tuple[str, str]:
    """What is put side by side may have any size."""
    inputs = _start(a, "(16,)")
    sides = []
    for _ in range(2):
        sides.append(a.fresh("side"))
        a.page.assign(sides[-1], f"{a.layer('Dense', _size(a), activation=_relu(a))}({inputs})")
    a.page.assign("x", f"{a.layer('Concatenate')}([{', '.join(sides)}])")
    return inputs, _through(a, "x", a.layer("Dense", _size(a)))


def convolved(a: Author) -> tuple[str, str]:
    """Filters."""
    inputs = _start(a, "(8, 8, 3)")
    count = 1 + a.choices.below(2)
    made = [a.layer("Conv2D", _size(a), "3", padding=a.text("same"), activation=_relu(a)) for _ in range(count)]
    if a.choices.chance(0.4):
        made.insert(1, a.layer("BatchNormalization"))
    pooled = a.choices.pick(("GlobalAveragePooling2D", "Flatten"))
    return inputs, _through(a, inputs, *made, a.layer(pooled))


def recurrent(a: Author) -> tuple[str, str]:
    """Features of words and units of a recurrent layer."""
    inputs = _start(a, "(6,)", "int32")
    layer = a.layer(a.choices.pick(("LSTM", "GRU")), _size(a))
    if a.choices.chance(0.3):
        layer = a.layer("Bidirectional", layer)
    return inputs, _through(a, inputs, a.layer("Embedding", "64", _size(a)), layer)


def attentive(a: Author) -> tuple[str, str]:
    """Attention whose result is added to what it looks at."""
    inputs = _start(a, "(6, 4)")
    number = _size(a)
    a.page.assign("x", f"{a.layer('Dense', number)}({inputs})")
    heads = a.layer("MultiHeadAttention", num_heads="2", key_dim=_size(a))
    a.page.assign("x", f"{a.layer('Add')}([x, {heads}(x, x)])")
    return inputs, _through(a, "x", a.layer("GlobalAveragePooling1D"))


_FORMS: Final = [
    (5, stacked), (2, looped), (2, by_function), (3, residual), (2, concatenated), (3, convolved), (2, recurrent),
    (2, attentive),
]  # fmt: skip
