"""Layers and models of the program's own that take several tensors: how they get them decides what is cast."""

from __future__ import annotations

from tests.generator import functional, heads, operations
from tests.generator.author import Author, Written
from tests.generator.shapes import Shape

WIDTH = 8
_ONE = Shape((WIDTH,))


def layer_of_two(a: Author, shape: Shape) -> str:
    """A Functional model with a layer that takes a half and a float32 tensor."""
    owner, form = _layer(a)
    inputs = functional.new_input(a, _ONE)
    second = functional.new_input(a, _ONE) if a.choices.chance(0.5) else inputs
    a.page.assign("x", f"{a.layer('Dense', str(WIDTH))}({inputs})")
    pair = a.choices.pick((("x", second), (second, "x"), ("x", "x")))
    a.page.assign("y", _called(a, f"{owner}({_own_policy(a)})", form, pair))
    tensor = "y"
    if a.choices.chance(0.5):
        last, _ = heads.head(a, _ONE)
        tensor = functional.wire(a, tensor, last)
    name = a.fresh("model")
    given = inputs if second == inputs else f"[{inputs}, {second}]"
    a.page.assign(name, functional.model_call(a, given, tensor))
    a.models[name] = Written("end")
    return name


def _own_policy(a: Author) -> str:
    return a.choices.weighted([(6, ""), (2, f"dtype={a.text('float32')}"), (1, f"dtype={a.text('mixed_float16')}")])


def _called(a: Author, layer: str, form: str, pair: tuple[str, str]) -> str:
    one, two = pair
    match form:
        case "positional":
            return f"{layer}({one}, {two})"
        case "keyword":
            return f"{layer}({one}, other={two})"
        case "list":
            return f"{layer}({a.choices.pick((f'[{one}, {two}]', f'({one}, {two})'))})"
        case _:
            return f"{layer}({a.mapping({'one': one, 'two': two})})"


def _layer(a: Author) -> tuple[str, str]:
    """Write the class; gives its name and how it is called."""
    form = a.choices.pick(("list", "mapping", "positional", "keyword"))
    owner = a.fresh("Merge")
    with a.page.inside(f"class {owner}({a.keras('layers.Layer')}):"):
        if a.choices.chance(0.4):
            with a.page.inside("def __init__(self, **kwargs):"):
                a.page.do("super().__init__(**kwargs)")
                a.page.assign("self.dense", a.layer("Dense", str(WIDTH)))
            a.page.blank()
            inner = "self.dense"
        else:
            inner = ""
        header = {
            "list": "def call(self, inputs):",
            "mapping": "def call(self, inputs):",
            "positional": "def call(self, one, two):",
            "keyword": "def call(self, one, other=None):",
        }[form]
        with a.page.inside(header):
            if form == "list":
                a.page.assign("one, two", "inputs")
            elif form == "mapping":
                a.page.assign("one, two", f"inputs[{a.text('one')}], inputs[{a.text('two')}]")
            elif form == "keyword":
                a.page.assign("two", "other")
            tensor = a.choices.pick(("one", "two"))
            if inner:
                a.page.assign(tensor, f"{inner}({tensor})")
            result = a.choices.pick(("one", "two", operations.expression(a, tensor, in_call=True)))
            a.page.do(f"return {result}")
    a.page.blank(2)
    return owner, form


def model_of_two(a: Author, shape: Shape) -> str:
    """A subclassed model whose input is a list of tensors."""
    owner = a.fresh("Pair")
    last, _ = heads.head(a, Shape((2 * WIDTH,)))
    body, merge = a.layer("Dense", str(WIDTH), activation=a.text("relu")), a.layer("Concatenate")
    with a.page.inside(f"class {owner}({a.keras('Model')}):"):
        with a.page.inside("def __init__(self):"):
            a.page.do("super().__init__()")
            a.page.assign("self.body", body)
            a.page.assign("self.merge", merge)
            a.page.assign("self.head", a.page.listed(last))
        a.page.blank()
        training = a.choices.chance(0.4)
        with a.page.inside("def call(self, inputs, training=False):" if training else "def call(self, inputs):"):
            a.page.assign("left, right", "inputs")
            a.page.assign("left", "self.body(left)")
            if training:
                with a.page.inside("if training:"):
                    a.page.assign("left", "left * 0.5")
            a.page.assign("x", "self.merge([left, right])")
            with a.page.inside("for layer in self.head:"):
                a.page.assign("x", "layer(x)")
            a.page.do(f"return {a.choices.pick(('x', 'x, right', 'x, left'))}")
    a.page.blank(2)
    name = a.fresh("model")
    a.page.assign(name, f"{owner}()")
    a.models[name] = Written("end", [_ONE.spec, _ONE.spec])
    return name


def cell(a: Author, shape: Shape) -> str:
    """A recurrent cell of the program's own."""
    owner = a.fresh("Cell")
    units = a.choices.pick(("4", "8"))
    with a.page.inside(f"class {owner}({a.keras('layers.Layer')}):"):
        with a.page.inside(f"def __init__(self, units={units}, **kwargs):"):
            a.page.do("super().__init__(**kwargs)")
            a.page.assign("self.units", "units")
            a.page.assign("self.state_size", "units")
            a.page.assign("self.inner", a.layer("Dense", "units", activation=a.text("tanh")))
        a.page.blank()
        with a.page.inside("def call(self, inputs, states):"):
            a.page.assign("h", "self.inner(inputs) + states[0]")
            result = a.choices.pick(("h", f"{a.spelling.tensorflow('nn.softmax')}(h)", "h * 2.0"))
            a.page.do(f"return {result}, [h]")
    a.page.blank(2)
    name = a.fresh("model")
    sequence = Shape((4, WIDTH))
    inputs = functional.new_input(a, sequence)
    layer = a.layer(
        "RNN",
        f"{owner}()",
        return_sequences=a.choices.pick((None, "True")),
        dtype=heads.own_dtype(a) if a.is_3 else None,
    )
    tensor = functional.assigned(a, f"{layer}({inputs})")
    a.page.assign(name, functional.model_call(a, inputs, tensor))
    a.models[name] = Written("end")
    return name


def masked(a: Author, shape: Shape) -> str:
    """Ids with a mask, a recurrent layer, a head."""
    inputs = functional.new_input(a, Shape((4,), ids=True))
    a.page.assign("x", f"{a.layer('Embedding', '10', '6', mask_zero='True')}({inputs})")
    recurrent = a.layer(a.choices.pick(("LSTM", "GRU")), "5", return_sequences=a.choices.pick((None, "True")))
    a.page.assign("x", f"{recurrent}(x)")
    form = a.choices.pick(("Dense", "TimeDistributed"))
    behind = Shape((4, 5)) if "return_sequences" in recurrent else Shape((5,))
    last, _ = heads.head(a, behind) if form == "Dense" or len(behind.sizes) == 1 else heads.wrapped(a, behind, 3, True)
    tensor = functional.wire(a, "x", last)
    name = a.fresh("model")
    a.page.assign(name, functional.model_call(a, inputs, tensor))
    a.models[name] = Written("end")
    return name
