"""Functions of the library that call what they are given: branches, loops, maps over tensors, own gradients."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from mplint.interpreter import sequences
from mplint.interpreter.calls import Arguments
from mplint.interpreter.keras import structures, tensors
from mplint.interpreter.keras.binding import bind
from mplint.interpreter.values import (
    NONE,
    UNKNOWN,
    Api,
    Bound,
    Function,
    List,
    Made,
    Partial,
    Place,
    Tensor,
    Tuple,
    Value,
    choice,
)
from mplint.keras_api import called_parameters

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

_Given = Mapping[str, Value]


def call(m: Machine, path: str, arguments: Arguments, place: Place) -> Value | None:
    """What `path` gives where it calls some of its arguments; None of any other function."""
    called = called_parameters(path)
    if not called:
        return None
    given = bind(m, path, arguments)
    handler = _HANDLERS.get(path) if arguments.sure else None
    if handler is not None:
        return handler(m, given, place)
    for name, value in given.items():
        if name in called and isinstance(value, (Function, Bound, Partial)):
            m.call(value, Arguments((), (), UNKNOWN), place)
    return UNKNOWN


def _branch(m: Machine, given: _Given, place: Place) -> Value:
    """`tf.cond(pred, true_fn, false_fn)`: what one of the two gives."""
    arms = [given[name] for name in ("true_fn", "false_fn") if name in given]
    return choice([m.call(arm, Arguments(()), place) for arm in arms]) if len(arms) == 2 else UNKNOWN


def _loop(m: Machine, given: _Given, place: Place) -> Value:
    """`tf.while_loop(cond, body, loop_vars)`: what goes round keeps its structure and its dtypes."""
    carried = given.get("loop_vars", UNKNOWN)
    body = given.get("body")
    if body is not None:
        parts = sequences.iterate(m, carried, place)
        m.call(body, Arguments(tuple(_carried(m, part, place) for part in parts.items), (), parts.rest), place)
    return _carried(m, carried, place)


def _counted_loop(m: Machine, given: _Given, place: Place) -> Value:
    """`keras.ops.fori_loop(lower, upper, body_fun, init_val)`."""
    carried = _carried(m, given.get("init_val", UNKNOWN), place)
    body = given.get("body_fun")
    if body is not None:
        m.call(body, Arguments((UNKNOWN, carried)), place)
    return carried


def _carried(m: Machine, value: Value, place: Place) -> Value:
    """A loop's variable after any number of passes: a tensor of its dtype; of anything else nothing is known."""
    match value:
        case Tensor():
            made = Made("operation", place, m.context, by="loop", operands=(value,), computed_in=value.dtype)
            return Tensor(value.dtype, made, value.symbolic)
        case List():
            return _carried(m, m.items(value), place)
        case Tuple(items=items, rest=None):
            return Tuple(tuple(_carried(m, item, place) for item in items))
        case _:
            return UNKNOWN


def _mapped(m: Machine, given: _Given, place: Place) -> Value:
    """`tf.map_fn(fn, elems)` and its like: what the function gives of one element, in the dtype that is asked for."""
    function = next((given[name] for name in ("fn", "function", "f") if name in given), UNKNOWN)
    elements = next((given[name] for name in ("elems", "elements", "xs") if name in given), UNKNOWN)
    element = structures.changed(m, elements, place, lambda tensor: tensors.part_of(m, tensor, place))
    result = m.call(function, Arguments((element,)), place)
    asked = given.get("fn_output_signature", given.get("dtype", NONE))
    if asked == NONE:
        return result
    dtype = tensors.dtype_of(m, asked)
    made = Made("operation", place, m.context, by="tensorflow.map_fn", operands=tuple(structures.flatten(m, result)))
    return Tensor(dtype, made, False)


