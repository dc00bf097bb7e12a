"""One dtype for the operands of an operation: what is float32 is made, or cast, in the dtype of what is half.

In a loss, what is half precision is cast to float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import libcst as cst

from mplint import keras_api
from mplint.codemods import calls, layout, statements, variables
from mplint.codemods.dtype_sites import Site
from mplint.codemods.raising import raised
from mplint.codemods.rewrite import Evidence, Rewrite
from mplint.findings import Applicability, Edit, Fix
from mplint.interpreter.mismatches import Meeting, Mismatch, may_overflow
from mplint.interpreter.values import Made
from mplint.interpreter.world import World
from mplint.source.file import SourceFile

_MAKERS: Final = frozenset(
    {"constant", "zeros", "ones", "fill", "full", "one_hot", "sequence_mask", "eye", "identity", "normal", "uniform",
     "truncated_normal", "stateless_normal", "stateless_uniform", "stateless_truncated_normal", "zeros_like",
     "ones_like", "convert_to_tensor", "array"}
)  # fmt: skip
"""Functions whose results are as good in half precision, where they are told so: noise, masks and constants."""


@dataclass(frozen=True)
class Matched(Rewrite):
    """Give the float32 tensor of `mismatch` the dtype of what it meets."""

    world: World
    mismatch: Mismatch

    def plan(self, evidence: Evidence) -> Fix | None:
        """Where it is made, if that is for nothing else; else a cast wherever they meet: in a loss, of the other."""
        in_losses = [meeting.event for meeting in self.mismatch.meetings if meeting.in_loss]
        up = raised(self.world, in_losses) if in_losses else []
        down = [meeting for meeting in self.mismatch.meetings if not meeting.in_loss]
        if not down:
            return Fix("Cast the other one to float32", Applicability.SAFE, tuple(up)) if up else None
        sites = [Site.of(self.world, meeting.event, self.mismatch.half) for meeting in down]
        if up is None or not all(sites):
            return None
        found = [site for site in sites if site is not None]
        made = self._made(found) if not up else None
        if made is not None:
            return Fix("Make it in the dtype of the other", Applicability.SAFE, (made,))
        casts = [edit for site in found for edit in site.casts(self.world)]
        if not casts or any(not site.casts(self.world) for site in found):
            return None
        casts = [*up, *casts]
        unsure = any(may_overflow(meeting.wide) for meeting in down)
        if unsure:
            what = "Cast it to the dtype of the other, if it is never too large for that"
            return Fix(what, Applicability.DISPLAY, tuple(dict.fromkeys(casts)))
        return Fix("Cast it to the dtype of the other", Applicability.SAFE, tuple(dict.fromkeys(casts)))

    def _made(self, sites: Sequence[Site]) -> Edit | None:
        """The dtype, given to the call that makes the tensor for these operations alone."""
        maker = self.mismatch.maker
        call = maker.place.node if maker.place is not None else None
        source = sites[0].source
        if maker.place is None or maker.place.source is not source or not isinstance(call, cst.Call):
            return None
        if any(len(site.wides) != 1 for site in sites):
            return None
        is_cast = maker.kind == "cast" and len(sites) == 1 and sites[0].wides[0].node is call
        if not is_cast and not _takes_dtype(maker, self.world.generation):
            return None
        if any(not _is_moved(meeting, maker) for meeting in self.mismatch.meetings):
            return None
        dtype = sites[0].dtype
        if any(site.dtype != dtype for site in sites):
            return None
        if calls.has_star(call, "*") or calls.has_star(call, "**"):
            return None
        present = calls.argument_of(call, maker.by, "dtype", self.world.generation)
        if present is not None and not is_cast and not _is_fixed(present.value):
            return None
        within = [site for site in sites if contains(source, site.wides[0].node, call)]
        if len(within) != len(sites) and not (within == [] and is_bound_for(source, call, sites)):
            return None
        if within and len(sites) > 1:
            return None
        if present is None:
            return calls.added(source, call, [f"dtype={dtype}"])
        return Edit(source.path, source.span(present.value, parentheses=True), dtype)


def _takes_dtype(maker: Made, generation: str) -> bool:
    """Whether what makes the tensor can be told its dtype, and is as good in half precision."""
    if maker.kind == "cast":
        source = maker.operands[0].dtype if maker.operands else None
        return maker.by.rpartition(".")[2] == "cast" and source in ("bool", "int32", "int64", "uint8")
    known = keras_api.parameters(maker.by, generation) or ()
    return maker.by.rpartition(".")[2] in _MAKERS and any(parameter.name == "dtype" for parameter in known)


def _is_moved(meeting: Meeting, maker: Made) -> bool:
    """Whether the operand holds just the elements that `maker` made, in another order or shape."""
    made = meeting.wide.made
    while made is not maker and len(made.operands) == 1 and (made.by == "part" or keras_api.carries(made.by)):
        made = made.operands[0].made
    return made is maker or made.same(maker)


def _is_fixed(node: cst.BaseExpression) -> bool:
    """Whether a dtype is written out: a string, or a name of a library."""
    if isinstance(node, cst.SimpleString):
        return True
    return isinstance(node, cst.Attribute) and node.attr.value in ("float32", "dtype", "variable_dtype")


def contains(source: SourceFile, outer: cst.CSTNode, inner: cst.CSTNode) -> bool:
    """Whether a node is another one, or stands in it."""
    here: cst.CSTNode | None = inner
    while here is not None and here is not outer:
        here = source.parent(here)
    return here is outer


def is_bound_for(source: SourceFile, call: cst.Call, sites: Sequence[Site]) -> bool:
    """Whether the call makes what a variable holds that is read in these operations and nowhere else.

    And whether the variable whose dtype it is to have is there by then.
    """
    statement = statements.around(source, call)
    target = statements.target(statement)
    scope = variables.function_of(source, call)
    if not isinstance(target, cst.Name) or not isinstance(scope, cst.FunctionDef) or statement is None:
        return False
    if any(variables.function_of(source, site.event.place.node) is not scope for site in sites):
        return False
    if len(statements.stores(source, scope, target.value)) != 1:
        return False
    nodes = [site.wides[0].node for site in sites]
    for load in statements.loads(source, scope, target.value):
        if not any(contains(source, node, load) for node in nodes):
            return False
    return all(_is_there(source, scope, site, statement) for site in sites)


def _is_there(source: SourceFile, scope: cst.FunctionDef, site: Site, at: cst.BaseSmallStatement) -> bool:
    """Whether the variable whose dtype is to be taken has the same value at the statement `at` as at the operation."""
    named = site.named
    if named is None or named.name == "self":
        return True
    if isinstance(named.node, cst.Name) and statements.is_local(source, named.node):
        return False
    end, meeting = source.span(at).end, source.span(site.event.place.node).start
    stored = statements.stores(source, scope, named.name)
    if any(end <= source.span(node).start < _line(source, meeting) for node in stored):
        return False
    return any(_is_before(source, node, at) for node in stored)


def _line(source: SourceFile, offset: int) -> int:
    return layout.line_start(source, offset)


def _is_before(source: SourceFile, stored: cst.Name, at: cst.BaseSmallStatement) -> bool:
    """Whether what is `stored` is there whenever the statement `at` is run."""
    binding = statements.around(source, stored)
    if binding is None:
        return isinstance(source.parent(stored), cst.Param)
    line = source.parent(binding)
    outer = source.parent(line) if line is not None else None
    return source.span(binding).end <= source.span(at).start and outer is not None and contains(source, outer, at)
