"""The activation of a layer as a layer of its own, in float32, behind it."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from mplint.codemods import calls, layout
from mplint.codemods.behind import Behind, renamed
from mplint.findings import Applicability, Edit, Fix
from mplint.source.file import SourceFile
from mplint.source.walk import names_in


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
        return frozenset(names_in(self.activation.value) | {self.spelled.partition(".")[0]})
