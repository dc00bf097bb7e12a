"""What the annotation of an option says about its values: `bool`, `Literal[…]`, an enumeration, a dataclass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import libcst as cst

from mplint.interpreter import candidates
from mplint.interpreter.classes import is_enum, members
from mplint.interpreter.code import dotted
from mplint.interpreter.values import FALSE, NONE, TRUE, Api, Class, Const, Symbol, Value

if TYPE_CHECKING:
    from mplint.interpreter.frames import Frame
    from mplint.interpreter.machine import Machine

_BOOL: Final = Api("builtins.bool")


@dataclass(frozen=True)
class Kind:
    """What values an annotation takes: any where all is empty."""

    values: tuple[Value, ...] = ()
    """All there are; none where they are not listed."""
    cls: Class | None = None
    """A class of the program."""


def kind_of(m: Machine, frame: Frame, node: cst.BaseExpression | None) -> Kind:
    """What the annotation `node`, written in `frame`, says."""
    match node:
        case cst.Subscript():
            return _subscripted(m, frame, node)
        case cst.BinaryOperation(operator=cst.BitOr()):
            return _one_of(m, frame, [node.left, node.right])
        case cst.Name() | cst.Attribute():
            value = m.evaluate(frame, node)
            if value == _BOOL:
                return Kind((TRUE, FALSE))
            if not isinstance(value, Class):
                return Kind()
            return Kind(members(m, value).items if is_enum(value) else (), value)
        case cst.SimpleString():
            return _quoted(m, frame, node)
        case _:
            return Kind()


def _quoted(m: Machine, frame: Frame, node: cst.SimpleString) -> Kind:
    """An annotation in quotes."""
    text = node.evaluated_value
    if not isinstance(text, str) or not text.isidentifier():
        return Kind()
    return kind_of(m, frame, cst.Name(text))


def _subscripted(m: Machine, frame: Frame, node: cst.Subscript) -> Kind:
    """`Literal["a", "b"]`, `Annotated[T, …]`, `Optional[T]`."""
    inner = [part.slice.value for part in node.slice if isinstance(part.slice, cst.Index)]
    match dotted(node.value).rpartition(".")[2]:
        case "Literal":
            values = [m.evaluate(frame, part) for part in inner]
            return Kind(tuple(values) if all(isinstance(value, Const) for value in values) else ())
        case "Annotated" if inner:
            return kind_of(m, frame, inner[0])
        case "Optional" | "Union" | "Final" | "Required":
            return _one_of(m, frame, inner)
        case _:
            return Kind()


def _one_of(m: Machine, frame: Frame, nodes: list[cst.BaseExpression]) -> Kind:
    """The first of several annotations that says anything."""
    kinds = [kind_of(m, frame, node) for node in nodes]
    return next((kind for kind in kinds if kind != Kind()), Kind())


def option(symbol: Symbol, kind: Kind, default: Value | None) -> Value:
    """The option `symbol`, as a command line gives it to what has this annotation and this default."""
    if set(kind.values) == {TRUE, FALSE} or (isinstance(default, Const) and isinstance(default.value, bool)):
        return candidates.switch_or_none(symbol, default)
    told = [default] if default is not None and candidates.is_plain(default) else []
    if kind.values:
        return candidates.likely(symbol, [*kind.values, *told], closed=True)
    if default is not None and not told:
        return default
    return candidates.likely(symbol, [] if default == NONE else told)
