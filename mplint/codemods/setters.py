"""One more setter of a dtype policy, or one of another copy of Keras."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import libcst as cst

from mplint.codemods import layout, names, statements
from mplint.codemods.rewrite import Evidence, Rewrite
from mplint.findings import Applicability, Edit, Fix
from mplint.interpreter.code import dotted
from mplint.interpreter.values import HALF, Place, Policy
from mplint.interpreter.world import World
from mplint.keras_api import Copy, canonical, copy_of
from mplint.source.file import SourceFile

_SETTER: Final = "mixed_precision.set_global_policy"
"""Below any copy of Keras, in both generations."""
_CANONICAL: Final = "keras.config.set_dtype_policy"
"""What the table calls it."""


@dataclass(frozen=True)
class SetAgain(Rewrite):
    """Set `policy` again behind the statement that holds `at`."""

    world: World
    at: Place
    policy: Policy

    def plan(self, evidence: Evidence) -> Fix | None:
        """One more statement, where the call stands alone in its line."""
        source = self.at.source
        statement = statements.around(source, self.at.node)
        setter, policy = self._as_before() or self._as_cleared(), self.policy.name
        if not isinstance(statement, cst.Expr) or statement.value is not self.at.node:
            return None
        if setter is None or policy is None or policy in HALF:
            return None  # a pure policy is to be another first
        text, edits = setter
        edit = statements.behind(source, statement, f"{text}({layout.quoted(source, policy)})")
        return Fix("set the policy again", Applicability.UNSAFE, (*edits, edit))

    def _as_before(self) -> tuple[str, tuple[Edit, ...]] | None:
        """The setter as it was written before, where that means the same here."""
        for place in self.policy.set_by:
            call = place.node
            if place.source is self.at.source and isinstance(call, cst.Call):
                spelled = names.spelled(self.world, place.source, call.func)
                if spelled is not None and canonical(spelled) == _CANONICAL:
                    return layout.code(place.source, call.func), ()
        return None

    def _as_cleared(self) -> tuple[str, tuple[Edit, ...]] | None:
        """The setter of the copy of Keras whose session is cleared."""
        call, source = self.at.node, self.at.source
        spelled = names.spelled(self.world, source, call.func) if isinstance(call, cst.Call) else None
        return setter_in(self.world, source, copy_of(spelled)) if spelled is not None else None


@dataclass(frozen=True)
class SetElsewhere(Rewrite):
    """Set the policy at `at` in the copy of Keras that `spelled`, the class of a layer, comes from."""

    world: World
    at: Place
    spelled: str

    def plan(self, evidence: Evidence) -> Fix | None:
        """By another import of the setter, where one statement brings just that, else by a name that the file has."""
        source, call = self.at.source, self.at.node
        if not isinstance(call, cst.Call):
            return None
        copy = copy_of(self.spelled)
        edits = self._imported(call, copy)
        if not edits:
            found = package(self.world, source, copy)
            if found is None:
                return None
            edits = (Edit(source.path, source.span(call.func, parentheses=True), f"{found}.{_SETTER}"),)
        return Fix(f"set the policy in {copy}", Applicability.UNSAFE, edits)

    def _imported(self, call: cst.Call, copy: Copy) -> tuple[Edit, ...]:
        """The edits of the import that brings the setter, or the module that it is read from, and nothing else."""
        source = self.at.source
        found = names.import_of(source, dotted(call.func).partition(".")[0])
        if found is None or isinstance(found[0].names, cst.ImportStar) or len(found[0].names) != 1:
            return ()
        statement, alias = found
        if statement.module is None:
            return ()
        path = canonical(f"{dotted(statement.module)}.{dotted(alias.name)}").removeprefix("keras.")
        module = source.span(statement.module)
        if path == "mixed_precision":
            return (Edit(source.path, module, str(copy)),)
        if path not in (_SETTER, "config.set_dtype_policy"):
            return ()
        setter = _SETTER.rpartition(".")[2]
        edits = (Edit(source.path, module, f"{copy}.mixed_precision"),)
        if dotted(alias.name) == setter:
            return edits
        same = "" if alias.asname is not None else f" as {dotted(alias.name)}"
        return (*edits, Edit(source.path, source.span(alias.name), f"{setter}{same}"))


def setter_in(world: World, source: SourceFile, copy: Copy) -> tuple[str, tuple[Edit, ...]] | None:
    """How a file writes the setter of the policy of `copy`, and the edits that bring the name; None where it cannot."""
    bound = names.bound(world, source)
    same = {name: value for name, value in bound.items() if copy_of(value.spelled or value.path) == copy}
    for name, value in same.items():
        if value.path == _CANONICAL:
            return name, ()
    for name, value in same.items():
        if value.path in ("keras.mixed_precision", "keras.config"):
            last = "set_global_policy" if value.path == "keras.mixed_precision" else "set_dtype_policy"
            return f"{name}.{last}", ()
    found = package(world, source, copy)
    if found is not None:
        return f"{found}.{_SETTER}", ()
    edit = names.imported_from(source, copy, "mixed_precision")
    return (_SETTER, (edit,)) if edit is not None else None


def package(world: World, source: SourceFile, copy: Copy) -> str | None:
    """How a file writes the package of a copy of Keras."""
    for name, value in names.bound(world, source).items():
        if value.path == "keras" and copy_of(value.spelled or value.path) == copy:
            return name
        if value.path == "tensorflow" and copy == "tensorflow.keras":
            return f"{name}.keras"
    return None
