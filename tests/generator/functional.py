"""Functional models: tensors that are named, rebound, branched and merged."""

from __future__ import annotations

from collections.abc import Callable

from tests.generator import activations, bodies, heads, operations
from tests.generator.author import Author
from tests.generator.shapes import SEQUENCE, Shape

Tensor = tuple[str, Shape]


def input_call(a: Author, shape: Shape) -> str:
    """`keras.Input(…)`."""
    function = a.keras(a.choices.pick(("Input", "layers.Input")))
    dtype = a.text("int32") if shape.ids else None
    name = a.text(a.fresh("given")) if a.choices.chance(0.15) else None
    if a.choices.chance(0.4):
        return a.page.call(function, shape=shape.written, dtype=dtype, name=name)
    return a.page.call(function, shape.written, dtype=dtype, name=name)


def new_input(a: Author, shape: Shape) -> str:
    """Write an input; gives its name."""
    inputs = a.fresh("inputs")
    a.page.assign(inputs, input_call(a, shape))
    return inputs


def model_call(a: Author, inputs: str, outputs: str) -> str:
    """`Model(inputs, outputs)`."""
    function = a.keras(a.choices.pick(("Model", "models.Model")))
    name = a.text(a.fresh("net")) if a.choices.chance(0.1) else None
    if a.choices.chance(0.3):
        return a.page.call(function, inputs=inputs, outputs=outputs, name=name)
    return a.page.call(function, inputs, outputs, name=name)


def chain(a: Author, shape: Shape) -> str:
    """Write the statements of a whole model; gives the expression that makes it."""
    inputs = new_input(a, shape)
    given = inputs
    tensor: Tensor = (inputs, shape)
    if a.choices.chance(0.1) and not shape.ids:  # a second input
        second = new_input(a, shape)
        merge = a.choices.pick(("Add", "Concatenate", "Maximum"))
        wider = shape.last(2 * shape.features) if merge == "Concatenate" else shape
        tensor = (assigned(a, f"{a.layer(merge)}([{inputs}, {second}])"), wider)
        given = a.choices.pick((f"[{inputs}, {second}]", f"({inputs}, {second})"))
    trunk = middle(a, tensor)
    outputs = ends(a, trunk)
    return model_call(a, given, outputs)


def middle(a: Author, tensor: Tensor) -> Tensor:
    """Some moves from one tensor to the next."""
    if tensor[1].ids:
        tensor = layer_by_layer(a, tensor)
    for _ in range(a.choices.weighted([(4, 1), (2, 0), (3, 2), (1, 3)])):
        moves: list[tuple[int, Callable[[Author, Tensor], Tensor]]] = [
            (8, layer_by_layer),
            (2, residual),
            (2, computed),
            (1, branches),
            (1, tied),
            (1, shared_function),
        ]
        if len(tensor[1].sizes) == SEQUENCE:
            moves += [(3, attention), (2, with_state)]
        with a.choices.part("move"):
            tensor = a.choices.weighted(moves)(a, tensor)
    return tensor


def ends(a: Author, trunk: Tensor) -> str:
    """One output, or several in a list, tuple or dict."""
    form = a.choices.weighted([(16, "one"), (2, "[]"), (2, "()"), (2, "{}"), (1, "each"), (1, "merged")])
    if form == "one":
        return one_end(a, trunk)
    if form == "each":
        return _for_each_name(a, trunk)
    if form == "merged":  # an ensemble
        return assigned(a, f"{a.layer('Average')}([{', '.join(_votes(a, trunk))}])")
    tensors = [one_end(a, trunk) for _ in range(a.choices.pick((2, 1, 3)))]
    if form == "{}":
        return a.mapping({f"out_{number}": tensor for number, tensor in enumerate(tensors)})
    return a.page.listed(tensors, form)


def _votes(a: Author, trunk: Tensor) -> list[str]:
    """Two ends of the same shape."""
    activation = activations.end(a)
    tensors = []
    for _ in range(2):
        tensors.append(a.fresh("vote"))
        layer = a.layer("Dense", "3", activation=activation, dtype=heads.own_dtype(a))
        a.page.assign(tensors[-1], f"{layer}({trunk[0]})")
    return tensors


def _for_each_name(a: Author, trunk: Tensor) -> str:
    """A comprehension over the names and sizes of the outputs."""
    sizes = a.fresh("sizes")
    a.page.assign(sizes, a.mapping({"kind": "3", "size": "1"}))
    activation = a.choices.pick((None, a.text("softmax"), a.text("sigmoid")))
    layer = a.layer("Dense", "size", activation=activation, dtype=heads.own_dtype(a), name="name")
    over = f"for name, size in {sizes}.items()"
    return a.choices.pick((f"{{name: {layer}({trunk[0]}) {over}}}", f"[{layer}({trunk[0]}) {over}]"))


def one_end(a: Author, trunk: Tensor) -> str:
    """Layers of a head, and sometimes an operation behind it."""
    made, _ = heads.head(a, trunk[1])
    name = wire(a, trunk[0], made, a.fresh(a.choices.pick(("y", "out"))))
    if a.choices.chance(0.25):
        target = a.fresh("end")
        write = operations.last if a.choices.chance(0.8) else operations.expression
        a.page.assign(target, write(a, name, in_call=False))
        name = target
    return name


