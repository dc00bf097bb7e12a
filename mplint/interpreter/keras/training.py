"""Methods of a model that train and run it, and the steps of the program's own that they bring into play."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mplint.interpreter.calls import Arguments
from mplint.interpreter.classes import class_attribute
from mplint.interpreter.keras import losses, objectives, optimizers, structures
from mplint.interpreter.scaling import may_be_scaled
from mplint.interpreter.trace import Compiled
from mplint.interpreter.values import (
    TRUE,
    UNKNOWN,
    Bound,
    Class,
    Function,
    Instance,
    Place,
    Tensor,
    Tuple,
    Unknown,
    Value,
    derived,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

_ON_DATA: Final = ("train_step", "test_step", "predict_step")
"""The methods that the library calls with each batch of the data."""
_STEPS: Final = (*_ON_DATA, "compute_loss")
"""All that it calls for each batch."""
TRAINS: Final = frozenset({"fit", "train_on_batch"})
"""The methods of a model that change its weights."""
PREDICTS: Final = frozenset({"predict", "predict_on_batch"})
"""Those whose result is what the model gives."""
READS: Final = PREDICTS | {"load_weights"}
"""Those that a program with ready weights needs: they compute with them, or bring them."""
COMPUTES: Final = TRAINS | PREDICTS | {"evaluate", "test_on_batch"}
"""All that compute with the weights that a model has."""
KEEPS: Final = frozenset({"save", "save_weights", "save_to_preset", "export"})
"""Those that write the weights down: in a program that trains nothing, such as came from elsewhere."""
APPLIES: Final = frozenset({"apply_gradients", "apply", "stateless_apply", "minimize"})
"""The methods of an optimizer that change weights."""
RUNS: Final = COMPUTES | READS
"""All that compute with the weights that a model has, or bring them."""


def unpacked(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`keras.utils.unpack_x_y_sample_weight(data)`, of the data that a step is given."""
    data = arguments.get("data", 0)
    if isinstance(data, Unknown) and structures.is_of_batch(data):
        return Tuple(tuple(derived("item", data, str(index)) for index in range(3)))
    return UNKNOWN


def run_left(m: Machine) -> None:
    """Run the steps of the models that were compiled, and that nobody was seen to train."""
    for event in [event for event in m.trace.events if isinstance(event, Compiled)]:
        run_steps(m, event.model, event.place)
        objectives.run(m, event)


def run_steps(m: Machine, model: Instance, place: Place) -> None:
    """Run the steps of `model` once, on data of which nothing is known: what they call is used there."""
    if not isinstance(model.cls, Class) or m.state.get((model.address, "@stepped")) is not None:
        return
    m.state.set((model.address, "@stepped"), TRUE)
    for name in _STEPS:
        method = class_attribute(m, model.cls, name)
        if isinstance(method, Function):
            given = structures.batch(method) if name in _ON_DATA else UNKNOWN
            result = m.call(Bound(model, method), Arguments((), (), given), place)
            if name == "compute_loss":
                losses.given(m, result, place)
                if class_attribute(m, model.cls, "train_step") is None:
                    _minimized(m, model, result)


def _minimized(m: Machine, model: Instance, loss: Value) -> None:
    """What `fit` does with a loss that the program computes: it scales it, too."""
    optimizer = m.field(model.address, "optimizer")
    if isinstance(loss, Tensor) and loss.made.place is not None and may_be_scaled(loss.made):
        optimizers.minimized_by_fit(m, optimizer, loss, loss.made.place)
