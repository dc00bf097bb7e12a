"""Losses and metrics: what computing one gives, and what is shown of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from mplint import keras_api
from mplint.interpreter.calls import Arguments
from mplint.interpreter.classes import library_bases
from mplint.interpreter.frames import Frame
from mplint.interpreter.keras import structures, variables
from mplint.interpreter.keras.info import keras_base
from mplint.interpreter.trace import Reported
from mplint.interpreter.values import UNKNOWN, Api, Array, Const, Instance, Made, Place, Tensor, Unknown, Value
from mplint.keras_api import Kind

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

_SCALE: Final = "scale"
"""A text with this says that the number beside it is scaled, or is the scale."""
_LOGGED: Final = frozenset({"train_step", "test_step"})
"""The methods of a model whose results `fit` and `evaluate` log."""
SHOWS: Final = (
    "tensorflow.summary.",
    "tensorflow.print",
    "builtins.print",
    "builtins.float",
    "builtins.str",
    "builtins.format",
    "builtins.round",
    "wandb.log",
    "logging.",
    "absl.logging.",
)
"""Functions that show people what they are given."""
OF_MODELS: Final = frozenset({"compute_loss", "compiled_loss"})
"""The methods of a model that compute its loss; neither generation scales it there."""


def call(m: Machine, loss: Instance, arguments: Arguments, place: Place) -> Value:
    """Calling an object of a class of losses; a metric keeps what it is given, too."""
    assert isinstance(loss.cls, Api)
    kind = keras_api.kind(loss.cls.path)
    if kind is Kind.METRIC:
        report(m, loss, "update_state", arguments, place)
    if kind is not Kind.LOSS:
        return UNKNOWN
    return _computed(m, loss.cls.path, arguments, place)


def of_model(m: Machine, name: str, arguments: Arguments, place: Place) -> Value:
    """`model.compute_loss(…)`, `model.compiled_loss(…)`."""
    return _computed(m, f"keras.Model.{name}", arguments, place)


def _computed(m: Machine, by: str, arguments: Arguments, place: Place) -> Value:
    """A loss: float32 in Keras 3 whatever it is computed of, in Keras 2 of the dtype of the predictions."""
    tensors = structures.tensors_in(m, arguments)
    others = () if tensors else tuple(value for value in arguments.values() if isinstance(value, Unknown))
    dtype = "float32" if m.generation == "3" else tensors[-1].dtype if tensors else None
    return Tensor(dtype, Made("operation", place, m.context, by=by, operands=tensors, others=others), False)


def report(m: Machine, receiver: Instance, name: str, arguments: Arguments, place: Place) -> None:
    """A metric is told something."""
    if isinstance(receiver.cls, Api) and keras_api.kind(receiver.cls.path) is Kind.METRIC and name == "update_state":
        shown(m, arguments, place, name)


def returned(m: Machine, frame: Frame, value: Value, place: Place) -> None:
    """A function returns `value`: what the `train_step` of a model gives is logged by `fit`."""
    if frame.owner is None or frame.code is None or frame.code.name not in _LOGGED:
        return
    if keras_base(library_bases(frame.owner)) is not None:
        shown(m, Arguments((value,)), place, "return")


def shown(m: Machine, arguments: Arguments, place: Place, how: str) -> None:
    """Note that tensors are shown to people."""
    written(m, arguments.values(), place, how)


def written(m: Machine, values: Sequence[Value], place: Place, how: str) -> None:
    """Note that tensors, or arrays of their numbers, are shown to people, and no text says that they are scaled."""
    held: list[Tensor] = []
    for value in values:
        if isinstance(value, Const):
            if isinstance(value.value, str) and _SCALE in value.value.lower():
                return
        elif isinstance(value, Array):
            held += () if value.of is None else (value.of,)
        else:
            held += [variables.read(m, tensor) for tensor in structures.flatten(m, value)]
            held += [part.of for part in m.parts(value) if isinstance(part, Array) and part.of is not None]
    if held:
        m.record(Reported(place, m.context, tuple(held), how))
