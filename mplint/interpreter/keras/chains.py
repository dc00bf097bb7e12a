"""Models that compute with what other models give: those are steps on the way to a result."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from mplint.interpreter.trace import ModelUsed
from mplint.interpreter.values import Instance, Tensor, Unknown, Value, alternatives, models_behind, predicted

if TYPE_CHECKING:
    from mplint.interpreter.calls import Arguments
    from mplint.interpreter.machine import Machine

_FAR: Final = 64
"""More operations than these are not followed back to the models that they work on."""


def carried(m: Machine, values: Iterable[Value]) -> Unknown:
    """What a call gives that is not followed: it may be computed from the predictions that its arguments hold."""
    return predicted(model for value in values for part in m.parts(value) for model in models_behind(part))


def feed(m: Machine, inputs: Iterable[Value], by: Instance | None = None) -> None:
    """The results of models that go into another layer or model make those models parts of something larger.

    Also behind operations (`head(tf.concat([encoder(a), encoder(b)], 0))`).  What the model `by` has predicted itself
    does not count.
    """
    stack, seen = list(inputs), 0
    while stack and seen < _FAR:
        seen += 1
        match stack.pop():
            case Tensor() as tensor:
                for way in alternatives(tensor):
                    if way.made.kind == "model" and way.made.layer is not None:
                        m.record(ModelUsed(way.made.layer))
                    elif way.made.kind in ("operation", "cast", "data"):
                        stack.extend(way.made.operands)
            case Unknown() as unknown:
                for model in models_behind(unknown):
                    if model != by:
                        m.record(ModelUsed(model))
            case _:
                pass


def feed_data(m: Machine, model: Instance, arguments: Arguments) -> None:
    """The same for the data that a method of a model gets."""
    data = arguments.get("x", 0)
    if data is not None:
        feed(m, m.parts(data), model)
