"""Layers for the middle of a model: each takes one tensor and gives one."""

from __future__ import annotations

from collections.abc import Callable

from tests.generator import custom, dtypes, preprocessing
from tests.generator.activations import hidden
from tests.generator.author import Author
from tests.generator.shapes import IMAGE, SEQUENCE, VECTOR, Shape, Step


def step(a: Author, shape: Shape) -> Step:
    """One layer that can take `shape`."""
    with a.choices.part("step"):
        return _step(a, shape)


def _step(a: Author, shape: Shape) -> Step:
    if shape.ids:
        return a.choices.weighted([(3, embedding), (2, preprocessed)])(a, shape)
    return a.choices.weighted(_STEPS[len(shape.sizes)])(a, shape)


def steps(a: Author, shape: Shape, most: int = 3) -> tuple[list[str], Shape]:
    """Some of them one behind the other."""
    with a.choices.part("steps"):
        return _steps(a, shape, most)


def _steps(a: Author, shape: Shape, most: int) -> tuple[list[str], Shape]:
    made = []
    if shape.ids or a.choices.chance(0.1):
        text, shape = preprocessed(a, shape)
        made.append(text)
    while shape.ids:
        text, shape = step(a, shape)
        made.append(text)
    for _ in range(a.choices.below(most + 1)):
        text, shape = step(a, shape)
        made.append(text)
    return made, shape


def preprocessed(a: Author, shape: Shape) -> Step:
    """A preprocessing layer."""
    return preprocessing.categories(a, shape) if shape.ids else preprocessing.numbers(a, shape)


def own(a: Author, shape: Shape) -> Step:
    """A layer of the program's own."""
    return custom.layer(a, shape, step)


def to_vector(a: Author, shape: Shape) -> tuple[list[str], Shape]:
    """What is needed to have one vector a row."""
    made: list[str] = []
    while len(shape.sizes) != VECTOR or shape.ids:
        text, shape = (
            a.choices.pick((pooled, flatten, recurrent_last))(a, shape) if not shape.ids else embedding(a, shape)
        )
        made.append(text)
    return made, shape


def size(a: Author) -> int:
    """The width of a layer."""
    return a.choices.pick((4, 8, 6, 3))


# -- any shape


def dense(a: Author, shape: Shape) -> Step:
    units = size(a)
    activation, dtype = hidden(a), dtypes.hidden(a)
    if a.choices.chance(0.2):
        return a.layer("Dense", units=str(units), dtype=dtype, activation=activation), shape.last(units)
    return a.layer("Dense", str(units), activation=activation, dtype=dtype), shape.last(units)


def same(name: str, *arguments: str) -> Callable[[Author, Shape], Step]:
    """A layer that keeps the shape."""

    def make(a: Author, shape: Shape) -> Step:
        return a.layer(name, *arguments, dtype=dtypes.hidden(a)), shape

    return make


def activation_layer(a: Author, shape: Shape) -> Step:
    return a.layer("Activation", hidden(a) or a.text("relu"), dtype=dtypes.hidden(a)), shape


def scaled(a: Author, shape: Shape) -> Step:
    """A Lambda."""
    body = a.choices.pick(("lambda t: t * 2.0", "lambda t: t + 1", "lambda t: -t", "lambda v: v", "lambda t: t / 2"))
    if a.choices.chance(0.3):
        function = a.spelling.tensorflow(a.choices.pick(("nn.relu", "tanh", "abs", "identity", "square")))
        body = function if a.choices.chance(0.5) else f"lambda t: {function}(t)"
    return a.layer("Lambda", body), shape


def block(a: Author, shape: Shape) -> Step:
    """A Sequential as a layer."""
    inner, behind = steps(a, shape, 2)
    if not inner:
        text, behind = dense(a, shape)
        inner = [text]
    return a.page.call(a.keras("Sequential"), a.page.listed(inner)), behind


def normalized(a: Author, shape: Shape) -> Step:
    """A Dense with spectral normalization."""
    units = size(a)
    inner = a.layer("Dense", str(units), dtype=dtypes.hidden(a))
    return a.layer("SpectralNormalization", inner, dtype=dtypes.hidden(a)), shape.last(units)