def assigned(a: Author, value: str) -> str:
    """Write `x = value`; gives the name."""
    name = a.choices.pick(("x", "h", "t"))
    if a.choices.chance(0.3):
        name = a.fresh(name)
    a.page.assign(name, value)
    return name


def layer_by_layer(a: Author, tensor: Tensor) -> Tensor:
    """Layers one behind the other."""
    made, shape = bodies.steps(a, tensor[1])
    return wire(a, tensor[0], made), shape


def wire(a: Author, tensor: str, made: list[str], name: str | None = None) -> str:
    """Call the layers one behind the other; gives the name of the last tensor."""
    if not made:
        return tensor
    way = a.choices.weighted([(6, "rebound"), (2, "fresh"), (2, "held"), (1, "nested"), (1, "loop"), (1, "reduced")])
    name = name or a.choices.pick(("x", "h", "t"))
    if way == "nested":
        for text in made:
            tensor = f"{text}({tensor})"
        a.page.assign(name, tensor)
        return name
    if way in ("loop", "reduced"):
        stack = a.fresh("stack")
        a.page.assign(stack, a.page.listed(made))
        if way == "reduced":
            a.spelling.standard("import functools")
            a.page.assign(name, f"functools.reduce(lambda value, layer: layer(value), {stack}, {tensor})")
            return name
        a.page.assign(name, tensor)
        with a.page.inside(f"for layer in {stack}:"):
            a.page.assign(name, f"layer({name})")
        return name
    for text in made:
        target = a.fresh(name) if way == "fresh" else name
        if way == "held":
            layer = a.fresh("layer")
            a.page.assign(layer, text)
            if a.is_3 and a.choices.chance(0.1):
                a.page.do(f"{layer}.dtype_policy = {a.text(a.choices.pick(('float32', 'mixed_float16')))}")
            text = layer
        a.page.assign(target, f"{text}({tensor})")
        tensor = target
    return tensor


def residual(a: Author, tensor: Tensor) -> Tensor:
    """What a Dense gives, added to what went in."""
    name, shape = tensor
    kept = a.fresh("skip")
    a.page.assign(kept, name)
    inner = a.layer("Dense", str(shape.features), activation=activations.hidden(a))
    branch = assigned(a, f"{inner}({kept})")
    forms = [
        f"{branch} + {kept}",
        f"{a.layer('Add')}([{branch}, {kept}])",
        f"{a.keras('layers.add')}([{branch}, {kept}])",
        f"{a.layer('Multiply')}([{kept}, {branch}])",
        f"{kept} * {branch}",
    ]
    if a.is_3:
        forms.append(f"{a.keras('ops.add')}({kept}, {branch})")
    return assigned(a, a.choices.pick(forms)), shape


def computed(a: Author, tensor: Tensor) -> Tensor:
    """An operation without a layer."""
    return assigned(a, operations.expression(a, tensor[0], in_call=False)), tensor[1]


def branches(a: Author, tensor: Tensor) -> Tensor:
    """Two ways, put together again."""
    name, shape = tensor
    sides = []
    for _ in range(2):
        side = a.fresh("side")
        a.page.assign(side, f"{a.layer('Dense', '4', activation=activations.hidden(a))}({name})")
        sides.append(side)
    merge = a.choices.pick(("Concatenate", "Average", "Subtract", "Maximum"))
    return assigned(a, f"{a.layer(merge)}([{', '.join(sides)}])"), shape.last(8 if merge == "Concatenate" else 4)


def tied(a: Author, tensor: Tensor) -> Tensor:
    """One layer called twice."""
    name, shape = tensor
    layer = a.fresh("shared")
    a.page.assign(layer, a.layer("Dense", str(shape.features), activation=activations.hidden(a)))
    return assigned(a, f"{layer}({layer}({name}))"), shape


def shared_function(a: Author, tensor: Tensor) -> Tensor:
    """A function of the program that adds some layers."""
    name, shape = tensor
    function = a.fresh("block")
    made, behind = bodies.steps(a, shape, 2)
    with a.page.inside(f"def {function}(x):"):
        a.page.do(f"return {wire(a, 'x', made, 'x')}")
    return assigned(a, f"{function}({name})"), behind


def attention(a: Author, tensor: Tensor) -> Tensor:
    """Self-attention."""
    name, shape = tensor
    kind = a.choices.pick(("MultiHeadAttention", "Attention", "AdditiveAttention"))
    if kind == "MultiHeadAttention":
        return assigned(a, f"{a.layer(kind, '2', '4')}({name}, {name})"), shape
    return assigned(a, f"{a.layer(kind)}([{name}, {name}])"), shape


def with_state(a: Author, tensor: Tensor) -> Tensor:
    """A recurrent layer that gives its states too."""
    name, _ = tensor
    units = bodies.size(a)
    if a.choices.chance(0.5):
        target = a.fresh("last")
        a.page.assign(f"{target}, *_", f"{a.layer('LSTM', str(units), return_state='True')}({name})")
        return target, Shape((units,))
    state = a.fresh("state")
    a.page.assign(f"_, {state}", f"{a.layer('GRU', str(units), return_state='True')}({name})")
    return state, Shape((units,))
