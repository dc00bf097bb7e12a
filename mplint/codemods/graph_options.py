"""TensorFlow's own rewriting of graphs to half precision, taken out of a program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import libcst as cst

from mplint.codemods import calls, layout
from mplint.codemods.removing import in_place_of, item_gone, statement_gone, statement_of
from mplint.codemods.rewrite import Evidence, Rewrite
from mplint.codemods.setters import setter_in
from mplint.findings import Applicability, Edit, Fix, Span
from mplint.interpreter.values import Place
from mplint.interpreter.world import World
from mplint.keras_api import Copy

_POLICY: Final = "mixed_float16"


@dataclass(frozen=True)
class WithoutOption(Rewrite):
    """The option written at `at` goes, and with it the call or assignment at `call` where that sets nothing else."""

    at: Place
    call: Place

    def plan(self, evidence: Evidence) -> Fix | None:
        """The entry of a dict, or the whole statement."""
        element = self.at.source.parent(self.at.node)
        if self.at is self.call:
            edits = self._statement()
        elif isinstance(element, cst.DictElement):
            edits = self._entry(element)
        elif isinstance(element, cst.Index):
            edits = statement_gone(self.at)
        else:
            edits = None
        return Fix("leave it out", Applicability.UNSAFE, tuple(edits)) if edits else None

    def _statement(self) -> list[Edit] | None:
        """`os.environ["TF_ENABLE_AUTO_MIXED_PRECISION"] = "1"`."""
        return statement_gone(self.at)

    def _entry(self, element: cst.DictElement) -> list[Edit] | None:
        source = self.at.source
        held = source.parent(element)
        if not isinstance(held, cst.Dict):
            return None
        if len(held.elements) == 1:
            argument = source.parent(held)
            outer = source.parent(argument) if isinstance(argument, cst.Arg) else None
            if outer is not None and outer is self.call.node:
                return statement_gone(self.call)
        return item_gone(source, list(held.elements), element)


@dataclass(frozen=True)
class PolicyInstead(Rewrite):
    """The policy in place of the graph rewrite that the call at `at` switches on."""

    world: World
    at: Place
    has_policy: bool
    copy: Copy
    """The copy of Keras in which the policy is to be set."""

    def plan(self, evidence: Evidence) -> Fix | None:
        """The optimizer as it is, and a policy in front of the statement, unless one is set."""
        source, call = self.at.source, self.at.node
        if not isinstance(call, cst.Call):
            return None
        given = calls.argument_at(call, "opt", 0)
        if given is None or given.star:
            return None
        setter = ("", ()) if self.has_policy else setter_in(self.world, source, self.copy)
        if setter is None:
            return None
        text, edits = setter
        line = f"{text}({layout.quoted(source, _POLICY)})" if text else ""
        statement = statement_of(source, call)
        if statement is None or layout.own_line(source, statement) is None:
            return None
        span = source.span(statement)
        if not layout.starts_line(source, span.start):
            return None
        if self._only_wraps(statement, call, given) and not layout.comments_in(layout.code(source, call)):
            written = [Edit(source.path, span, line)] if line else statement_gone(self.at)
        else:
            kept = in_place_of(source, call, given)
            start = layout.newline(source, span.start) + layout.indentation(source, span.start)
            before = [Edit(source.path, Span(span.start, span.start), line + start)] if line else []
            written = [*before, *kept] if kept else None
        if not written:
            return None
        what = "leave the optimizer as it is" if self.has_policy else f"set the policy {_POLICY} instead"
        return Fix(what, Applicability.UNSAFE, (*edits, *written))

    def _only_wraps(self, statement: cst.CSTNode, call: cst.Call, given: cst.Arg) -> bool:
        """`optimizer = enable_mixed_precision_graph_rewrite(optimizer)`."""
        match statement:
            case cst.Assign(targets=[cst.AssignTarget(target=target)], value=value):
                source = self.at.source
                return value is call and layout.code(source, target) == layout.code(source, given.value)
            case _:
                return False