# -- one vector a row


def split_up(a: Author, shape: Shape) -> Step:
    parts = 2 if shape.features % 2 == 0 else shape.features
    sizes = (parts, shape.features // parts)
    return a.layer("Reshape", str(sizes)), Shape(sizes)


def repeated(a: Author, shape: Shape) -> Step:
    return a.layer("RepeatVector", "3"), Shape((3, shape.features))


# -- sequences


def recurrent(a: Author, shape: Shape) -> Step:
    units = size(a)
    name = a.choices.pick(("LSTM", "GRU", "SimpleRNN"))
    form = a.choices.weighted([(5, "plain"), (3, "bidirectional"), (2, "cell"), (1, "cells")])
    if form == "bidirectional":
        inner = a.layer(name, str(units), return_sequences="True", dtype=dtypes.hidden(a))
        return a.layer("Bidirectional", inner, dtype=dtypes.hidden(a)), Shape((shape.sizes[0], 2 * units))
    if form == "cell":
        return a.layer("RNN", a.layer(f"{name}Cell", str(units)), return_sequences="True"), shape.last(units)
    if form == "cells":
        cells = a.page.listed([a.layer(f"{name}Cell", str(units)), a.layer("GRUCell", str(units))])
        held = a.layer("StackedRNNCells", cells) if a.choices.chance(0.5) else cells
        return a.layer("RNN", held, return_sequences="True"), shape.last(units)
    return a.layer(name, str(units), return_sequences="True", dtype=dtypes.hidden(a)), shape.last(units)


def recurrent_last(a: Author, shape: Shape) -> Step:
    if len(shape.sizes) != SEQUENCE:
        return flatten(a, shape)
    units = size(a)
    text = a.layer(a.choices.pick(("LSTM", "GRU", "SimpleRNN")), str(units), dtype=dtypes.hidden(a))
    if a.choices.chance(0.3):
        return a.layer("Bidirectional", text), Shape((2 * units,))
    return text, Shape((units,))


def distributed(a: Author, shape: Shape) -> Step:
    units = size(a)
    inner = a.layer("Dense", str(units), activation=hidden(a), dtype=dtypes.hidden(a))
    form = a.choices.weighted([(6, "plain"), (1, "normalized"), (1, "twice"), (1, "block")])
    if form == "normalized":
        inner = a.layer("SpectralNormalization", inner, dtype=dtypes.hidden(a))
    elif form == "block":
        inner = a.page.call(a.keras("Sequential"), a.page.listed([a.layer("Dense", "5"), inner]))
    elif form == "twice":
        outer = a.layer("TimeDistributed", a.layer("RepeatVector", "3"))
        cell = a.layer("TimeDistributed", a.layer("LSTM", str(units)))
        return a.page.call(a.keras("Sequential"), a.page.listed([outer, cell])), shape.last(units)
    return a.layer("TimeDistributed", inner, dtype=dtypes.hidden(a)), shape.last(units)


def convolution(a: Author, shape: Shape) -> Step:
    filters = size(a)
    rank = len(shape.sizes) - 1
    names = {1: ("Conv1D", "SeparableConv1D"), 2: ("Conv2D", "SeparableConv2D", "Conv2DTranspose")}[rank]
    kernel = a.choices.pick(("1", "2", "3"))
    return (
        a.layer(
            a.choices.pick(names),
            str(filters),
            kernel,
            padding=a.text("same"),
            activation=hidden(a),
            dtype=dtypes.hidden(a),
        ),
        shape.last(filters),
    )


def pooled(a: Author, shape: Shape) -> Step:
    rank = len(shape.sizes) - 1
    name = a.choices.pick((f"GlobalAveragePooling{rank}D", f"GlobalMaxPooling{rank}D"))
    return a.layer(name), Shape((shape.features,))


def flatten(a: Author, shape: Shape) -> Step:
    total = 1
    for each in shape.sizes:
        total *= each
    return a.layer("Flatten"), Shape((total,))


def padded(a: Author, shape: Shape) -> Step:
    rank = len(shape.sizes) - 1
    wider = tuple(each + 2 for each in shape.sizes[:-1])
    return a.layer(f"ZeroPadding{rank}D", "1"), Shape((*wider, shape.features))


def enlarged(a: Author, shape: Shape) -> Step:
    rank = len(shape.sizes) - 1
    interpolation = a.text("bilinear") if rank == 2 and a.choices.chance(0.4) else None
    larger = tuple(each * 2 for each in shape.sizes[:-1])
    return a.layer(f"UpSampling{rank}D", "2", interpolation=interpolation), Shape((*larger, shape.features))


def pooling(a: Author, shape: Shape) -> Step:
    rank = len(shape.sizes) - 1
    name = a.choices.pick((f"MaxPooling{rank}D", f"AveragePooling{rank}D"))
    return a.layer(name, "2", strides="1", padding=a.text("same")), shape


# -- ids


def embedding(a: Author, shape: Shape) -> Step:
    units = size(a)
    return a.layer("Embedding", "10", str(units), dtype=dtypes.hidden(a)), Shape((*shape.sizes, units))


def permuted(a: Author, shape: Shape) -> Step:
    return a.layer("Permute", "(2, 1)"), Shape(shape.sizes[::-1])


def einsum(a: Author, shape: Shape) -> Step:
    units = size(a)
    letters = "abc"[: len(shape.sizes)]
    equation = a.text(f"{letters}x,xy->{letters}y")
    sizes = ", ".join(map(str, (*shape.sizes[:-1], units)))
    output = f"({sizes})" if len(shape.sizes) > 1 else str(units)
    return a.layer("EinsumDense", equation, output_shape=output, activation=hidden(a), dtype=dtypes.hidden(a)), (
        shape.last(units)
    )


def cropped(a: Author, shape: Shape) -> Step:
    if min(shape.sizes[:-1]) < 3:
        return dense(a, shape)
    smaller = tuple(each - 2 for each in shape.sizes[:-1])
    return a.layer(f"Cropping{len(smaller)}D", "1"), Shape((*smaller, shape.features))


def both_ways(a: Author, shape: Shape) -> Step:
    """Bidirectional, put together otherwise."""
    units = size(a)
    mode = a.choices.pick(("sum", "mul", "ave"))
    inner = a.layer(a.choices.pick(("GRU", "LSTM")), str(units), return_sequences="True", dtype=dtypes.hidden(a))
    return a.layer("Bidirectional", inner, merge_mode=a.text(mode), dtype=dtypes.hidden(a)), shape.last(units)


def grouped(a: Author, shape: Shape) -> Step:
    return a.layer("GroupNormalization", "1", dtype=dtypes.hidden(a)), shape


_ANY: list[tuple[int, Callable[[Author, Shape], Step]]] = [
    (10, dense),
    (2, same("Dropout", "0.1")),
    (2, same("BatchNormalization")),
    (2, same("LayerNormalization")),
    (1, same("UnitNormalization")),
    (1, same("ReLU")),
    (1, same("LeakyReLU")),
    (1, same("ELU")),
    (1, same("PReLU")),
    (1, same("Softmax")),
    (1, same("GaussianNoise", "0.1")),
    (1, same("GaussianDropout", "0.1")),
    (1, same("ActivityRegularization")),
    (1, same("Rescaling", "0.5")),
    (1, same("Identity")),
    (3, activation_layer),
    (2, scaled),
    (1, block),
    (1, normalized),
    (1, grouped),
    (1, einsum),
    (2, own),
    (1, custom.of_library),
]
_STEPS = {
    VECTOR: [*_ANY, (1, split_up), (1, repeated), (1, same("Masking"))],
    SEQUENCE: [
        *_ANY, (6, recurrent), (4, distributed), (3, convolution), (2, pooled), (2, flatten), (1, permuted),
        (1, cropped), (1, both_ways), (1, padded), (1, enlarged), (1, pooling),
        (1, same("SpatialDropout1D", "0.1")), (1, same("Masking")),
    ],
    IMAGE: [
        *_ANY, (1, cropped), (8, convolution), (2, pooled), (2, flatten), (1, padded), (1, enlarged), (2, pooling),
        (1, same("SpatialDropout2D", "0.1")),
    ],
}  # fmt: skip
