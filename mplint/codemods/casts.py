"""A float32 cast around an expression at a model's end, as the file can write one."""

from __future__ import annotations

import libcst as cst

from mplint.codemods import layout, names, statements
from mplint.codemods.counting import is_one_of_several
from mplint.codemods.rewrite import only_shown
from mplint.findings import Applicability, Edit, Fix
from mplint.interpreter.world import End, World
from mplint.source.file import SourceFile
from mplint.source.walk import walk


def cast_to_float32(
    end: End, source: SourceFile, node: cst.BaseExpression, symbolic: bool, conflict: str | None, in_both: bool
) -> Fix | None:
    """The cast; only shown where there is a `conflict` (file and row), or a layer more may change the order of weights.

    What runs `in_both` generations is cast in a way that both have; None where the file has none.
    """
    written = caster(end.world, source, node, symbolic, in_both)
    if written is None:
        return None
    before, after = written
    span = source.span(node, parentheses=True)
    text = source.text[span.start : span.end]
    if node.lpar and not symbolic and text.startswith("(") and text.endswith(")") and "\n" not in text:
        text = text[1:-1]
    edits = (Edit(source.path, span, before + text + after),)
    if conflict is not None:
        return only_shown("Cast to float32", conflict, edits, ": it may be used inside a model there")
    if symbolic and is_one_of_several(end):
        what = "Cast to float32, if nothing counts on the order of the model's weights: a layer more may change it"
        return Fix(what, Applicability.DISPLAY, edits)
    return Fix("Cast to float32", Applicability.SAFE, edits)


def float32_activation(world: World, source: SourceFile, more: str = "") -> str | None:
    """A float32 layer that changes nothing else, with `more` arguments; None where the file cannot name it."""
    layer = names.written(world, source, "keras.layers.Activation")
    if layer is None:
        return None
    return f"{layer}({layout.quoted(source, 'linear')}, dtype={layout.quoted(source, 'float32')}{more})"


def caster(world: World, source: SourceFile, at: cst.CSTNode, symbolic: bool, in_both: bool) -> tuple[str, str] | None:
    """How the file can cast an expression `at` some place, for one generation or both: the text before and behind."""
    if symbolic:  # tf.cast does not take a KerasTensor in Keras 3
        layer = float32_activation(world, source)
        return (f"{layer}(", ")") if layer is not None else None
    found = function(world, source, at, in_both)
    return (f"{found[0]}(", f", {found[1]})") if found is not None else None


def function(
    world: World, source: SourceFile, at: cst.CSTNode, in_both: bool, symbolic: bool = False
) -> tuple[str, str] | None:
    """How the file writes the function that casts tensors `at` some place, and float32.

    Of KerasTensors where they are `symbolic`; Keras's own function where the code around uses such functions.
    """
    float32 = layout.quoted(source, "float32")
    path = "keras.ops.cast" if world.generation == "3" else "keras.backend.cast"
    keras = names.written(world, source, path) if not in_both else None
    if keras is not None and is_beside_ops(world, source, at):
        return keras, float32
    tensorflow = names.written(world, source, "tensorflow.cast") if not (symbolic and world.generation == "3") else None
    if tensorflow is not None:
        module = tensorflow.rpartition(".")[0]
        return tensorflow, f"{module}.float32" if module else float32
    return (keras, float32) if keras is not None else None


def is_beside_ops(world: World, source: SourceFile, at: cst.CSTNode) -> bool:
    """Whether the function in which `at` stands, or the code outside functions, calls one of `keras.ops`."""
    scope = statements.scope(source, at)
    return any(
        isinstance(node, cst.Call)
        and (names.spelled(world, source, node.func) or "").partition("keras.")[2].startswith("ops.")
        and statements.scope(source, node) is scope
        for node in walk(scope)
    )
