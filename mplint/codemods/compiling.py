"""Models that are compiled with an optimizer that scales the loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import libcst as cst

from mplint.codemods import calls, layout, names, statements
from mplint.codemods.loss_scale import wrapper
from mplint.codemods.rewrite import Evidence, Rewrite
from mplint.findings import Applicability, Edit, Fix
from mplint.interpreter.trace import Compiled
from mplint.interpreter.values import Api, Instance
from mplint.interpreter.world import World
from mplint.source.file import SourceFile

_OFF: Final = "auto_scale_loss"


@dataclass(frozen=True)
class CompileScaling(Rewrite):
    """Have the optimizer of `compiled` scale the loss."""

    world: World
    compiled: Compiled

    def plan(self, evidence: Evidence) -> Fix | None:
        """By `compile` itself where the program has turned that off, else by a LossScaleOptimizer that it is given."""
        source, call = self.compiled.place.source, self.compiled.place.node
        if not isinstance(call, cst.Call):
            return None
        if self.compiled.unscaled:
            edits = _switched_on(source, call)
            return Fix("let compile scale the loss", Applicability.UNSAFE, tuple(edits)) if edits else None
        edits = self._wrapped(source, call)
        return Fix("wrap the optimizer in a LossScaleOptimizer", Applicability.UNSAFE, tuple(edits)) if edits else None

    def _wrapped(self, source: SourceFile, call: cst.Call) -> list[Edit] | None:
        optimizer = self.compiled.optimizer
        given = calls.argument_at(call, "optimizer", 0)
        if not isinstance(optimizer, Instance) or not isinstance(optimizer.cls, Api):
            return None
        if given is not None and not isinstance(given.value, cst.SimpleString):
            beside = given.value.func if isinstance(given.value, cst.Call) else None
            written, expression = wrapper(self.world, source, beside), layout.code(source, given.value)
            span = source.span(given.value, parentheses=True)
            if written is None or (beside is None and not isinstance(given.value, (cst.Name, cst.Attribute))):
                return None
            return [*written[1], Edit(source.path, span, f"{written[0]}({expression})")]
        written, cls = wrapper(self.world, source, None), names.written(self.world, source, optimizer.cls.path)
        if written is None or cls is None:
            return None
        text = f"{written[0]}({cls}())"
        if given is not None:
            return [*written[1], Edit(source.path, source.span(given.value, parentheses=True), text)]
        if calls.has_star(call, "*") or calls.has_star(call, "**"):
            return None
        return [*written[1], calls.added(source, call, [f"optimizer={text}"])]


def _switched_on(source: SourceFile, call: cst.Call) -> list[Edit] | None:
    """Without the argument that turns the scaling off, in the call or in the dict of arguments that it is given."""
    own = calls.argument(call, _OFF)
    if own is not None:
        return calls.left_out(source, call, own)
    for arg in call.args:
        if arg.star != "**":
            continue
        held = _value(source, call, arg.value) if isinstance(arg.value, cst.Name) else arg.value
        if isinstance(held, cst.Call) and (found := calls.argument(held, _OFF)) is not None:
            return calls.left_out(source, held, found)
        for element in held.elements if isinstance(held, cst.Dict) else ():
            if isinstance(element, cst.DictElement) and _is_named(element.key) and isinstance(element.value, cst.Name):
                return [Edit(source.path, source.span(element.value), "True")]
    return None


def _is_named(key: cst.BaseExpression) -> bool:
    return isinstance(key, cst.SimpleString) and key.evaluated_value == _OFF


def _value(source: SourceFile, call: cst.Call, name: cst.Name) -> cst.BaseExpression | None:
    """What a name that is bound once, in the function or the module, is bound to."""
    scopes = (statements.scope(source, call), source.module)
    held = (statements.only_value(source, scope, name.value) for scope in scopes)
    return next((value for value in held if value is not None), None)
