"""Models that are put together with Python's own means: loops, comprehensions, dispatch, unpacking, matching."""

from __future__ import annotations

from collections.abc import Callable

from tests.generator import activations, bodies, functional, heads
from tests.generator.author import Author, Written
from tests.generator.sequential import constructor
from tests.generator.shapes import Shape


def looped(a: Author, shape: Shape) -> str:
    """Hidden layers in a loop or a comprehension, then a head chosen by ordinary Python."""
    name = a.fresh("model")
    if a.choices.chance(0.35):
        _sequential(a, shape, name)
    else:
        inputs = functional.new_input(a, shape)
        tensor, _ = _to_vector(a, inputs, shape)
        tensor = a.choices.weighted(_HIDDEN)(a, tensor)
        tensor = a.choices.weighted(_HEADS)(a, tensor)
        a.page.assign(name, functional.model_call(a, inputs, tensor))
        a.models[name] = Written("end")
    return name


def _to_vector(a: Author, tensor: str, shape: Shape) -> tuple[str, Shape]:
    made, behind = bodies.to_vector(a, shape)
    return functional.wire(a, tensor, made), behind


def _dense(a: Author, units: str, **more: str | None) -> str:
    return a.layer("Dense", units, **more)


def _sequential(a: Author, shape: Shape, name: str) -> None:
    """A display with unpacked parts."""
    front, _ = bodies.to_vector(a, shape)
    hidden = f"[{_dense(a, 'width', activation=activations.hidden(a))} for width in (4, 6)]"
    last, _ = heads.head(a, Shape((6,)))
    form = a.choices.pick(("unpacked", "added", "sum", "reversed"))
    if form == "unpacked":
        a.page.assign(name, a.page.call(constructor(a), a.page.listed([*front, f"*{hidden}", *last])))
    elif form == "added":
        parts = a.fresh("parts")
        a.page.assign(parts, f"{a.page.listed(front)} + {hidden}")
        a.page.do(f"{parts}.extend({a.page.listed(last)})")
        a.page.assign(name, f"{constructor(a)}({parts})")
    elif form == "sum":
        a.page.assign(name, f"{constructor(a)}(sum([{a.page.listed(front)}, {hidden}, {a.page.listed(last)}], []))")
    else:
        a.page.assign(name, f"{constructor(a)}({a.page.listed([*front, *last][::-1])}[::-1])")
    a.models[name] = Written("end", [shape.spec])


# -- hidden layers


def _for_sizes(a: Author, tensor: str) -> str:
    a.page.assign("x", tensor)
    header = a.choices.pick(
        (
            "for size in (4, 6):",
            "for size in [8, 4, 6]:",
            "for number, size in enumerate((4, 6)):",
            "for size in range(4, 8, 2):",
        )
    )
    with a.page.inside(header):
        name = 'f"hidden_{number}"' if "number" in header else None
        a.page.assign("x", f"{_dense(a, 'size', activation=activations.hidden(a), name=name)}(x)")
    return "x"


def _while(a: Author, tensor: str) -> str:
    a.page.assign("x, width", f"{tensor}, 8")
    with a.page.inside("while width > 4:"):
        a.page.assign("x", f"{_dense(a, 'width')}(x)")
        a.page.do("width //= 2")
    return "x"


def _zipped(a: Author, tensor: str) -> str:
    a.page.assign("x", tensor)
    names = f"[{a.text('relu')}, {a.text('tanh')}]"
    with a.page.inside(f"for width, kind in zip([4, 6], {names}):"):
        a.page.assign("x", f"{_dense(a, 'width', activation='kind')}(x)")
    return "x"


def _lambda_block(a: Author, tensor: str) -> str:
    block = a.fresh("block")
    a.page.assign(block, f"lambda t, n: {_dense(a, 'n', activation=activations.hidden(a))}(t)")
    a.page.assign("x", f"{block}({block}({tensor}, 8), n=4)")
    return "x"


def _collected(a: Author, tensor: str) -> str:
    a.page.assign("sides", "[]")
    with a.page.inside("for width in (3, 4):"):
        a.page.do(f"sides.append({_dense(a, 'width')}({tensor}))")
    a.page.assign("x", f"{a.layer('Concatenate')}(sides)")
    return "x"


def _summed(a: Author, tensor: str) -> str:
    a.page.assign("x", f"sum({_dense(a, '4')}({tensor}) for _ in range(2))")
    return "x"


def _callable_object(a: Author, tensor: str) -> str:
    owner = a.fresh("Block")
    with a.page.inside(f"class {owner}:"):
        with a.page.inside("def __init__(self, width):"):
            a.page.assign("self.width", "width")
        a.page.blank()
        with a.page.inside("def __call__(self, t):"):
            a.page.do(f"return {_dense(a, 'self.width', activation=activations.hidden(a))}(t)")
    a.page.blank()
    a.page.assign("x", f"{owner}(4)({tensor})")
    return "x"


_HIDDEN: list[tuple[int, Callable[[Author, str], str]]] = [
    (3, _for_sizes),
    (1, _while),
    (2, _zipped),
    (1, _lambda_block),
    (1, _collected),
    (1, _summed),
    (1, _callable_object),
]

# -- heads


def _kind(a: Author) -> str:
    return a.choices.pick(("softmax", "sigmoid", "linear"))


