"""Gradients of scaled losses, as each generation of Keras takes and unscales them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import libcst as cst

from mplint.codemods import layout, receivers, statements, variables
from mplint.codemods.clipping import limits
from mplint.codemods.expressions import enclosed
from mplint.codemods.loss_scale import wrapper
from mplint.codemods.tapes import Taken
from mplint.findings import Edit
from mplint.interpreter.code import dotted
from mplint.interpreter.loops import Loops, Step
from mplint.interpreter.world import World
from mplint.keras_api.optimizers import SCALE_METHODS, UNSCALE_METHOD
from mplint.source.file import SourceFile


def written(
    world: World, step: Step, taken: Taken, optimizer: str, alike: Sequence[tuple[World, Step]], is_scaling: bool
) -> list[Edit] | None:
    """The edits for the gradient of `step`, and for all that are `alike`; `is_scaling` says that `optimizer` scales."""
    if world.generation == "3":
        scaled, scaled_limits = into_tape(taken, optimizer, "3", None), _limits(alike)
        return [*scaled, *scaled_limits] if scaled is not None and scaled_limits is not None else None
    place = step.gradient.place
    single = place is not None and world.once(Loops).is_of_several(place) is False
    if is_scaling:
        return _pair(taken, optimizer, None, single=single)
    return _minimized(taken, optimizer, step) or _guarded(world, taken, optimizer, single=single)


def into_tape(taken: Taken, optimizer: str, generation: str, guard: str | None) -> list[Edit] | None:
    """The edits that take a gradient of the scaled loss; the loss is scaled where `guard` holds."""
    method = SCALE_METHODS[generation]
    edits: list[Edit] = []

    def lines(name: str, loss: str) -> list[str]:
        scaled = f"{name} = {optimizer}.{method}({loss})"
        if guard is None:
            return [scaled]
        return [f"if {guard}:", f"{taken.unit}{scaled}", "else:", f"{taken.unit}{name} = {loss}"]

    for loss in taken.elements:
        new = f"{optimizer}.{method}({layout.code(taken.source, loss)})"
        if guard is not None and not variables.is_plain(loss):
            return None
        found = taken.replaced(loss, lines, new)
        if found is None:
            return None
        edits += found
    return edits


def _limits(alike: Sequence[tuple[World, Step]]) -> list[Edit] | None:
    """Keras 3: the gradients stay scaled until they are applied, so what they are clipped to is scaled as they are."""
    edits: dict[Edit, None] = {}
    for world, step in alike:
        loops = world.once(Loops)
        for made in loops.clips(step):
            if any(loops.course_of(limit.made).is_scaled for limit in made.operands[1:]):
                continue  # it is already
            if made.place is None or not isinstance(made.place.node, cst.Call):
                return None
            source, call = made.place.source, made.place.node
            optimizer = receivers.optimizer_at(world, step, made)
            found = limits(call, made.by)
            if optimizer is None or not found:
                return None
            for limit in found:
                scaled = f"{optimizer}.{SCALE_METHODS['3']}({layout.code(source, limit)})"
                edits[Edit(source.path, source.span(limit, parentheses=True), scaled)] = None
            norm = _unscaled_norm(source, call, optimizer)
            if norm is not None:
                edits[norm] = None
    return list(edits)


def _unscaled_norm(source: SourceFile, call: cst.Call, optimizer: str) -> Edit | None:
    """`gradients, norm = tf.clip_by_global_norm(…)`: the norm, where it is used, as it would be without the scale."""
    statement = statements.around(source, call)
    match statements.target(statement):
        case cst.Tuple(elements=[_, cst.Element(value=cst.Name(value=norm))]) if not norm.startswith("_"):
            used = variables.number_of_uses(variables.function_of(source, call), norm)
            if statement is not None and statements.value(statement) is call and used > 1:
                return statements.behind(source, statement, f"{norm} /= {optimizer}.{SCALE_METHODS['3']}(1.0)")
        case _:
            pass
    return None


def _pair(taken: Taken, optimizer: str, guard: str | None, *, single: bool) -> list[Edit] | None:
    """Keras 2: the loss scaled inside the tape, the gradients unscaled behind it."""
    if taken.sources is None or not _is_flat(taken.sources):
        return None
    scaled, unscaled = into_tape(taken, optimizer, "2", guard), _unscaled(taken, optimizer, guard, single=single)
    return [*scaled, *unscaled] if scaled is not None and unscaled is not None else None


def _is_flat(sources: cst.BaseExpression) -> bool:
    """Whether the gradients are one list, and not lists in a list."""
    if not isinstance(sources, (cst.List, cst.Tuple)):
        return True
    return not any(
        dotted(element.value).endswith(("variables", "weights")) or isinstance(element.value, (cst.List, cst.Tuple))
        for element in sources.elements
        if isinstance(element, cst.Element)
    )


def _unscaled(taken: Taken, optimizer: str, guard: str | None, *, single: bool) -> list[Edit] | None:
    source, call = taken.source, taken.call
    method, statement = f"{optimizer}.{UNSCALE_METHOD}", statements.around(source, call)
    target = statements.target(statement)
    if statement is not None and statements.value(statement) is call and target and variables.is_plain(target):
        name = layout.code(source, target)
        unscaled = f"{name} = {method}([{name}])[0]" if single else f"{name} = {method}({name})"
        lines = [unscaled] if guard is None else [f"if {guard}:", f"{taken.unit}{unscaled}"]
        return [statements.behind(source, statement, *lines)]
    if guard is not None:
        return None
    return enclosed(source, call, f"{method}([", "])[0]") if single else enclosed(source, call, f"{method}(", ")")


def _guarded(world: World, taken: Taken, optimizer: str, *, single: bool) -> list[Edit] | None:
    """The same, where the optimizer is a LossScaleOptimizer."""
    written = wrapper(world, taken.source, None)
    if written is None:
        return None
    name, imported = written
    pair = _pair(taken, optimizer, f"isinstance({optimizer}, {name})", single=single)
    return [*imported, *pair] if pair is not None else None


def _minimized(taken: Taken, optimizer: str, step: Step) -> list[Edit] | None:
    """Keras 2: `optimizer.minimize(loss, variables, tape=tape)`, in which all of that is done.

    Where the gradient is taken and applied in two statements, one behind the other, and used nowhere else.
    """
    source, call, apply = taken.source, taken.call, step.event.place.node
    sources, pairs, last = taken.sources, _zipped(apply), source.parent(apply)
    if step.event.place.source is not source or sources is None or pairs is None or taken.is_inside:
        return None
    if len(call.args) != 2 or not isinstance(call.func, cst.Attribute) or not isinstance(last, cst.Expr):
        return None
    gradients, changed = pairs[0], layout.code(source, pairs[1])
    if isinstance(taken.target, (cst.List, cst.Tuple)) or changed != layout.code(source, sources):
        return None
    loss, tape = layout.code(source, taken.target), layout.code(source, call.func.value)
    done = Edit(source.path, source.span(apply), f"{optimizer}.minimize({loss}, {changed}, tape={tape})")
    if gradients is call:
        return [done]
    bound = statements.binding(source, call)
    if bound is None or not isinstance(gradients, cst.Name):
        return None
    first, name = bound
    block = statements.block(source, first)
    if block is None or name.value != gradients.value:
        return None
    lines = [layout.own_line(source, statement) for statement in (first, last)]
    is_next = any(list(pair) == lines for pair in pairwise(block.body))
    if not is_next or variables.number_of_uses(variables.function_of(source, call), name.value) != 2:
        return None
    return [statements.removed(source, first), done]


def _zipped(apply: cst.CSTNode) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """The gradients and the variables of `apply_gradients(zip(gradients, variables))`."""
    match apply:
        case cst.Call(
            args=[cst.Arg(value=cst.Call(func=cst.Name("zip"), args=[cst.Arg(value=one), cst.Arg(value=other)]))]
        ):
            return one, other
        case _:
            return None
