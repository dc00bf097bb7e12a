"""Layers that prepare data at the front of a model, and pipelines in front of it."""

from __future__ import annotations

from typing import Final

from tests.generator.author import Author, Written
from tests.generator.functional import model_call
from tests.generator.numerics.trial import Trial
from tests.generator.shapes import Shape

_IMAGE: Final = Shape((8, 8, 3))
_ROW: Final = Shape((128,))


def layers(a: Author) -> str:
    """A model that begins with a preprocessing layer, or is given data by one."""
    shape = a.choices.weighted([(3, _IMAGE), (2, _ROW)])
    dtype = a.text("float32") if a.choices.chance(0.25) else None
    made, behind = _layer(a, shape, dtype)
    name = a.fresh("model")
    end = a.layer("Dense", "3", dtype=a.text("float32"))
    rest = [a.layer("Flatten"), a.layer("Dense", "8", activation=a.text("relu")), end]
    if behind != shape:
        rest = rest[1:]
    form = a.choices.pick(("functional", "sequential", "class", "part"))
    inputs = a.page.call(a.keras("Input"), shape.written)
    first = [a.layer("Dropout", "0.1")] if a.choices.chance(0.15) else []
    if form == "sequential":
        items = [inputs, *first, made, *rest]
        a.page.assign(name, a.page.call(a.keras("Sequential"), a.page.listed(items)))
        a.models[name] = Written("end")
    elif form == "class":
        owner = a.fresh("Net")
        with a.page.inside(f"class {owner}({a.keras('Model')}):"):
            with a.page.inside("def __init__(self):"):
                a.page.do("super().__init__()")
                a.page.assign("self.prepare", made)
                a.page.assign("self.rest", a.page.call(a.keras("Sequential"), a.page.listed(rest)))
            a.page.blank()
            with a.page.inside("def call(self, x):"):
                a.page.do("return self.rest(self.prepare(x))")
        a.page.blank(2)
        a.page.assign(name, f"{owner}()")
        a.models[name] = Written("end", [shape.spec])
    else:
        x = a.fresh("inputs")
        a.page.assign(x, inputs)
        tensor = x
        if form == "part":
            part = a.fresh("prepare")
            a.page.assign(part, a.page.call(a.keras("Sequential"), a.page.listed([*first, made])))
            made, first = part, []
        for text in [*first, made, *rest]:
            target = a.fresh("t")
            a.page.assign(target, f"{text}({tensor})")
            tensor = target
        a.page.assign(name, model_call(a, x, tensor))
        a.models[name] = Written("end")
    a.trials.append(Trial("preprocessing", name, (("pixels",), ("prices",))))
    return name


def _layer(a: Author, shape: Shape, dtype: str | None) -> tuple[str, Shape]:
    kinds = [(4, "Rescaling"), (3, "Normalization")]
    kinds += [(1, "RandomFlip"), (1, "CenterCrop"), (1, "Resizing")] if shape == _IMAGE else [(2, "Discretization")]
    match a.choices.weighted(kinds):
        case "Normalization":
            moments = a.choices.pick((("3000.0", "250000.0"), ("0.5", "2.0"), ("90000.0", "1e8")))
            return a.layer("Normalization", mean=moments[0], variance=moments[1], dtype=dtype), shape
        case "Discretization":
            edges = a.choices.pick(("[2048.5, 3000.5, 5000.0]", "[10.0, 20.0]"))
            text = a.layer("Discretization", bin_boundaries=edges, dtype=dtype)
            return text, Shape(())
        case "RandomFlip":
            return a.layer("RandomFlip", a.text("horizontal"), dtype=dtype), shape
        case "CenterCrop":
            return a.layer("CenterCrop", "2", "2", dtype=dtype), shape
        case "Resizing":
            return a.layer("Resizing", "3", "3", dtype=dtype), shape
        case _:
            scale, offset = a.choices.pick(
                (("1 / 255", None), ("1 / 127.5", "-1"), ("1.0 / 256", None), ("0.5", None), ("1 / 127.5", "-1.0"))
            )
            if a.choices.chance(0.3):
                return a.layer("Rescaling", scale=scale, offset=offset, dtype=dtype), shape
            return a.layer("Rescaling", scale, offset=offset, dtype=dtype), shape


