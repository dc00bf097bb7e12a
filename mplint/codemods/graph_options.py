"""TensorFlow's own rewriting of graphs to half precision, taken out of a program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import libcst as cst

from mplint.codemods import calls, layout, statements
from mplint.codemods.expressions import reduced
from mplint.codemods.rewrite import Evidence, Rewrite
from mplint.codemods.setters import setter_in
from mplint.findings import Applicability, Edit, Fix, Span
from mplint.interpreter.values import Place
from mplint.interpreter.world import World
from mplint.keras_api import Copy
from mplint.source.file import SourceFile

_POLICY: Final = "mixed_float16"


@dataclass(frozen=True)
class WithoutOption(Rewrite):
    """The option written at `at` goes, and with it the call or assignment at `call` where that sets nothing else."""

    at: Place
    call: Place

    def plan(self, evidence: Evidence) -> Fix | None:
        """The entry of a dict, or the whole statement."""
        element = self.at.source.parent(self.at.node)
        edit = None
        if isinstance(element, cst.DictElement):
            edit = self._entry(element)
        elif self.at is self.call or isinstance(element, cst.Index):  # os.environ["TF_ENABLE_AUTO_MIXED_PRECISION"]
            edit = _gone(self.at)
        return Fix("leave it out", Applicability.UNSAFE, (edit,)) if edit is not None else None

    def _entry(self, element: cst.DictElement) -> Edit | None:
        source = self.at.source
        held = source.parent(element)
        if not isinstance(held, cst.Dict):
            return None
        if len(held.elements) == 1:
            argument = source.parent(held)
            if isinstance(argument, cst.Arg) and source.parent(argument) is self.call.node:
                return _gone(self.call)
        return _without(source, held, element)


def _gone(at: Place) -> Edit | None:
    statement = statements.around(at.source, at.node)
    return statements.removed(at.source, statement) if statement is not None else None


def _without(source: SourceFile, held: cst.Dict, gone: cst.BaseDictElement) -> Edit | None:
    """The edit that takes an entry out of a dict, with one comma; None where a comment would go, too."""
    items = list(held.elements)
    index, here = items.index(gone), source.span(gone)
    if index + 1 < len(items):
        span = Span(here.start, source.span(items[index + 1]).start)
    elif index > 0:
        span = Span(source.span(items[index - 1]).end, here.end)
    else:
        span = Span(here.start, here.end + source.text.startswith(",", here.end))
    return None if layout.comments_in(source.text[span.start : span.end]) else Edit(source.path, span, "")


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
        statement = statements.around(source, call)
        if statement is None:
            return None
        if line and self._only_wraps(statement, call, given) and not layout.comments_in(layout.code(source, call)):
            written = [Edit(source.path, source.span(statement), line)]
        else:
            kept = reduced(source, call, given.value)
            if kept is None:
                return None
            written = [*([statements.in_front(source, statement, line)] if line else []), *kept]
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
