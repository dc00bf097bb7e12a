"""Operations that take tensors of two dtypes, as they are written: what would be cast, to which dtype, and how."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from mplint.codemods import calls, layout, statements, variables
from mplint.codemods.casts import function
from mplint.codemods.operands import Dtypes, Named, Operand, operands
from mplint.findings import Edit
from mplint.interpreter.mismatches import root
from mplint.interpreter.trace import Computed, LayerMade
from mplint.interpreter.values import WIDE, Class, Place, compute_dtype
from mplint.interpreter.world import World
from mplint.source.file import SourceFile


@dataclass(frozen=True)
class Site:
    """An operation in which the two meet, as it is written."""

    event: Computed
    source: SourceFile
    wides: tuple[Operand, ...]
    """The operands that are float32."""
    named: Named | None
    """A variable that has the dtype of the others."""
    dtype: str
    """How that dtype is written."""

    @classmethod
    def of(cls, world: World, event: Computed, half: str) -> Site | None:
        """The operation, whose operands are to be `half`; None where it is written otherwise, or no dtype can be."""
        source = event.place.source
        written = operands(world, event)
        wides = tuple(operand for operand in written if operand.tensor.dtype in WIDE)
        if not wides:
            return None
        if event.arguments[0][0] == "ref":  # a variable keeps its dtype: what is assigned to it gets that
            values = tuple(operand for operand in written if operand.tensor.dtype == half)
            variable = layout.code(source, wides[0].node)
            return cls(event, source, values, None, f"{variable}.dtype") if len(values) == 1 else None
        found = [
            one
            for operand in written
            if operand.tensor.dtype == half
            for one in world.once(Dtypes).named(source, operand)
        ]
        made = root(wides[0].tensor).place
        named = min(found, key=lambda one: _rank(one, made), default=None)
        dtype = f"{named.text}.dtype" if named is not None else of_layer(world, event.place, half)
        return cls(event, source, wides, named, dtype) if dtype is not None else None

    def casts(self, world: World) -> list[Edit]:
        """The edits that cast each float32 operand; none where the file has nothing to cast with."""
        written = function(world, self.source, self.event.place.node, in_both=False)
        if written is None:
            return []
        return [self._cast(written[0], wide, world.generation) for wide in self.wides] if self._can_cast else []

    @property
    def _can_cast(self) -> bool:
        node = self.event.place.node
        return not (isinstance(node, cst.AugAssign) and any(wide.node is node.target for wide in self.wides))

    def _cast(self, written: str, wide: Operand, generation: str) -> Edit:
        """A cast around an operand; another dtype for one that is a cast itself."""
        node, made = wide.node, wide.tensor.made
        if isinstance(node, cst.Call) and made.kind == "cast" and made.place is not None and made.place.node is node:
            present = calls.argument_of(node, made.by, "dtype", generation)
            if present is not None:
                return Edit(self.source.path, self.source.span(present.value, parentheses=True), self.dtype)
        span = self.source.span(node, parentheses=True)
        text = self.source.text[span.start : span.end]
        if node.lpar and text.startswith("(") and text.endswith(")") and not layout.comments_in(text):
            text = text[1:-1]
        return Edit(self.source.path, span, f"{written}({text}, {self.dtype})")


def _rank(named: Named, made: Place | None) -> tuple[bool, bool]:
    """Plain names are the best to take a dtype from, first of all one that the float32 tensor is made with."""
    words = statements.words(made.node) if made is not None else set()
    return not isinstance(named.node, cst.Name), named.text not in words


def of_layer(world: World, at: Place, half: str) -> str | None:
    """The compute dtype of the layer in whose method `at` stands, where that is `half`."""
    source = at.source
    method = variables.function_of(source, at.node)
    owner = source.enclosing(method, cst.ClassDef) if isinstance(method, cst.FunctionDef) else None
    if owner is None or not isinstance(method, cst.FunctionDef):
        return None
    first = next((param.name.value for param in method.params.params), None)
    for cls, dtype in _layers(world):
        if first == "self" and cls.code.node is owner and dtype == half:
            return "self.compute_dtype"
    return None


def _layers(world: World) -> Iterator[tuple[Class, str | None]]:
    """The classes of layers that the program makes, and the dtypes that those compute in."""
    for event in world.trace.events:
        if isinstance(event, LayerMade) and isinstance(event.layer.cls, Class):
            for cls in event.layer.cls.mro:
                if isinstance(cls, Class):
                    yield cls, compute_dtype(event.policy.name)
