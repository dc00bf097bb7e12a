"""Scales of a loss that adapt themselves, in place of fixed ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import libcst as cst

from mplint.codemods import calls, layout, receivers
from mplint.codemods.differentiated import Differentiated
from mplint.codemods.expressions import reduced
from mplint.codemods.loss_scale import wrapped
from mplint.codemods.rewrite import Evidence, Rewrite
from mplint.findings import Applicability, Edit, Fix
from mplint.interpreter.loops import Loops, Step
from mplint.interpreter.scalers import FixedScale
from mplint.interpreter.scaling import Constant
from mplint.interpreter.values import Made
from mplint.interpreter.world import World
from mplint.keras_api.arithmetic import OVER, UNDER
from mplint.keras_api.optimizers import SCALE_METHODS, UNSCALE_METHOD

_FACTOR: Final = "loss_scale_factor"
_DYNAMIC: Final = "dynamic"
_NUMBER_FIRST: Final = frozenset({"operator.r*", "tensorflow.math.scalar_mul"})
_WHAT: Final = "let a LossScaleOptimizer find the scale"
_OF_NOW: Final = "scale by what the step is given for the optimizer's variables"


@dataclass(frozen=True)
class ScaleDynamically(Rewrite):
    """Let a LossScaleOptimizer find the scale that `fixed` is."""

    world: World
    fixed: FixedScale

    def plan(self, evidence: Evidence) -> Fix | None:
        """By the way in which it is fixed: an argument, or the program's own arithmetic."""
        if self.fixed.step is not None and self.fixed.value is None:
            edits = self._of_the_state(evidence, self.fixed.step)
            return Fix(_OF_NOW, Applicability.UNSAFE, tuple(edits)) if edits else None
        if self.fixed.step is not None and self.fixed.times is not None and self.fixed.over is not None:
            edits = self._instead_of_arithmetic(evidence, self.fixed.step, self.fixed.times, self.fixed.over)
        else:
            edits = self._instead_of_argument()
        return Fix(_WHAT, Applicability.UNSAFE, tuple(edits)) if edits else None

    def _of_the_state(self, evidence: Evidence, step: Step) -> list[Edit] | None:
        """The loss is scaled by what the variables that the step is given hold."""
        call, function = self.fixed.at.node, Differentiated.of(evidence, self.world, step)
        if function is None or not isinstance(call, cst.Call) or self.fixed.at.source is not function.source:
            return None
        return function.in_state(call)

    def _instead_of_argument(self) -> list[Edit] | None:
        source, call = self.fixed.at.source, self.fixed.at.node
        if not isinstance(call, cst.Call):
            return None
        factor = calls.argument(call, _FACTOR)
        if factor is not None:
            edits, around = calls.left_out(source, call, factor), wrapped(self.world, self.fixed.at)
            return None if edits is None or around is None else [*around, *edits]
        dynamic = calls.argument_at(call, _DYNAMIC, 1)
        if dynamic is None:
            return None
        if dynamic.keyword is None:
            return [Edit(source.path, source.span(dynamic.value, parentheses=True), "True")]
        return calls.left_out(source, call, dynamic)

    def _instead_of_arithmetic(
        self, evidence: Evidence, step: Step, times: Constant, over: Constant
    ) -> list[Edit] | None:
        """The loss is scaled, and gradients are unscaled, by the optimizer, which is wrapped for it."""
        loops = self.world.once(Loops)
        made = loops.made(step.optimizer)
        if made is None or not self._is_alone(evidence, step, times):
            return None
        around = wrapped(self.world, made.place)
        scaled = self._scaled(step, times.made)
        unscaled = self._unscaled(step, over.made)
        if around is None or scaled is None or unscaled is None:
            return None
        return [*around, *scaled, *unscaled]

    def _is_alone(self, evidence: Evidence, step: Step, times: Constant) -> bool:
        """Whether all gradients that the optimizer is given were scaled at this place."""
        return all(
            any(constant.made.place is times.made.place for constant in other.course.constants)
            for world in evidence.worlds
            for other in world.once(Loops).steps
            if other.optimizer.address.place is step.optimizer.address.place
        )

    def _scaled(self, step: Step, made: Made) -> list[Edit] | None:
        at = made.place
        if at is None or not isinstance(at.node, (cst.BinaryOperation, cst.Call)):
            return None
        by = receivers.optimizer_at(self.world, step, made)
        loss = self._factor(at.node, made)
        if by is None or loss is None:
            return None
        source = at.source
        text = f"{by}.{SCALE_METHODS[self.world.generation]}({layout.code(source, loss)})"
        return [Edit(source.path, source.span(at.node, parentheses=True), text)]

    def _unscaled(self, step: Step, made: Made) -> list[Edit] | None:
        at = made.place
        if at is None or not isinstance(at.node, (cst.BinaryOperation, cst.Call)):
            return None
        source, node = at.source, at.node
        gradient = self._factor(node, made)
        if gradient is None:
            return None
        if self.world.generation == "3":
            return reduced(source, node, gradient)
        by = receivers.optimizer_at(self.world, step, made)
        match source.parent(node):
            case (
                cst.ListComp(
                    elt=elt, for_in=cst.CompFor(target=cst.Name(value=name), iter=held, inner_for_in=None)
                ) as whole
            ):
                if by is None or elt is not node or not isinstance(gradient, cst.Name) or gradient.value != name:
                    return None
                text = f"{by}.{UNSCALE_METHOD}({layout.code(source, held)})"
                return [Edit(source.path, source.span(whole, parentheses=True), text)]
            case _:
                return None

    def _factor(self, product: cst.BinaryOperation | cst.Call, made: Made) -> cst.BaseExpression | None:
        """The operand of a product, or of a quotient, that is no number."""
        if isinstance(product, cst.BinaryOperation):
            operands = [product.left, product.right]
        else:
            operands = [arg.value for arg in product.args if arg.keyword is None and not arg.star]
        if len(operands) != 2 or made.by in UNDER:
            return None
        if made.by in OVER or len(made.operands) == len(operands):
            loops = self.world.once(Loops)
            courses = [loops.course_of(tensor.made) for tensor in made.operands]
            trained = [at for at, course in enumerate(courses) if course.number is None]
            return operands[trained[0]] if len(trained) == 1 else None
        if made.by in _NUMBER_FIRST:
            return operands[1]
        if made.by.startswith("operator."):
            return operands[0]
        numbers = [isinstance(operand, cst.BaseNumber) for operand in operands]
        return operands[numbers.index(False)] if any(numbers) else None
