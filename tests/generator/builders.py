"""Functions, closures and classes that build models."""

from __future__ import annotations

from tests.generator import activations, bodies, functional, heads
from tests.generator.author import Author, Written
from tests.generator.sequential import constructor, stack
from tests.generator.shapes import Shape


def _bound(a: Author, value: str, inputs: list[str] | None = None) -> str:
    name = a.fresh("model")
    a.page.assign(name, value)
    a.models[name] = Written("end", inputs)
    return name


def plain(a: Author, shape: Shape) -> str:
    """`def build(): …; return Model(…)`."""
    function = a.fresh(a.choices.pick(("build_model", "make_model", "create")))
    decorated = a.choices.chance(0.15)
    if decorated:
        a.spelling.standard("import functools")
        a.page.do("@functools.lru_cache(maxsize=None)")
    with a.page.inside(f"def {function}():"):
        if a.choices.chance(0.3):
            a.page.do(f'"""{a.choices.pick(("A model.", "Builds it."))}"""')
        model = functional.chain(a, shape)
        if a.choices.chance(0.4):
            a.page.assign("net", model)
            a.page.do("return net")
        else:
            a.page.do(f"return {model}")
    a.page.blank(2)
    return _bound(a, f"{function}()")


def with_arguments(a: Author, shape: Shape) -> str:
    """The head's activation, dtype or size come as arguments."""
    function = a.fresh("build")
    softmax = a.text("softmax")
    activation = a.choices.pick((softmax, a.text("sigmoid"), "None"))
    dtype = heads.own_dtype(a) or "None"
    made, middle = bodies.steps(a, shape)
    more, middle = bodies.to_vector(a, middle)
    given = [f"activation={activation}", f"dtype={dtype}"]
    as_defaults = a.choices.chance(0.5)
    parameters = ", ".join(["units", *(given if as_defaults else ["activation", "dtype=None"])])
    variadic = a.choices.chance(0.3)
    if variadic:
        parameters = "units, **options"
    with a.page.inside(f"def {function}({parameters}):"):
        inputs = functional.new_input(a, shape)
        tensor = functional.wire(a, inputs, made + more)
        if variadic:
            layer = a.layer("Dense", "units", "**options")
        else:
            layer = a.layer("Dense", "units", activation="activation", dtype="dtype")
        a.page.assign("end", f"{layer}({tensor})")
        a.page.do(f"return {functional.model_call(a, inputs, 'end')}")
    a.page.blank(2)
    call = a.page.call(function, "4", *(given if variadic or not as_defaults else []))
    return _bound(a, call)


def closure(a: Author, shape: Shape) -> str:
    """A function that returns a function."""
    outer = a.fresh("head_of")
    activation = activations.end(a) or "None"
    dtype = heads.own_dtype(a) or "None"
    with a.page.inside(f"def {outer}(activation, dtype=None):"):
        with a.page.inside("def apply(x):"):
            layer = a.layer("Dense", "3", activation="activation", dtype="dtype")
            a.page.do(f"return {layer}(x)")
        a.page.blank()
        a.page.do("return apply")
    a.page.blank(2)
    inputs = functional.new_input(a, shape)
    made, middle = bodies.steps(a, shape)
    more, middle = bodies.to_vector(a, middle)
    tensor = functional.wire(a, inputs, made + more)
    end = functional.assigned(a, f"{a.page.call(outer, activation, dtype)}({tensor})")
    return _bound(a, functional.model_call(a, inputs, end))


def partial(a: Author, shape: Shape) -> str:
    """`functools.partial(layers.Dense, …)`."""
    a.spelling.standard("import functools")
    made = a.fresh("dense")
    activation = a.text(a.choices.pick(("relu", "softmax")))
    dtype = heads.own_dtype(a) if a.choices.chance(0.4) else None
    a.page.assign(made, a.page.call("functools.partial", a.keras("layers.Dense"), activation=activation, dtype=dtype))
    items = [f"{made}(4)", f"{made}(3)" if a.choices.chance(0.5) else f"{made}(3, activation={activations.softmax(a)})"]
    if shape.ids:
        items.insert(0, bodies.embedding(a, shape)[0])
    return _bound(a, a.page.call(constructor(a), a.page.listed(items)), [shape.spec])


