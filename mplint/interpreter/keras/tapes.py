"""Gradients: the tapes that record what is computed, and the other ways to take a gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from mplint.interpreter import sequences
from mplint.interpreter.calls import Arguments
from mplint.interpreter.keras import structures
from mplint.interpreter.state import GLOBAL, Cell
from mplint.interpreter.trace import FunctionDifferentiated, GradientTaken
from mplint.interpreter.values import (
    NONE,
    TRUE,
    UNKNOWN,
    Api,
    Const,
    Instance,
    List,
    Partial,
    Place,
    Scaling,
    Tensor,
    Tuple,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

TAPE: Final = Api("tensorflow.GradientTape")
AROUND: Final = ("horovod.tensorflow.DistributedGradientTape", "horovod.tensorflow.keras.DistributedGradientTape")
"""What averages the gradients of the tape that it is given over all workers."""
OF_TENSORS: Final = "tensorflow.gradients"
"""How a gradient is made without a tape."""
OF_FUNCTION: Final = "mplint.gradient_of"
"""What `jax.grad(f)` gives: called, it runs `f` and gives the gradient of what that returns."""
BY_FUNCTION: Final = "jax.grad"
"""How a gradient that it gives is made."""
_RECORDING: Final[Cell] = (GLOBAL, "@tapes")
_TAKES: Final = frozenset({"gradient", "jacobian", "batch_jacobian"})


def make(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`tf.GradientTape(…)`."""
    return Instance(m.allocate(place, "tape"), TAPE)


def is_tape(value: Value) -> bool:
    """Whether `value` is a gradient tape."""
    return isinstance(value, Instance) and value.cls == TAPE


def recording(m: Machine) -> tuple[Instance, ...]:
    """The tapes that record what is computed now."""
    held = m.state.get(_RECORDING)
    return tuple(tape for tape in held.items if isinstance(tape, Instance)) if isinstance(held, Tuple) else ()


def enter(m: Machine, tape: Value) -> None:
    """What begins with `with tape:`."""
    m.state.set(_RECORDING, Tuple((*recording(m), tape)))


def leave(m: Machine, tape: Value) -> None:
    """What ends with it."""
    m.state.set(_RECORDING, Tuple(tuple(other for other in recording(m) if other != tape)))


def method(m: Machine, tape: Instance, name: str, arguments: Arguments, place: Place) -> Value:
    """A method of a tape."""
    if name == "stop_recording":
        return UNKNOWN
    if name == "__enter__":  # without a `with` statement
        enter(m, tape)
        return tape
    if name == "__exit__":
        leave(m, tape)
    if name not in _TAKES:
        return NONE
    target, sources = arguments.get("target", 0), arguments.get("sources", 1)
    if target is None or sources is None:
        return UNKNOWN
    return gradient(m, target, sources, place, f"tensorflow.GradientTape.{name}", (tape,))


def of_tensors(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`tf.gradients(ys, xs)`."""
    target, sources = arguments.get("ys", 0), arguments.get("xs", 1)
    if target is None or sources is None:
        return UNKNOWN
    return gradient(m, target, sources, place, OF_TENSORS, recording(m))


def gradient(
    m: Machine, target: Value, sources: Value, place: Place, by: str, taken_by: tuple[Instance, ...] = ()
) -> Value:
    """The gradient of `target` with respect to `sources`, in the structure of these."""
    losses = tuple(structures.flatten(m, target))
    unknown = tuple(part for part in m.parts(target) if isinstance(part, Unknown))
    made = Scaling("gradient", place, m.context, by=by, operands=losses, others=unknown, tapes=taken_by)
    several = True if isinstance(sources, (List, Tuple)) else False if isinstance(sources, Tensor) else None
    m.record(GradientTaken(place, m.context, made, tuple(structures.flatten(m, sources)), several))

    def of(tensor: Tensor) -> Tensor:
        return Tensor(tensor.dtype, made, False)

    if isinstance(sources, List):  # a list of its own: what is then put into it is not in the other
        held = m.items(sources)
        rest = None if held.rest is None else _part(m, held.rest, made, place)
        return m.new_list(place, Tuple(tuple(_part(m, item, made, place) for item in held.items), rest))
    if isinstance(sources, Unknown):  # one variable or a list of them
        return m.new_list(place, Tuple((), Tensor(None, made, False)))
    return structures.changed(m, sources, place, of)


def _part(m: Machine, source: Value, made: Scaling, place: Place) -> Value:
    if isinstance(source, Unknown):
        return Tensor(None, made, False)
    return structures.changed(m, source, place, lambda tensor: Tensor(tensor.dtype, made, False))


# -- gradients of functions


def of_function(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`jax.grad(f)`."""
    return _transformed(m, arguments, place, with_value=False)


def with_value(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`jax.value_and_grad(f)`."""
    return _transformed(m, arguments, place, with_value=True)


def _transformed(m: Machine, arguments: Arguments, place: Place, *, with_value: bool) -> Value:
    function = arguments.get("fun", 0)
    if function is None:
        return UNKNOWN
    has_aux, argnums = arguments.get("has_aux", 2) or NONE, arguments.get("argnums", 1) or Const(0)
    here = Instance(m.allocate(place, "gradient function"), Api(OF_FUNCTION))
    return Partial(Api(OF_FUNCTION), (here, function, has_aux, argnums, Const(with_value)), ())


def call_of_function(m: Machine, arguments: Arguments, place: Place) -> Value:
    """Calling what `jax.grad` or `jax.value_and_grad` gave."""
    here, function, has_aux, argnums, with_value, *args = arguments.args
    result = m.call(function, Arguments(tuple(args), arguments.keywords, arguments.rest, arguments.more), place)
    loss = sequences.item(result, 0) if has_aux == TRUE and isinstance(result, Tuple) else result
    found = gradient(m, loss or UNKNOWN, _differentiated(args, argnums), place, BY_FUNCTION)
    made = next((tensor.made for tensor in structures.flatten(m, found)), None)
    if isinstance(made, Scaling) and isinstance(here, Instance):
        told = FunctionDifferentiated(
            place, m.context, made, function, here.address.place, has_aux == TRUE, with_value == TRUE
        )
        m.record(told)
    if with_value == TRUE:
        return Tuple((result, found))
    return Tuple((found, UNKNOWN)) if has_aux == TRUE else found


def _differentiated(args: Sequence[Value], argnums: Value) -> Value:
    """What the gradient is taken with respect to: one of the arguments, or a tuple of several."""
    match argnums:
        case Const(value=int(at)) if at < len(args):
            return args[at]
        case Tuple(items=items, rest=None) if all(isinstance(item, Const) for item in items):
            return Tuple(tuple(_differentiated(args, item) for item in items))
        case _:
            return UNKNOWN