# -- in front of a model


def pipeline(a: Author) -> str:
    """Data that are prepared in front of `fit`."""
    name = a.fresh("model")
    items = [
        a.page.call(a.keras("Input"), "(4, 4, 3)"), a.layer("Flatten"), a.layer("Dense", "8"),
        a.layer("Dense", "1", dtype=a.text("float32")),
    ]  # fmt: skip
    a.page.assign(name, a.page.call(a.keras("Sequential"), a.page.listed(items)))
    a.page.do(f"{name}.compile({a.text('sgd')}, {a.text('mse')})")
    images, labels = a.fresh("images"), a.fresh("labels")
    arange = f"{a.spelling.numpy('arange')}(16 * 48).reshape((16, 4, 4, 3)) % 256"
    a.page.assign(images, f"({arange}).astype({a.text('uint8')})")
    a.page.assign(labels, f"{a.spelling.numpy('zeros')}((16, 1))")
    if a.choices.chance(0.4):
        data = _array(a, images)
        a.page.do(a.page.call(f"{name}.fit", data, labels, verbose="0"))
    else:
        data = _dataset(a, images, labels)
        a.page.do(a.page.call(f"{name}.fit", data, verbose="0"))
    a.models[name] = Written("end")
    a.trials.append(Trial("pipelines", name))
    return name


def _array(a: Author, images: str) -> str:
    data = a.fresh("x")
    half = a.choices.pick((a.text("float16"), a.spelling.numpy("float16")))
    half = half if not a.exact else a.text("float32")
    exact = a.text("float32")
    forms = [
        f"{images}.astype({half}) / 255",
        f"({images} / 255).astype({half})",
        f"{images}.astype({exact}) / 255.0",
        f"{images}.astype({half})",
        f"({images}.astype({half}) - 3.3).astype({exact})",
        f"{images}.astype({half}) * 0.5",
        f"{a.spelling.numpy('array')}({images}, dtype={half}) / 127.5 - 1",
        f"({images}.astype({exact}) - 100.0) / 58.4",
    ]
    a.page.assign(data, a.choices.pick(forms))
    return data


def _dataset(a: Author, images: str, labels: str) -> str:
    function = a.fresh("prepare")
    tf = a.spelling.tensorflow
    half = tf(a.choices.pick(("float16", "bfloat16"))) if a.choices.chance(0.7) else a.text("float16")
    if a.exact:
        half = tf("float32")
    exact = tf("float32")
    cast = tf("cast")
    first = a.choices.pick(
        (
            f"{cast}(image, {half}) / 127.5 - 1.0",
            f"{cast}(image, {exact}) / 255.0",
            f"{cast}({cast}(image, {exact}) / 255.0, {half})",
            f"{cast}(image, {half})",
            f"{cast}(image, {half}) * 0.5",
            f"{cast}(image, {half}) / 255.0",
            f"{tf('image.convert_image_dtype')}(image, {half})",
            f"{tf('image.convert_image_dtype')}(image, {exact})",
            f"{tf('math.divide')}({cast}(image, {half}), 255.0)",
        )
    )
    with a.page.inside(f"def {function}(image, label):"):
        a.page.assign("image", first)
        match a.choices.weighted([(4, "nothing"), (1, "more"), (1, "float32"), (1, "half")]):
            case "more":
                a.page.assign("image", "image - 0.3")
            case "float32":
                a.page.assign("image", f"{cast}(image, {exact})")
            case "half":
                a.page.assign("image", f"{cast}(image, {half})")
        a.page.do("return image, label")
    a.page.blank(2)
    data = a.fresh("data")
    made = f"{tf('data.Dataset.from_tensor_slices')}(({images}, {labels}))"
    batched = a.choices.pick((f"{made}.map({function}).batch(8)", f"{made}.batch(8).map({function})"))
    a.page.assign(data, f"{batched}.prefetch(1)" if a.choices.chance(0.3) else batched)
    return data
