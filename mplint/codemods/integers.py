"""An integer dtype for numbers that say which."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from mplint.codemods import calls, layout, statements
from mplint.codemods.named_dtypes import other_dtype
from mplint.codemods.rewrite import Evidence, Rewrite
from mplint.findings import Applicability, Edit, Fix
from mplint.interpreter.integers import Integers, Rounded
from mplint.interpreter.values import FLOATS, Made
from mplint.interpreter.world import World
from mplint.source.file import SourceFile


@dataclass(frozen=True)
class KeepIntegers(Rewrite):
    """Have ids stay integers where `rounded` makes them floating."""

    world: World
    rounded: Rounded

    def plan(self, evidence: Evidence) -> Fix | None:
        """The dtype of an input or range, or no cast; nothing where something behind it takes floats only."""
        rounded = self.rounded
        if rounded.used == "angles":
            return None
        all_of_them = (rounded,) if rounded.origin is None else self.world.once(Integers).together(rounded)
        edits = [self._edit(each) for each in all_of_them or ()]
        kept = [edit for edit in edits if edit is not None]
        return Fix("keep integers", Applicability.SAFE, tuple(kept)) if kept and len(kept) == len(edits) else None

    def _edit(self, rounded: Rounded) -> Edit | None:
        origin, source, call = rounded.origin, rounded.at.source, rounded.at.node
        if not isinstance(call, cst.Call):
            return None
        if origin is not None and origin.kind == "cast" and _is_of_integers(origin):
            return _left_out(source, call, origin)
        edit = other_dtype(self.world, rounded.at, origin.by if origin is not None else "", "int32")
        if edit is None and origin is not None and origin.kind == "input" and not calls.has_star(call, "**"):
            return calls.added(source, call, [f"dtype={layout.quoted(source, 'int32')}"])
        return edit


def _is_of_integers(cast: Made) -> bool:
    return bool(cast.operands) and cast.operands[0].dtype not in (None, *FLOATS)


def _left_out(source: SourceFile, call: cst.Call, cast: Made) -> Edit | None:
    """What is cast, in place of the cast."""
    if cast.by == "astype":
        kept = call.func.value if isinstance(call.func, cst.Attribute) else None
    else:
        given = calls.argument_at(call, "x", 0)
        kept = given.value if given is not None and not given.star else None
    if kept is None or layout.comments_in(layout.code(source, call)):
        return None
    statement = source.parent(call)
    bound = statements.target(statement)
    line = source.parent(statement) if isinstance(statement, cst.Assign) else None
    if isinstance(kept, cst.Name) and isinstance(bound, cst.Name) and kept.value == bound.value:
        if statement is not None and isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1:
            return statements.removed(source, statement)
        return None
    return Edit(source.path, source.span(call), layout.code(source, kept))
