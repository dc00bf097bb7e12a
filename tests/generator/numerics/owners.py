"""Where the arithmetic of a program stands: a layer or a model of its own, a Lambda, or the graph of the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal

from tests.generator.author import Author, Written
from tests.generator.functional import model_call
from tests.generator.numerics.trial import Subject, Trial, Watch
from tests.generator.shapes import Shape

Place = Literal["layer", "model", "lambda", "graph"]
IN_CALL: Final = ("layer", "model", "lambda")
"""Where tensors have data, or are TensorFlow's own."""


@dataclass
class Arithmetic:
    """What is computed of `x` (and of `mask`), and what the layer keeps for that."""

    a: Author
    place: Place
    lines: list[tuple[str, str]] = field(default_factory=list)
    """Assignments before the result; none in a Lambda."""
    result: str = "x"
    parameters: list[tuple[str, str]] = field(default_factory=list)
    """Of the constructor, with defaults; kept under the same names."""
    attributes: list[tuple[str, str]] = field(default_factory=list)
    """Of the class."""
    built: list[tuple[str, str]] = field(default_factory=list)
    """Made in `build`, which knows `input_shape`."""
    effects: list[str] = field(default_factory=list)
    """Statements behind the lines: `self.add_loss(…)`."""
    packed: bool = False
    """Whether a layer takes its two inputs in a list."""

    def number(self, stem: str, text: str) -> str:
        """A number as the arithmetic writes it, kept anywhere."""
        choices = self.a.choices
        ways = ["here", "module"] if self.place in ("lambda", "graph") else ["here", "module", "argument", "class"]
        match choices.pick(ways):
            case "module":
                name = self.a.fresh(stem.upper())
                self.a.page.assign(name, text)
                return name
            case "argument":
                self.parameters.append((stem, text))
                return f"self.{stem}"
            case "class":
                self.attributes.append((stem, text))
                return f"self.{stem}"
            case _:
                return text

    def let(self, name: str, value: str) -> str:
        """A name for a value, now and then; gives what is to be written for it."""
        if self.place == "lambda" or self.a.choices.chance(0.4):
            return value if value.isidentifier() or value.endswith(")") else f"({value})"
        self.lines.append((name, value))
        return name


Writer = Callable[[Arithmetic], None]


@dataclass(frozen=True)
class Setting:
    """The model around the arithmetic."""

    subject: Subject
    shape: Shape
    probes: tuple[tuple[str, ...], ...]
    watches: tuple[Watch, ...] = ()
    mask: str | None = None
    """The dtype of a second input."""
    mask_shape: Shape | None = None
    layer_dtype: str | None = None
    """The text of the layer's own dtype."""
    has_float32_end: bool = False
    """Whether the end is float32 in any case."""


def draw_place(a: Author, *, graph: bool = True, single: bool = True) -> Place:
    """Where it stands; `single` says that it is one expression of one tensor."""
    options: list[tuple[int, Place]] = [(6, "layer"), (3, "model")]
    options += [(1, "lambda")] if single else []
    options += [(2, "graph")] if graph else []
    return a.choices.weighted(options)


def model(a: Author, arithmetic: Arithmetic, setting: Setting) -> str:
    """Write the whole model; gives its name."""
    name = a.fresh("model")
    if arithmetic.place == "model":
        owner = _class_of_model(a, arithmetic, setting)
        a.page.assign(name, f"{owner}()")
        inputs = [_spec(setting.shape, "float32")]
        if setting.mask is not None:
            inputs.append(_spec(setting.mask_shape or setting.shape, setting.mask))
        a.models[name] = Written("end", inputs)
    else:
        if arithmetic.place == "layer":
            owner = _class_of_layer(a, arithmetic, setting)
        x = _input(a, "inputs", setting.shape, None)
        given = x
        mask = None
        if setting.mask is not None:
            mask = _input(a, "mask", setting.mask_shape or setting.shape, setting.mask)
            given = f"[{x}, {mask}]"
        tensor = _front(a, x)
        match arithmetic.place:
            case "layer":
                made = a.page.call(owner, dtype=setting.layer_dtype)
                call = f"{made}({tensor})"
                if mask is not None:
                    call = f"{made}([{tensor}, {mask}])" if arithmetic.packed else f"{made}({tensor}, {mask})"
            case "lambda":
                call = f"{a.layer('Lambda', f'lambda x: {arithmetic.result}', dtype=setting.layer_dtype)}({tensor})"
            case _:
                if tensor != "x":
                    a.page.assign("x", tensor)
                if mask is not None and mask != "mask":
                    a.page.assign("mask", mask)
                _lines(a, arithmetic)
                call = arithmetic.result
        a.page.assign("h", call)
        a.page.assign(name, model_call(a, given, _end(a, "h", setting, arithmetic.place)))
        a.models[name] = Written("end")
    a.trials.append(Trial(setting.subject, name, setting.probes, setting.watches))
    return name


