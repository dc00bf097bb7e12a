"""A dtype that is a string already."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from mplint.codemods import layout
from mplint.codemods.rewrite import Evidence, Rewrite
from mplint.findings import Applicability, Edit, Fix, Span
from mplint.interpreter.values import Place


@dataclass(frozen=True)
class DTypeItself(Rewrite):
    """`x.dtype.name` at `at` becomes `x.dtype`."""

    at: Place

    def plan(self, evidence: Evidence) -> Fix | None:
        """Only the name has something in its place."""
        source, node = self.at.source, self.at.node
        if not isinstance(node, cst.Attribute) or node.attr.value != "name":
            return None
        gone = Span(source.span(node.value, parentheses=True).end, source.span(node).end)
        if layout.comments_in(source.text[gone.start : gone.end]):
            return None
        return Fix("leave `.name` out", Applicability.SAFE, (Edit(source.path, gone, ""),))
