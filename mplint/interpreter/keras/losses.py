"""Losses and metrics: what computing one gives, what is trained, and what is shown of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from mplint import keras_api
from mplint.interpreter.calls import Arguments
from mplint.interpreter.classes import library_bases, method_of
from mplint.interpreter.frames import Frame
from mplint.interpreter.keras import structures, tensors, variables
from mplint.interpreter.keras.info import keras_base
from mplint.interpreter.trace import Computed, LossGiven, Reported
from mplint.interpreter.values import (
    HALF,
    NONE,
    UNKNOWN,
    Api,
    Array,
    Choice,
    Class,
    Const,
    Function,
    Instance,
    Made,
    Place,
    Tensor,
    Unknown,
    Value,
)
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
_PARAMETERS: Final = ("y_true", "y_pred", "sample_weight")
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
    own, from_logits = m.field(loss.address, "dtype"), m.field(loss.address, "from_logits")
    more: tuple[tuple[str, Value], ...] = (("loss", loss),)
    if from_logits is not None:
        more = (*more, ("from_logits", from_logits))
    return _computed(m, loss.cls.path, arguments, place, own in (None, NONE), more)


def of_library(m: Machine, path: str, arguments: Arguments, place: Place) -> Value:
    """A loss of the library that a model calls itself, function or object: Keras 3 gives it float32."""
    return _computed(m, path, arguments, place)


def of_model(m: Machine, name: str, arguments: Arguments, place: Place) -> Value:
    """`model.compute_loss(…)`, `model.compiled_loss(…)`."""
    return _computed(m, f"keras.Model.{name}", arguments, place)


def _computed(
    m: Machine,
    by: str,
    arguments: Arguments,
    place: Place,
    plain: bool = True,
    more: tuple[tuple[str, Value], ...] = (),
) -> Value:
    """A loss: float32 in Keras 3 whatever it is computed of, unless that is not `plain`; in Keras 2 as measured."""
    found = structures.tensors_in(m, arguments)
    others = () if found else tuple(value for value in arguments.values() if isinstance(value, Unknown))
    dtype = "float32" if m.generation == "3" else _in_keras_2(m, by, arguments, found)
    made = Made(
        "operation", place, m.context, by=by, operands=found, computed_in=dtype if plain else None, others=others
    )
    result = Tensor(made.computed_in, made, False)
    if any(tensor.dtype in HALF for tensor in found) or tensors.is_noted(by):
        bound = (*zip(_PARAMETERS, arguments.args, strict=False), *arguments.keywords)
        m.record(Computed(place, m.context, by, (*bound, *more), result))
    return result


def _in_keras_2(m: Machine, by: str, arguments: Arguments, found: tuple[Tensor, ...]) -> str | None:
    """As measured, else the dtype of the predictions."""
    given = {"y_true": arguments.get("y_true", 0) or UNKNOWN, "y_pred": arguments.get("y_pred", 1) or UNKNOWN}
    measured = tensors.measured(m, by, given, False)
    if isinstance(measured, str):
        return measured
    return found[-1].dtype if found else None


def is_own(loss: Instance) -> bool:
    """Whether an object is of a class of the program that derives from a loss of the library."""
    return isinstance(loss.cls, Class) and any(
        keras_api.kind(base) is Kind.LOSS for base in library_bases(loss.cls) if base.rpartition(".")[2][:1].isupper()
    )


def call_own(m: Machine, loss: Instance, arguments: Arguments, place: Place) -> Value:
    """Calling an object of a class of losses of the program: its `call`, and the mean or sum over that.

    Keras 3 casts what it is given to float32 first.
    """
    method = method_of(m, loss, "call")
    true, predicted = arguments.get("y_true", 0), arguments.get("y_pred", 1)
    if not isinstance(method, Function) or true is None or predicted is None:
        for value in arguments.values():
            m.escape(value)
        return UNKNOWN
    both = (true, predicted)
    if m.generation == "3":
        both = (float32(m, true, place), float32(m, predicted, place))
    result = m.call(method, Arguments(both).behind(loss), place)
    if not isinstance(result, Tensor):
        return UNKNOWN
    made = Made("operation", place, m.context, by="keras.losses.Loss", operands=(result,), computed_in=result.dtype)
    reduced = Tensor(result.dtype, made, False)
    if result.dtype in HALF:
        m.record(Computed(place, m.context, made.by, (), reduced))
    return reduced


def float32(m: Machine, value: Value, place: Place) -> Value:
    """What a loss of Keras 3 sees of the tensors in `value`: all are float32."""

    def cast(tensor: Tensor) -> Tensor:
        if tensor.dtype == "float32":
            return tensor
        made = Made("cast", place, m.context, by="autocast", operands=(tensor,), computed_in="float32")
        return Tensor("float32", made, tensor.symbolic, tensor.softmax)

    return structures.changed(m, value, place, cast)


def given(m: Machine, value: Value, place: Place) -> None:
    """Note what becomes a part of what is trained."""
    found = tuple(structures.flatten(m, value))
    if found:
        m.record(LossGiven(place, m.context, found))


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
    ways = [way for value in values for way in (value.options if isinstance(value, Choice) else (value,))]
    for value in ways:
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
