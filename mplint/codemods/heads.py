"""Rewrites that give the end of a model float32: the layer itself, a float32 activation behind it, or a cast."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import libcst as cst

from mplint.codemods import calls, names
from mplint.codemods.rewrite import Evidence, Rewrite, row_of
from mplint.findings import Applicability, Edit, Fix, Span
from mplint.interpreter.code import dotted
from mplint.interpreter.values import HALF, Api, Const, Instance, Made, Place, Tensor
from mplint.interpreter.world import End, Layer, core, outputs_of
from mplint.keras_api import carries, parameters
from mplint.source.file import SourceFile

_COUNTED_ON: Final = re.compile(
    rb"by_name|get_layer\(|(?<!keras)\.layers\b(?!\.[A-Z])(?! import)|\.pop\(|get_config|from_config|_keras_history"
    rb"|load_weights|load_model"
)
"""What in a program makes the layer at the end count by its place, name or weights: then nothing is put behind it."""
_LAST_ACTIVATION: Final = re.compile(
    r"keras\.layers\.(Dense|EinsumDense|(Depthwise|Separable)?Conv[123]D(Transpose)?)$"
)
"""Layers whose activation is the last thing that they do (it is not in a recurrent layer)."""
_MODELS: Final = frozenset({"keras.Model", "keras.Sequential"})
_QUOTES: Final = "\"'rRbBuU"
_CELLS: Final = frozenset({"keras.layers.RNN", "keras.layers.ConvRNN"})
"""Layers around cells: in Keras 2 a dtype of theirs does not reach the cell, and the call fails."""
_WRAPPERS: Final = frozenset({"keras.layers.TimeDistributed", "keras.layers.Bidirectional"})


@dataclass(frozen=True)
class Float32End(Rewrite):
    """Compute the end of a model in float32."""

    end: End

    def plan(self, evidence: Evidence) -> Fix | None:
        """The smallest change that makes every context of the call right."""
        tensor = core(self.end.tensor)
        softmax = self.end.softmax
        chain = list(_chain(self.end))
        if softmax is not None and softmax.layer is None:
            called = chain and chain[0].base == "keras.layers.Lambda" and isinstance(chain[0].argument("function"), Api)
            return self._given_float32(chain[:1]) if called else self._cast_operand(softmax, evidence)
        if not chain:
            return self._cast_result(tensor, evidence)
        around_model = self._around_model(chain[0])
        if around_model is not None:
            return around_model
        if any(self._holds_on(layer) for layer in chain):
            own = softmax is not None or tensor.made.place == chain[0].place
            return None if own else self._cast_result(tensor, evidence)
        for layer in chain:
            conflict = evidence.disagreement(layer.place) or evidence.mixed(layer.instance)
            if conflict is not None:
                return self._shown(layer, conflict)
        if len(chain) == 1:
            split = self._split(chain[0], evidence)
            if split is not None:
                return split
        return self._given_float32(chain)

    def _given_float32(self, layers: Sequence[Layer]) -> Fix | None:
        """A float32 dtype for each of `layers`."""
        edits = [edit for layer in layers for edit in self._dtype(layer)]
        if not edits:
            return None
        what = layers[0].base.rpartition(".")[2]
        return Fix(f"Give {what} dtype float32", Applicability.SAFE, tuple(dict.fromkeys(edits)))

    def _around_model(self, wrapper: Layer) -> Fix | None:
        """A wrapper around a model that ends in a softmax: float32 for both, each on its own call."""
        inner = wrapper.argument("layer") if wrapper.base in _WRAPPERS else None
        held = self.end.world.layer(inner) if isinstance(inner, Instance) else None
        head = self.end.softmax_layer
        if held is None or held.base not in _MODELS or head is None:
            return None
        edits = [edit for layer in (wrapper, head) for edit in self._own_dtype(layer)]
        return Fix("Give the wrapper and the head inside dtype float32", Applicability.SAFE, tuple(edits))

    def _holds_on(self, layer: Layer) -> bool:
        """Whether a dtype given to the layer misses something that computes in it: a cell, a layer as activation."""
        inner = layer.argument("layer")
        held = self.end.world.layer(inner) if isinstance(inner, Instance) else None
        return (
            layer.base in _CELLS
            or isinstance(layer.argument("activation"), Instance)
            or (held is not None and (held.of_program or held.base in _MODELS or self._holds_on(held)))
        )

    # -- dtype: the layer itself computes in float32

    def _dtype(self, layer: Layer) -> Iterator[Edit]:
        yield from self._own_dtype(layer)
        if layer.base in _WRAPPERS:
            inner = layer.argument("layer")
            held = self.end.world.layer(inner) if isinstance(inner, Instance) else None
            if held is not None:
                yield from self._dtype(held)

    def _own_dtype(self, layer: Layer) -> Iterator[Edit]:
        source, call = layer.place.source, layer.place.node
        if isinstance(call, cst.Call) and _takes_dtype(layer, call):
            yield calls.set_argument(source, call, "dtype", calls.quoted(source, "float32"))

    # -- split: a float32 activation behind the layer

    def _split(self, layer: Layer, evidence: Evidence) -> Fix | None:
        source, call = layer.place.source, layer.place.node
        if evidence.output_fix == "dtype" or not isinstance(call, cst.Call) or not _LAST_ACTIVATION.search(layer.base):
            return None
        if layer.of_program:
            return None
        activation = calls.argument_at(call, "activation", _position(layer.base, "activation"))
        if activation is None or activation.star or not _removable(call, activation):
            return None
        if evidence.output_fix == "auto" and (
            calls.argument(call, "activity_regularizer") is not None
            # one more layer changes the order of the weights of a model with several ends, and their automatic names
            or len(outputs_of(self.end.world, self.end.model)) > 1
            or evidence.mentions(source.path, _COUNTED_ON)
        ):
            return None
        if not isinstance(layer.argument("activation"), (Const, Api)) and self.end.softmax is None:
            return None
        name = calls.argument(call, "name")
        if name is not None and not isinstance(name.value, cst.SimpleString):
            return None
        if calls.has_star(call, "**") or calls.has_star(call, "*"):
            return None
        if name is not None and f"{calls.code(source, name.value).strip(_QUOTES)}_logits" in source.text:
            return None  # the name that the layer would get is taken
        spelled = names.sibling(source, call.func, "Activation")
        if spelled is None:
            return None
        return _Split(source, call, activation, name, *spelled).fix()

    # -- casts: where no layer makes the end

    def _cast_operand(self, softmax: Made, evidence: Evidence) -> Fix | None:
        """`softmax(x)` becomes `softmax(cast(x))`: the softmax itself must be float32."""
        place = softmax.place
        if place is None or not isinstance(place.node, cst.Call) or not place.node.args:
            return None
        plain = [arg for arg in place.node.args if not arg.star]
        named = [arg for arg in plain if arg.keyword is not None and arg.keyword.value in ("x", "logits")]
        operand = next((arg for arg in (*plain[:1], *named) if arg.keyword is None or arg in named), None)
        if operand is None or len(plain) != len(place.node.args):
            return None
        symbolic = bool(softmax.operands and softmax.operands[0].symbolic)
        return self._cast(place.source, operand.value, symbolic, evidence.in_the_middle(place))

    def _cast_result(self, tensor: Tensor, evidence: Evidence) -> Fix | None:
        """`x + y` becomes `cast(x + y)`."""
        made = tensor.made
        while made.kind == "operation" and made.by == "part" and made.operands:
            made = made.operands[0].made
        if made.place is None or made.kind not in ("operation", "layer"):
            return None
        node = made.place.node
        if not isinstance(node, (cst.Call, cst.BinaryOperation, cst.UnaryOperation)):
            return None
        # inside a layer's own code the operands have data, whatever the layer is called on
        symbolic = tensor.symbolic if made.kind == "layer" or not made.operands else made.operands[0].symbolic
        return self._cast(made.place.source, node, bool(symbolic), evidence.in_the_middle(made.place))

    def _cast(self, source: SourceFile, node: cst.BaseExpression, symbolic: bool, conflict: str | None) -> Fix | None:
        written = self._caster(source, symbolic)
        if written is None:
            return None
        before, after = written
        span = source.span(node, parentheses=True)
        text = source.text[span.start : span.end]
        if node.lpar and not symbolic and text.startswith("(") and text.endswith(")") and "\n" not in text:
            text = text[1:-1]
        edits = (Edit(source.path, span, before + text + after),)
        if conflict is None:
            return Fix("Cast to float32", Applicability.SAFE, edits)
        what = f"Cast to float32, and see to it that {conflict} still fits: it may be used inside a model there"
        return Fix(what, Applicability.DISPLAY, edits)

    def _caster(self, source: SourceFile, symbolic: bool) -> tuple[str, str] | None:
        """How the file can cast an expression: the text before it and behind it."""
        bindings = self.end.world.module_bindings(source.path)
        float32 = calls.quoted(source, "float32")
        if symbolic:  # tf.cast does not take a KerasTensor in Keras 3
            layer = names.written(bindings, "keras.layers.Activation")
            linear = calls.quoted(source, "linear")
            return (f"{layer}({linear}, dtype={float32})(", ")") if layer is not None else None
        tensorflow = names.written(bindings, "tensorflow.cast")
        if tensorflow is not None:
            module = tensorflow.rpartition(".")[0]
            return f"{tensorflow}(", f", {module}.float32)" if module else f", {float32})"
        path = "keras.ops.cast" if self.end.world.generation == "3" else "keras.backend.cast"
        keras = names.written(bindings, path)
        return (f"{keras}(", f", {float32})") if keras is not None else None

    # -- what cannot be applied

    def _shown(self, layer: Layer, conflict: Place) -> Fix:
        what = layer.base.rpartition(".")[2]
        return Fix(
            f"Give {what} dtype float32, and see to it that {row_of(conflict)} still fits: "
            "a layer made by the same call, or its result, is used in half precision there",
            Applicability.DISPLAY,
            tuple(self._dtype(layer)),
        )


@dataclass(frozen=True)
class _Split:
    """`Dense(10, activation="softmax", name="p")` as `Dense(10, name="p_logits")` and a float32 Activation, "p"."""

    source: SourceFile
    call: cst.Call
    activation: cst.Arg
    name: cst.Arg | None
    spelled: str
    imports: tuple[Edit, ...]

    def fix(self) -> Fix | None:
        parent = self.source.parent(self.call)
        if isinstance(parent, cst.Call) and parent.func is self.call:
            edits = self._around(parent)
        elif isinstance(parent, cst.Element):
            edits = self._behind_element(parent)
        elif isinstance(parent, cst.Arg):
            edits = self._behind_add(parent)
        else:
            edits = None
        if edits is None:
            return None
        return Fix(
            "Split the activation off and give it dtype float32",
            Applicability.SAFE,
            (*edits, *self._logits(), *self.imports),
        )

    def _activation(self) -> str:
        """`Activation("softmax", dtype="float32", name="p")`."""
        activation, dtype = calls.code(self.source, self.activation.value), calls.quoted(self.source, "float32")
        text = f"{self.spelled}({activation}, dtype={dtype}"
        if self.name is not None:
            text += f", name={calls.code(self.source, self.name.value)}"
        return text + ")"

    def _logits(self) -> list[Edit]:
        """The layer without its activation, under another name."""
        edits = calls.without(self.source, self.call, [self.activation])
        if self.name is not None:
            end = self.source.span(self.name.value).end
            quotes = 3 if calls.code(self.source, self.name.value).endswith(('"""', "'''")) else 1
            edits.append(Edit(self.source.path, Span(end - quotes, end - quotes), "_logits"))
        return edits

    def _around(self, outer: cst.Call) -> list[Edit] | None:
        """`Dense(…)(x)`: a second statement behind `x = Dense(…)(x)`, else the activation around it."""
        line = self._line(outer)
        if line is not None:
            target, statement = line
            indent = self._indent(statement)
            if indent is not None:
                end = self.source.span(statement).end
                text = f"{calls.newline(self.source)}{indent}{target} = {self._activation()}({target})"
                return [Edit(self.source.path, Span(end, end), text)]
        span = self.source.span(outer, parentheses=True)
        return [
            Edit(self.source.path, Span(span.start, span.start), f"{self._activation()}("),
            Edit(self.source.path, Span(span.end, span.end), ")"),
        ]

    def _line(self, outer: cst.Call) -> tuple[str, cst.Assign] | None:
        """The target and statement when `outer` is all that is assigned to one name, alone on its line."""
        statement = self.source.parent(outer)
        if not isinstance(statement, cst.Assign) or statement.value is not outer or len(statement.targets) != 1:
            return None
        target = statement.targets[0].target
        line = self.source.parent(statement)
        if not isinstance(target, cst.Name) or not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
            return None
        return target.value, statement

    def _indent(self, statement: cst.CSTNode) -> str | None:
        start = self.source.span(statement).start
        line = self.source.text[self.source.text.rfind("\n", 0, start) + 1 : start]
        return line if not line.strip() else None

    def _behind_element(self, element: cst.Element) -> list[Edit] | None:
        """An element of the list of a Sequential: one more behind it."""
        listed = self.source.parent(element)
        passed = self.source.parent(listed) if isinstance(listed, cst.List) else None
        outer = self.source.parent(passed) if isinstance(passed, cst.Arg) else None
        if not isinstance(outer, cst.Call) or not dotted(outer.func).endswith("Sequential"):
            return None  # a list that the program may index or count
        span = self.source.span(self.call, parentheses=True)
        indent = self._indent(element)
        separator = ", " if indent is None else f",{calls.newline(self.source)}{indent}"
        return [Edit(self.source.path, Span(span.end, span.end), f"{separator}{self._activation()}")]

    def _behind_add(self, arg: cst.Arg) -> list[Edit] | None:
        """`model.add(Dense(…))`: one more statement."""
        outer = self.source.parent(arg)
        if not isinstance(outer, cst.Call) or not isinstance(outer.func, cst.Attribute) or len(outer.args) != 1:
            return None
        statement = self.source.parent(outer)
        line = self.source.parent(statement) if statement is not None else None
        target = dotted(outer.func)
        if outer.func.attr.value != "add" or not target or not isinstance(statement, cst.Expr):
            return None
        if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
            return None
        indent = self._indent(statement)
        if indent is None:
            return None
        end = self.source.span(statement).end
        text = f"{calls.newline(self.source)}{indent}{target}({self._activation()})"
        return [Edit(self.source.path, Span(end, end), text)]


