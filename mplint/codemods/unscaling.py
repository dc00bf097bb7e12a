"""Gradients that are unscaled where nobody does it, earlier than it is done, or once less."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from mplint.codemods import conditions, layout, receivers, statements
from mplint.codemods.expressions import enclosed, reduced
from mplint.codemods.rewrite import Evidence, Rewrite
from mplint.findings import Applicability, Edit, Fix
from mplint.interpreter.keras import optimizers
from mplint.interpreter.loops import Loops, Step
from mplint.interpreter.scaling import Factor
from mplint.interpreter.trace import GradientsApplied
from mplint.interpreter.values import Place
from mplint.interpreter.world import World
from mplint.keras_api.arithmetic import READ
from mplint.keras_api.optimizers import INNER, SCALE_ATTRIBUTES, SCALE_METHODS, UNSCALE_METHOD
from mplint.source.file import SourceFile


@dataclass(frozen=True)
class Unscale(Rewrite):
    """Have the gradients of `step` unscaled by the optimizer that scaled the loss, before the call that takes them.

    Where they are given to the optimizer inside that one, the outer one gets them.
    """

    world: World
    step: Step

    def plan(self, evidence: Evidence) -> Fix | None:
        """In the call, or in a statement in front of it; only shown where some other run is right as it is."""
        at = self.step.event.place
        source, call = at.source, at.node
        if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute):
            return None
        edits: list[Edit] = []
        by = layout.code(source, call.func.value)
        if not optimizers.scales(self.step.optimizer):
            outer = self._outer(call.func.value)
            if outer is None:
                return None
            by = outer
            edits.append(Edit(source.path, source.span(call.func.value, parentheses=True), by))
        if self.world.generation == "2":
            is_held = self.step.tensor.made.by == READ  # by variables, which go on to be used
            is_under_more = conditions.is_scaled_under_more(self.step.course, at)
            guard = conditions.of_scaling(self.step.course, at) if is_under_more and not is_held else None
            unscaled = _unscaled(source, call, by, is_held, guard)
            if unscaled is None and guard is not None:
                guard, unscaled = None, _unscaled(source, call, by, is_held, None)
            if unscaled is None:
                return None
            edits += unscaled
            what = "unscale the gradients first"
            is_safe = self._is_wrong_everywhere(evidence, guard) and (guard is not None or not is_under_more)
        else:
            what = "apply them by the optimizer that scaled the loss"
            is_safe = self._is_wrong_everywhere(evidence, None)
        return Fix(what, Applicability.SAFE if is_safe else Applicability.DISPLAY, tuple(edits))

    def _outer(self, inner: cst.BaseExpression) -> str | None:
        """How the wrapper is written where `inner`, the optimizer inside it, is."""
        source = self.step.event.place.source
        if isinstance(inner, cst.Attribute) and inner.attr.value == INNER:
            return layout.code(source, inner.value)
        outer = next((optimizer for optimizer in self.step.course.powers if optimizer is not None), None)
        return receivers.written(self.world, outer, self.step.event.place) if outer is not None else None

    def _is_wrong_everywhere(self, evidence: Evidence, guard: str | None) -> bool:
        """Whether no run is right as it is: what is done under the condition of the scaling leaves others alone."""
        place = self.step.event.place
        for world in evidence.worlds:
            loops = world.once(Loops)
            wrong = {id(step.event) for step in loops.left_scaled()}
            if guard is not None:
                wrong |= {id(step.event) for step in loops.sure if not step.course.factors}
            for event in world.trace.events:
                if not isinstance(event, GradientsApplied) or event.place is not place or id(event) in wrong:
                    continue
                if event.gradients or not event.whole:  # else none are given there
                    return False
        return True


@dataclass(frozen=True)
class UnscaleOnce(Rewrite):
    """Do without `factor`, a division by the loss scale of gradients out of which it is taken once more later."""

    world: World
    factor: Factor

    def plan(self, evidence: Evidence) -> Fix | None:
        """The gradients stay as they are; a scale that nothing else reads goes, too."""
        place = self.factor.place
        if place is None:
            return None
        source, node = place.source, place.node
        kept = self._kept(node)
        edits = reduced(source, node, kept) if kept is not None and isinstance(node, cst.BaseExpression) else None
        if edits is None:
            return None
        edits += _without_scale(source, node, kept)
        level = Applicability.SAFE if self._is_wrong_everywhere(evidence, place) else Applicability.DISPLAY
        return Fix("leave the gradients to the optimizer", level, tuple(edits))

    def _kept(self, node: cst.CSTNode) -> cst.BaseExpression | None:
        """What is divided."""
        match node:
            case cst.Call(func=cst.Attribute(attr=cst.Name("get_unscaled_gradients")), args=[cst.Arg(value=given)]):
                return given
            case cst.BinaryOperation(left=left, right=right):
                operands = [left, right]
            case cst.Call(args=[cst.Arg(value=left, keyword=None), cst.Arg(value=right, keyword=None)]):
                operands = [left, right]
            case _:
                return None
        made = self.factor.made
        loops = self.world.once(Loops)
        if len(made.operands) != len(operands):
            return None
        return next(
            (
                operand
                for operand, tensor in zip(operands, made.operands, strict=True)
                if loops.course_of(tensor.made).gradients
            ),
            None,
        )

    def _is_wrong_everywhere(self, evidence: Evidence, place: Place) -> bool:
        for world in evidence.worlds:
            loops = world.once(Loops)
            wrong = {id(step) for step, factor in loops.unscaled_twice() if factor.place is place}
            for step in loops.steps:
                if id(step) not in wrong and any(factor.place is place for factor in step.course.factors):
                    return False
        return True


def _without_scale(source: SourceFile, node: cst.CSTNode, kept: cst.BaseExpression | None) -> list[Edit]:
    """Without the assignment of a name that was read by the division alone."""
    here = statements.scope(source, node)
    names = statements.words(node) - (statements.words(kept) if kept is not None else set())
    for name in names:
        bound, read = statements.stores(source, here, name), statements.loads(source, here, name)
        if len(bound) != 1 or len(read) != 1:
            continue
        statement, value = statements.around(source, bound[0]), statements.only_value(source, here, name)
        if statement is not None and value is not None and _is_scale(value):
            return [statements.removed(source, statement)]
    return []


def _is_scale(value: cst.BaseExpression) -> bool:
    """Whether an expression is the present scale, and does nothing beside."""
    callee = value.func if isinstance(value, cst.Call) else value
    return isinstance(callee, cst.Attribute) and callee.attr.value in (SCALE_METHODS["3"], *SCALE_ATTRIBUTES)


def _unscaled(source: SourceFile, call: cst.Call, by: str, is_held: bool, guard: str | None) -> list[Edit] | None:
    """The edits that unscale what `call` is given, where `guard` holds; what `is_held` by variables stays as it is."""
    if not call.args:
        return None
    found = list(_gradients(source, call, call.args[0].value))
    edits: list[Edit] = []
    for expression, alone in found:
        statement = statements.around(source, expression)
        if alone and guard is None:
            edits += enclosed(source, expression, f"{by}.{UNSCALE_METHOD}([", "])[0]")
        elif isinstance(expression, cst.Name) and statement is not None and statements.is_local(source, expression):
            return None
        elif (
            isinstance(expression, cst.Name)
            and statement is not None
            and not is_held
            and _is_bound_here(source, expression)
        ):
            name = expression.value
            written = f"{name} = {by}.{UNSCALE_METHOD}({name})"
            if guard is not None:
                start = source.span(statement).start
                inner = layout.indentation(source, start) + source.module.default_indent
                written = f"if {guard}:{layout.newline(source, start)}{inner}{written}"
            edits.append(statements.in_front(source, statement, written))
        elif guard is not None:
            return None
        else:
            edits += enclosed(source, expression, f"{by}.{UNSCALE_METHOD}(", ")")
    return edits or None


def _is_bound_here(source: SourceFile, name: cst.Name) -> bool:
    """Whether a name is bound in the function in which it is read: else binding it there would make it another."""
    return bool(statements.stores(source, statements.scope(source, name), name.value))


def _gradients(
    source: SourceFile, call: cst.Call, given: cst.BaseExpression, deepest: int = 4
) -> Iterator[tuple[cst.BaseExpression, bool]]:
    """The expressions of the gradients among pairs of gradients and variables, and whether each is a single one."""
    match given:
        case cst.Call(func=cst.Name("zip"), args=[cst.Arg(value=gradients), *_]):
            yield gradients, False
        case cst.Call(func=cst.Name("list" | "tuple"), args=[cst.Arg(value=held)]):
            yield from _gradients(source, call, held, deepest)
        case cst.ListComp() | cst.GeneratorExp():
            yield from _of_comprehension(given)
        case cst.List(elements=elements) | cst.Tuple(elements=elements):
            for element in elements:
                if isinstance(element.value, cst.Tuple) and len(element.value.elements) == 2:
                    yield element.value.elements[0].value, True
        case cst.Name(value=name) if deepest > 0:
            value = statements.only_value(source, statements.scope(source, call), name)
            if value is not None:
                yield from _gradients(source, call, value, deepest - 1)
        case _:
            pass


def _of_comprehension(pairs: cst.ListComp | cst.GeneratorExp) -> Iterator[tuple[cst.BaseExpression, bool]]:
    """`[(g, v) for g, v in zip(gradients, variables)]`."""
    match pairs.elt, pairs.for_in.target, pairs.for_in.iter:
        case (
            cst.Tuple(elements=[cst.Element(value=first), _]),
            cst.Tuple(elements=targets),
            cst.Call(func=cst.Name("zip"), args=args),
        ):
            needed = statements.words(first)
            for target, arg in zip(targets, args, strict=False):
                if isinstance(target.value, cst.Name) and target.value.value in needed:
                    yield arg.value, False
                    return
        case _:
            pass
