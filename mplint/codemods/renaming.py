"""Another name for a dtype policy, where the present one is written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import libcst as cst

from mplint.codemods import calls, layout, names
from mplint.codemods.rewrite import Evidence, Rewrite
from mplint.codemods.setters import setter_in
from mplint.findings import Applicability, Edit, Fix
from mplint.interpreter.code import dotted
from mplint.interpreter.values import Const, Place, Value
from mplint.interpreter.world import World
from mplint.keras_api import copy_of, dtype_name
from mplint.source.file import SourceFile

_KEYWORDS: Final = ("policy", "dtype", "value")
"""The keywords by which functions and layers take a policy."""
_FLOATX: Final = "set_floatx"


@dataclass(frozen=True)
class NamePolicy(Rewrite):
    """Write the name `wanted` for the policy that the call at `at` passes, `value`."""

    world: World
    at: Place
    value: Value | None
    wanted: str
    is_dtype: bool
    """Whether the present name also is a dtype: then what else reads it may want just that."""

    def plan(self, evidence: Evidence) -> Fix | None:
        """In the call itself; else where the constant is written, if nothing else can be meant by it."""
        source, node = self.at.source, self.at.node
        if isinstance(node, cst.SimpleString):
            return self._constant(evidence, self.at)
        if not isinstance(node, cst.Call):
            return None
        function = (names.spelled(self.world, source, node.func) or dotted(node.func)).rpartition(".")[2]
        if function == _FLOATX:
            return self._instead_of_floatx(node)
        given = _policy_argument(node, function)
        if given is None:
            return self._elsewhere(evidence)
        if isinstance(given.value, cst.SimpleString):
            return self._fix(Applicability.UNSAFE, _renamed(source, given.value, self.wanted))
        if isinstance(self.value, Const):
            return self._elsewhere(evidence)
        spelled = names.spelled(self.world, source, given.value)
        named = spelled is not None and dtype_name(spelled) is not None
        # a variable may be set elsewhere, and read by others
        level = Applicability.UNSAFE if named else Applicability.DISPLAY
        text = layout.quoted(source, self.wanted)
        return self._fix(level, Edit(source.path, source.span(given.value, parentheses=True), text))

    def _fix(self, level: Applicability, *edits: Edit) -> Fix:
        return Fix(f"use {self.wanted}", level, edits)

    def _elsewhere(self, evidence: Evidence) -> Fix | None:
        place = self.world.machine.program.literal_places.get(id(self.value))
        return self._constant(evidence, place) if place is not None else None

    def _constant(self, evidence: Evidence, place: Place) -> Fix | None:
        """The constant, wherever it stands: other code may compare with it, or use it as a dtype."""
        node = place.node
        if not isinstance(node, cst.SimpleString):
            return None
        text = str(node.evaluated_value)
        word = re.compile(rb"(['\"])%s\1" % re.escape(text.encode()))
        alone = evidence.count(place.source.path, word) == 1
        if alone and self.is_dtype:
            alone = _only_for_layers(evidence, place.source, node)
        level = Applicability.UNSAFE if alone else Applicability.DISPLAY
        return self._fix(level, _renamed(place.source, node, self.wanted))

    def _instead_of_floatx(self, call: cst.Call) -> Fix | None:
        """A policy in the place of `set_floatx`."""
        source = self.at.source
        copy = copy_of(names.spelled(self.world, source, call.func) or "keras")
        setter = setter_in(self.world, source, copy)
        if setter is None:
            return None
        text, edits = setter
        span = source.span(call, parentheses=True)
        written = f"{text}({layout.quoted(source, self.wanted)})"
        return self._fix(Applicability.UNSAFE, *edits, Edit(source.path, span, written))


def _policy_argument(call: cst.Call, function: str) -> cst.Arg | None:
    """What a call of `function` passes as a policy."""
    for keyword in _KEYWORDS:
        found = calls.argument(call, keyword)
        if found is not None:
            return found
    if "olicy" not in function:  # a layer: its first argument is something else
        return None
    return calls.argument_at(call, "name", 0)


def _only_for_layers(evidence: Evidence, source: SourceFile, node: cst.SimpleString) -> bool:
    """Whether the name that a constant is bound to is read as the `dtype=` of a call, and nowhere else."""
    statement = source.parent(node)
    match statement:
        case cst.AnnAssign(target=cst.Name(value=name)) | cst.Arg(keyword=cst.Name(value=name)):
            pass
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]):
            pass
        case _:
            return False
    word = re.escape(name.encode())
    bound = rb"\b%s\s*(?::|=(?!=))" % word
    passed = rb"\bdtype\s*=\s*[\w.]*(?<!\w)%s\b(?!\s*[.(\[])" % word
    counts = [evidence.count(source.path, re.compile(words)) for words in (rb"\b%s\b" % word, bound, passed)]
    return counts[2] > 0 and counts[0] == counts[1] + counts[2]


def _renamed(source: SourceFile, node: cst.SimpleString, wanted: str) -> Edit:
    """The edit that makes `wanted` of a string, in its own quotes."""
    return Edit(source.path, source.span(node), f"{node.prefix}{node.quote}{wanted}{node.quote}")
