"""`optimizer.minimize(loss, variables)`, which Keras 3 has not, step by step: scale, differentiate, apply."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import libcst as cst

from mplint.codemods import calls, layout, names, statements, variables
from mplint.codemods.rewrite import Evidence, Rewrite
from mplint.findings import Applicability, Edit, Fix, Span
from mplint.interpreter.code import dotted
from mplint.interpreter.values import Place
from mplint.interpreter.world import World
from mplint.source.walk import names_in

_TAPE: Final = "tensorflow.GradientTape"
_WHAT: Final = "scale the loss, take the gradient and apply it"


class _Written:
    """The statements of a step of Keras 3."""

    def __init__(self, optimizer: str, trained: str, free: Callable[[str], str]) -> None:
        self._optimizer = optimizer
        self._trained = trained
        self._scaled = free("scaled_loss")
        self._gradients = free("gradients")

    def scaling(self, loss: str) -> str:
        """That for the end of what the tape records."""
        return f"{self._scaled} = {self._optimizer}.scale_loss({loss})"

    def behind(self, tape: str) -> list[str]:
        """Those behind the tape."""
        return [
            f"{self._gradients} = {tape}.gradient({self._scaled}, {self._trained})",
            f"{self._optimizer}.apply_gradients(zip({self._gradients}, {self._trained}))",
        ]


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
        statement = statements.around(source, call)
        if not isinstance(statement, cst.Expr) or statement.value is not call:
            return None
        if layout.comments_in(layout.code(source, call)):
            return None
        loss, trained, tape = (
            calls.argument_at(call, name, position) for position, name in enumerate(("loss", "var_list", "tape"))
        )
        known = [given for given in (loss, trained, tape) if given is not None]
        if loss is None or trained is None or len(known) != len(call.args) or any(given.star for given in known):
            return None
        if isinstance(trained.value, (cst.Call, cst.Lambda)):  # it would be asked twice
            return None
        written = _Written(layout.code(source, call.func.value), layout.code(source, trained.value), self._free)
        if tape is None:
            edits = self._around_function(statement, loss.value, written)
        else:
            edits = self._with_tape(statement, loss.value, tape.value, written)
        return Fix(_WHAT, Applicability.SAFE, tuple(edits)) if edits else None

    def _with_tape(
        self, statement: cst.Expr, loss: cst.BaseExpression, tape: cst.BaseExpression, written: _Written
    ) -> list[Edit] | None:
        """One more statement at the end of the tape, and two in the place of this one."""
        if not isinstance(loss, cst.Name) or not isinstance(tape, cst.Name):
            return None
        source, recording = self.at.source, self._recording(statement, tape.value)
        if recording is None or not isinstance(recording.body, cst.IndentedBlock):
            return None
        scaling, behind = written.scaling(loss.value), written.behind(tape.value)
        if statements.is_in(source, statement, recording):
            return [self._instead(statement, [scaling, *behind])]
        if loss.value not in names_in(recording.body):
            return None
        first, last = recording.body.body[0], recording.body.body[-1]
        end = source.span(last).end
        stop = layout.line_end(source, end)
        start = layout.newline(source, end) + layout.indentation(source, source.span(first).start)
        return [Edit(source.path, Span(stop, stop), start + scaling), self._instead(statement, behind)]

    def _around_function(self, statement: cst.Expr, loss: cst.BaseExpression, written: _Written) -> list[Edit] | None:
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
        tape, inner = self._free("tape"), source.module.default_indent + written.scaling(value)
        return [self._instead(statement, [f"with {tape_class}() as {tape}:", inner, *written.behind(tape)])]

    def _instead(self, statement: cst.Expr, lines: Sequence[str]) -> Edit:
        source, span = self.at.source, self.at.source.span(statement)
        start = layout.newline(source, span.start) + layout.indentation(source, span.start)
        return Edit(source.path, span, start.join(lines))

    def _free(self, name: str) -> str:
        return variables.free(self.at.source, self.at.node, name)

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
    return any(item.asname is not None and dotted(item.asname.name) == tape for item in node.items)
