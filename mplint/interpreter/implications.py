"""What the conditions that are decided in a world say about others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mplint.interpreter.values import Api, Const, Symbol, Tuple

_TESTS: Final = frozenset({"startswith", "endswith", "isdigit", "isalpha"})
_TEXTS: Final = frozenset({"lower", "upper", "strip", "removeprefix", "removesuffix", "replace", "casefold", "split"})


def implied(symbol: Symbol, decisions: Mapping[Symbol, bool]) -> bool | None:
    """The truth of the condition `symbol` where it follows from those that are decided; None where it does not.

    A value that is equal to one constant is equal to no other, and what is asked of it can be computed.
    """
    kind, *operands = symbol.parts
    known: dict[Symbol, object] = {}
    for other, outcome in decisions.items():
        other_kind, *others = other.parts
        if other_kind == "Equal" and outcome:
            if symbol == others[0]:
                return True
            if kind == "Equal" and operands[0] == others[0] and operands[1] != others[1]:
                return False
            if isinstance(others[0], Symbol) and isinstance(others[1], Const):
                known[others[0]] = others[1].value
        elif not outcome and kind == "Equal" and operands[0] == other:
            return False
    if kind == "Equal" and isinstance(operands[0], Symbol) and operands[1] in operands[0].domain:
        rest = [Symbol("Equal", operands[0], value) for value in operands[0].domain if value != operands[1]]
        if all(decisions.get(other) is False for other in rest):
            return True
    if not known or known.keys().isdisjoint(symbol.leaves):
        return None
    result = _computed(symbol, known)
    return bool(result) if result is not _UNKNOWN else None


_UNKNOWN: Final = object()


def computed(symbol: Symbol, known: Mapping[Symbol, object]) -> object:
    """The value that `symbol` has where the symbols `known` have theirs; None where that cannot be said."""
    found = _computed(symbol, known)
    return None if found is _UNKNOWN else found


def _computed(part: object, known: Mapping[Symbol, object]) -> object:
    """The value of a part of a condition, given the values of some symbols."""
    if isinstance(part, Const):
        return part.value
    if isinstance(part, Tuple):
        held = [_computed(item, known) for item in part.items]
        return _UNKNOWN if part.rest is not None or _UNKNOWN in held else tuple(held)
    if not isinstance(part, Symbol):
        return _UNKNOWN
    if part in known:
        return known[part]
    kind, *operands = part.parts
    if kind == "call" and isinstance(operands[0], Symbol) and operands[0].parts[0] == "attribute":
        _, receiver, name = operands[0].parts
        return _method(_computed(receiver, known), name, [_computed(argument, known) for argument in operands[1:]])
    if kind == "call" and operands[0] == Api("builtins.str") and len(operands) == 2:
        return _text(_computed(operands[1], known))
    values = [_computed(operand, known) for operand in operands]
    if any(value is _UNKNOWN for value in values):
        return _UNKNOWN
    match kind, values:
        case "not", [value]:
            return not value
        case "Equal", [left, right]:
            return left == right
        case "in", [str() as left, str() as right]:
            return left in right
        case "in", [(str() | int()) as left, tuple() as right]:
            return left in right
        case "Add", [str() as left, str() as right]:
            return left + right
        case "Modulo", [str("mixed_%s" | "%s") as left, (str() | int()) as right]:
            return left % right
        case "str.format", [str("mixed_{}" | "{}") as left, (str() | int()) as right]:
            return left.format(right)
        case "text", _ if all(isinstance(value, (str, int)) for value in values):
            return "".join(map(str, values))
        case "and", [left, right]:
            return left and right
        case "or", [left, right]:
            return left or right
        case "str", [value]:
            return _text(value)
        case _:
            return _UNKNOWN


def _text(value: object) -> object:
    return value if isinstance(value, str) else _UNKNOWN


def _method(receiver: object, name: object, arguments: list[object]) -> object:
    """`receiver.name(*arguments)` of a string."""
    if not isinstance(receiver, str) or not isinstance(name, str) or name not in _TESTS | _TEXTS:
        return _UNKNOWN
    if not all(isinstance(argument, str) for argument in arguments):
        return _UNKNOWN
    try:
        result: object = getattr(receiver, name)(*arguments)
    except (TypeError, ValueError):
        return _UNKNOWN
    return result if isinstance(result, (bool, str)) else _UNKNOWN