def _chain(end: End) -> Iterator[Layer]:
    """The layers that decide the dtype of an end, from the last one back to the one that computes the numbers.

    Layers that only carry numbers on (Reshape, Dropout) round them again: each of them counts.
    """
    tensor = core(end.tensor)
    computed = False
    while not computed:
        made = tensor.made
        if made.kind == "layer" and made.layer is not None:
            layer = end.world.layer(made.layer)
            if layer is None:
                return
            if layer.of_program:
                return
            computed = not _passes_on(layer) or len(made.operands) != 1
            if layer.computes_in in HALF or layer.base in _WRAPPERS:
                yield layer
        elif (made.kind == "operation" and carries(made.by)) or made.by == "part":
            pass
        else:
            return
        if not made.operands:
            return
        tensor = core(made.operands[0])


def _removable(call: cst.Call, argument: cst.Arg) -> bool:
    """Whether the call means the same for the other arguments when `argument` goes."""
    if argument.keyword is not None:
        return True
    behind = call.args[list(call.args).index(argument) + 1 :]
    return all(arg.keyword is not None for arg in behind)


def _passes_on(layer: Layer) -> bool:
    if layer.base == "keras.layers.Activation":
        return layer.constant("activation") in ("linear", None) and isinstance(layer.argument("activation"), Const)
    return carries(layer.base)


def _position(path: str, name: str) -> int:
    """The place of a parameter in the signature that both generations share; out of reach where they differ."""
    for position, parameter in enumerate(parameters(path, "2") or parameters(path, "3") or ()):
        if parameter.name == name:
            return position
    return 1 << 16


def _takes_dtype(layer: Layer, call: cst.Call) -> bool:
    """Whether `dtype=` can be given to the call that makes the layer."""
    passed_on = (  # it comes out of the keywords that are passed on
        calls.has_star(call, "**") and layer.argument("dtype") is not None and calls.argument(call, "dtype") is None
    )
    return not passed_on
