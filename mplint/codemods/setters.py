"""Rewrites of what sets a dtype policy: its name, its place in the program, and the copy of Keras that it is set in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import libcst as cst

from mplint.codemods import calls, names
from mplint.codemods.rewrite import Evidence, Rewrite
from mplint.findings import Applicability, Edit, Fix, Span
from mplint.interpreter.code import dotted
from mplint.interpreter.values import Api, Const, Place, Policy, Value
from mplint.interpreter.world import World
from mplint.keras_api import Copy, canonical, copy_of, dtype_name
from mplint.source.file import SourceFile
from mplint.source.walk import walk

_ARGUMENTS: Final = ("policy", "dtype", "name", "value")
"""The parameters by which functions and layers take a policy."""
_SETTER: Final = "mixed_precision.set_global_policy"
"""Below any copy of Keras, in both generations."""
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
        if dotted(node.func).rpartition(".")[2] == _FLOATX:
            return self._instead_of_floatx(node)
        given = _policy_argument(node)
        if given is None:
            return self._elsewhere(evidence)
        if isinstance(given.value, cst.SimpleString):
            return self._fix(Applicability.UNSAFE, _renamed(source, given.value, self.wanted))
        if isinstance(self.value, Const):
            return self._elsewhere(evidence)
        spelled = _spelled(self.world, source, given.value)
        named = spelled is not None and dtype_name(spelled) is not None
        # a variable may be set elsewhere, and read by others
        level = Applicability.UNSAFE if named else Applicability.DISPLAY
        text = calls.quoted(source, self.wanted)
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
        copy = copy_of(_spelled(self.world, source, call.func) or "keras")
        setter = setter_in(self.world, source, copy)
        if setter is None:
            return None
        text, edits = setter
        span = source.span(call, parentheses=True)
        written = f"{text}({calls.quoted(source, self.wanted)})"
        return self._fix(Applicability.UNSAFE, *edits, Edit(source.path, span, written))


@dataclass(frozen=True)
class SetEarlier(Rewrite):
    """Move the statement that holds `at` in front of the one that holds `before`."""

    at: Place
    before: Place | None

    def plan(self, evidence: Evidence) -> Fix | None:
        """Only where both stand in one block and the moved statement reads nothing that is bound in between."""
        source = self.at.source
        if self.before is None or self.before.source is not source:
            return None
        block, moved, target = _in_one_block(source, self.at.node, self.before.node)
        if block is None or moved is None or target is None or not _sets_only(moved, self.at.node):
            return None
        first, last = block.index(target), block.index(moved)
        read = {node.value for node in walk(moved) if isinstance(node, cst.Name)}
        bound = {name for statement in block[first:last] for name in _bound(statement)}
        if first >= last or read & bound:
            return None
        lines = _lines(source, moved)
        start = _line_start(source, source.span(target).start)
        text = source.text[lines.start : lines.end]
        text = text if text.endswith(("\n", "\r")) else text + calls.newline(source)
        gap = _gap(source, lines)
        edits = (Edit(source.path, Span(start, start), text), Edit(source.path, gap, ""))
        return Fix("set the policy before layers are made", Applicability.UNSAFE, edits)


@dataclass(frozen=True)
class SetAgain(Rewrite):
    """Set `policy` again behind the statement that holds `at`."""

    world: World
    at: Place
    policy: Policy

    def plan(self, evidence: Evidence) -> Fix | None:
        """One more statement, where the call stands alone in its line."""
        source = self.at.source
        statement = source.parent(self.at.node)
        line = source.parent(statement) if statement is not None else None
        if not isinstance(statement, cst.Expr) or not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
            return None
        start = source.span(statement).start
        indent = source.text[_line_start(source, start) : start]
        setter = self._as_before() or self._as_cleared()
        if setter is None or indent.strip() or self.policy.name is None:
            return None
        text, edits = setter
        end = source.span(statement).end
        added = f"{calls.newline(source)}{indent}{text}({calls.quoted(source, self.policy.name)})"
        edit = Edit(source.path, Span(end, end), added)
        return Fix("set the policy again", Applicability.UNSAFE, (*edits, edit))

    def _as_before(self) -> tuple[str, tuple[Edit, ...]] | None:
        """The setter as it was written before, where that means the same here."""
        for place in self.policy.set_by:
            call = place.node
            if place.source is self.at.source and isinstance(call, cst.Call):
                spelled = _spelled(self.world, place.source, call.func)
                if spelled is not None and canonical(spelled) == "keras.config.set_dtype_policy":
                    return calls.code(place.source, call.func), ()
        return None

    def _as_cleared(self) -> tuple[str, tuple[Edit, ...]] | None:
        """The setter of the copy of Keras whose session is cleared."""
        call, source = self.at.node, self.at.source
        spelled = _spelled(self.world, source, call.func) if isinstance(call, cst.Call) else None
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
        edit = self._imported(call, copy)
        if edit is None:
            found = _names_of(self.world, source, copy)
            if found is None:
                return None
            edit = Edit(source.path, source.span(call.func, parentheses=True), f"{found}.{_SETTER}")
        return Fix(f"set the policy in {copy}", Applicability.UNSAFE, (edit,))

    def _imported(self, call: cst.Call, copy: Copy) -> Edit | None:
        """The edit of the import that brings the setter, or the module that it is read from, and nothing else."""
        source = self.at.source
        found = names.import_of(source, dotted(call.func).partition(".")[0])
        if found is None or isinstance(found[0].names, cst.ImportStar) or len(found[0].names) != 1:
            return None
        statement, alias = found
        if statement.module is None:
            return None
        path = canonical(f"{dotted(statement.module)}.{dotted(alias.name)}").removeprefix("keras.")
        if path.partition(".")[0] not in ("mixed_precision", "config"):
            return None
        below = ".mixed_precision" if path != "mixed_precision" else ""
        return Edit(source.path, source.span(statement.module), f"{copy}{below}")


def setter_in(world: World, source: SourceFile, copy: Copy) -> tuple[str, tuple[Edit, ...]] | None:
    """How a file writes the setter of the policy of `copy`, and the edits that bring the name; None where it cannot."""
    bindings = {
        name: value
        for name, value in world.module_bindings(source.path).items()
        if isinstance(value, Api) and not name.startswith(("_", "@"))
    }
    same = {name: value for name, value in bindings.items() if copy_of(value.spelled or value.path) == copy}
    for name, value in same.items():
        if value.path == "keras.config.set_dtype_policy":
            return name, ()
    for name, value in same.items():
        if value.path in ("keras.mixed_precision", "keras.config"):
            last = "set_global_policy" if value.path == "keras.mixed_precision" else "set_dtype_policy"
            return f"{name}.{last}", ()
    found = _names_of(world, source, copy)
    if found is not None:
        return f"{found}.{_SETTER}", ()
    edit = names.imported_from(source, copy, "mixed_precision")
    return (_SETTER, (edit,)) if edit is not None else None


def _names_of(world: World, source: SourceFile, copy: Copy) -> str | None:
    """How a file writes the package of a copy of Keras."""
    for name, value in world.module_bindings(source.path).items():
        if isinstance(value, Api) and not name.startswith(("_", "@")):
            if value.path == "keras" and copy_of(value.spelled or value.path) == copy:
                return name
            if value.path == "tensorflow" and copy == "tensorflow.keras":
                return f"{name}.keras"
    return None


def _spelled(world: World, source: SourceFile, func: cst.BaseExpression) -> str | None:
    """The library's name of a function, as the file's imports bring it."""
    head, _, rest = dotted(func).partition(".")
    value = world.module_bindings(source.path).get(head)
    if not isinstance(value, Api):
        return None
    return f"{value.spelled or value.path}.{rest}" if rest else value.spelled or value.path


def _policy_argument(call: cst.Call) -> cst.Arg | None:
    for name in _ARGUMENTS:
        found = calls.argument(call, name)
        if found is not None and name != "name":
            return found
    last = dotted(call.func).rpartition(".")[2]
    if "olicy" not in last:  # a layer: its first argument is something else
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


def _in_one_block(
    source: SourceFile, one: cst.CSTNode, other: cst.CSTNode
) -> tuple[list[cst.CSTNode] | None, cst.CSTNode | None, cst.CSTNode | None]:
    """The innermost block that holds both nodes, and the statements of it that they stand in."""
    left, right = _blocks(source, one), _blocks(source, other)
    for block, statement in left:
        for other_block, other_statement in right:
            if block is other_block:
                return list(block.body), statement, other_statement
    return None, None, None


def _blocks(source: SourceFile, node: cst.CSTNode) -> list[tuple[cst.IndentedBlock | cst.Module, cst.CSTNode]]:
    """The blocks that `node` stands in, innermost first, each with the statement of it that holds `node`."""
    found: list[tuple[cst.IndentedBlock | cst.Module, cst.CSTNode]] = []
    here: cst.CSTNode | None = node
    while here is not None:
        parent = source.parent(here)
        if isinstance(parent, (cst.IndentedBlock, cst.Module)):
            found.append((parent, here))
        here = parent
    return found


def _sets_only(statement: cst.CSTNode, call: cst.CSTNode) -> bool:
    """Whether the statement is the call and nothing else, or a condition around just that."""
    match statement:
        case cst.SimpleStatementLine(body=[cst.Expr(value=value)]):
            return value is call
        case cst.If(body=cst.IndentedBlock(body=[inner]), orelse=None):
            return _sets_only(inner, call)
        case _:
            return False


def _bound(statement: cst.CSTNode) -> set[str]:
    """Every name that a statement may bind."""
    found: set[str] = set()
    for node in walk(statement):
        match node:
            case cst.AssignTarget(target=target) | cst.AnnAssign(target=target) | cst.For(target=target):
                found |= {part.value for part in walk(target) if isinstance(part, cst.Name)}
            case cst.FunctionDef(name=name) | cst.ClassDef(name=name):
                found.add(name.value)
            case cst.ImportAlias(name=imported, asname=asname):
                bound = dotted(asname.name) if asname is not None else dotted(imported).partition(".")[0]
                found.add(bound)
            case cst.NamedExpr(target=cst.Name(value=value)):
                found.add(value)
            case _:
                pass
    return found


def _line_start(source: SourceFile, offset: int) -> int:
    return source.text.rfind("\n", 0, offset) + 1


def _lines(source: SourceFile, statement: cst.CSTNode) -> Span:
    """The whole lines of a statement, with the comments directly above it."""
    span = source.span(statement)
    start = _line_start(source, span.start)
    while start > 0:
        above = _line_start(source, start - 1)
        if not source.text[above:start].lstrip().startswith("#"):
            break
        start = above
    end = source.text.find("\n", span.end)
    return Span(start, len(source.text) if end < 0 else end + 1)


def _gap(source: SourceFile, lines: Span) -> Span:
    """What goes with lines that are taken out: the blank line behind them where one stands before them, too."""
    before = source.text[_line_start(source, lines.start - 1) : lines.start] if lines.start else "\n"
    end = source.text.find("\n", lines.end)
    behind = source.text[lines.end : end + 1] if end >= 0 else ""
    return Span(lines.start, end + 1) if behind and not behind.strip() and not before.strip() else lines