def _dispatched(a: Author, tensor: str) -> str:
    """A mapping of functions."""
    table = a.fresh("HEADS")
    dtype = heads.own_dtype(a)
    items = {
        "softmax": f"lambda t: {_dense(a, '3', activation=activations.softmax(a), dtype=dtype)}(t)",
        "sigmoid": f"lambda t: {_dense(a, '1', activation=a.text('sigmoid'), dtype=heads.own_dtype(a))}(t)",
        "linear": f"lambda t: {_dense(a, '2', dtype=heads.own_dtype(a))}(t)",
    }
    a.page.assign(table, a.mapping(items))
    a.page.assign("end", f"{table}[{a.text(_kind(a))}]({tensor})")
    return "end"


def _matched(a: Author, tensor: str) -> str:
    """`match` over a constant."""
    kind = a.fresh("KIND")
    a.page.assign(kind, a.text(_kind(a)))
    with a.page.inside(f"match {kind}:"):
        with a.page.inside(f"case {a.text('softmax')}:"):
            a.page.assign(
                "end", f"{_dense(a, '3', activation=activations.softmax(a), dtype=heads.own_dtype(a))}({tensor})"
            )
        with a.page.inside(f"case {a.text('sigmoid')} | {a.text('tanh')}:"):
            a.page.assign("end", f"{_dense(a, '1', activation=kind, dtype=heads.own_dtype(a))}({tensor})")
        with a.page.inside("case _:"):
            a.page.assign("end", f"{_dense(a, '2', dtype=heads.own_dtype(a))}({tensor})")
    return "end"


def _conditional(a: Author, tensor: str) -> str:
    """A conditional expression, or an if with else."""
    flag = a.fresh("CLASSES")
    a.page.assign(flag, a.choices.pick(("3", "1")))
    softmax = f"{_dense(a, flag, activation=activations.softmax(a), dtype=heads.own_dtype(a))}({tensor})"
    sigmoid = f"{_dense(a, '1', activation=a.text('sigmoid'), dtype=heads.own_dtype(a))}({tensor})"
    if a.choices.chance(0.5):
        a.page.assign("end", f"{softmax} if {flag} > 1 else {sigmoid}")
    else:
        with a.page.inside(f"if {flag} > 1:"):
            a.page.assign("end", softmax)
        with a.page.inside("else:"):
            a.page.assign("end", sigmoid)
    return "end"


def _spelled(a: Author, tensor: str) -> str:
    """An activation or a layer whose name is put together."""
    name = a.choices.pick(
        (
            f"{a.text('soft')} + {a.text('max')}",
            f"{a.text('SOFTMAX')}.lower()",
            "f\"soft{'max'}\"",
            '"".join(("soft", "max"))',
        )
    )
    if a.choices.chance(0.4):
        layers = a.keras("layers.Dense").rpartition(".Dense")[0]
        if layers:
            a.page.assign("end", f"getattr({layers}, {a.text('Dense')})(3, activation={name})({tensor})")
            return "end"
    a.page.assign("end", f"{_dense(a, '3', activation=name, dtype=heads.own_dtype(a))}({tensor})")
    return "end"


def _any_arguments(a: Author, tensor: str) -> str:
    """A function that hands on all that it gets."""
    function = a.fresh("add_head")
    with a.page.inside(f"def {function}(t, *args, **kwargs):"):
        a.page.do(f"return {a.keras('layers.Dense')}(*args, **kwargs)(t)")
    a.page.blank()
    activation = activations.end(a)
    a.page.assign("end", a.page.call(function, tensor, "3", activation=activation, dtype=heads.own_dtype(a)))
    return "end"


def _named_parts(a: Author, tensor: str) -> str:
    """A dataclass that holds layers and has a method."""
    a.spelling.standard("import dataclasses")
    owner = a.fresh("Head")
    activation = activations.softmax(a) if a.choices.chance(0.6) else a.text("sigmoid")
    with a.page.inside(f"@dataclasses.dataclass\nclass {owner}:"):
        a.page.do("units: int = 3")
        a.page.do("activation: object = None")
        a.page.blank()
        with a.page.inside("def __call__(self, t):"):
            layer = _dense(a, "self.units", activation="self.activation", dtype=heads.own_dtype(a))
            a.page.do(f"return {layer}(t)")
    a.page.blank()
    a.page.assign("end", f"{a.page.call(owner, activation=activation)}({tensor})")
    return "end"


def _inherited(a: Author, tensor: str) -> str:
    """A method that a derived class overrides."""
    base, derived = a.fresh("Base"), a.fresh("Derived")
    with a.page.inside(f"class {base}:"):
        with a.page.inside("def head(self, t):"):
            a.page.do("raise NotImplementedError")
        a.page.blank()
        with a.page.inside("def apply(self, t):"):
            a.page.do("return self.head(t)")
    a.page.blank()
    with a.page.inside(f"class {derived}({base}):"), a.page.inside("def head(self, t):"):
        activation = activations.end(a)
        a.page.do(f"return {_dense(a, '3', activation=activation, dtype=heads.own_dtype(a))}(t)")
    a.page.blank()
    a.page.assign("end", f"{derived}().apply({tensor})")
    return "end"


_HEADS: list[tuple[int, Callable[[Author, str], str]]] = [
    (2, _conditional),
    (2, _dispatched),
    (2, _matched),
    (1, _spelled),
    (1, _any_arguments),
    (1, _named_parts),
    (1, _inherited),
]