def recursive(a: Author, shape: Shape) -> str:
    """A block that calls itself."""
    function = a.fresh("deeper")
    more, middle = bodies.steps(a, shape, 1)
    depth = a.choices.pick(("1", "2", "3"))
    with a.page.inside(f"def {function}(x, depth):"):
        with a.page.inside("if depth == 0:"):
            a.page.do("return x")
        layer = a.layer("Dense", a.choices.pick(("4", "4 + depth", "8 * depth")), activation=a.text("relu"))
        a.page.do(f"return {function}({layer}(x), depth - 1)")
    a.page.blank(2)
    inputs = functional.new_input(a, shape)
    tensor = functional.wire(a, inputs, more)
    tensor = functional.assigned(a, f"{function}({tensor}, {depth})")
    last, _ = heads.head(a, middle.last(4))
    tensor = functional.wire(a, tensor, last)
    return _bound(a, functional.model_call(a, inputs, tensor))


def of_class(a: Author, shape: Shape) -> str:
    """A class, not a model itself, whose methods build one."""
    owner = a.fresh("Builder")
    units = a.choices.pick(("3", "4"))
    activation = activations.end(a) or "None"
    made, middle = bodies.steps(a, shape)
    more, middle = bodies.to_vector(a, middle)
    with a.page.inside(f"class {owner}:"):
        if a.choices.chance(0.5):
            a.page.assign("units", units)
            a.page.blank()
            with a.page.inside("def __init__(self, activation):"):
                a.page.assign("self.activation", "activation")
        else:
            with a.page.inside(f"def __init__(self, activation, units={units}):"):
                a.page.assign("self.activation", "activation")
                a.page.assign("self.units", "units")
        a.page.blank()
        with a.page.inside("def head(self, x):"):
            a.page.do(
                f"return {a.layer('Dense', 'self.units', activation='self.activation', dtype=heads.own_dtype(a))}(x)"
            )
        a.page.blank()
        with a.page.inside("def build(self):"):
            inputs = functional.new_input(a, shape)
            tensor = functional.wire(a, inputs, made + more)
            a.page.do(f"return {functional.model_call(a, inputs, f'self.head({tensor})')}")
    a.page.blank(2)
    return _bound(a, f"{a.page.call(owner, activation)}.build()")


def returns_parts(a: Author, shape: Shape) -> str:
    """A function that gives inputs and outputs, in a tuple or a dict; the model is made elsewhere."""
    function = a.fresh("graph")
    as_dict = a.choices.chance(0.5)
    made, _ = stack(a, shape)
    with a.page.inside(f"def {function}():"):
        inputs = functional.new_input(a, shape)
        tensor = functional.wire(a, inputs, made)
        if as_dict:
            a.page.do(f"return {a.mapping({'inputs': inputs, 'outputs': tensor})}")
        else:
            a.page.do(f"return {inputs}, {tensor}")
    a.page.blank(2)
    model = a.keras("Model")
    if as_dict:
        return _bound(a, f"{model}(**{function}())")
    if a.choices.chance(0.5):
        return _bound(a, f"{model}(*{function}())")
    ins, outs = a.fresh("ins"), a.fresh("outs")
    a.page.assign(f"{ins}, {outs}", f"{function}()")
    return _bound(a, functional.model_call(a, ins, outs))


def layer_makers(a: Author, shape: Shape) -> str:
    """A function that returns layers."""
    function = a.fresh("layers_for")
    made, _ = stack(a, shape)
    as_generator = a.choices.chance(0.3)
    with a.page.inside(f"def {function}():"):
        if as_generator:
            for text in made:
                a.page.do(f"yield {text}")
        else:
            a.page.do(f"return {a.page.listed(made)}")
    a.page.blank(2)
    value = f"list({function}())" if as_generator else f"{function}()"
    if a.choices.chance(0.5):
        return _bound(a, f"{constructor(a)}({value})", [shape.spec])
    inputs = functional.new_input(a, shape)
    name = a.fresh("x")
    a.page.assign(name, inputs)
    with a.page.inside(f"for layer in {value}:"):
        a.page.assign(name, f"layer({name})")
    return _bound(a, functional.model_call(a, inputs, name))
