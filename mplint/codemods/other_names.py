"""Names of policies and optimizers, as the other generation of Keras has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import libcst as cst

from mplint.codemods import layout, names
from mplint.codemods.rewrite import Evidence, Rewrite
from mplint.codemods.setters import package
from mplint.codemods.spelling import imported_as
from mplint.findings import Applicability, Edit, Fix, Span
from mplint.interpreter.code import dotted
from mplint.interpreter.values import Place
from mplint.interpreter.world import World
from mplint.keras_api import copy_of, in_keras_2, in_keras_3, is_legacy, parameters

_DEPTH: Final = 3
"""How many names a program may write out behind the package of Keras: `config.set_dtype_policy`."""


@dataclass(frozen=True)
class NameOfOther(Rewrite):
    """What `spelled` says, by the name that this generation has for it; `path` is its canonical one."""

    world: World
    at: Place
    spelled: str
    path: str

    def plan(self, evidence: Evidence) -> Fix | None:
        """Where it is written out, or imported."""
        wanted = in_keras_3(self.spelled) if is_legacy(self.spelled) else in_keras_2(self.path)
        if wanted is None:
            return None
        node = self.at.node
        edits = self._attribute(node, wanted) if isinstance(node, cst.Attribute) else None
        if isinstance(node, cst.ImportAlias):
            edits = self._imported(node, wanted, evidence)
        if not edits:
            return None
        level = Applicability.SAFE if self._takes_the_same(wanted) else Applicability.DISPLAY
        return Fix(f"use {wanted}", level, tuple(edits))

    def _takes_the_same(self, wanted: str) -> bool:
        """Whether a call of it, in the same place, passes only what the other takes as well."""
        call = self.at.source.parent(self.at.node)
        if not isinstance(call, cst.Call) or not is_legacy(self.spelled):
            return True
        known = {parameter.name for parameter in parameters(wanted, self.world.generation) or ()}
        plain = all(not arg.star and (arg.keyword is None or arg.keyword.value in known) for arg in call.args)
        return plain and sum(1 for arg in call.args if arg.keyword is None) < 2

    def _attribute(self, node: cst.Attribute, wanted: str) -> list[Edit] | None:
        """`keras.config.set_dtype_policy`: all behind the package."""
        source = self.at.source
        inner: cst.BaseExpression = node
        for _ in range(_DEPTH):
            if not isinstance(inner, cst.Attribute):
                break
            inner = inner.value
            spelled = names.spelled(self.world, source, inner)
            if spelled in ("keras", "tensorflow.keras", "tf_keras"):
                end = source.span(inner).end
                return [Edit(source.path, Span(end, source.span(node).end), wanted.removeprefix("keras"))]
        module = wanted.rpartition(".")[0]
        if isinstance(node.value, cst.Name) and names.written(self.world, source, module) == node.value.value:
            return [Edit(source.path, source.span(node.attr), wanted.rpartition(".")[2])]
        found = package(self.world, source, copy_of(self.spelled))
        if found is None:
            return None
        return [Edit(source.path, source.span(node), found + wanted.removeprefix("keras"))]

    def _imported(self, alias: cst.ImportAlias, wanted: str, evidence: Evidence) -> list[Edit] | None:
        """`from keras.optimizers.legacy import Adam`, which brings nothing else."""
        source, statement = self.at.source, self.at.source.parent(alias)
        if not isinstance(statement, cst.ImportFrom) or isinstance(statement.names, cst.ImportStar):
            return None
        if len(statement.names) != 1 or statement.module is None:
            return None
        root, _, _ = f"{dotted(statement.module)}.".partition("keras.")
        module, _, name = wanted.rpartition(".")
        edits = [Edit(source.path, source.span(statement.module), f"{root}{module}")]
        if layout.code(source, statement.module) == f"{root}{module}":
            edits = []
        return [*edits, *imported_as(source, alias, name, evidence)]
