"""`optimizer.minimize(loss, variables)`, which Keras 3 has not, step by step: scale, differentiate, apply."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import libcst as cst

from mplint.codemods import calls, layout, names
from mplint.codemods.rewrite import Evidence, Rewrite
from mplint.codemods.without_unscaling import scope_of
from mplint.findings import Applicability, Edit, Fix, Span
from mplint.interpreter.values import Place
from mplint.interpreter.world import World
from mplint.source.walk import walk

_TAPE: Final = "tensorflow.GradientTape"
_WHAT: Final = "scale the loss, take the gradient and apply it"


@dataclass(frozen=True)
class Minimized(Rewrite):
    """The statement `optimizer.minimize(…)` at `at`, as a loop of Keras 3 has it."""

    world: World
    at: Place

    def plan(self, evidence: Evidence) -> Fix | None:
        """With the tape that there is, or one around the function that computes the loss."""
        source, call = self.at.source, self.at.node
        if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute):
            return None
        statement = source.parent(call)
        if not isinstance(statement, cst.Expr) or layout.own_line(source, statement) is None:
            return None
        if not layout.starts_line(source, source.span(statement).start) or layout.comments_in(
            layout.code(source, call)
        ):
            return None
        loss = calls.argument_at(call, "loss", 0)
        variables = calls.argument_at(call, "var_list", 1)
        tape = calls.argument_at(call, "tape", 2)
        known = [given for given in (loss, variables, tape) if given is not None]
        if loss is None or variables is None or len(known) != len(call.args) or any(given.star for given in known):
            return None
        if isinstance(variables.value, (cst.Call, cst.Lambda)):  # it would be asked twice
            return None
        if tape is None:
            return self._around_function(call, statement, loss.value, variables.value)
        return self._with_tape(call, statement, loss.value, variables.value, tape.value)

    def _with_tape(
        self,
        call: cst.Call,
        statement: cst.Expr,
        loss: cst.BaseExpression,
        variables: cst.BaseExpression,
        tape: cst.BaseExpression,
    ) -> Fix | None:
        """One more statement at the end of the tape, and two in the place of this one."""
        source = self.at.source
        if not isinstance(loss, cst.Name) or not isinstance(tape, cst.Name):
            return None
        recording = self._recording(statement, tape.value)
        if recording is None or not isinstance(recording.body, cst.IndentedBlock):
            return None
        scaled, gradients = self._free("scaled_loss"), self._free("gradients")
        assert isinstance(call.func, cst.Attribute)
        optimizer = layout.code(source, call.func.value)
        scaling = f"{scaled} = {optimizer}.scale_loss({loss.value})"
        behind = self._behind(optimizer, f"{tape.value}.gradient({scaled}, ", variables, gradients)
        here = source.span(statement)
        if _is_inside(statement, recording):
            return self._fix(Edit(source.path, here, self._line(here.start, scaling) + behind))
        last = recording.body.body[-1]
        if not any(isinstance(node, cst.Name) and node.value == loss.value for node in walk(recording.body)):
            return None
        end = source.span(last).end
        start = source.span(recording.body.body[0]).start
        added = layout.newline(source, end) + layout.indentation(source, start) + scaling
        stop = layout.line_end(source, end)
        return self._fix(Edit(source.path, Span(stop, stop), added), Edit(source.path, here, behind))

    def _around_function(
        self, call: cst.Call, statement: cst.Expr, loss: cst.BaseExpression, variables: cst.BaseExpression
    ) -> Fix | None:
        """A tape around the call of the function that computes the loss."""
        source = self.at.source
        tape_class = names.written(self.world, source, _TAPE)
        if tape_class is None:
            return None
        match loss:
            case cst.Lambda(params=cst.Parameters(params=[]), body=body):
                value = layout.code(source, body)
            case cst.Name() | cst.Attribute():
                value = f"{layout.code(source, loss)}()"
            case _:
                return None
        assert isinstance(call.func, cst.Attribute)
        optimizer = layout.code(source, call.func.value)
        tape, scaled, gradients = self._free("tape"), self._free("scaled_loss"), self._free("gradients")
        here = source.span(statement)
        step = source.module.default_indent
        text = self._line(here.start, f"with {tape_class}() as {tape}:")
        text += f"{step}{self._line(here.start, f'{scaled} = {optimizer}.scale_loss({value})')}"
        text += self._behind(optimizer, f"{tape}.gradient({scaled}, ", variables, gradients)
        return self._fix(Edit(source.path, here, text))

    def _behind(self, optimizer: str, taken: str, variables: cst.BaseExpression, gradients: str) -> str:
        """The gradient, and that it is applied."""
        source = self.at.source
        trained = layout.code(source, variables)
        here = source.span(self.at.node).start
        applied = f"{optimizer}.apply_gradients(zip({gradients}, {trained}))"
        return self._line(here, f"{gradients} = {taken}{trained})") + applied

    def _line(self, offset: int, text: str) -> str:
        source = self.at.source
        return text + layout.newline(source, offset) + layout.indentation(source, offset)

    def _fix(self, *edits: Edit) -> Fix:
        return Fix(_WHAT, Applicability.SAFE, edits)

    def _free(self, name: str) -> str:
        """`name`, or another that the function does not use yet."""
        scope = scope_of(self.at.source, self.at.node)
        used = {node.value for node in walk(scope) if isinstance(node, cst.Name)}
        while name in used:
            name += "_"
        return name

    def _recording(self, statement: cst.CSTNode, tape: str) -> cst.With | None:
        """The `with` statement that records on `tape`, around the statement or before it in its block."""
        source = self.at.source
        here: cst.CSTNode | None = source.parent(statement)
        while here is not None and not isinstance(here, cst.FunctionDef):
            if isinstance(here, cst.With) and _records_on(here, tape):
                return here
            block = source.parent(here)
            if isinstance(block, (cst.IndentedBlock, cst.Module)):
                before = list(block.body)[: list(block.body).index(here)]  # type: ignore[arg-type]
                for other in reversed(before):
                    if isinstance(other, cst.With) and _records_on(other, tape):
                        return other
            here = block
        return None


def _records_on(node: cst.With, tape: str) -> bool:
    return any(
        item.asname is not None and isinstance(item.asname.name, cst.Name) and item.asname.name.value == tape
        for item in node.items
    )


def _is_inside(node: cst.CSTNode, outer: cst.CSTNode) -> bool:
    return any(inner is node for inner in walk(outer))
