"""Layers of the program's own."""

from __future__ import annotations

from collections.abc import Callable

from tests.generator import dtypes, operations
from tests.generator.author import Author
from tests.generator.shapes import Shape, Step


def layer(a: Author, shape: Shape, step: Callable[[Author, Shape], Step]) -> Step:
    """Write a class; gives the expression that makes a layer of it. `step` makes a layer to hold."""
    owner = a.fresh(a.choices.pick(("Scale", "Block", "Norm", "Gate")))
    kind = a.choices.pick(("plain", "weights", "inner", "kernel"))
    behind = shape
    if kind == "inner":
        inner, behind = step(a, shape)
    units = a.choices.pick((4, 8))
    base = a.keras(a.choices.pick(("layers.Layer", "Layer") if a.is_3 else ("layers.Layer",)))
    with a.page.inside(f"class {owner}({base}):"):
        if kind == "kernel":
            behind = shape.last(units)
            with a.page.inside(f"def __init__(self, units={units}, **kwargs):"):
                a.page.do("super().__init__(**kwargs)")
                a.page.assign("self.units", "units")
        elif kind == "inner":
            with a.page.inside("def __init__(self, **kwargs):"):
                a.page.do("super().__init__(**kwargs)")
                a.page.assign("self.inner", inner)
        if kind in ("weights", "kernel"):
            a.page.blank()
            with a.page.inside("def build(self, input_shape):"):
                _weights(a, kind)
        a.page.blank()
        with a.page.inside("def call(self, inputs):"):
            _call(a, kind, same=behind == shape)
        if a.choices.chance(0.3):
            a.page.blank()
            _output_shape(a, shape, behind)
    a.page.blank(2)
    arguments = a.page.call(owner, dtype=dtypes.hidden(a))
    return arguments, behind


def of_library(a: Author, shape: Shape) -> Step:
    """A class derived from a layer of the library."""
    units = a.choices.pick((4, 8))
    base, arguments, behind = a.choices.pick(
        (
            ("Dense", [str(units)], shape.last(units)),
            ("Softmax", [], shape),
            ("LayerNormalization", [], shape),
            ("Activation", [a.text("relu")], shape),
            ("Dropout", ["0.1"], shape),
        )
    )
    owner = a.fresh(f"My{base}")
    with a.page.inside(f"class {owner}({a.keras(f'layers.{base}')}):"):
        if a.choices.chance(0.4):
            fixed = f"dtype={a.text('float32')}" if a.choices.chance(0.4) else f"name={a.text(a.fresh('own'))}"
            with a.page.inside("def __init__(self, *args, **kwargs):"):
                a.page.do(f"super().__init__(*args, {fixed}, **kwargs)")
            a.page.blank()
        with a.page.inside("def call(self, inputs):"):
            a.page.assign("x", "super().call(inputs)")
            a.page.do(f"return {a.choices.pick(('x', operations.expression(a, 'x', in_call=True)))}")
    a.page.blank(2)
    return a.page.call(owner, *arguments), behind


def _weights(a: Author, kind: str) -> None:
    dtype = a.choices.weighted([(6, None), (1, a.text("float32")), (1, "self.dtype" if not a.is_3 else None)])
    if kind == "kernel":
        shape = "(input_shape[-1], self.units)"
        call = a.page.call("self.add_weight", name=a.text("kernel"), shape=shape, dtype=dtype)
        a.page.assign("self.kernel", call)
    else:
        initializer = a.text(a.choices.pick(("ones", "zeros")))
        shape = "(int(input_shape[-1]),)"
        call = a.page.call("self.add_weight", shape=shape, initializer=initializer, name=a.text("w"), dtype=dtype)
        a.page.assign("self.w", call)
    if a.choices.chance(0.5):
        a.page.do("super().build(input_shape)")


def _call(a: Author, kind: str, *, same: bool) -> None:
    tensor = "inputs"
    if kind == "inner":
        a.page.assign("x", "self.inner(inputs)")
        tensor = "x"
        if same and a.choices.chance(0.3):
            tensor = "(inputs + x)"
    elif kind == "kernel":
        options = ["inputs @ self.kernel", f"{a.spelling.tensorflow('matmul')}(inputs, self.kernel)"]
        if a.is_3:
            options.append(f"{a.keras('ops.matmul')}(inputs, self.kernel)")
        tensor = a.choices.pick(options)
    elif kind == "weights":
        tensor = a.choices.pick(("inputs * self.w", "inputs + self.w", "self.w * inputs"))
    if a.choices.chance(0.15):
        total, cast = a.spelling.tensorflow("reduce_sum"), a.spelling.tensorflow("cast")
        a.page.do(f"self.add_loss(1e-3 * {total}({cast}(inputs, {a.text('float32')})))")
    if a.choices.chance(0.5 if kind != "plain" else 1.0):
        if not tensor.isidentifier():
            a.page.assign("y", tensor)
            tensor = "y"
        tensor = operations.expression(a, tensor, in_call=True)
    a.page.do(f"return {tensor}")


def _output_shape(a: Author, shape: Shape, behind: Shape) -> None:
    with a.page.inside("def compute_output_shape(self, input_shape):"):
        if shape == behind:
            a.page.do("return input_shape")
        else:
            a.page.do(f"return (input_shape[0], {', '.join(map(str, behind.sizes))})")
