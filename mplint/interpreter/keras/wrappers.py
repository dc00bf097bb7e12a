"""Layers around other layers: whose dtype counts, and what the wrapper makes of the result inside.

Keras 2 calls the inner layer, and what that gives is the result. In Keras 3, TimeDistributed runs the inner layer's
code without calling it, so that it computes in *its* dtype (unless it casts by itself), SpectralNormalization and
Bidirectional call the inner one and cast what it gives, and RNN has the cell compute in its own dtype.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mplint import keras_api
from mplint.interpreter import sequences
from mplint.interpreter.calls import Arguments
from mplint.interpreter.keras import structures
from mplint.interpreter.keras.info import LayerInfo, info_of
from mplint.interpreter.values import (
    FALSE,
    HALF,
    NONE,
    TRUE,
    UNKNOWN,
    Api,
    Class,
    Const,
    Instance,
    Place,
    Policy,
    Tensor,
    Tuple,
    Value,
    compute_dtype,
    variable_dtype,
)
from mplint.keras_api import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from mplint.interpreter.machine import Machine

    Run = Callable[[Machine, Instance, LayerInfo, Arguments, Place, str | None], Value]

_BIDIRECTIONAL: Final = "keras.layers.Bidirectional"
_SPECTRAL: Final = "keras.layers.SpectralNormalization"
ENTERING: Final = frozenset({"keras.layers.TimeDistributed"})
"""Those that in Keras 3 run the code of the layer inside without calling it."""
WRAPPERS: Final = ENTERING | {_BIDIRECTIONAL, _SPECTRAL}
"""The layers around one layer (the parameter `layer`)."""
CELLS: Final = frozenset({"keras.layers.RNN"})
"""The layers around a cell, or a list of cells (the parameter `cell`)."""
_STATES: Final = {"keras.layers.LSTMCell": 2, "keras.layers.GRUCell": 1, "keras.layers.SimpleRNNCell": 1}


def inner(m: Machine, info: LayerInfo) -> Instance | None:
    """The layer inside a wrapper."""
    value = info.argument("layer") if info.base in WRAPPERS else None
    return value if isinstance(value, Instance) and info_of(m, value) is not None else None


def effective_policy(m: Machine, layer: Instance) -> Policy:
    """The policy that decides what `layer` gives: in Keras 2 that of the layer inside a wrapper."""
    info = info_of(m, layer)
    if info is None:
        return Policy(None)
    if m.generation == "2" and info.base in WRAPPERS:
        held = inner(m, info)
        return effective_policy(m, held) if held is not None else Policy(None)
    return info.policy


def result(
    m: Machine, info: LayerInfo, scope: str | None, arguments: Arguments, place: Place, run: Run
) -> Value | None:
    """What the wrapper `info`, which computes in `scope`, gives; None of a layer that is no wrapper.

    The tensors in it tell dtypes and softmax, not how the wrapper's result came to be. `run` is the library's own call.
    """
    if info.base in CELLS:
        return _recurrent(m, info, scope, arguments, place)
    if info.base not in WRAPPERS:
        return None
    held = inner(m, info)
    inside = info_of(m, held) if held is not None else None
    if held is None or inside is None or not arguments.args:
        return UNKNOWN
    passed = Arguments((structures.real(m, arguments.args[0], place),))
    if info.base == _BIDIRECTIONAL:
        return _both_ways(m, info, scope, run(m, held, inside, passed, place, None), passed, place, run)
    entered = scope if m.generation == "3" and info.base in ENTERING else None
    given = _inside(m, held, inside, entered, passed, place, run)
    if entered in HALF and not _casts_variables(info.policy, inside.policy):  # a weight of float32 makes it float32
        return structures.changed(m, given, place, lambda tensor: Tensor(None, tensor.made))
    if m.generation == "3" and info.base == _SPECTRAL:
        return structures.changed(m, given, place, lambda tensor: Tensor(scope, tensor.made, False, tensor.softmax))
    return given


def _casts_variables(outer: Policy, inner: Policy) -> bool:
    """Whether code that runs in a layer of `outer` sees the variables of a layer of `inner` in the dtype of `outer`.

    Only a mixed policy casts them.
    """
    computed = compute_dtype(outer.name)
    return computed in (variable_dtype(inner.name), None) or variable_dtype(outer.name) != computed


def _inside(
    m: Machine, held: Instance, inside: LayerInfo, entered: str | None, passed: Arguments, place: Place, run: Run
) -> Value:
    """What the layer inside gives, when called, or when its code runs in the dtype `entered` of the wrapper."""
    if keras_api.kind(inside.base) is Kind.MODEL:
        return m.call(held, passed, place)
    if isinstance(held.cls, Class):
        given = m.call(held, passed, place)
        if entered is not None and compute_dtype(inside.policy.name) != entered:  # it runs, but not in its own dtype
            return structures.changed(m, given, place, lambda tensor: Tensor(None, tensor.made))
        return given
    return run(m, held, inside, passed, place, entered)


# -- Bidirectional


def _both_ways(
    m: Machine, info: LayerInfo, scope: str | None, forward: Value, passed: Arguments, place: Place, run: Run
) -> Value:
    backward = forward
    other = info.argument("backward_layer")
    if other is not None and other != NONE:
        behind = info_of(m, other) if isinstance(other, Instance) else None
        if not isinstance(other, Instance) or behind is None:
            return UNKNOWN
        backward = run(m, other, behind, passed, place, None)
    first, *states = forward.items if isinstance(forward, Tuple) else (forward,)
    second, *more = backward.items if isinstance(backward, Tuple) else (backward,)
    if not isinstance(first, Tensor) or not isinstance(second, Tensor):
        return UNKNOWN
    if m.generation == "3":
        first, second = (Tensor(scope, way.made, False, way.softmax) for way in (first, second))
    mode = info.argument("merge_mode")
    if mode == NONE:
        outputs: tuple[Value, ...] = (first, second)
    elif mode is not None and not isinstance(mode, Const):
        return UNKNOWN
    else:
        outputs = (Tensor(first.dtype if first.dtype == second.dtype else None, first.made, False, first.softmax),)
    held = (*outputs, *states, *more)
    return held[0] if len(held) == 1 else Tuple(held)


# -- RNN around cells


def _recurrent(m: Machine, info: LayerInfo, scope: str | None, arguments: Arguments, place: Place) -> Value:
    """The output in the dtype of the RNN, and with `return_state` one state or more for each cell."""
    cell = info.argument("cell")
    cells = sequences.iterate(m, cell, place) if cell is not None and not isinstance(cell, Instance) else None
    held = Tuple((cell,)) if cells is None and cell is not None else cells
    given = structures.tensors_in(m, Arguments(arguments.args[:1]))
    if held is None or held.rest is not None or not given:
        return UNKNOWN
    step = Tensor(scope, given[0].made, False)
    output = _last_of(m, held, step, place) if m.generation == "2" else step
    if output is None:
        return UNKNOWN
    wants = info.argument("return_state")
    if wants in (None, FALSE):
        return output
    states = [_states(m, each) for each in held.items]
    if wants != TRUE or None in states:
        return UNKNOWN
    if m.generation == "2" and any(isinstance(each, Instance) and isinstance(each.cls, Class) for each in held.items):
        return UNKNOWN  # what the program's own cell keeps is not followed
    counts = [count for count in states if count is not None]
    if len(counts) == 1:
        return Tuple((output,) * (1 + counts[0]))
    nested = [output if m.generation == "2" and count == 1 else Tuple((output,) * count) for count in counts]
    return Tuple((output, *nested))


def _last_of(m: Machine, cells: Tuple, step: Tensor, place: Place) -> Tensor | None:
    """What the last of the cells gives for one step in Keras 2, where all must compute in one dtype; None if not so."""
    given: Value = step
    for cell in cells.items:
        info = info_of(m, cell) if isinstance(cell, Instance) else None
        if info is None or not isinstance(cell, Instance) or compute_dtype(info.policy.name) != step.dtype:
            return None
        if isinstance(cell.cls, Class):
            state = Tuple((step,) * (_states(m, cell) or 1))
            result = m.call(cell, Arguments((given, state)), place)
            given = sequences.item(result, 0) if isinstance(result, Tuple) else result
    return given if isinstance(given, Tensor) else None


def _states(m: Machine, cell: Value) -> int | None:
    """How many states a cell carries from step to step."""
    if not isinstance(cell, Instance):
        return None
    if isinstance(cell.cls, Api):
        return _STATES.get(cell.cls.path)
    size = m.field(cell.address, "state_size")
    if isinstance(size, Const) and isinstance(size.value, int):
        return 1
    items = sequences.iterate(m, size, cell.address.place) if size is not None else None
    return len(items.items) if items is not None and items.items and items.rest is None else None
