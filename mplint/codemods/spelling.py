"""Other names for what a library calls otherwise now, where they are imported and where they are written out."""

from __future__ import annotations

import re
from dataclasses import dataclass

import libcst as cst

from mplint.codemods import layout, statements
from mplint.codemods.rewrite import Evidence, Rewrite
from mplint.findings import Applicability, Edit, Fix, Span
from mplint.interpreter.code import dotted
from mplint.interpreter.values import Place
from mplint.keras_api import Retired
from mplint.source.file import SourceFile


@dataclass(frozen=True)
class NameOfToday(Rewrite):
    """Write what the names `names`, imported or written out at `at`, are called today."""

    at: Place
    names: tuple[Retired, ...]

    def plan(self, evidence: Evidence) -> Fix | None:
        """The name, and where an import bound the old one, that of all its uses."""
        node, source = self.at.node, self.at.source
        if any(name.now is None for name in self.names):
            return None
        edits: list[Edit] | None = None
        match node:
            case cst.Attribute():
                edits = name_of_today(source, node, self.names[0])
            case cst.ImportFrom():
                edits = self._imported_from(node, evidence)
            case cst.ImportAlias():
                edits = self._imported(node, evidence)
            case _:
                pass
        if not edits:
            return None
        now = ", ".join(dict.fromkeys(name.name_now for name in self.names))
        return Fix(f"use {now}", Applicability.SAFE, tuple(edits))

    def _imported_from(self, statement: cst.ImportFrom, evidence: Evidence) -> list[Edit] | None:
        """`from tensorflow.keras.mixed_precision.experimental import Policy, set_policy`."""
        source, module = self.at.source, statement.module
        if not isinstance(module, cst.Attribute) or isinstance(statement.names, cst.ImportStar):
            return None
        now = {name.path.rpartition(".")[2]: name.name_now for name in self.names}
        edits = [Edit(source.path, source.span(module), layout.code(source, module.value))]
        for alias in statement.names:
            wanted = now.get(dotted(alias.name))
            if wanted is None:
                return None
            edits += imported_as(source, alias, wanted, evidence)
        return edits

    def _imported(self, alias: cst.ImportAlias, evidence: Evidence) -> list[Edit] | None:
        """The module that is gone, or a name that the module never had, as one alias of an import."""
        source, (name,) = self.at.source, self.names
        match source.parent(alias):
            case cst.Import() if alias.asname is not None and isinstance(alias.name, cst.Attribute):
                return [Edit(source.path, source.span(alias.name), layout.code(source, alias.name.value))]
            case cst.ImportFrom() if not name.is_module:
                return imported_as(source, alias, name.name_now, evidence)
            case cst.ImportFrom(module=cst.Attribute() as module, names=[_]):
                # `from tensorflow.keras.mixed_precision import experimental as mp`: the module that it was in
                edits = [Edit(source.path, source.span(module), layout.code(source, module.value))]
                return [*edits, *imported_as(source, alias, name.name_now, evidence)]
            case _:
                return None


def name_of_today(source: SourceFile, node: cst.Attribute, name: Retired) -> list[Edit]:
    """`mp.set_policy`, or all of `keras.mixed_precision.experimental.set_policy`, as it is called today."""
    if name.is_module:  # keras.mixed_precision.experimental
        return [Edit(source.path, Span(source.span(node.value).end, source.span(node).end), "")]
    inner = node.value
    if isinstance(inner, cst.Attribute) and inner.attr.value == "experimental" and name.is_of_module:
        return [Edit(source.path, Span(source.span(inner.value).end, source.span(node).end), f".{name.name_now}")]
    return [Edit(source.path, source.span(node.attr), name.name_now)]


def imported_as(source: SourceFile, alias: cst.ImportAlias, wanted: str, evidence: Evidence) -> list[Edit]:
    """Import `wanted` in place of a name, and call it so where the old name was used; else under the old name."""
    old = dotted(alias.name)
    if alias.asname is not None:
        bound = dotted(alias.asname.name)
        whole = wanted if bound == wanted else f"{wanted} as {bound}"
        return [Edit(source.path, source.span(alias), whole)]
    if old == wanted:
        return []
    uses = uses_of(source, alias, old, wanted, evidence)
    if uses is None:
        return [Edit(source.path, source.span(alias.name), f"{wanted} as {old}")]
    return [Edit(source.path, source.span(node), wanted) for node in (alias.name, *uses)]


def uses_of(
    source: SourceFile, alias: cst.ImportAlias, name: str, wanted: str, evidence: Evidence
) -> list[cst.Name] | None:
    """Where a file reads `name`, which an import at its top level binds; None where it may be read otherwise.

    So it is where something else binds it, where `wanted` is another thing, or another file may take it from here.
    """
    if any(statements.variables(source, source.module, wanted)):
        return None
    if source.enclosing(alias, cst.FunctionDef) is not None or source.enclosing(alias, cst.ClassDef) is not None:
        return None
    if evidence.is_named_elsewhere(source.path, re.compile(rb"\b%s\b" % name.encode())):
        return None
    bound = statements.stores(source, source.module, name)
    return statements.loads(source, source.module, name) if bound == [alias.name] else None