def _spec(shape: Shape, dtype: str) -> str:
    return f"{dtype}[{', '.join(map(str, (2, *shape.sizes)))}]"


def _input(a: Author, stem: str, shape: Shape, dtype: str | None) -> str:
    name = a.fresh(stem)
    written = a.text(dtype) if dtype is not None and dtype != "float32" else None
    a.page.assign(name, a.page.call(a.keras("Input"), shape.written, dtype=written))
    return name


def _front(a: Author, tensor: str) -> str:
    """Layers that hand on what they are given."""
    for _ in range(a.choices.weighted([(3, 0), (2, 1)])):
        made = a.choices.pick(
            (a.layer("Dropout", "0.1"), a.layer("Activation", a.text("linear")), a.layer("Dropout", rate="0.2"))
        )
        name = a.fresh("x")
        a.page.assign(name, f"{made}({tensor})")
        tensor = name
    return tensor


def _end(a: Author, tensor: str, setting: Setting, place: Place) -> str:
    """A float32 end, or none; a Lambda at the end is to run in float32 as a whole."""
    form = a.choices.weighted([(4, "activation"), (0 if "products" in setting.watches else 3, "dense"), (1, "none")])
    float32 = a.text("float32")
    match form:
        case "dense":
            return f"{a.layer('Dense', '4', dtype=float32)}({tensor})"
        case "none" if not setting.has_float32_end and place != "lambda":
            return tensor
        case _:
            return f"{a.layer('Activation', a.text('linear'), dtype=float32)}({tensor})"


def _lines(a: Author, arithmetic: Arithmetic) -> None:
    for target, value in arithmetic.lines:
        a.page.assign(target, value)
    for effect in arithmetic.effects:
        a.page.do(effect)


def _head_of_class(a: Author, arithmetic: Arithmetic, owner: str, more: list[tuple[str, str]]) -> None:
    for target, value in arithmetic.attributes:
        a.page.assign(target, value)
    if arithmetic.attributes:
        a.page.blank()
    if arithmetic.parameters or more:
        parameters = ", ".join(["self", *(f"{name}={text}" for name, text in arithmetic.parameters), "**kwargs"])
        with a.page.inside(f"def __init__({parameters}):"):
            a.page.do(a.choices.pick(("super().__init__(**kwargs)", f"super({owner}, self).__init__(**kwargs)")))
            for name, _ in arithmetic.parameters:
                a.page.assign(f"self.{name}", name)
            for target, value in more:
                a.page.assign(target, value)
        a.page.blank()
    if arithmetic.built:
        with a.page.inside("def build(self, input_shape):"):
            for target, value in arithmetic.built:
                a.page.assign(target, value)
        a.page.blank()


def _class_of_layer(a: Author, arithmetic: Arithmetic, setting: Setting) -> str:
    owner = a.fresh(a.choices.pick(("Scores", "Norm", "Mixer")))
    takes = "x" if setting.mask is None else "inputs" if arithmetic.packed else "x, mask"
    with a.page.inside(f"class {owner}({a.keras('layers.Layer')}):"):
        _head_of_class(a, arithmetic, owner, [])
        with a.page.inside(f"def call(self, {takes}):"):
            if takes == "inputs":
                a.page.assign("x, mask", "inputs")
            _lines(a, arithmetic)
            a.page.do(f"return {arithmetic.result}")
    a.page.blank(2)
    return owner


def _class_of_model(a: Author, arithmetic: Arithmetic, setting: Setting) -> str:
    owner = a.fresh(a.choices.pick(("Net", "Reader")))
    more = []
    has_front = a.choices.chance(0.3)
    if has_front:
        more.append(("self.front", a.layer("Dropout", "0.1")))
    end = _end(a, "", setting, arithmetic.place)
    if end:
        more.append(("self.end", end.removesuffix("()")))
    with a.page.inside(f"class {owner}({a.keras('Model')}):"):
        _head_of_class(a, arithmetic, owner, more)
        with a.page.inside("def call(self, inputs):"):
            a.page.assign("x" if setting.mask is None else "x, mask", "inputs")
            if has_front and setting.mask is None:
                a.page.assign("x", "self.front(x)")
            _lines(a, arithmetic)
            a.page.do(f"return self.end({arithmetic.result})" if end else f"return {arithmetic.result}")
    a.page.blank(2)
    return owner
