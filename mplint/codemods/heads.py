"""Rewrites that give the end of a model float32: the layer itself, a float32 activation behind it, or a cast."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import libcst as cst

from mplint.codemods import calls, names
from mplint.codemods.rewrite import Evidence, Rewrite
from mplint.findings import Applicability, Edit, Fix, Span
from mplint.interpreter.code import dotted
from mplint.interpreter.values import HALF, Api, Const, Instance, Made, Place, Tensor
from mplint.interpreter.world import End, Layer, core
from mplint.keras_api import carries, parameters
from mplint.source.file import SourceFile

_NAMED_ELSEWHERE: Final = (b"by_name", b"get_layer(", b"layers[-", b".layers[", b"load_weights", b"load_model")
"""What in a program makes the layer at the end count by its place, name or weights: then nothing is put behind it."""
_WRAPPERS: Final = frozenset({"keras.layers.TimeDistributed", "keras.layers.Bidirectional"})


@dataclass(frozen=True)
class Float32End(Rewrite):
    """Compute the end of a model in float32."""

    end: End

    def plan(self, evidence: Evidence) -> Fix | None:
        """The smallest change that makes every context of the call right."""
        tensor = core(self.end.tensor)
        softmax = self.end.softmax
        if softmax is not None and softmax.layer is None:
            return self._cast_operand(softmax)
        chain = list(_chain(self.end))
        if not chain:
            return self._cast_result(tensor)
        for layer in chain:
            conflict = evidence.disagreement(layer.place)
            if conflict is not None:
                return self._shown(layer, conflict)
        if len(chain) == 1:
            split = self._split(chain[0], evidence)
            if split is not None:
                return split
        edits = [edit for layer in chain for edit in self._dtype(layer)]
        if not edits:
            return None
        what = chain[0].base.rpartition(".")[2]
        return Fix(f"Give {what} dtype float32", Applicability.SAFE, tuple(dict.fromkeys(edits)))

    # -- dtype: the layer itself computes in float32

    def _dtype(self, layer: Layer) -> Iterator[Edit]:
        source, call = layer.place.source, layer.place.node
        if not isinstance(call, cst.Call) or not _takes_dtype(layer, call):
            return
        yield calls.set_argument(source, call, "dtype", calls.quoted(source, "float32"))
        if layer.base in _WRAPPERS:
            inner = layer.argument("layer")
            held = self.end.world.layer(inner) if isinstance(inner, Instance) else None
            if held is not None:
                yield from self._dtype(held)

    # -- split: a float32 activation behind the layer

    def _split(self, layer: Layer, evidence: Evidence) -> Fix | None:
        source, call = layer.place.source, layer.place.node
        if evidence.output_fix == "dtype" or not isinstance(call, cst.Call) or layer.base in _WRAPPERS:
            return None
        if layer.of_program or layer.base in ("keras.layers.Activation", "keras.layers.Softmax"):
            return None
        activation = calls.argument_at(call, "activation", _position(layer.base, "activation"))
        if activation is None or activation.star:
            return None
        if evidence.output_fix == "auto" and (
            calls.argument(call, "activity_regularizer") is not None or evidence.mentions(source.path, _NAMED_ELSEWHERE)
        ):
            return None
        if not isinstance(layer.argument("activation"), (Const, Api)) and self.end.softmax is None:
            return None
        name = calls.argument(call, "name")
        if name is not None and not isinstance(name.value, cst.SimpleString):
            return None
        if calls.has_star(call, "**") or calls.has_star(call, "*"):
            return None
        spelled = names.sibling(source, call.func, "Activation")
        if spelled is None:
            return None
        return _Split(source, call, activation, name, *spelled).fix()

    # -- casts: where no layer makes the end

    def _cast_operand(self, softmax: Made) -> Fix | None:
        """`softmax(x)` becomes `softmax(cast(x))`: the softmax itself must be float32."""
        place = softmax.place
        if place is None or not isinstance(place.node, cst.Call) or not place.node.args:
            return None
        operand = place.node.args[0]
        if operand.star:
            return None
        return self._cast(place.source, operand.value, bool(softmax.operands and softmax.operands[0].symbolic))

    def _cast_result(self, tensor: Tensor) -> Fix | None:
        """`x + y` becomes `cast(x + y)`."""
        made = tensor.made
        while made.kind == "operation" and made.by == "part" and made.operands:
            made = made.operands[0].made
        if made.place is None or made.kind not in ("operation", "layer"):
            return None
        node = made.place.node
        if not isinstance(node, (cst.Call, cst.BinaryOperation, cst.UnaryOperation)):
            return None
        return self._cast(made.place.source, node, bool(tensor.symbolic))

    def _cast(self, source: SourceFile, node: cst.BaseExpression, symbolic: bool) -> Fix | None:
        written = self._caster(source, symbolic)
        if written is None:
            return None
        before, after = written
        span = source.span(node, parentheses=True)
        text = source.text[span.start : span.end]
        if node.lpar and not symbolic and text.startswith("(") and text.endswith(")") and "\n" not in text:
            text = text[1:-1]
        return Fix("Cast to float32", Applicability.SAFE, (Edit(source.path, span, before + text + after),))

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
        source = conflict.source
        row, _ = source.position(source.span(conflict.node).start)
        what = layer.base.rpartition(".")[2]
        return Fix(
            f"Give {what} dtype float32 here only: the same call also makes a layer in the middle of a model "
            f"({source.path.name}:{row})",
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
        if not isinstance(listed, (cst.List, cst.Tuple)):
            return None
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
