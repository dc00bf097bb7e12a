"""One more layer behind a call, and the name that it takes over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from mplint.codemods import layout
from mplint.codemods.expressions import enclosed
from mplint.findings import Edit, Span
from mplint.interpreter.code import dotted
from mplint.source.file import SourceFile


@dataclass(frozen=True)
class Behind:
    """One more layer behind what a call makes, or behind what calling that gives."""

    source: SourceFile
    call: cst.Call
    """`Dense(10)`, or `head(x)`."""
    written: str
    """The new layer."""
    needed: frozenset[str]
    """The names that it is written with: an assignment in front of it must not give them another meaning."""
    comments: Sequence[str] = ()
    """Comments that are to stand with it."""

    def edits(self, *, result: bool = False) -> list[Edit] | None:
        """The edits, by where the call stands; None where a second layer has no place.

        Of a `result`, the call gives the tensor itself, and not a layer.
        """
        parent = self.source.parent(self.call)
        if result:
            return self._behind_assignment(self.call) or self._around(self.call)
        if isinstance(parent, cst.Call) and parent.func is self.call:
            return self._behind_assignment(parent) or self._around(parent)
        if isinstance(parent, cst.Element):
            return self._behind_element(parent)
        if isinstance(parent, cst.Arg):
            return self._behind_add(parent)
        return None

    def _behind_assignment(self, outer: cst.Call) -> list[Edit] | None:
        """`x = Dense(…)(x)`, alone on its line: one more statement behind it."""
        statement = self.source.parent(outer)
        if not isinstance(statement, cst.Assign) or statement.value is not outer or len(statement.targets) != 1:
            return None
        target = statement.targets[0].target
        if not isinstance(target, cst.Name) or target.value in self.needed:
            return None
        return self._next_line(statement, f"{target.value} = {self.written}({target.value})")

    def _behind_add(self, arg: cst.Arg) -> list[Edit] | None:
        """`model.add(Dense(…))`, alone on its line: one more statement behind it."""
        outer = self.source.parent(arg)
        if not isinstance(outer, cst.Call) or not isinstance(outer.func, cst.Attribute) or len(outer.args) != 1:
            return None
        statement = self.source.parent(outer)
        target = dotted(outer.func)
        if outer.func.attr.value != "add" or not target or not isinstance(statement, cst.Expr):
            return None
        return self._next_line(statement, f"{target}({self.written})")

    def _behind_element(self, element: cst.Element) -> list[Edit] | None:
        """An element of the list of a Sequential: one more behind it."""
        listed = self.source.parent(element)
        passed = self.source.parent(listed) if isinstance(listed, cst.List) else None
        outer = self.source.parent(passed) if isinstance(passed, cst.Arg) else None
        if not isinstance(outer, cst.Call) or not _takes_layers(outer.func):
            return None  # a list that the program may index or count
        span = self.source.span(self.call, parentheses=True)
        between = f",{self._line(span.start)}" if self.comments else layout.separator(self.source, span.start)
        return [Edit(self.source.path, Span(span.end, span.end), f"{between}{self.written}")]

    def _around(self, outer: cst.Call) -> list[Edit]:
        """`Dense(…)(x)` anywhere else: the activation around it."""
        start = self.source.span(outer, parentheses=True).start
        end = f"{self._line(start)})" if self.comments else ")"
        return enclosed(self.source, outer, f"{self.written}(", end)

    def _next_line(self, statement: cst.CSTNode, written: str) -> list[Edit] | None:
        """A statement behind `statement`, where that is alone on its line."""
        span = self.source.span(statement)
        if layout.own_line(self.source, statement) is None or not layout.starts_line(self.source, span.start):
            return None
        return [Edit(self.source.path, Span(span.end, span.end), f"{self._line(span.start)}{written}")]

    def _line(self, offset: int) -> str:
        """A new line indented as that of `offset` is, with comments on lines of their own in front of it."""
        start = layout.newline(self.source, offset) + layout.indentation(self.source, offset)
        return "".join(f"{start}{comment}" for comment in self.comments) + start


def renamed(source: SourceFile, name: cst.Arg | None) -> list[Edit]:
    """The name of the layer is free for the one behind it."""
    if name is None:
        return []
    end = source.span(name.value).end
    quotes = 3 if source.text[:end].endswith(('"""', "'''")) else 1
    return [Edit(source.path, Span(end - quotes, end - quotes), "_logits")]


def _takes_layers(callee: cst.BaseExpression) -> bool:
    """Whether a list of layers goes straight into a Sequential: `keras.Sequential(…)`, or `super().__init__(…)`."""
    match callee:
        case cst.Attribute(value=cst.Call(func=cst.Name("super")), attr=cst.Name("__init__")):
            return True
        case _:
            return dotted(callee).endswith("Sequential")
