"""A model of keras.applications with a float32 end: its own call cannot give one, so the end comes behind it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import libcst as cst

from mplint.codemods import calls, layout, names
from mplint.codemods.counting import COUNTED_ON, is_one_of_several
from mplint.codemods.rewrite import Evidence, Rewrite, only_shown
from mplint.findings import Applicability, Edit, Fix, Span
from mplint.interpreter.keras import models
from mplint.interpreter.values import Place
from mplint.interpreter.world import End, Layer
from mplint.keras_api import Kind, kind
from mplint.source.file import SourceFile
from mplint.source.walk import names_in

_ACTIVATION: Final = "classifier_activation"
_LONGEST: Final = 100
"""A call that makes a line longer than this gets a line for each argument."""
_FRESH: Final = ("network", "classifier", "logits_model")
"""Names for the model without its activation, where the program gives it none."""


@dataclass(frozen=True)
class BehindApplication(Rewrite):
    """`model = MobileNetV2(…)` without its activation, and a float32 Activation behind the whole of it."""

    end: End
    path: str
    """The function of keras.applications."""
    place: Place
    """Its call."""
    last: Layer
    """The last layer inside: with its top the one that has the activation."""

    @classmethod
    def of(cls, end: End, chain: Sequence[Layer]) -> BehindApplication | None:
        """For an end that a layer inside an application computes: the last of `chain`."""
        if not chain or not chain[-1].hidden:
            return None
        for made in models.steps([end.tensor]):
            if made.place is not None and kind(made.by) is Kind.APPLICATION:
                return cls(end, made.by, made.place, chain[-1])
        return None

    def plan(self, evidence: Evidence) -> Fix | None:
        """The edits; only shown where something counts on the layers at the end, or needs the model as it is."""
        source, call = self.place.source, self.place.node
        if not isinstance(call, cst.Call) or calls.has_star(call, "*") or calls.has_star(call, "**"):
            return None
        statement = _Statement.around(source, call)
        spelled = self._spelled(source, call)
        if statement is None or spelled is None:
            return None
        model, activation, imports = spelled
        text, removed = self._activation(source, call)
        # under another name TensorFlow may fuse other operations, and the last bits of a float32 run differ (Keras 2)
        behind = statement.written(
            model,
            f"{statement.name}.input",
            f"{activation}({text}, dtype={layout.quoted(source, 'float32')})({statement.name}.output)",
            f"name={statement.name}.name",
        )
        edits = (*statement.edits(behind), *removed, *imports)
        message = "Put a float32 activation behind the model, in place of its own"
        conflict = evidence.disagreement(self.place)
        if conflict is not None:
            return only_shown(message, evidence.row_of(conflict), edits)
        counted_on = evidence.mentions(source.path, COUNTED_ON) or _mentions_name(source, self.last)
        shown = is_one_of_several(self.end) or counted_on
        return Fix(message, Applicability.DISPLAY if shown else Applicability.SAFE, edits)

    def _activation(self, source: SourceFile, call: cst.Call) -> tuple[str, tuple[Edit, ...]]:
        """The activation as the program writes it, and the edit that takes it out of the call."""
        if self.last.argument("activation") is None:
            return layout.quoted(source, "linear"), ()
        given = calls.argument_of(call, self.path, _ACTIVATION, self.end.world.generation)
        if given is None:
            return layout.quoted(source, "softmax"), (calls.set_argument(source, call, _ACTIVATION, "None"),)
        text = layout.code(source, given.value)
        if text == "None":
            return layout.quoted(source, "linear"), ()
        return text, (Edit(source.path, source.span(given.value, parentheses=True), "None"),)

    def _spelled(self, source: SourceFile, call: cst.Call) -> tuple[str, str, tuple[Edit, ...]] | None:
        """How the file writes Model and Activation, and the imports that this takes."""
        paths = ("keras.Model", "keras.layers.Activation")
        model, activation = (names.written(self.end.world, source, path) for path in paths)
        missing = [*(["Model"] if model is None else []), *(["layers"] if activation is None else [])]
        edit = names.imported_beside(source, call.func, missing) if missing else None
        if missing and edit is None:
            return None
        return model or "Model", activation or "layers.Activation", (edit,) if edit is not None else ()


@dataclass(frozen=True)
class _Statement:
    """A statement of one line that assigns or returns nothing but a call, and a name for what the call gives."""

    source: SourceFile
    call: cst.Call
    line: cst.SimpleStatementLine
    name: str
    before: str
    """What stands before the call: `model = `, `self.model = `, `return `."""

    @classmethod
    def around(cls, source: SourceFile, call: cst.Call) -> _Statement | None:
        """The statement around `call`; None where it is a part of something larger, or shares its line."""
        statement = source.parent(call)
        line = layout.own_line(source, statement) if statement is not None else None
        if line is None or call.lpar:
            return None
        before = source.text[source.span(line).start : source.span(call).start]
        match statement:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]):
                pass
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute())]) | cst.Return():
                taken = names_in(source.module)
                fresh = next((word for word in _FRESH if word not in taken), None)
                if fresh is None:
                    return None
                name = fresh
            case _:
                return None
        return cls(source, call, line, name, before)

    @property
    def indent(self) -> str:
        """The white space in front of the statement."""
        return layout.indentation(self.source, self.source.span(self.line).start)

    def written(self, callee: str, *arguments: str) -> str:
        """The statement with another call, on a line for each argument where one line would be too long."""
        line = f"{self.indent}{self.before}{callee}({', '.join(arguments)})"
        if len(line) <= _LONGEST:
            return line
        end = layout.newline(self.source)
        inner = "".join(f"{self.indent}    {argument},{end}" for argument in arguments)
        return f"{self.indent}{self.before}{callee}({end}{inner}{self.indent})"

    def edits(self, behind: str) -> Iterator[Edit]:
        """Bind the result of the call to the name, and put the statement `behind` on the next line."""
        path = self.source.path
        start, end = self.source.span(self.line).start, self.source.span(self.call).end
        own = f"{self.name} = "
        if self.before != own:
            yield Edit(path, Span(start, start + len(self.before)), own)
        stop = layout.line_end(self.source, end)
        yield Edit(path, Span(stop, stop), f"{layout.newline(self.source)}{behind}")


def _mentions_name(source: SourceFile, head: Layer) -> bool:
    """Whether the file names the layer at the end, which the new one does not replace under that name."""
    name = head.constant("name")
    return isinstance(name, str) and re.search(rf"""["']{re.escape(name)}["']""", source.text) is not None
