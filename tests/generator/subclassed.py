"""Classes derived from Model."""

from __future__ import annotations

from tests.generator import functional, operations
from tests.generator.author import Author, Written
from tests.generator.sequential import constructor, stack
from tests.generator.shapes import Shape


def model(a: Author, shape: Shape) -> str:
    """Write a class, and make a model of it."""
    owner, arguments = definition(a, shape)
    name = a.fresh("model")
    a.page.assign(name, a.page.call(owner, *arguments))
    if a.choices.chance(0.2):
        a.page.do(f"{name}({_example(a, shape)})")
    a.models[name] = Written("end", [shape.spec])
    return name


def _example(a: Author, shape: Shape) -> str:
    dtype = a.text("int32" if shape.ids else "float32")
    return f"{a.spelling.numpy('zeros')}({(2, *shape.sizes)}, {dtype})"


def definition(a: Author, shape: Shape) -> tuple[str, list[str]]:
    """Write the class; gives its name and the arguments of its constructor."""
    made, _ = stack(a, shape)
    owner = a.fresh(a.choices.pick(("Net", "Classifier", "Tower")))
    base = a.keras(a.choices.pick(("Model", "models.Model")))
    stem = a.choices.pick(("layer", "part", "fc"))
    attributes = [f"self.{stem}_{number}" for number in range(len(made))]
    way = a.choices.weighted(
        [(6, "attributes"), (3, "list"), (1, "mapping"), (2, "build"), (1, "setattr"), (1, "named")]
    )
    own_dtype = a.text("float32") if a.choices.chance(0.07) else None
    decorated = a.choices.chance(0.05)
    with a.page.inside(f"class {owner}({base}):"):
        _constructor(a, owner, way, attributes, made)
        a.page.blank()
        if way == "build":
            with a.page.inside("def build(self, input_shape):"):
                for attribute, text in zip(attributes, made, strict=True):
                    a.page.assign(attribute, text)
                a.page.do("super().build(input_shape)")
            a.page.blank()
        if a.choices.chance(0.15):
            with a.page.inside("def run(self, x):"):
                _body(a, way, attributes, stem)
            a.page.blank()
            with a.page.inside("def call(self, x):"):
                a.page.do("return self.run(x)")
        else:
            if decorated:
                a.page.do(f"@{a.spelling.tensorflow('function')}")
            with a.page.inside(
                a.choices.pick(
                    ("def call(self, x):", "def call(self, x, training=None):", "def call(self, x, mask=None):")
                )
            ):
                _body(a, way, attributes, stem)
    a.page.blank(2)
    if a.choices.chance(0.1):
        owner = _derived(a, owner)
    return owner, [f"dtype={own_dtype}"] if own_dtype else []


def _constructor(a: Author, owner: str, way: str, attributes: list[str], made: list[str]) -> None:
    with a.page.inside("def __init__(self, **kwargs):"):
        a.page.do(a.choices.pick(("super().__init__(**kwargs)", f"super({owner}, self).__init__(**kwargs)")))
        match way:
            case "attributes":
                for attribute, text in zip(attributes, made, strict=True):
                    a.page.assign(attribute, text)
            case "list":
                a.page.assign("self.stack", a.page.listed(made, a.choices.pick(("[]", "()"))))
            case "mapping":
                a.page.assign("self.parts", a.mapping({f"part_{number}": text for number, text in enumerate(made)}))
            case "setattr":
                for attribute, text in zip(attributes, made, strict=True):
                    a.page.do(a.page.call("setattr", "self", a.text(attribute.removeprefix("self.")), text))
            case "named":
                a.page.assign("parts", a.page.listed(made))
                with a.page.inside("for number, part in enumerate(parts):"):
                    stem = attributes[0].removeprefix("self.").rpartition("_")[0]
                    a.page.do(f'setattr(self, f"{stem}_{{number}}", part)')


def _body(a: Author, way: str, attributes: list[str], stem: str) -> None:
    """The statements of `call`."""
    match way:
        case "list":
            with a.page.inside("for layer in self.stack:"):
                a.page.assign("x", "layer(x)")
        case "mapping":
            with a.page.inside(a.choices.pick(("for name in self.parts:", "for name, _ in self.parts.items():"))):
                a.page.assign("x", "self.parts[name](x)")
        case "named" | "setattr":
            with a.page.inside(f"for number in range({len(attributes)}):"):
                a.page.assign("x", f'getattr(self, f"{stem}_{{number}}")(x)')
        case _:
            for attribute in attributes[:-1]:
                a.page.assign("x", f"{attribute}(x)")
            last = f"{attributes[-1]}(x)"
            if a.choices.chance(0.6):
                a.page.do(f"return {last}")
                return
            a.page.assign("x", last)
    form = a.choices.weighted([(8, "x"), (2, "expression"), (6, "last"), (1, "mapping"), (1, "tuple")])
    if form == "expression":
        a.page.do(f"return {operations.expression(a, 'x', in_call=True)}")
    elif form == "last":
        a.page.do(f"return {operations.last(a, 'x', in_call=True)}")
    elif form == "mapping":
        a.page.do(f"return {a.mapping({'a': 'x', 'b': operations.expression(a, 'x', in_call=True)})}")
    elif form == "tuple":
        a.page.do(f"return x, {operations.expression(a, 'x', in_call=True)}")
    else:
        a.page.do("return x")


def functional_class(a: Author, shape: Shape) -> str:
    """A class whose constructor hands a Functional model's inputs and outputs to its parent."""
    owner = a.fresh("Net")
    made, _ = stack(a, shape)
    with a.page.inside(f"class {owner}({a.keras('Model')}):"), a.page.inside("def __init__(self, **kwargs):"):
        inputs = functional.new_input(a, shape)
        tensor = functional.wire(a, inputs, made)
        a.page.do(f"super().__init__(inputs={inputs}, outputs={tensor}, **kwargs)")
    a.page.blank(2)
    name = a.fresh("model")
    a.page.assign(name, f"{owner}()")
    a.models[name] = Written("end")
    return name


def sequential_class(a: Author, shape: Shape) -> str:
    """A class derived from Sequential that adds its layers itself."""
    owner = a.fresh("Stack")
    made, _ = stack(a, shape)
    as_list = a.choices.chance(0.5)
    with a.page.inside(f"class {owner}({constructor(a)}):"), a.page.inside("def __init__(self):"):
        if as_list:
            a.page.do(a.page.call("super().__init__", a.page.listed(made)))
        else:
            a.page.do("super().__init__()")
            for text in made:
                a.page.do(a.page.call("self.add", text))
    a.page.blank(2)
    name = a.fresh("model")
    a.page.assign(name, f"{owner}()")
    a.models[name] = Written("end", [shape.spec])
    return name


def _derived(a: Author, owner: str) -> str:
    """A class that does something with what its parent gives; `call` may give one tensor only."""
    name = a.fresh("Wrapped")
    function = a.spelling.tensorflow("nest.map_structure")
    with a.page.inside(f"class {name}({owner}):"), a.page.inside("def call(self, x):"):
        cast = a.spelling.tensorflow("cast")
        a.page.do(f"return {function}(lambda t: {cast}(t, {a.text('float32')}), super().call(x))")
    a.page.blank(2)
    return name
