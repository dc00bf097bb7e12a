"""One dtype for the operands of an operation: what is float32 is made, or cast, in the dtype of what is half."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import libcst as cst

from mplint import keras_api
from mplint.codemods import calls, layout, names, statements, variables
from mplint.codemods.operands import Dtypes, Named, Operand, operands
from mplint.codemods.rewrite import Evidence, Rewrite
from mplint.findings import Applicability, Edit, Fix
from mplint.interpreter.mismatches import Meeting, Mismatch, may_overflow, root
from mplint.interpreter.trace import LayerMade
from mplint.interpreter.values import Class, Made, Place, compute_dtype
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
        """Where it is made, if that is for nothing else; else a cast wherever they meet."""
        dtypes = self.world.once(Dtypes)
        sites = [_Site.of(self.world, dtypes, meeting) for meeting in self.mismatch.meetings]
        if not all(sites):
            return None
        found = [site for site in sites if site is not None]
        made = self._made(found)
        if made is not None:
            return Fix("Make it in the dtype of the other", Applicability.SAFE, (made,))
        casts = [edit for site in found for edit in site.casts(self.world)]
        if not casts or any(not site.casts(self.world) for site in found):
            return None
        unsure = any(may_overflow(meeting.wide) for meeting in self.mismatch.meetings)
        if unsure:
            what = "Cast it to the dtype of the other, if it is never too large for that"
            return Fix(what, Applicability.DISPLAY, tuple(dict.fromkeys(casts)))
        return Fix("Cast it to the dtype of the other", Applicability.SAFE, tuple(dict.fromkeys(casts)))

    def _made(self, sites: Sequence[_Site]) -> Edit | None:
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
        if any(not _is_moved(site.meeting, maker) for site in sites):
            return None
        dtype = sites[0].dtype
        if any(site.dtype != dtype for site in sites):
            return None
        if calls.has_star(call, "*") or calls.has_star(call, "**"):
            return None
        present = calls.argument_of(call, maker.by, "dtype", self.world.generation)
        if present is not None and not is_cast and not _is_fixed(present.value):
            return None
        within = [site for site in sites if _contains(source, site.wides[0].node, call)]
        if len(within) != len(sites) and not (within == [] and _is_bound_for(source, call, sites)):
            return None
        if within and len(sites) > 1:
            return None
        if present is None:
            return calls.added(source, call, [f"dtype={dtype}"])
        return Edit(source.path, source.span(present.value, parentheses=True), dtype)


@dataclass(frozen=True)
class _Site:
    """An operation in which the two meet, as it is written."""

    meeting: Meeting
    source: SourceFile
    wides: tuple[Operand, ...]
    named: Named | None
    dtype: str

    @classmethod
    def of(cls, world: World, dtypes: Dtypes, meeting: Meeting) -> _Site | None:
        source = meeting.at.source
        written = operands(world, meeting.event)
        wides = tuple(operand for operand in written if operand.tensor.dtype == "float32")
        halves = [operand for operand in written if operand.tensor.dtype == meeting.half.dtype]
        if not wides or not halves:
            return None
        found = [one for half in halves for one in dtypes.named(source, half)]
        made = root(meeting.wide).place
        named = min(found, key=lambda one: _rank(one, made), default=None)
        dtype = f"{named.text}.dtype" if named is not None else _of_layer(world, meeting)
        return cls(meeting, source, wides, named, dtype) if dtype is not None else None

    def casts(self, world: World) -> list[Edit]:
        """The edits that cast each float32 operand; none where the file has nothing to cast with."""
        makers = (self.meeting.event.by, *(wide.tensor.made.by for wide in self.wides))
        written = _caster(world, self.source, any(by.startswith("keras.ops.") for by in makers))
        if written is None:
            return []
        return [self._cast(written, wide.node) for wide in self.wides] if self._can_cast else []

    @property
    def _can_cast(self) -> bool:
        node = self.meeting.at.node
        return not (isinstance(node, cst.AugAssign) and any(wide.node is node.target for wide in self.wides))

    def _cast(self, written: str, node: cst.BaseExpression) -> Edit:
        span = self.source.span(node, parentheses=True)
        text = self.source.text[span.start : span.end]
        if node.lpar and text.startswith("(") and text.endswith(")") and not layout.comments_in(text):
            text = text[1:-1]
        return Edit(self.source.path, span, f"{written}({text}, {self.dtype})")


def _rank(named: Named, made: Place | None) -> tuple[bool, bool]:
    """Plain names are the best to take a dtype from, first of all one that the float32 tensor is made with."""
    words = statements.words(made.node) if made is not None else set()
    return not isinstance(named.node, cst.Name), named.text not in words


def _caster(world: World, source: SourceFile, beside_ops: bool) -> str | None:
    """How the file can cast a tensor: as Keras's own operations do, where it is `beside_ops`."""
    own = "keras.ops.cast" if world.generation == "3" else "keras.backend.cast"
    preferred = (own, "tensorflow.cast") if beside_ops else ("tensorflow.cast", own)
    return next((found for path in preferred if (found := names.written(world, source, path)) is not None), None)


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


