"""Variables that the program makes: each has an address, and the state holds what was last assigned to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mplint.interpreter.calls import Arguments
from mplint.interpreter.scaling import is_zero
from mplint.interpreter.values import (
    UNKNOWN,
    Api,
    Const,
    Instance,
    Made,
    Place,
    Tensor,
    Value,
    Variable,
    alternatives,
    choice,
)
from mplint.keras_api.arithmetic import READ

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

OF_TENSORFLOW: Final = "tensorflow.Variable"
OF_KERAS: Final = "keras.Variable"
_CONTENT: Final = "@content"
_ASSIGNED: Final = "assigned"
_ASSIGNS: Final = {"assign": _ASSIGNED, "assign_add": "operator.+", "assign_sub": "operator.-"}
"""The methods that change a variable, and what becomes of what it holds: another tensor, a sum, a difference."""
_READS: Final = frozenset({"value", "read_value"})
METHODS: Final = _ASSIGNS.keys() | _READS
"""What can be done to a variable, and to no other tensor."""
_ZERO: Final = Tensor(None, Made("operation", None, None, by="tensorflow.zeros"), False)
_ZEROS: Final = frozenset({"zeros", "Zeros"})


def make(
    m: Machine,
    dtype: str | None,
    initial: Value | None,
    place: Place,
    by: str,
    layer: Instance | None = None,
    *,
    casts: bool = False,
) -> Tensor:
    """A variable that holds `initial`: a value, or what an initializer gives.

    `casts` says that a layer reads it in its compute dtype.
    """
    made = Variable(place, m.context, by=by, address=m.allocate(place, "variable"), layer=layer)
    content = _number(initial)
    if content is not None:
        m.put(made.address, _CONTENT, content)
    return Tensor(dtype, made, False, None, casts)


def _number(initial: Value | None) -> Value | None:
    """What a new variable holds, as far as it is one number; nothing is noted of what is to be trained."""
    match initial:
        case Tensor(made=made) if is_zero(made):
            return _ZERO
        case Const(value=bool() | None):
            return None
        case Const(value=int() | float() as number):
            return initial if number else _ZERO
        case Const(value=str(name)) if name in _ZEROS:
            return _ZERO
        case Instance(cls=Api(path=path)) if path.rpartition(".")[2] in _ZEROS:
            return _ZERO
        case _:
            return None


def read(m: Machine, tensor: Tensor) -> Tensor:
    """The numbers of a tensor: of a variable those that were assigned to it last."""
    made = tensor.made
    if type(made) is Variable:
        content = m.field(made.address, _CONTENT)
        return tensor if content is None else _holding(tensor, made, content)
    if made.kind == "joined" and any(type(way.made) is Variable for way in made.operands):
        held = choice([read(m, way) for way in made.operands])
        return held if isinstance(held, Tensor) else tensor
    return tensor


def _holding(variable: Tensor, made: Made, content: Value) -> Tensor:
    """What a variable holds, as a tensor."""
    place, context = made.place, made.context
    operands: tuple[Tensor, ...] = (variable,)
    others: tuple[Value, ...] = ()
    match content:
        case Tensor():
            place, context = content.made.place, content.made.context
            operands = (variable, content)
        case Const():
            others = (content,)
        case _:
            others = (UNKNOWN,)
    held = Made("operation", place, context, by=READ, operands=operands, computed_in=variable.dtype, others=others)
    return Tensor(variable.dtype, held, False, None, variable.autocast)


def lose(m: Machine, tensor: Tensor) -> None:
    """Note that a variable went where anything may be assigned to it."""
    for way in alternatives(tensor):
        made = way.made
        if type(made) is Variable and m.field(made.address, _CONTENT) is not None:
            m.put(made.address, _CONTENT, UNKNOWN)


def method(m: Machine, variable: Tensor, name: str, arguments: Arguments, place: Place) -> Value:
    """A method of a variable."""
    if name in _READS:
        return read(m, variable)
    given = arguments.get("delta", 0) or arguments.get("value", 0) or UNKNOWN
    ways = alternatives(variable)
    for way in ways:
        made = way.made
        if type(made) is Variable:
            content = _assigned(m, way, _ASSIGNS[name], given, place)
            before = m.field(made.address, _CONTENT) if len(ways) > 1 else None  # which of them is not known
            m.put(made.address, _CONTENT, content if before is None else choice([before, content]))
    return variable


def _assigned(m: Machine, variable: Tensor, operator: str, given: Value, place: Place) -> Value:
    """What a variable holds to which `given` is assigned, or added.

    Each statement that does so counts once, whoever calls it: a step that is run many times adds no more to it.
    """
    if operator == _ASSIGNED and not isinstance(given, Tensor):
        return _number(given) or UNKNOWN
    if not isinstance(given, (Tensor, Const)):
        return UNKNOWN
    operands = () if operator == _ASSIGNED else (read(m, variable),)
    if isinstance(given, Tensor):
        given = read(m, given)
        if operator == _ASSIGNED and is_zero(given.made):
            return _ZERO
        operands = (*operands, given)
    made = Made("operation", place, variable.made.context, by=operator, operands=operands)
    return Tensor(variable.dtype, made, False)
