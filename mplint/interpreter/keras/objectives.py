"""The losses that `compile` is given: what they are called on, and what of that is computed in half precision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mplint import keras_api
from mplint.interpreter.calls import Arguments
from mplint.interpreter.keras import losses, models, structures
from mplint.interpreter.trace import Compiled
from mplint.interpreter.values import (
    Api,
    Bound,
    Const,
    Dict,
    Function,
    Instance,
    List,
    Made,
    Partial,
    Place,
    Tensor,
    Tuple,
    Value,
    options,
)
from mplint.keras_api import Kind

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine


def run(m: Machine, compiled: Compiled) -> None:
    """Run the losses of a model that was compiled, on what it gives, as the library would."""
    held = m.field(compiled.model.address, "loss")
    for loss, output in _pairs(m, held, compiled.model) if held is not None else ():
        for option in options(loss):
            _run(m, option, output, compiled.place)


def _run(m: Machine, loss: Value, output: Tensor | None, place: Place) -> None:
    path = _path(loss)
    true = Tensor("float32" if m.generation == "3" else None, Made("argument", place, m.context), False)
    if path is not None:
        if output is not None:
            losses.of_library(m, path, Arguments((true, output)), place)
        return
    predicted = output or Tensor(None, Made("argument", place, m.context), False)
    if isinstance(loss, Instance) and isinstance(loss.cls, Api):
        if output is not None:
            m.call(loss, Arguments((true, output)), place)
    elif isinstance(loss, (Function, Bound, Partial)):
        seen = losses.float32(m, predicted, place) if m.generation == "3" else predicted
        losses.given(m, m.call(loss, Arguments((true, seen)), place), place)
    elif isinstance(loss, Instance) and losses.is_own(loss):
        losses.given(m, m.call(loss, Arguments((true, predicted)), place), place)


def _path(loss: Value) -> str | None:
    """The function of the library that a loss is, or is the name of."""
    match loss:
        case Const(value=str(name)):
            return keras_api.canonical(f"keras.losses.{name}")
        case Api(path=path) if keras_api.kind(path) is Kind.LOSS:
            return path
        case _:
            return None


def _pairs(m: Machine, held: Value, model: Instance) -> list[tuple[Value, Tensor | None]]:
    """Each loss with the output that it is for, where that is known."""
    outputs = models.graph_outputs(m, model)
    ends = tuple(structures.flatten(m, outputs)) if outputs is not None else ()
    match held:
        case Dict():
            return [(value, None) for _, value in m.entries(held).pairs]
        case Tuple() | List():
            items = held if isinstance(held, Tuple) else m.items(held)
            known = items.rest is None and len(items.items) == len(ends)
            return [(item, ends[index] if known else None) for index, item in enumerate(items.items)]
        case _:
            return [(held, structures.with_data(end, True)) for end in ends] or [(held, None)]
