"""A gradient taken by a tape, and statements at the end of what the tape records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from mplint.codemods import calls, layout, statements, variables
from mplint.findings import Edit, Span
from mplint.interpreter.code import dotted
from mplint.interpreter.keras.tapes import OF_TENSORS
from mplint.interpreter.values import Scaling
from mplint.source.file import SourceFile
from mplint.source.walk import walk


@dataclass(frozen=True)
class Taken:
    """`tape.gradient(target, …)`, and the `with` statement that is left when the tape stops to record.

    Of `tf.gradients(target, …)`, which needs no tape, `block` is the function around it.
    """

    source: SourceFile
    call: cst.Call
    target: cst.BaseExpression
    sources: cst.BaseExpression | None
    block: cst.With | cst.FunctionDef

    @classmethod
    def of(cls, gradient: Scaling) -> Taken | None:
        """The gradient as it is written; None where it is taken otherwise, or of what is recorded elsewhere."""
        place = gradient.place
        if place is None or not isinstance(place.node, cst.Call):
            return None
        call, source = place.node, place.source
        block: cst.With | cst.FunctionDef | None
        if gradient.by == OF_TENSORS and not gradient.tapes:
            names, block = ("ys", "xs"), source.enclosing(call, cst.FunctionDef)
        elif gradient.by.endswith(".gradient") and len(gradient.tapes) == 1:
            made = gradient.tapes[0].address.place
            names, block = ("target", "sources"), _block(source, made.node, call) if made.source is source else None
        else:
            return None
        target, sources = (calls.argument_at(call, name, position) for position, name in enumerate(names))
        if target is None or block is None:
            return None
        return cls(source, call, target.value, sources.value if sources is not None else None, block)

    @property
    def is_inside(self) -> bool:
        """Whether the tape still records when the gradient is taken."""
        return statements.is_in(self.source, self.call, self.block.body)

    @property
    def elements(self) -> Sequence[cst.BaseExpression]:
        """The losses that are added up: the elements of a list, else the target itself."""
        if isinstance(self.target, (cst.List, cst.Tuple)):
            return [element.value for element in self.target.elements]
        return [self.target]

    @property
    def indentation(self) -> str:
        """That of the statements in the block."""
        return layout.indentation(self.source, self.source.span(self.block.body.body[0]).start)

    @property
    def unit(self) -> str:
        """By how much the block is indented."""
        outer = layout.indentation(self.source, self.source.span(self.block).start)
        return self.indentation.removeprefix(outer) or "    "

    def replaced(
        self,
        loss: cst.BaseExpression,
        lines: Callable[[str, str], list[str]],
        new: str,
        written: cst.BaseExpression | None = None,
    ) -> list[Edit] | None:
        """Take the gradient of another value than `loss`, and bind that behind what binds the loss.

        `lines` gives the statements from the name of the new value and the loss; `new` is the value as one expression.
        What is replaced is `written`, where that is not the loss itself.
        """
        span = self.source.span(written or loss, parentheses=True)
        inner = self.source.span(loss)
        text = self.source.text[inner.start : inner.end]
        behind = self._behind(loss) if variables.is_plain(loss) else None
        if behind is None:
            return [Edit(self.source.path, span, new)] if self.is_inside else None
        present = self._present(new, behind)
        if present is not None:
            return [Edit(self.source.path, span, present)]
        name = variables.free(self.source, self.call, f"scaled_{_word(loss)}")
        at = layout.line_end(self.source, self.source.span(behind).end)
        start = layout.newline(self.source, at) + self.indentation
        inserted = "".join(f"{start}{line}" for line in lines(name, text))
        return [Edit(self.source.path, Span(at, at), inserted), Edit(self.source.path, span, name)]

    def _present(self, new: str, behind: cst.CSTNode) -> str | None:
        """The variable that the block binds to `new` already, behind one of its statements."""
        recorded = list(self._recorded())
        for statement in recorded[recorded.index(behind) + 1 :]:
            match statement:
                case cst.SimpleStatementLine(body=[cst.Assign(targets=[cst.AssignTarget(target=target)], value=value)]):
                    if isinstance(target, cst.Name) and layout.code(self.source, value) == new:
                        return target.value
                case _:
                    pass
        return None

    def _behind(self, loss: cst.BaseExpression) -> cst.CSTNode | None:
        """The statement of the block behind which `loss` is what its gradient is taken of."""
        recorded = list(self._recorded())
        if isinstance(loss, cst.Name):
            binding = [one for one in recorded if variables.binds(one, loss.value)]
        else:
            binding = [one for one in recorded if _mentions_target(self.source, one, layout.code(self.source, loss))]
        if not binding and not self.is_inside:
            binding = recorded
        return binding[-1] if binding else None

    def _recorded(self) -> Iterator[cst.CSTNode]:
        """The statements of the block itself, up to the one that takes the gradient."""
        if not isinstance(self.block.body, cst.IndentedBlock):
            return
        for statement in self.block.body.body:
            if self.is_inside and statements.is_in(self.source, self.call, statement):
                return
            yield statement


def _mentions_target(source: SourceFile, statement: cst.CSTNode, text: str) -> bool:
    return any(layout.code(source, target) == text for target in variables.targets(statement))


def _word(loss: cst.BaseExpression) -> str:
    """What a loss is called."""
    match loss:
        case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)):
            return name.lstrip("_") or "loss"
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as key))]):
            name = str(key.evaluated_value)
            return name if name.isidentifier() else "loss"
        case _:
            return "loss"


def _block(source: SourceFile, made: cst.CSTNode, call: cst.Call) -> cst.With | None:
    """The `with` statement of the tape that is made at `made`, in the function in which `call` uses it."""
    function = variables.function_of(source, call)
    item = source.parent(made)
    if isinstance(item, cst.WithItem):
        block = source.parent(item)
        same = isinstance(block, cst.With) and variables.function_of(source, block) is function
        return block if isinstance(block, cst.With) and same else None
    if not isinstance(item, cst.Assign) or not isinstance(call.func, cst.Attribute):
        return None
    name, end = dotted(call.func.value), source.span(call).end
    found = [
        block
        for block in walk(function)
        if isinstance(block, cst.With)
        and any(dotted(one.item) == name for one in block.items)
        and source.span(block).start < end
    ]
    return found[-1] if name and found else None
