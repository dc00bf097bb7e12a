"""Cross-entropies that are computed of probabilities which half precision has rounded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mplint.interpreter.half_losses import HalfLosses
from mplint.interpreter.keras.info import info_of
from mplint.interpreter.magnitudes import numbers
from mplint.interpreter.trace import Computed
from mplint.interpreter.values import (
    FALSE,
    HALF,
    WIDE,
    Api,
    Const,
    Instance,
    Made,
    Place,
    Policy,
    Tensor,
    Value,
    alternatives,
)
from mplint.interpreter.world import World, core
from mplint.keras_api import activation_of, carries
from mplint.keras_api.arithmetic import TIMES
from mplint.keras_api.stability import Sensitivity, is_cross_entropy, sensitivity

PREDICTIONS: Final = ("y_pred", "output")
"""What the parameter for the probabilities is called."""
_ACTIVATIONS: Final = frozenset({"softmax", "sigmoid"})
_APART: Final = frozenset({"keras.layers.Softmax", "keras.layers.Activation"})
_NEAR: Final = frozenset(
    {"operator.+", "operator.-", "operator.*", "operator.r*", "part", "tensorflow.clip_by_value", "keras.ops.clip",
     "keras.backend.clip", "tensorflow.math.maximum", "keras.ops.maximum", "keras.backend.maximum",
     "tensorflow.math.reduce_sum", "keras.ops.sum", "keras.backend.sum"}
)  # fmt: skip
"""What stands between probabilities and their logarithm: an epsilon, bounds, the choice of one of them."""
_FAR: Final = 32


@dataclass(frozen=True, eq=False)
class RoundedLoss:
    """A cross-entropy of probabilities that `maker` computes in half precision."""

    at: Place
    maker: Made
    activation: str
    policy: Policy | None
    event: Computed | None
    """The call of a cross-entropy of Keras; None where the program takes the logarithm itself."""

    @property
    def is_apart(self) -> bool:
        """Whether the activation is a layer or a function of its own, without weights."""
        return self.maker.kind == "operation" or self.maker.by in _APART

    @property
    def loss(self) -> Instance | None:
        """The object of a class of losses that computes it."""
        given = dict(self.event.arguments) if self.event is not None else {}
        found = given.get("loss")
        return found if isinstance(found, Instance) else None


class Probabilities:
    """The cross-entropies of probabilities in one finished world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._losses = world.once(HalfLosses)

    def rounded(self) -> Iterator[RoundedLoss]:
        """Those that are computed of probabilities which half precision has rounded, and not of the logits."""
        for event in self._world.trace.events:
            if not isinstance(event, Computed) or not is_cross_entropy(event.by):
                continue
            for maker, activation, touched in self._given(event):
                if self._has_lost_logits(event, touched) and not self._is_spoken_of(maker):
                    yield RoundedLoss(event.place, maker, activation, self._policy(maker), event)
        for made in self._losses.followed:
            if made.place is None or sensitivity(made.by) is not Sensitivity.LOGARITHM:
                continue
            for maker, activation in self._behind(made):
                rounded = maker.computed_in == "float16" and not self._is_entropy(made, maker)
                if rounded and not self._is_spoken_of(maker):
                    yield RoundedLoss(made.place, maker, activation, self._policy(maker), None)

    def of(self, event: Computed) -> Iterator[RoundedLoss]:
        """Those that a call of a cross-entropy of Keras computes, whether or not it finds the logits."""
        for maker, activation, _ in self._given(event):
            yield RoundedLoss(event.place, maker, activation, self._policy(maker), event)

    def _given(self, event: Computed) -> Iterator[tuple[Made, str, bool]]:
        """What computes, in half precision, the probabilities that a cross-entropy of Keras is given.

        With the name of the activation, and whether something was done to them since.
        """
        given = dict(event.arguments)
        if not is_cross_entropy(event.by) or given.get("from_logits", FALSE) != FALSE:
            return
        predictions = next((given[name] for name in PREDICTIONS if name in given), None)
        for way in alternatives(predictions) if isinstance(predictions, Tensor) else ():
            found = self._maker(way)
            if found is not None and found[0].computed_in in HALF:
                yield found

    def _has_lost_logits(self, event: Computed, touched: bool) -> bool:
        """Whether the loss does not find the logits behind the probabilities.

        Keras looks for them where it is given what a softmax or sigmoid has put out; objects of Keras 3 cast it first.
        """
        cast = self._world.generation == "3" and event.result is not None and event.result.dtype in WIDE
        return touched or cast

    def _maker(self, tensor: Tensor) -> tuple[Made, str, bool] | None:
        touched = False
        for _ in range(_FAR):
            made = core(tensor).made
            activation = self._activation(made)
            if activation in _ACTIVATIONS:
                return made, str(activation), touched
            is_carried = made.kind == "cast" or made.by == "part" or carries(made.by, generation=self._world.generation)
            if not is_carried or len(made.operands) != 1:
                return None
            touched = True
            tensor = made.operands[0]
        return None

    def _activation(self, made: Made) -> str | None:
        """The activation that comes last in a layer, or that a function is."""
        if made.kind == "operation":
            return activation_of(made.by)
        info = info_of(self._world.machine, made.layer) if made.kind == "layer" and made.layer is not None else None
        if info is None:
            return None
        given = info.argument("activation")
        return activation_of(info.base) if given is None else _named(given)

    def _behind(self, made: Made) -> Iterator[tuple[Made, str]]:
        """The probabilities whose logarithm is taken, by what computes them."""
        stack, seen = list(made.operands), 0
        while stack and seen < _FAR:
            seen += 1
            for way in alternatives(stack.pop()):
                found = self._maker(way)
                if found is not None:
                    yield found[:2]
                elif way.made.kind == "cast" or (way.made.kind == "operation" and way.made.by in _NEAR):
                    stack.extend(way.made.operands)

    def _is_entropy(self, logarithm: Made, maker: Made) -> bool:
        """Whether a logarithm in float32 only weighs the probabilities it is of, and is finite where they are 0.

        What half precision loses there counts for nothing, and neither does it in the gradient.
        """
        given = [value for operand in logarithm.operands for _, value in operand.made.arguments]
        is_wide = all(operand.dtype in WIDE for operand in logarithm.operands)
        guarded = is_wide and any(number > 0 for value in given for number in numbers(value))
        users = [made for made in self._losses.followed if any(_is_of(tensor, logarithm) for tensor in made.operands)]
        return (
            guarded
            and bool(users)
            and all(
                made.by in TIMES
                and any(found is not None and found[0] is maker for found in map(self._maker, made.operands))
                for made in users
            )
        )

    def _is_spoken_of(self, maker: Made) -> bool:
        """Whether other findings are about the activation: as what is a model's output, or half precision in a loss."""
        return maker in self._losses.told or self._losses.is_of_end(Tensor(maker.computed_in, maker))

    def _policy(self, maker: Made) -> Policy | None:
        info = info_of(self._world.machine, maker.layer) if maker.layer is not None else None
        return info.policy if info is not None else None


def _is_of(tensor: Tensor, made: Made) -> bool:
    """Whether a tensor is what `made` gives."""
    return any(way.made is made for way in alternatives(tensor))


def _named(value: Value) -> str | None:
    match value:
        case Const(value=str(name)):
            return activation_of(name)
        case Api(path=path):
            return activation_of(path)
        case _:
            return None
