"""Losses that a function gives, which JAX differentiates: scaled in that function, by the state that the step has."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import libcst as cst

from mplint.codemods import calls, layout, names, statements, variables
from mplint.codemods.clipping import limits, times_scale
from mplint.codemods.rewrite import Evidence
from mplint.codemods.variables import Spot
from mplint.findings import Edit, Span
from mplint.interpreter.code import dotted
from mplint.interpreter.loops import Loops, Step
from mplint.interpreter.trace import FunctionDifferentiated
from mplint.interpreter.values import Bound, Function, Place
from mplint.interpreter.world import World
from mplint.keras_api.optimizers import SCALE_METHODS
from mplint.source.file import SourceFile
from mplint.source.walk import walk

_SCOPE: Final = "keras.StatelessScope"
"""In which an optimizer's variables have the values that the step was given, and not those that they were made with."""
_APPLY: Final = "stateless_apply"
_STATE: Final = "optimizer_variables"
"""What it calls these values."""


def scope(world: World, source: SourceFile, optimizer: str, state: str) -> str | None:
    """The header of a `with` statement in which `optimizer` has the variables that `state` holds."""
    written = names.written(world, source, _SCOPE)
    return f"with {written}(state_mapping=zip({optimizer}.variables, {state})):" if written is not None else None


def state_at(source: SourceFile, applied: cst.Call, at: cst.CSTNode) -> str | None:
    """How the variables that an optimizer is given by `applied`, a call of `stateless_apply`, are written at `at`.

    That stands in front of it in the same function.
    """
    given, here = calls.argument_at(applied, _STATE, 0), variables.function_of(source, applied)
    if (
        dotted(applied.func).rpartition(".")[2] != _APPLY
        or given is None
        or given.star
        or not variables.is_plain(given.value)
        or not statements.is_in(source, at, here)
    ):
        return None
    root, text, start = variables.root(given.value), layout.code(source, given.value), source.span(at).start
    end = source.span(statements.simple(source, applied) or applied).start  # which binds it anew
    parameters = (*here.params.params, *here.params.kwonly_params) if isinstance(here, cst.FunctionDef) else ()
    is_given = any(param.name.value == root for param in parameters)
    bound = [node for node in statements.stores(source, here, root) if source.span(node).start < start]
    if not (is_given or bound) or start > end or variables.is_bound_between(source, text, start, end):
        return None
    return text


def scale_of_now(world: World, step: Step, at: cst.CSTNode) -> tuple[str, Edit] | None:
    """A variable with the scale that the gradients of a stateless step have at `at`, and the edit that binds it."""
    source, applied = step.event.place.source, step.event.place.node
    statement = statements.around(source, at)
    if not isinstance(applied, cst.Call) or not isinstance(applied.func, cst.Attribute) or statement is None:
        return None
    state, optimizer = state_at(source, applied, statement), layout.code(source, applied.func.value)
    header = scope(world, source, optimizer, state) if state is not None else None
    if header is None or not variables.is_plain(applied.func.value):
        return None
    name, start = variables.free(source, applied, "scale"), source.span(statement).start
    indentation = layout.indentation(source, start)
    line_end = layout.newline(source, start) + indentation
    body = f"{indentation or '    '}{name} = {optimizer}.{SCALE_METHODS['3']}(1.0)"
    return name, Edit(source.path, Span(start, start), f"{header}{line_end}{body}{line_end}")


