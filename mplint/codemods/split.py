"""A layer with an activation as two: the layer, and a float32 Activation behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from mplint.codemods import calls, layout
from mplint.findings import Applicability, Edit, Fix, Span
from mplint.interpreter.code import dotted
from mplint.source.file import SourceFile
from mplint.source.walk import walk


@dataclass(frozen=True)
class Split:
    """`Dense(10, activation="softmax", name="p")` as `Dense(10, name="p_logits")` and a float32 Activation, "p"."""

    source: SourceFile
    call: cst.Call
    activation: cst.Arg
    name: cst.Arg | None
    spelled: str
    """How the file writes `Activation`."""
    imports: tuple[Edit, ...]

    def fix(self) -> Fix | None:
        """The edits, by where the call stands; None where a second layer has no place."""
        edits, comments = calls.without(self.source, self.call, self.activation)
        parent = self.source.parent(self.call)
        behind: list[Edit] | None = None
        if isinstance(parent, cst.Call) and parent.func is self.call:
            behind = self._behind_assignment(parent, comments) or self._around(parent, comments)
        elif isinstance(parent, cst.Element):
            behind = self._behind_element(parent, comments)
        elif isinstance(parent, cst.Arg):
            behind = self._behind_add(parent, comments)
        if behind is None:
            return None
        message = "Split the activation off and give it dtype float32"
        return Fix(message, Applicability.SAFE, (*behind, *edits, *self._renamed(), *self.imports))

    def _layer(self) -> str:
        """`Activation("softmax", dtype="float32", name="p")`."""
        value = self.activation.value
        plain = isinstance(value, (cst.SimpleString, cst.Name, cst.Attribute))
        span = self.source.span(value, parentheses=not plain or bool(self._comments_around(value)))
        written, dtype = self.source.text[span.start : span.end], layout.quoted(self.source, "float32")
        name = f", name={layout.code(self.source, self.name.value)}" if self.name is not None else ""
        return f"{self.spelled}({written}, dtype={dtype}{name})"

    def _comments_around(self, value: cst.BaseExpression) -> list[str]:
        """The comments between an expression and its own parentheses."""
        return layout.comments_in(layout.code(self.source, value))

    def _renamed(self) -> list[Edit]:
        """The name of the layer is free for the activation."""
        if self.name is None:
            return []
        end = self.source.span(self.name.value).end
        quotes = 3 if self.source.text[:end].endswith(('"""', "'''")) else 1
        return [Edit(self.source.path, Span(end - quotes, end - quotes), "_logits")]

    # -- where it goes

    def _behind_assignment(self, outer: cst.Call, comments: Sequence[str]) -> list[Edit] | None:
        """`x = Dense(…)(x)`, alone on its line: one more statement behind it."""
        statement = self.source.parent(outer)
        if not isinstance(statement, cst.Assign) or statement.value is not outer or len(statement.targets) != 1:
            return None
        target = statement.targets[0].target
        if not isinstance(target, cst.Name) or target.value in self._needed():
            return None
        return self._next_line(statement, f"{target.value} = {self._layer()}({target.value})", comments)

    def _behind_add(self, arg: cst.Arg, comments: Sequence[str]) -> list[Edit] | None:
        """`model.add(Dense(…))`, alone on its line: one more statement behind it."""
        outer = self.source.parent(arg)
        if not isinstance(outer, cst.Call) or not isinstance(outer.func, cst.Attribute) or len(outer.args) != 1:
            return None
        statement = self.source.parent(outer)
        target = dotted(outer.func)
        if outer.func.attr.value != "add" or not target or not isinstance(statement, cst.Expr):
            return None
        return self._next_line(statement, f"{target}({self._layer()})", comments)

    def _behind_element(self, element: cst.Element, comments: Sequence[str]) -> list[Edit] | None:
        """An element of the list of a Sequential: one more behind it."""
        listed = self.source.parent(element)
        passed = self.source.parent(listed) if isinstance(listed, cst.List) else None
        outer = self.source.parent(passed) if isinstance(passed, cst.Arg) else None
        if not isinstance(outer, cst.Call) or not dotted(outer.func).endswith("Sequential"):
            return None  # a list that the program may index or count
        span = self.source.span(self.call, parentheses=True)
        between = f",{self._line(span.start, comments)}" if comments else layout.separator(self.source, span.start)
        return [Edit(self.source.path, Span(span.end, span.end), f"{between}{self._layer()}")]

    def _around(self, outer: cst.Call, comments: Sequence[str]) -> list[Edit]:
        """`Dense(…)(x)` anywhere else: the activation around it."""
        span = self.source.span(outer, parentheses=True)
        end = f"{self._line(span.start, comments)})" if comments else ")"
        return [
            Edit(self.source.path, Span(span.start, span.start), f"{self._layer()}("),
            Edit(self.source.path, Span(span.end, span.end), end),
        ]

    def _next_line(self, statement: cst.CSTNode, written: str, comments: Sequence[str]) -> list[Edit] | None:
        """A statement behind `statement`, where that is alone on its line."""
        span = self.source.span(statement)
        if layout.own_line(self.source, statement) is None or not layout.starts_line(self.source, span.start):
            return None
        return [Edit(self.source.path, Span(span.end, span.end), f"{self._line(span.start, comments)}{written}")]

    def _line(self, offset: int, comments: Sequence[str]) -> str:
        """A new line indented as that of `offset` is, with comments on lines of their own in front of it."""
        start = layout.newline(self.source, offset) + layout.indentation(self.source, offset)
        return "".join(f"{start}{comment}" for comment in comments) + start

    def _needed(self) -> set[str]:
        """The names that the activation is written with: the assignment must not have given them another meaning."""
        value = self.activation.value
        used = {node.value for node in walk(value) if isinstance(node, cst.Name)}
        return used | {self.spelled.partition(".")[0]}
