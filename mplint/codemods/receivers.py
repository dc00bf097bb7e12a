"""How an optimizer is written at some place of the program."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from mplint.codemods import layout, statements, variables
from mplint.codemods.variables import Spot
from mplint.interpreter.code import dotted
from mplint.interpreter.loops import Loops, Step
from mplint.interpreter.values import Instance, Made, Place
from mplint.interpreter.world import World


def written(world: World, optimizer: Instance, at: Place) -> str | None:
    """The name by which methods of `optimizer` are called in the function of `at`, else one that means the same there.

    That is one from a function around it, or of an attribute of `self` in the same class.
    """
    source = at.source
    here = statements.scope(source, at.node)
    for scope, receiver in _receivers(world, optimizer, at):
        if scope is here:
            return receiver
    for scope, receiver in _receivers(world, optimizer, at):
        head = receiver.partition(".")[0]
        if head == "self" and _has_self(here) and _class_of(at, scope) is _class_of(at, here) is not None:
            return receiver
        if statements.is_in(source, here, scope) and not statements.stores(source, here, head):
            return receiver
    return None


def _receivers(world: World, optimizer: Instance, at: Place) -> Iterator[tuple[statements.Scope, str]]:
    source = at.source
    for event in world.once(Loops).used():
        if event.optimizer != optimizer or event.place.source is not source:
            continue
        node = event.place.node.func if isinstance(event.place.node, cst.Call) else event.place.node
        if isinstance(node, cst.Attribute) and dotted(node.value):
            yield statements.scope(source, node), layout.code(source, node.value)


def _has_self(scope: statements.Scope) -> bool:
    first = scope.params.params[:1] if isinstance(scope, cst.FunctionDef) else ()
    return any(param.name.value == "self" for param in first)


def _class_of(at: Place, scope: statements.Scope) -> cst.ClassDef | None:
    return at.source.enclosing(scope, cst.ClassDef) if isinstance(scope, cst.FunctionDef) else None


def optimizer_at(world: World, step: Step, made: Made) -> str | None:
    """How the optimizer of a step is written in the function in which something is `made`."""
    at, context = made.place, made.context
    return optimizer_in(world, step, Spot(at, context)) if at is not None and context is not None else None


def optimizer_in(world: World, step: Step, at: Spot) -> str | None:
    """How it is written in the function of `at`, and still means the same when the gradients are applied."""
    call, source = step.event.place.node, at.source
    if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute):
        return None
    applied = Spot(step.event.place, step.event.context)
    found = variables.written_at(world, step.optimizer, call.func.value, applied, at)
    if found is None:
        return None
    is_near = applied.source is source and variables.function_of(source, call) is variables.function_of(
        source, at.place.node
    )
    start, end = source.span(at.place.node).start, source.span(call).start if is_near else 0
    return None if variables.is_bound_between(source, found, start, end) else found
