"""Models that compute with what other models give: those are steps on the way to a result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from mplint.interpreter.trace import ModelUsed
from mplint.interpreter.values import Instance, Symbol, Tensor, Unknown, Value, alternatives

if TYPE_CHECKING:
    from mplint.interpreter.calls import Arguments
    from mplint.interpreter.machine import Machine

_FAR: Final = 64
"""More operations than these are not followed back to the models that they work on."""
_PREDICTED: Final = "predicted"


def predicted(model: Instance) -> Unknown:
    """What `model.predict(…)` gives."""
    return Unknown(Symbol(_PREDICTED, model))


def feed(m: Machine, inputs: Iterable[Value]) -> None:
    """The results of models that go into another layer or model make those models parts of something larger.

    Also behind operations (`head(tf.concat([encoder(a), encoder(b)], 0))`).
    """
    stack, seen = list(inputs), 0
    while stack and seen < _FAR:
        seen += 1
        match stack.pop():
            case Tensor() as tensor:
                for way in alternatives(tensor):
                    if way.made.kind == "model" and way.made.layer is not None:
                        m.record(ModelUsed(way.made.layer))
                    elif way.made.kind in ("operation", "cast"):
                        stack.extend(way.made.operands)
            case Unknown(symbol=Symbol() as symbol):
                for model in _models_in(symbol):
                    m.record(ModelUsed(model))
            case _:
                pass


def feed_data(m: Machine, arguments: Arguments) -> None:
    """The same for the data that a method of a model gets."""
    data = arguments.get("x", 0)
    if data is not None:
        feed(m, m.parts(data))


def _models_in(symbol: Symbol) -> Iterator[Instance]:
    """The models from whose predictions something is computed."""
    for part in symbol.parts:
        if isinstance(part, Symbol):
            yield from _models_in(part)
        elif isinstance(part, Instance) and symbol.parts[0] == _PREDICTED:
            yield part
