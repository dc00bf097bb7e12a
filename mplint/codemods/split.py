"""A layer more behind another: what is computed by two of them, the last one in float32."""

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
        span = self.source.span(outer, parentheses=True)
        end = f"{self._line(span.start)})" if self.comments else ")"
        return [
            Edit(self.source.path, Span(span.start, span.start), f"{self.written}("),
            Edit(self.source.path, Span(span.end, span.end), end),
        ]

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
        behind = Behind(self.source, self.call, self._layer(), self._needed(), comments).edits()
        if behind is None:
            return None
        message = "Split the activation off and give it dtype float32"
        return Fix(message, Applicability.SAFE, (*behind, *edits, *renamed(self.source, self.name), *self.imports))

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

    def _needed(self) -> frozenset[str]:
        """The names that the activation is written with."""
        used = {node.value for node in walk(self.activation.value) if isinstance(node, cst.Name)}
        return frozenset(used | {self.spelled.partition(".")[0]})


def _takes_layers(callee: cst.BaseExpression) -> bool:
    """Whether a list of layers goes straight into a Sequential: `keras.Sequential(…)`, or `super().__init__(…)`."""
    match callee:
        case cst.Attribute(value=cst.Call(func=cst.Name("super")), attr=cst.Name("__init__")):
            return True
        case _:
            return dotted(callee).endswith("Sequential")


def renamed(source: SourceFile, name: cst.Arg | None) -> list[Edit]:
    """The name of the layer is free for the one behind it."""
    if name is None:
        return []
    end = source.span(name.value).end
    quotes = 3 if source.text[:end].endswith(('"""', "'''")) else 1
    return [Edit(source.path, Span(end - quotes, end - quotes), "_logits")]