def _contains(source: SourceFile, outer: cst.CSTNode, inner: cst.CSTNode) -> bool:
    here: cst.CSTNode | None = inner
    while here is not None and here is not outer:
        here = source.parent(here)
    return here is outer


def _is_bound_for(source: SourceFile, call: cst.Call, sites: Sequence[_Site]) -> bool:
    """Whether the call makes what a variable holds that is read in these operations and nowhere else.

    And whether the variable whose dtype it is to have is there by then.
    """
    statement = statements.around(source, call)
    target = statements.target(statement)
    scope = variables.function_of(source, call)
    if not isinstance(target, cst.Name) or not isinstance(scope, cst.FunctionDef) or statement is None:
        return False
    if any(variables.function_of(source, site.meeting.at.node) is not scope for site in sites):
        return False
    if len(statements.stores(source, scope, target.value)) != 1:
        return False
    nodes = [site.wides[0].node for site in sites]
    for load in statements.loads(source, scope, target.value):
        if not any(_contains(source, node, load) for node in nodes):
            return False
    return all(_is_there(source, scope, site, statement) for site in sites)


def _is_there(source: SourceFile, scope: cst.FunctionDef, site: _Site, at: cst.BaseSmallStatement) -> bool:
    """Whether the variable whose dtype is to be taken has the same value at the statement `at` as at the operation."""
    named = site.named
    if named is None or named.name == "self":
        return True
    if isinstance(named.node, cst.Name) and statements.is_local(source, named.node):
        return False
    end, meeting = source.span(at).end, source.span(site.meeting.at.node).start
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
    return source.span(binding).end <= source.span(at).start and outer is not None and _contains(source, outer, at)


def _of_layer(world: World, meeting: Meeting) -> str | None:
    """The compute dtype of the layer in whose method the operation stands."""
    source = meeting.at.source
    method = variables.function_of(source, meeting.at.node)
    owner = source.enclosing(method, cst.ClassDef) if isinstance(method, cst.FunctionDef) else None
    if owner is None or not isinstance(method, cst.FunctionDef):
        return None
    first = next((param.name.value for param in method.params.params), None)
    for cls, dtype in _layers(world):
        if first == "self" and cls.code.node is owner and dtype == meeting.half.dtype:
            return "self.compute_dtype"
    return None


def _layers(world: World) -> Iterator[tuple[Class, str | None]]:
    """The classes of layers that the program makes, and the dtypes that those compute in."""
    for event in world.trace.events:
        if isinstance(event, LayerMade) and isinstance(event.layer.cls, Class):
            for cls in event.layer.cls.mro:
                if isinstance(cls, Class):
                    yield cls, compute_dtype(event.policy.name)
