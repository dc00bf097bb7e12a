"""An integer dtype for numbers that say which."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from mplint.codemods import calls, layout
from mplint.codemods.named_dtypes import other_dtype
from mplint.codemods.rewrite import Evidence, Rewrite
from mplint.findings import Applicability, Edit, Fix
from mplint.interpreter.integers import Integers, Rounded
from mplint.interpreter.values import FLOATS
from mplint.interpreter.world import World


@dataclass(frozen=True)
class KeepIntegers(Rewrite):
    """Have ids stay integers where `rounded` makes them floating."""

    world: World
    rounded: Rounded

    def plan(self, evidence: Evidence) -> Fix | None:
        """The dtype of an input or range, or no cast; nothing where something behind it takes floats only."""
        if self.rounded.used == "angles" or not self.world.once(Integers).are_only_counted(self.rounded.origin):
            return None
        origin, at = self.rounded.origin, self.rounded.at
        call = at.node
        if not isinstance(call, cst.Call):
            return None
        what, edit = "give it an integer dtype", other_dtype(self.world, at, origin.by, "int32")
        if origin.kind == "cast" and origin.operands and origin.operands[0].dtype not in (None, *FLOATS):
            what, edit = "leave the cast out", self._left_out(call)
        elif edit is None and origin.kind == "input" and not calls.has_star(call, "**"):
            edit = calls.added(at.source, call, [f"dtype={layout.quoted(at.source, 'int32')}"])
        return Fix(what, Applicability.SAFE, (edit,)) if edit is not None else None

    def _left_out(self, call: cst.Call) -> Edit | None:
        """What is cast, in place of the cast."""
        source = self.rounded.at.source
        if self.rounded.origin.by == "astype":
            kept = call.func.value if isinstance(call.func, cst.Attribute) else None
        else:
            given = calls.argument_at(call, "x", 0)
            kept = given.value if given is not None and not given.star else None
        if kept is None or layout.comments_in(layout.code(source, call)):
            return None
        return Edit(source.path, source.span(call), layout.code(source, kept))
