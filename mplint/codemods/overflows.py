"""Gradients that go to their optimizer with the inf and nan that they have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import libcst as cst

from mplint.codemods import calls
from mplint.codemods.expressions import reduced
from mplint.codemods.rewrite import Evidence, Rewrite
from mplint.findings import Applicability, Fix
from mplint.interpreter.loops import Use
from mplint.keras_api.arithmetic import ASKS_FOR_OVERFLOWS
from mplint.source.walk import names_in

_TESTS: Final = frozenset(path.rpartition(".")[2] for path in ASKS_FOR_OVERFLOWS)
_FILLS: Final = frozenset({"zeros_like", "zeros", "constant", "ones_like", "cast"})


@dataclass(frozen=True)
class KeepOverflows(Rewrite):
    """Do without `use`, an operation that puts other numbers where gradients are inf or nan."""

    use: Use

    def plan(self, evidence: Evidence) -> Fix | None:
        """The gradient stays as it is."""
        source, call = self.use.at.source, self.use.at.node
        if not isinstance(call, cst.Call):
            return None
        kept = _kept(call, self.use.what)
        edits = reduced(source, call, kept) if kept is not None else None
        return Fix("let the optimizer see the overflow", Applicability.UNSAFE, tuple(edits)) if edits else None


def _kept(call: cst.Call, what: str) -> cst.BaseExpression | None:
    """The gradient among the arguments."""
    if not what.endswith("where"):
        first = call.args[0] if call.args and not call.args[0].star else None
        return first.value if first is not None else None
    given = [calls.argument_at(call, name, position) for name, position in (("x", 1), ("y", 2))]
    ways = [arg.value for arg in given if arg is not None]
    kept = [way for way in ways if not _is_filling(way)]
    return kept[0] if len(ways) == 2 and len(kept) == 1 else None


def _is_filling(way: cst.BaseExpression) -> bool:
    """Whether an expression is what stands where a gradient is not finite: a number, zeros."""
    if isinstance(way, (cst.BaseNumber, cst.UnaryOperation)):
        return True
    if not isinstance(way, cst.Call):
        return False
    called = way.func.attr if isinstance(way.func, cst.Attribute) else way.func
    return isinstance(called, cst.Name) and called.value in _FILLS and _TESTS.isdisjoint(names_in(way))
