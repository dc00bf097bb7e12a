"""Models made of models, and models that are taken apart."""

from __future__ import annotations

from tests.generator import activations, bodies, functional, heads, sequential
from tests.generator.author import Author, Written
from tests.generator.shapes import Shape


def nested(a: Author, shape: Shape) -> str:
    """A model as a layer of another one."""
    part = a.fresh("encoder")
    made, behind = bodies.steps(a, shape)
    if a.choices.chance(0.4):
        last, behind = heads.head(a, behind)
        made += last
    if not made:
        text, behind = bodies.step(a, shape)
        made = [text]
    if a.choices.chance(0.5):
        items = [functional.input_call(a, shape), *made]
        a.page.assign(part, a.page.call(sequential.constructor(a), a.page.listed(items)))
    else:
        inputs = functional.new_input(a, shape)
        tensor = functional.wire(a, inputs, made)
        a.page.assign(part, functional.model_call(a, inputs, tensor))
    a.models[part] = Written("part")
    name = a.fresh("model")
    rest = heads.head(a, behind)[0] if a.choices.chance(0.6) else []
    if a.choices.chance(0.4):
        items = [functional.input_call(a, shape), part, *rest]
        a.page.assign(name, a.page.call(sequential.constructor(a), a.page.listed(items)))
    else:
        inputs = functional.new_input(a, shape)
        tensor = functional.assigned(a, f"{part}({inputs})")
        tensor = functional.wire(a, tensor, rest)
        a.page.assign(name, functional.model_call(a, inputs, tensor))
    a.models[name] = Written("end")
    return name


def cloned(a: Author, shape: Shape) -> str:
    """`clone_model`."""
    first = sequential.listed(a, shape)
    name = a.fresh("copy")
    a.page.assign(name, f"{a.keras('models.clone_model')}({first})")
    a.models[name] = Written("end", a.models[first].inputs)
    a.models[first] = Written("open", a.models[first].inputs)  # a pattern: what is wrong with it is said of the copy
    return name


def opened(a: Author, shape: Shape) -> str:
    """A new model over the inside of another one."""
    first = a.fresh("base")
    made, behind = bodies.steps(a, shape)
    last, behind = heads.head(a, behind)
    inputs = functional.new_input(a, shape)
    tensor = functional.wire(a, inputs, made + last)
    a.page.assign(first, functional.model_call(a, inputs, tensor))
    a.models[first] = Written("open")
    name = a.fresh("model")
    inside = a.choices.pick(
        (
            f"{first}.output",
            f"{first}.layers[-1].output",
            f"{first}.outputs[0]",
            f"{first}.get_layer(index=-1).output",
            f"{first}({first}.input)",
        )
    )
    rest, _ = heads.head(a, behind)
    tensor = functional.assigned(a, inside)
    tensor = functional.wire(a, tensor, rest)
    given = a.choices.pick((f"{first}.input", f"{first}.inputs", inputs))
    a.page.assign(name, functional.model_call(a, given, tensor))
    a.models[name] = Written("end")
    return name


def reapplied(a: Author, shape: Shape) -> str:
    """The layers of one model, all but the last, in another one."""
    first = sequential.listed(a, shape)
    a.models[first] = Written("open", a.models[first].inputs)
    name = a.fresh("model")
    end = a.layer("Dense", "3", activation=activations.softmax(a), dtype=heads.own_dtype(a))
    if a.choices.chance(0.5):
        a.page.assign(name, f"{sequential.constructor(a)}([*{first}.layers[:-1], {end}])")
    else:
        a.page.assign(name, f"{sequential.constructor(a)}()")
        with a.page.inside(f"for layer in {first}.layers[:-1]:"):
            a.page.do(f"{name}.add(layer)")
        a.page.do(f"{name}.add({end})")
    a.models[name] = Written("end", [shape.spec])
    return name


def features(a: Author, shape: Shape) -> str:
    """A named layer's output as a model of its own, beside the model."""
    name = a.fresh("model")
    label = a.text(a.fresh("features"))
    made, behind = bodies.steps(a, shape)
    more, behind = bodies.to_vector(a, behind)
    inputs = functional.new_input(a, shape)
    tensor = functional.wire(a, inputs, made + more)
    tensor = functional.assigned(a, f"{a.layer('Dense', '6', activation=a.text('relu'), name=label)}({tensor})")
    last, _ = heads.head(a, Shape((6,)))
    tensor = functional.wire(a, tensor, last)
    a.page.assign(name, functional.model_call(a, inputs, tensor))
    trained = a.choices.chance(0.5)
    if trained:
        a.page.do(f"{name}.compile({a.text('sgd')}, {a.text('mse')})")
    a.models[name] = Written("end" if trained else "open")
    extractor = a.fresh("extractor")
    found = f"{name}.get_layer({label}).output"
    a.page.assign(extractor, functional.model_call(a, f"{name}.input", found))
    a.models[extractor] = Written("part")
    return name