@dataclass(frozen=True)
class Differentiated:
    """A function of the program whose gradient a step takes, and the one call that does it."""

    evidence: Evidence
    world: World
    step: Step
    source: SourceFile
    function: cst.FunctionDef
    made: cst.Call
    """`jax.value_and_grad(function)`."""
    taken: cst.Call
    """The call of what that gives."""
    applied: cst.Call
    """`optimizer.stateless_apply(…)`."""
    has_aux: bool
    with_value: bool

    @classmethod
    def of(cls, evidence: Evidence, world: World, step: Step) -> Differentiated | None:
        """The function of `step`; None where it, or what is done with it, is not written out in one file."""
        found = {
            (_node(event), event.at, event.place, event.has_aux, event.with_value)
            for other in evidence.worlds_of(world.generation)
            for event in other.trace.events
            if isinstance(event, FunctionDifferentiated) and _is_alike(event, world, step)
        }
        if len(found) != 1:
            return None
        (source, function), at, place, has_aux, with_value = found.pop()
        applied = step.event.place
        if source is None or not all(one.source is source for one in (at, place, applied)):
            return None
        nodes = function, at.node, place.node, applied.node
        match nodes:
            case cst.FunctionDef(), cst.Call(), cst.Call(), cst.Call():
                return cls(evidence, world, step, source, *nodes, has_aux, with_value)
            case _:
                return None

    def scaled(self) -> list[Edit] | None:
        """The edits that take the gradient of the scaled loss; what the step has for the loss stays the plain one."""
        if not self._is_used_once() or not self._is_given_once():
            return None
        optimizer, state = self._optimizer(), self._state()
        if optimizer is None or state is None:
            return None
        name = state if state.isidentifier() else _STATE
        if name in variables_of(self.function):
            return None
        given = self._handed_on(name, state)
        returned = self._returned(optimizer, name)
        shown, limited = self._taken_apart() if self.with_value else [], self._limits()
        if given is None or returned is None or shown is None or limited is None:
            return None
        return [*given, *returned, *shown, *limited, *self._asked()]

    def shown(self, scaling: cst.Call) -> list[Edit] | None:
        """The edits by which the step has the plain loss, which the function scales by `scaling`."""
        source, bound = self.source, statements.binding(self.source, scaling)
        given = [node for node in walk(self.function) if isinstance(node, cst.Return)]
        if bound is None or len(given) != 1 or not self.with_value or not self._is_used_once():
            return None
        name, loss, value = bound[1], scaling.args[0].value, given[0].value
        scaled, aux = (_pair(value) if self.has_aux else (value, None)) or (None, None)
        read = statements.loads(source, self.function, name.value)
        later = [node for node in read if source.span(node).start > source.span(scaling).end]
        taken = self._taken_apart()
        if value is None or later != [scaled] or not isinstance(loss, cst.Name) or taken is None:
            return None
        new, edits = name.value, list(taken)
        if loss.value == new:
            new = variables.free(source, value, f"scaled_{new}")
            edits.append(Edit(source.path, source.span(name), new))
        was = loss.value if aux is None else f"({loss.value}, {layout.code(source, aux)})"
        edits.append(Edit(source.path, source.span(value, parentheses=True), f"{new}, {was}"))
        return [*edits, *self._asked()]

    def in_state(self, scaling: cst.Call) -> list[Edit] | None:
        """The edits by which `scaling`, in the function, takes the scale of the state that the step is given."""
        source, statement = self.source, statements.around(self.source, scaling)
        state, receiver = self._state(), scaling.func
        here = variables.function_of(source, scaling)
        if (
            statement is None
            or state is None
            or here is not self.function
            or not isinstance(receiver, cst.Attribute)
            or not self._is_used_once()
        ):
            return None
        name, edits = self._parameter_of(state), list[Edit]()
        if name is None:
            name = state if state.isidentifier() else _STATE
            given = self._handed_on(name, state) if name not in variables_of(self.function) else None
            if given is None:
                return None
            edits += given
        header = scope(self.world, source, layout.code(source, receiver.value), name)
        span = source.span(statement)
        if header is None or layout.newline(source) in source.text[span.start : span.end]:
            return None
        line_end = layout.newline(source, span.start) + layout.indentation(source, span.start)
        unit = _unit(source, self.function)
        if statements.value(statement) is scaling:
            edits.append(Edit(source.path, Span(span.start, span.start), f"{header}{line_end}{unit}"))
            return edits
        if not isinstance(statement, cst.Return) or not all(variables.is_plain(arg.value) for arg in scaling.args):
            return None
        word = variables.free(source, scaling, "scaled_loss")
        lines = f"{header}{line_end}{unit}{word} = {layout.code(source, scaling)}{line_end}"
        edits.append(Edit(source.path, Span(span.start, span.start), lines))
        edits.append(Edit(source.path, source.span(scaling, parentheses=True), word))
        return edits

    def _parameter_of(self, given: str) -> str | None:
        """The parameter for which the call passes what is written `given`."""
        names = [param.name.value for param in self.function.params.params]
        names = names[names[:1] in (["self"], ["cls"]) :]
        for index, arg in enumerate(self.taken.args):
            if arg.star or layout.code(self.source, arg.value) != given:
                continue
            name = arg.keyword.value if arg.keyword is not None else names[index] if index < len(names) else None
            return name if name is not None and not variables.binds(self.function.body, name) else None
        return None

    def _asked(self) -> list[Edit]:
        """That only the first of what the function gives is the loss, where that is new."""
        if not self.with_value or self.has_aux:
            return []
        return [calls.set_argument(self.source, self.made, "has_aux", "True")]

    def _is_given_once(self) -> bool:
        """Whether the gradient goes to one optimizer at one place, as it is."""
        for world in self.evidence.worlds_of(self.world.generation):
            loops = world.once(Loops)
            for step in loops.steps:
                place = step.gradient.place
                is_mine = place is not None and place.node is self.taken
                if is_mine and (step.course.factors or step.event.place.node is not self.applied):
                    return False
        return True

    def _limits(self) -> list[Edit] | None:
        """What the gradients are clipped to, times the scale that they now have until they are applied."""
        source, loops = self.source, self.world.once(Loops)
        clips = {made.place: made.by for made in loops.clips(self.step)}
        found: dict[cst.Call, list[cst.BaseExpression]] = {}
        for place, by in clips.items():
            call = place.node if place is not None and place.source is source else None
            given = limits(call, by) if isinstance(call, cst.Call) else []
            if not isinstance(call, cst.Call) or not given:
                return None
            found[call] = given
        if not found:
            return []
        first = min(found, key=lambda call: source.span(call).start)
        scale = scale_of_now(self.world, self.step, first)
        if scale is None:
            return None
        return [scale[1], *(times_scale(source, limit, scale[0]) for given in found.values() for limit in given)]

    def _is_used_once(self) -> bool:
        """Whether nothing but the one call that differentiates it names the function, and one calls what that gives."""
        if not self._is_named_once() or self.function.decorators or self.function.asynchronous is not None:
            return False
        if self.taken.func is self.made:
            return True
        bound = statements.binding(self.source, self._whole)
        if bound is None or not isinstance(self.taken.func, cst.Name) or self.taken.func.value != bound[1].value:
            return False
        return self._is_read_once(bound[1].value, bound[1])

    def _is_named_once(self) -> bool:
        name, source = self.function.name.value, self.source
        owner = source.enclosing(self.function, cst.ClassDef)
        if owner is None or variables.function_of(source, self.function) is not variables.function_of(source, owner):
            return self._is_read_once(name, self.function.name)
        read = [node for node in walk(source.module) if isinstance(node, cst.Attribute) and node.attr.value == name]
        return len(read) == 1 and not self._is_elsewhere(rb"\.%s\b", name)

    def _is_read_once(self, name: str, bound: cst.Name) -> bool:
        """Whether a variable is bound at one place, and read at one."""
        source = self.source
        where = variables.scope_of(source, bound, name)
        found = statements.variables(source, where, name)
        alike = [node for node in found if variables.scope_of(source, node, name) is where]
        return len(alike) == 2 and not (isinstance(where, cst.Module) and self._is_elsewhere(rb"\b%s\b", name))

    def _is_elsewhere(self, pattern: bytes, name: str) -> bool:
        return self.evidence.is_named_elsewhere(self.source.path, re.compile(pattern % re.escape(name.encode())))

    @property
    def _whole(self) -> cst.BaseExpression:
        """The call that differentiates, and what is around it: `jax.jit(jax.value_and_grad(function))`."""
        argument = self.source.parent(self.made)
        match self.source.parent(argument) if isinstance(argument, cst.Arg) else None:
            case cst.Call(func=func, args=[_]) as call if dotted(func).endswith("jit"):
                return call
            case _:
                return self.made

    def _optimizer(self) -> str | None:
        """How the function can write the optimizer."""
        receiver = self.applied.func
        if not isinstance(receiver, cst.Attribute):
            return None
        inside = Place(self.source, self.function.body.body[0])
        context = self.step.event.context
        applied = Spot(self.step.event.place, context)
        return variables.written_at(self.world, self.step.optimizer, receiver.value, applied, Spot(inside, context))

    def _state(self) -> str | None:
        """How the step writes the variables of the optimizer, where it takes the gradient."""
        return state_at(self.source, self.applied, self.taken)

    def _handed_on(self, name: str, state: str) -> list[Edit] | None:
        """One more parameter in front of those with defaults, and what the call gives for it."""
        params, call, source = self.function.params, self.taken, self.source
        positional = [arg for arg in call.args if arg.keyword is None]
        plain = [param for param in params.params if param.default is None]
        later = len(plain) < len(params.params)
        if any(arg.star for arg in call.args) or not plain or params.posonly_params:
            return None
        is_method = plain[0].name.value in ("self", "cls")
        by_keyword = later or len(positional) < len(call.args)
        if len(positional) > len(plain) - is_method or isinstance(params.star_arg, cst.Param):
            return None
        opening = source.text.index("(", source.span(self.function.name).end) + 1
        spans = [source.span(param) for param in plain]
        parameter = calls.appended(source, spans, opening, [name])
        given = calls.added(source, call, [f"{name}={state}" if by_keyword else state])
        return [parameter, given]

    def _returned(self, optimizer: str, state: str) -> list[Edit] | None:
        """What the function gives: the scaled loss, and beside it all that it gave before, where that is looked at."""
        source = self.source
        given = [node for node in walk(self.function) if isinstance(node, cst.Return)]
        own = [node for node in given if variables.function_of(source, node) is self.function]
        header = scope(self.world, source, optimizer, state)
        if header is None or not own:
            return None
        edits: list[Edit] = []
        for node in own:
            found = self._returned_at(node, header, optimizer)
            if found is None:
                return None
            edits += found
        return edits

    def _returned_at(self, node: cst.Return, header: str, optimizer: str) -> list[Edit] | None:
        source, value = self.source, node.value
        loss, aux = (_pair(value) if self.has_aux else (value, None)) or (None, None)
        if value is None or loss is None or statements.around(source, node) is None:
            return None
        span, word = source.span(value, parentheses=True), layout.code(source, loss)
        before: list[str] = []
        if layout.comments_in(source.text[span.start : span.end]):
            return None
        scaled = variables.free(
            source, node, f"scaled_{loss.value.lstrip('_')}" if isinstance(loss, cst.Name) else "scaled_loss"
        )
        if not isinstance(loss, cst.Name):
            word = variables.free(source, node, "loss")
            before = [f"{word} = {layout.code(source, loss)}"]
        rest = layout.code(source, aux) if aux is not None else None
        was = word if rest is None else f"({word}, {rest})"
        now = f"{scaled}, {was}" if self.with_value else scaled if rest is None else f"{scaled}, {rest}"
        indented = f"{_unit(source, self.function)}{scaled} = {optimizer}.{SCALE_METHODS['3']}({word})"
        start = source.span(node).start
        line_end = layout.newline(source, start) + layout.indentation(source, start)
        lines = "".join(f"{line}{line_end}" for line in (*before, header, indented))
        return [Edit(source.path, Span(start, start), lines), Edit(source.path, span, now)]

    def _taken_apart(self) -> list[Edit] | None:
        """`(loss, aux), gradients = …`: the plain loss is now beside the scaled one."""
        statement = statements.around(self.source, self.taken)
        target = statements.target(statement)
        if statements.value(statement) is not self.taken or not isinstance(target, cst.Tuple):
            return None
        match target.elements:
            case [cst.Element(value=first), cst.Element()]:
                span = self.source.span(first, parentheses=True)
                start, end = Span(span.start, span.start), Span(span.end, span.end)
                return [Edit(self.source.path, start, "(_, "), Edit(self.source.path, end, ")")]
            case _:
                return None


