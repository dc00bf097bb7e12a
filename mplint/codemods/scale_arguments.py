"""How a LossScaleOptimizer is told its scale: as Keras 2 and 3 take it, where a program says it as it was said once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import libcst as cst

from mplint.codemods import calls
from mplint.codemods.rewrite import Evidence, Rewrite
from mplint.codemods.spelling import name_of_today
from mplint.findings import Applicability, Edit, Fix
from mplint.interpreter.values import TRUE, Api, Const, Instance, Place, Value
from mplint.interpreter.world import World
from mplint.keras_api import Retired
from mplint.keras_api.optimizers import INNER

_LOSS_SCALE: Final = "loss_scale"
_BY_ITSELF: Final = ("dynamic", "auto")
"""What Keras does today where nothing is said."""
_POWER: Final = 2.0


@dataclass(frozen=True)
class ScaleOfToday(Rewrite):
    """Say at `at` what `value`, the scale of the loss, says, as this generation takes it."""

    world: World
    at: Place
    value: Value
    of_policy: bool
    old: Retired | None
    """The name that is called, where that has to change, too."""

    def plan(self, evidence: Evidence) -> Fix | None:
        """The argument goes, or becomes those that say the same."""
        call, source = self.at.node, self.at.source
        if not isinstance(call, cst.Call) or (self.old is not None and self.old.now is None):
            return None
        given = calls.argument_at(call, _LOSS_SCALE, 1)
        if given is None or given.star:
            return None
        said = self._said()
        if said is None:
            return None
        arguments, level = said
        edits = calls.left_out(source, call, given)
        if edits is None:
            return None
        if arguments:
            edits = [Edit(source.path, source.span(given), ", ".join(arguments))]
        edits += self._keyword(call)
        if self.old is not None and isinstance(call.func, cst.Attribute):
            edits += name_of_today(source, call.func, self.old)
        if not _is_written_there(given.value):
            level = Applicability.DISPLAY
        what = f"write {', '.join(arguments)}" if arguments else "leave it out"
        if self.of_policy and level is Applicability.DISPLAY:
            what = "leave it out: the optimizer is told now"
        return Fix(what, level, tuple(edits))

    def _keyword(self, call: cst.Call) -> list[Edit]:
        """The optimizer was `optimizer=` once."""
        named = None if self.of_policy else calls.argument(call, "optimizer")
        if named is None or named.keyword is None:
            return []
        return [Edit(self.at.source.path, self.at.source.span(named.keyword), INNER)]

    def _said(self) -> tuple[list[str], Applicability] | None:
        """The arguments that say the same today, and who may write them; None where that is not known."""
        if isinstance(self.value, Const) and self.value.value in _BY_ITSELF:
            return [], Applicability.SAFE
        if self.of_policy:
            return ([], Applicability.DISPLAY) if isinstance(self.value, Const) else None
        match self.value:
            case Const(value=bool()) | Const(value=None):
                return None
            case Const(value=int() | float() as scale):
                return self._fixed(repr(scale))
            case Instance(cls=Api(path=path)) if path.endswith("FixedLossScale"):
                scale_value = self._field("loss_scale_value")
                return None if scale_value is None else self._fixed(scale_value)
            case Instance(cls=Api(path=path)) if path.endswith("DynamicLossScale"):
                return self._dynamic()
            case _:
                return None

    def _fixed(self, scale: str) -> tuple[list[str], Applicability]:
        """A scale that stays as it is, which Keras 3 has no argument for."""
        if self.world.generation == "2":
            return ["dynamic=False", f"initial_scale={scale}"], Applicability.SAFE
        return [f"initial_scale={scale}"], Applicability.DISPLAY

    def _dynamic(self) -> tuple[list[str], Applicability] | None:
        multiplier = self._field("multiplier")
        if multiplier is not None and float(multiplier) != _POWER:
            return None
        names = {"initial_loss_scale": "initial_scale", "increment_period": "dynamic_growth_steps"}
        found = {wanted: self._field(name) for name, wanted in names.items()}
        return [f"{name}={value}" for name, value in found.items() if value is not None], Applicability.SAFE

    def _field(self, name: str) -> str | None:
        """What the object that says the scale was made with."""
        assert isinstance(self.value, Instance)
        held = self.world.machine.field(self.value.address, name)
        return repr(held.value) if isinstance(held, Const) and isinstance(held.value, (int, float)) else None


@dataclass(frozen=True)
class WithoutDynamic(Rewrite):
    """A LossScaleOptimizer of Keras 3 at `at` without `dynamic=`, of which `value` is known."""

    at: Place
    value: Value

    def plan(self, evidence: Evidence) -> Fix | None:
        """The argument goes; only shown where the scale was to stay as it is, or that is not known."""
        call, source = self.at.node, self.at.source
        given = calls.argument(call, "dynamic") if isinstance(call, cst.Call) else None
        if given is None or not isinstance(call, cst.Call):
            return None
        edits = calls.left_out(source, call, given)
        if edits is None:
            return None
        if isinstance(given.value, cst.Name) and self.value == TRUE and given.value.value == "True":
            return Fix("leave it out", Applicability.SAFE, tuple(edits))
        return Fix("leave it out, if the scale may change", Applicability.DISPLAY, tuple(edits))


def _is_written_there(node: cst.BaseExpression) -> bool:
    """Whether the scale stands in the call itself, or is that of a policy, so that nothing else can be meant."""
    of_policy = isinstance(node, cst.Attribute) and node.attr.value == _LOSS_SCALE
    return of_policy or isinstance(node, (cst.SimpleString, cst.Integer, cst.Float, cst.Call))
