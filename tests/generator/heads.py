"""The ends of models: what is computed last, and in what."""

from __future__ import annotations

from collections.abc import Callable

from tests.generator import bodies, dtypes
from tests.generator.activations import other, softmax, softmax_function
from tests.generator.author import Author, Options
from tests.generator.shapes import VECTOR, Shape


def own_dtype(a: Author) -> str | None:
    """The dtype of a layer at the end: often float32."""
    options: Options = [(6, lambda: None), (4, lambda: dtypes.float32(a)), (1, lambda: dtypes.half(a))]
    return a.choices.weighted(options)()


def name(a: Author) -> str | None:
    """A layer's name, sometimes."""
    return a.text(a.fresh("head")) if a.choices.chance(0.3) else None


def head(a: Author, shape: Shape) -> tuple[list[str], Shape]:
    """Layers from any shape to an output."""
    with a.choices.part("head"):
        return _head(a, shape)


def _head(a: Author, shape: Shape) -> tuple[list[str], Shape]:
    made: list[str] = []
    if len(shape.sizes) != VECTOR and a.choices.chance(0.7):
        made, shape = bodies.to_vector(a, shape)
    units = a.choices.pick((3, 4, 2, 1))
    is_softmax = a.choices.chance(0.6) and units > 1
    pick = a.choices.weighted(
        [(6, dense), (3, dense_and_activation), (2, softmax_layer), (1, in_lambda), (1, wrapped), (1, recurrent_end)]
    )
    last, shape = pick(a, shape, units, is_softmax)
    made += last
    for _ in range(a.choices.weighted([(7, 0), (2, 1), (1, 2)])):
        text, shape = behind(a, shape)
        made.append(text)
    return made, shape


Ends = tuple[list[str], Shape]


def dense(a: Author, shape: Shape, units: int, is_softmax: bool) -> Ends:
    activation = softmax(a) if is_softmax else other(a)
    form = a.choices.weighted([(14, "named"), (4, "positional"), (1, "unpacked"), (1, "function"), (1, "no autocast")])
    if form == "no autocast":
        return [a.layer("Dense", str(units), activation=activation, autocast="False")], shape.last(units)
    if form == "positional":
        return [a.layer("Dense", str(units), activation, dtype=own_dtype(a), name=name(a))], shape.last(units)
    if form == "unpacked":
        options = a.fresh("options")
        given = {"activation": activation or "None", "dtype": own_dtype(a) or "None"}
        a.page.assign(options, a.mapping(given) if a.choices.chance(0.5) else a.page.call("dict", **given))
        return [a.layer("Dense", *a.choices.pick(((str(units), f"**{options}"), (f"*[{units}]", f"**{options}"))))], (
            shape.last(units)
        )
    if form == "function":
        function = a.fresh("final")
        with a.page.inside(f"def {function}(t):"):
            cast = f"{a.spelling.tensorflow('cast')}(t, {a.text('float32')})"
            tensor = a.choices.pick(("t", cast))
            inside = softmax_function(a, in_call=True) if is_softmax else a.spelling.tensorflow("nn.sigmoid")
            a.page.do(f"return {inside}({tensor})")
        a.page.blank()
        activation = function
    text = a.layer("Dense", str(units), activation=activation, name=name(a), dtype=own_dtype(a))
    return [text], shape.last(units)


def dense_and_activation(a: Author, shape: Shape, units: int, is_softmax: bool) -> Ends:
    activation = softmax(a) if is_softmax else other(a) or a.text("linear")
    return [
        a.layer("Dense", str(units), dtype=own_dtype(a)),
        a.layer("Activation", activation, dtype=own_dtype(a), name=name(a)),
    ], shape.last(units)


def softmax_layer(a: Author, shape: Shape, units: int, is_softmax: bool) -> Ends:
    last = a.layer("Softmax" if is_softmax else "ReLU", dtype=own_dtype(a), name=name(a))
    return [a.layer("Dense", str(units)), last], shape.last(units)


def in_lambda(a: Author, shape: Shape, units: int, is_softmax: bool) -> Ends:
    function = a.spelling.tensorflow("nn.softmax" if is_softmax else "nn.sigmoid")
    cast = a.spelling.tensorflow("cast")
    body = a.choices.pick(
        (
            function,
            f"lambda t: {function}(t)",
            f"lambda t: {function}({cast}(t, {a.text('float32')}))",
            f"lambda t: {cast}({function}(t), {a.text('float32')})",
        )
    )
    return [a.layer("Dense", str(units)), a.layer("Lambda", body, dtype=own_dtype(a), name=name(a))], shape.last(units)


def wrapped(a: Author, shape: Shape, units: int, is_softmax: bool) -> Ends:
    """TimeDistributed around the end of a sequence."""
    if len(shape.sizes) == VECTOR:
        return dense(a, shape, units, is_softmax)
    activation = softmax(a) if is_softmax else other(a)
    inner = a.layer("Dense", str(units), activation=activation, dtype=own_dtype(a))
    return [a.layer("TimeDistributed", inner, dtype=own_dtype(a), name=name(a))], shape.last(units)


def recurrent_end(a: Author, shape: Shape, units: int, is_softmax: bool) -> Ends:
    """A recurrent layer at the end."""
    if len(shape.sizes) != 2:
        return dense(a, shape, units, is_softmax)
    inner = a.layer(a.choices.pick(("LSTM", "GRU")), str(units), dtype=own_dtype(a))
    if a.choices.chance(0.5):
        return [a.layer("Bidirectional", inner, dtype=own_dtype(a))], Shape((2 * units,))
    return [inner], Shape((units,))


def behind(a: Author, shape: Shape) -> tuple[str, Shape]:
    """What only carries the numbers on, or casts them."""
    float32 = own_dtype(a)
    options: list[tuple[int, Callable[[], tuple[str, Shape]]]] = [
        (3, lambda: (a.layer("Activation", a.text("linear"), dtype=float32), shape)),
        (2, lambda: (a.layer("Dropout", "0.1", dtype=float32), shape)),
        (2, lambda: bodies.flatten(a, shape)),
        (2, lambda: (a.layer("Reshape", shape.written, dtype=float32), shape)),
        (1, lambda: (a.layer("Identity", dtype=float32), shape)),
        (1, lambda: (a.layer("Lambda", f"lambda t: {a.spelling.tensorflow('cast')}(t, {a.text('float32')})"), shape)),
    ]
    return a.choices.weighted(options)()
