"""Losses that are scaled at the wrong place, in part, or too often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from mplint.codemods import calls, conditions, layout, receivers, statements, variables
from mplint.codemods.expressions import enclosed, reduced
from mplint.codemods.rewrite import Evidence, Rewrite
from mplint.codemods.scaled_gradients import into_tape
from mplint.codemods.tapes import Taken
from mplint.codemods.variables import Spot
from mplint.findings import Applicability, Edit, Fix, Span
from mplint.interpreter.keras import optimizers
from mplint.interpreter.loops import Loops, Step
from mplint.interpreter.scaling import Factor
from mplint.interpreter.values import Made, Place, Scaling
from mplint.interpreter.world import World
from mplint.keras_api.optimizers import SCALE_METHODS, UNSCALE_METHOD
from mplint.source.file import SourceFile
from mplint.source.walk import names_in


@dataclass(frozen=True)
class ScaleInsideTape(Rewrite):
    """Move the scaling of a loss, at `at`, to the end of what the tape records."""

    step: Step
    at: Place

    def plan(self, evidence: Evidence) -> Fix | None:
        """Where nothing that it needs is bound, and what it gives is not used, in between."""
        taken, call, source = Taken.of(self.step.gradient), self.at.node, self.at.source
        if taken is None or taken.source is not source or not isinstance(call, cst.Call) or taken.is_inside:
            return None
        edits = _inline(taken, call) if call is taken.target else _moved(taken, call)
        return Fix("Scale the loss inside the tape", Applicability.SAFE, tuple(edits)) if edits else None


def _inline(taken: Taken, call: cst.Call) -> Sequence[Edit] | None:
    """`tape.gradient(optimizer.scale_loss(loss), …)`."""
    loss = calls.argument_at(call, "loss", 0)
    func = layout.code(taken.source, call.func)
    if loss is None or len(call.args) != 1:
        return None
    return taken.replaced(
        loss.value, lambda name, text: [f"{name} = {func}({text})"], layout.code(taken.source, call), call
    )


def _moved(taken: Taken, call: cst.Call) -> Sequence[Edit] | None:
    source, statement = taken.source, statements.around(taken.source, call)
    if not isinstance(statement, cst.Assign) or not isinstance(taken.block.body, cst.IndentedBlock):
        return None
    block, line = statements.block(source, taken.block), source.parent(statement)
    if block is None or line is None or statements.block(source, statement) is not block:
        return None
    if statement.value is not call or not all(isinstance(each.target, cst.Name) for each in statement.targets):
        return None
    first, last = block.body.index(taken.block) + 1, block.body.index(line)
    read = names_in(statement.value)
    bound = set[str]().union(*map(names_in, statement.targets))
    between = block.body[first:last]
    if (
        last < first
        or any(variables.binds(one, name) for one in between for name in read)
        or any(bound & names_in(one) for one in between)
    ):
        return None
    span = source.span(statement)
    stop = layout.line_end(source, span.end)
    at = layout.line_end(source, source.span(taken.block.body.body[-1]).end)
    text = f"{layout.newline(source, at)}{taken.indentation}{source.text[span.start : stop]}"
    gone = Span(layout.line_start(source, span.start), layout.next_line(source, span.end))
    return [Edit(source.path, Span(at, at), text), Edit(source.path, gone, "")]


@dataclass(frozen=True)
class ScaleTerms(Rewrite):
    """Scale the terms of a loss that are not scaled as the others are, where they are added."""

    world: World
    step: Step

    def plan(self, evidence: Evidence) -> Fix | None:
        """By the optimizer that scales the others."""
        mixed, factors = self.step.course.mixed, self.step.course.factors
        if mixed is None or mixed.place is None or not factors or factors[0].optimizer is None:
            return None
        if self.world.generation == "2" and conditions.is_scaled_under_more(self.step.course, mixed.place):
            return None
        if self._has_inner_gradient(mixed):
            return None
        optimizer = _scaler(self.world, factors[0], mixed)
        terms = _terms(mixed.place.node, len(mixed.operands))
        lacking = self.world.once(Loops).not_scaled_alike(mixed)
        if optimizer is None or not terms or not lacking or len(lacking) == len(terms):
            return None
        source, method = mixed.place.source, f"{optimizer}.{SCALE_METHODS[self.world.generation]}"
        taken = Taken.of(mixed) if isinstance(mixed, Scaling) else None
        edits: list[Edit] = []
        for term in (terms[position] for position in lacking):
            new = f"{method}({layout.code(source, term)})"
            if taken is not None:
                found = taken.replaced(term, lambda name, text: [f"{name} = {method}({text})"], new)
            else:
                found = [Edit(source.path, source.span(term, parentheses=True), new)]
            if found is None or (isinstance(mixed, Scaling) and taken is None):
                return None
            edits += found
        return Fix("Scale all terms of the loss", Applicability.SAFE, tuple(edits))

    def _has_inner_gradient(self, mixed: Made) -> bool:
        """Whether a term is computed from a gradient that nobody unscaled: its scale is no mere factor of the term."""
        loops = self.world.once(Loops)
        taken = (loops.course_of(operand.made).gradient for operand in mixed.operands)
        return any(gradient is not None and gradient is not self.step.gradient for gradient in taken)


def _scaler(world: World, factor: Factor, mixed: Made) -> str | None:
    """How the optimizer of a factor is written where something is `mixed`."""
    call, made = factor.made.place, factor.made
    if call is None or made.context is None or factor.optimizer is None or made.kind != "scaled":
        return None
    if mixed.place is None or mixed.context is None:
        return None
    if not isinstance(call.node, cst.Call) or not isinstance(call.node.func, cst.Attribute):
        return None
    scaled, at = Spot(call, made.context), Spot(mixed.place, mixed.context)
    return variables.written_at(world, factor.optimizer, call.node.func.value, scaled, at)


def _terms(node: cst.CSTNode, number: int) -> list[cst.BaseExpression]:
    """The terms of a sum, where they are as many as there are tensors in it."""
    found: list[cst.BaseExpression] = []
    match node:
        case cst.BinaryOperation(left=left, right=right):
            found = [left, right]
        case cst.AugAssign(target=target, value=value):
            found = [target, value]
        case cst.Call(args=[cst.Arg(value=cst.List(elements=elements) | cst.Tuple(elements=elements)), *_]):
            found = [element.value for element in elements if isinstance(element, cst.Element)]
        case _:
            pass
    return found if len(found) == number else []


@dataclass(frozen=True)
class ScaleOnce(Rewrite):
    """Leave out the scaling at `at`; of a `minimize` there, that in front of it."""

    world: World
    step: Step
    at: Place

    def plan(self, evidence: Evidence) -> Fix | None:
        """The loss in place of the scaled one; a statement that only scales goes."""
        factors = [factor for factor in self.step.course.factors if factor.power > 0]
        place = factors[-1].place if self.step.is_minimize and factors else self.at
        if place is None or not isinstance(place.node, cst.Call) or not _is_always_twice(evidence, self.world, place):
            return None
        loss = calls.argument_at(place.node, "loss", 0)
        if loss is None:
            return None
        edits = _without(place.source, place.node, loss.value, self.at if self.step.is_minimize else None)
        return Fix("Scale the loss once", Applicability.SAFE, tuple(edits)) if edits else None


def _is_always_twice(evidence: Evidence, world: World, place: Place) -> bool:
    """Whether every loss that is scaled at `place` is scaled once more."""
    for other in evidence.worlds_of(world.generation):
        loops = other.once(Loops)
        twice = {step for step, _ in loops.scaled_twice()}
        for step in loops.steps:
            if any(factor.place is place for factor in step.course.factors) and step not in twice:
                return False
    return True


def _without(
    source: SourceFile, call: cst.Call, loss: cst.BaseExpression, minimize: Place | None
) -> Sequence[Edit] | None:
    """The edits that leave out `call`, which scales `loss`, on the way to `minimize` where there is one."""
    bound, given = statements.binding(source, call), _given(source, minimize, call)
    plain = reduced(source, call, loss)
    if bound is None or given is None or not isinstance(loss, cst.Name):
        return plain
    statement, name = bound
    if given.value != name.value or loss.value == name.value:
        return plain
    start, end = source.span(call).end, source.span(given).start
    function = variables.function_of(source, call)
    if variables.number_of_uses(function, name.value) != 2 or variables.is_bound_between(
        source, loss.value, start, end
    ):
        return plain
    return [statements.removed(source, statement), Edit(source.path, source.span(given), loss.value)]


def _given(source: SourceFile, minimize: Place | None, call: cst.Call) -> cst.Name | None:
    """The variable that `minimize` is given as the loss, in the function of `call`."""
    if minimize is None or minimize.source is not source or not isinstance(minimize.node, cst.Call):
        return None
    if variables.function_of(source, minimize.node) is not variables.function_of(source, call):
        return None
    found = calls.argument_at(minimize.node, "loss", 0)
    return found.value if found is not None and isinstance(found.value, cst.Name) else None


@dataclass(frozen=True)
class ScaleInner(Rewrite):
    """Scale what the inner gradient of a step is taken of, and unscale that gradient."""

    world: World
    step: Step
    inner: Scaling

    def plan(self, evidence: Evidence) -> Fix | None:
        """By the optimizer of the step."""
        taken, place = Taken.of(self.inner), self.inner.place
        if taken is None or place is None:
            return None
        optimizer = receivers.optimizer_at(self.world, self.step, self.inner)
        sources = calls.argument_at(taken.call, "sources", 1)
        generation = self.world.generation
        if optimizer is None or sources is None or not self._is_scaling(evidence):
            return None
        scaled = into_tape(taken, optimizer, generation, None)
        several = isinstance(sources.value, (cst.List, cst.Tuple)) or self.world.once(Loops).is_of_several(place)
        if several is None:
            return None
        unscaled = _unscaled(taken, optimizer, several) if generation == "2" else _divided(taken, optimizer, several)
        if scaled is None:
            return None
        return Fix("Scale the inner gradient, and unscale it", Applicability.UNSAFE, (*scaled, *unscaled))

    def _is_scaling(self, evidence: Evidence) -> bool:
        """Whether every optimizer that the inner gradient is taken for can scale."""
        return all(
            optimizers.scales(step.optimizer)
            for world in evidence.worlds_of(self.world.generation)
            for step in world.once(Loops).steps
            if any(inner.place is self.inner.place for inner in step.course.gradients[:-1])
        )


def _unscaled(taken: Taken, optimizer: str, several: bool) -> list[Edit]:
    before, behind = ("", ")") if several else ("[", "])[0]")
    return enclosed(taken.source, taken.call, f"{optimizer}.{UNSCALE_METHOD}({before}", behind)


def _divided(taken: Taken, optimizer: str, several: bool) -> list[Edit]:
    scale = f"{optimizer}.{SCALE_METHODS['3']}(1.0)"
    if several:
        name = variables.free(taken.source, taken.call, "each")
        return enclosed(taken.source, taken.call, f"[{name} / {scale} for {name} in ", "]")
    if isinstance(taken.source.parent(taken.call), (cst.Assign, cst.Arg)):
        return enclosed(taken.source, taken.call, "", f" / {scale}")
    return enclosed(taken.source, taken.call, "(", f" / {scale})")