def _each(m: Machine, given: _Given, place: Place) -> Value:
    """`tf.nest.map_structure(func, structure)`: each tensor in a structure, in the same structure."""
    function, rest = given.get("func"), given.get("*structure", given.get("*structures"))
    if function is None or not isinstance(rest, Tuple) or not rest.items:
        return UNKNOWN
    if len(rest.items) > 1:
        return _each_of_several(m, function, rest.items, place)
    return structures.changed(m, rest.items[0], place, lambda part: m.call(function, Arguments((part,)), place))


def tree_map(m: Machine, arguments: Arguments, place: Place) -> Value:
    """`jax.tree.map(f, tree)`, the same."""
    return _each(
        m, {"func": arguments.args[0], "*structure": Tuple(arguments.args[1:])} if arguments.args else {}, place
    )


def _each_of_several(m: Machine, function: Value, structure: Sequence[Value], place: Place) -> Value:
    """The same of structures that are alike: sequences of tensors."""
    if not all(isinstance(held, (List, Tuple)) for held in structure):
        return UNKNOWN
    columns = [sequences.iterate(m, held, place, whole=True) for held in structure]
    length = min(len(column.items) for column in columns)
    rows = [tuple(column.items[position] for column in columns) for position in range(length)]
    results = sequences.mapped(m, function, rows, place)
    rest = tuple(column.rest for column in columns if column.rest is not None)
    if len(rest) < len(columns):
        return Tuple(tuple(results))
    return Tuple(tuple(results), m.call(function, Arguments(rest), place))


def _foreign(m: Machine, given: _Given, place: Place) -> Value:
    """`tf.py_function(func, inp, Tout)`: Python code, whose results are tensors of the dtypes that `Tout` names."""
    function = given.get("func", UNKNOWN)
    inputs = sequences.iterate(m, given.get("inp", Tuple(())), place)
    m.call(function, Arguments(inputs.items, (), inputs.rest), place)
    wanted = given.get("Tout", UNKNOWN)
    dtype = tensors.dtype_of(m, wanted)
    if dtype is None:
        return UNKNOWN
    operands = tuple(structures.flatten(m, inputs))
    return Tensor(dtype, Made("operation", place, m.context, by="tensorflow.py_function", operands=operands), False)


def _with_gradient(m: Machine, given: _Given, place: Place) -> Value:
    """`tf.custom_gradient(f)`: calling it gives the first of the two things that `f` returns."""
    function = given.get("f")
    return UNKNOWN if function is None else Partial(Api(FIRST_RESULT), (function,), ())


FIRST_RESULT: Final = "mplint.first_result"


def first_result(m: Machine, arguments: Arguments, place: Place) -> Value:
    """The first of the results of calling the first argument on the others."""
    function, *args = arguments.args
    result = m.call(function, Arguments(tuple(args), arguments.keywords, arguments.rest, arguments.more), place)
    return sequences.item(result, 0) if isinstance(result, Tuple) else UNKNOWN


def _same(m: Machine, given: _Given, place: Place) -> Value:
    return given.get("f", UNKNOWN)


_HANDLERS: Final[dict[str, Callable[[Machine, _Given, Place], Value]]] = {
    "tensorflow.cond": _branch,
    "keras.ops.cond": _branch,
    "tensorflow.while_loop": _loop,
    "keras.ops.while_loop": _loop,
    "keras.ops.fori_loop": _counted_loop,
    "tensorflow.map_fn": _mapped,
    "tensorflow.vectorized_map": _mapped,
    "keras.backend.map_fn": _mapped,
    "keras.ops.map": _mapped,
    "keras.ops.vectorized_map": _mapped,
    "tensorflow.nest.map_structure": _each,
    "keras.tree.map_structure": _each,
    "tensorflow.py_function": _foreign,
    "tensorflow.numpy_function": _foreign,
    "tensorflow.custom_gradient": _with_gradient,
    "keras.ops.custom_gradient": _with_gradient,
    "tensorflow.grad_pass_through": _same,
}