def variables_of(function: cst.FunctionDef) -> set[str]:
    """The names in a function."""
    return {node.value for node in walk(function) if isinstance(node, cst.Name)}


def _pair(value: cst.BaseExpression | None) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    match value:
        case cst.Tuple(elements=[cst.Element(value=loss), cst.Element(value=aux)]):
            return loss, aux
        case _:
            return None


def _unit(source: SourceFile, function: cst.FunctionDef) -> str:
    """By how much the body of a function is indented."""
    outer = layout.indentation(source, source.span(function).start)
    inner = layout.indentation(source, source.span(function.body.body[0]).start)
    return inner.removeprefix(outer) or "    "


def _is_alike(event: FunctionDifferentiated, world: World, step: Step) -> bool:
    """Whether an event is of the function of `step`, or of another one at the same place."""
    mine = next(
        (one for one in world.trace.events if isinstance(one, FunctionDifferentiated) and one.made is step.gradient),
        None,
    )
    return mine is not None and (event.at is mine.at or event.place is mine.place)


def _node(event: FunctionDifferentiated) -> tuple[SourceFile | None, cst.CSTNode | None]:
    function = event.function
    while isinstance(function, Bound):
        function = function.callee
    if not isinstance(function, Function):
        return None, None
    return function.frame.source, function.code.node
