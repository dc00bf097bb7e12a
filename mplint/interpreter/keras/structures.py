"""Structures of tensors: the lists, tuples and dicts that layers take and give."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from mplint.interpreter.calls import Arguments
from mplint.interpreter.values import (
    FLOATS,
    Array,
    Choice,
    Dict,
    Entries,
    Function,
    List,
    Made,
    Place,
    Symbol,
    Tensor,
    Tuple,
    Unknown,
    Value,
    choice,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

_Leaf = TypeVar("_Leaf", bound=Value)

DEEPEST: Final = 8
"""Structures of tensors nested deeper than this are not looked into."""

_BATCH: Final = "batch"


def batch(step: Function) -> Unknown:
    """The data that `fit` gives to a `step` of a model: no symbolic tensors, whatever they are."""
    return Unknown(Symbol(_BATCH, step.code.qualname))


def is_of_batch(value: Value) -> bool:
    """Whether something unknown is a part of such data, or made of them."""
    return (
        isinstance(value, Unknown)
        and value.symbol is not None
        and any(part.parts[0] == _BATCH for part in value.symbol.tree)
    )


def is_symbolic(inputs: Iterable[Tensor], arguments: Arguments) -> bool | None:
    """Whether a layer called with `inputs` among its `arguments` gives symbolic tensors; None if both may be."""
    given = list(inputs)
    if any(tensor.symbolic for tensor in given):
        return True
    return False if given or any(map(is_of_batch, arguments.values())) else None


def tensors_in(m: Machine, arguments: Arguments) -> tuple[Tensor, ...]:
    """The tensors among the arguments of a call, in order."""
    found: list[Tensor] = []
    for value in arguments.values():
        found.extend(flatten(m, value))
    return tuple(found)


def flatten(m: Machine, value: Value, depth: int = 0) -> list[Tensor]:
    """The tensors in a structure, in its order; a container may hold itself, so not for ever."""
    if isinstance(value, Tensor):
        return [value]
    if depth > DEEPEST:
        return []
    match value:
        case Tuple():
            held: tuple[Value, ...] = (*value.items, *([value.rest] if value.rest else []))
        case List():
            return flatten(m, m.items(value), depth)
        case Dict():
            entries = m.entries(value)
            held = (*(item for _, item in entries.pairs), *([entries.rest] if entries.rest else []))
        case _:
            return []
    return [tensor for item in held for tensor in flatten(m, item, depth + 1)]


def autocast(m: Machine, value: Value, dtype: str | None, place: Place) -> Value:
    """What a layer that computes in `dtype` sees of the tensors in `value`: floating ones are cast."""

    def cast(tensor: Tensor) -> Tensor:
        if (tensor.dtype is not None and tensor.dtype not in FLOATS) or tensor.dtype == dtype:
            return tensor
        kept = dtype if tensor.dtype is not None or tensor.made.kind == "argument" else None
        made = Made("cast", place, m.context, by="autocast", operands=(tensor,), computed_in=kept)
        return Tensor(kept, made, tensor.symbolic, tensor.softmax)

    return changed(m, value, place, cast)


def changed(m: Machine, value: Value, place: Place, change: Callable[[Tensor], Value]) -> Value:
    """`value` with `change` done to each tensor in it; the same object where nothing changes."""
    return _changed(m, value, place, Tensor, change)


def _changed(m: Machine, value: Value, place: Place, kind: type[_Leaf], change: Callable[[_Leaf], Value]) -> Value:
    if isinstance(value, kind):
        return change(value)
    if not isinstance(value, (Tuple, List, Dict, Choice)):
        return value
    return _Change(m, place, kind, change).of(value)


class _Change(Generic[_Leaf]):
    """One change of what a structure holds of a kind.

    A container is changed once, however often it is held; one that holds itself stays as it is in there.
    """

    def __init__(self, m: Machine, place: Place, kind: type[_Leaf], change: Callable[[_Leaf], Value]) -> None:
        self._m = m
        self._place = place
        self._kind = kind
        self._change = change
        self._context = m.context
        self._done: dict[Value, Value] = {}
        self._made = 0

    def of(self, value: Value, depth: int = 0) -> Value:
        """`value`, changed."""
        if isinstance(value, self._kind):
            return self._change(value)
        if depth > DEEPEST:
            return value
        match value:
            case Tuple():
                items = tuple(self.of(item, depth + 1) for item in value.items)
                rest = self.of(value.rest, depth + 1) if value.rest is not None else None
                same = rest is value.rest and all(a is b for a, b in zip(items, value.items, strict=True))
                return value if same else Tuple(items, rest)
            case List() | Dict():
                if value not in self._done:
                    self._done[value] = value
                    self._done[value] = self._container(value, depth)
                return self._done[value]
            case Choice():
                return choice([self.of(option, depth + 1) for option in value.options])
            case _:
                return value

    def _container(self, value: List | Dict, depth: int) -> Value:
        if isinstance(value, List):
            held = self._m.items(value)
            items = self.of(held, depth + 1)
            return value if items is held else items
        entries = self._m.entries(value)
        pairs = tuple((key, self.of(item, depth + 1)) for key, item in entries.pairs)
        rest = self.of(entries.rest, depth + 1) if entries.rest is not None else None
        if rest is entries.rest and all(a[1] is b[1] for a, b in zip(pairs, entries.pairs, strict=True)):
            return value
        self._made += 1  # each dict is an object of its own
        self._m.context = self._context.at(self._place, self._made)
        result = self._m.new_dict(self._place, Entries(pairs, rest, entries.optional, entries.shuffled))
        self._m.context = self._context
        return result


def with_data(tensor: Tensor, data: bool) -> Tensor:
    """A tensor with data in place of a symbolic one, or the reverse."""
    if tensor.symbolic is not data:
        return tensor
    return Tensor(tensor.dtype, tensor.made, not data, tensor.softmax, tensor.autocast)


def real(m: Machine, value: Value, place: Place) -> Value:
    """Symbolic tensors as the code inside a layer sees them: with data."""
    return changed(m, value, place, lambda tensor: with_data(tensor, True))


def as_tensors(m: Machine, arguments: Arguments, place: Place) -> Arguments:
    """What a layer or model makes of the arrays that it is called with: tensors, double precision as float32.

    Keras 2 does so with the first argument alone.
    """

    def tensor(array: Array) -> Value:
        dtype = "float32" if array.dtype == "float64" else array.dtype
        return Tensor(dtype, Made("argument", place, m.context), False)

    args, keywords = list(arguments.args), dict(arguments.keywords)
    casts_all = m.generation == "3"
    for i in range(len(args) if casts_all else min(len(args), 1)):
        args[i] = _changed(m, args[i], place, Array, tensor)
    for name in keywords if casts_all else [next(iter(keywords))] if keywords and not args else []:
        keywords[name] = _changed(m, keywords[name], place, Array, tensor)
    return Arguments(tuple(args), tuple(keywords.items()), arguments.rest, arguments.more)
