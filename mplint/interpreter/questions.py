"""Questions that are asked in several ways: how they are named, so that one answer is the answer to all of them."""

from __future__ import annotations

from typing import Final

from mplint.interpreter.values import ASKING, FALSE, TRUE, Const, Symbol, Unknown, Value, derived


def is_question(value: Value) -> bool:
    """Whether `value` is an unknown that is True or False, and nothing else."""
    if not isinstance(value, Unknown) or value.symbol is None:
        return False
    is_switch = value.closed and all(candidate.value in (TRUE, FALSE) for candidate in value.candidates)
    return value.symbol.parts[0] in ASKING or (is_switch and bool(value.candidates))


def about_a_number(name: str, left: Value, right: Value) -> Value | None:
    """The comparison of an unknown and a number; None for any other, and where there is only one way to ask.

    `len(x) > 0` says that `x` is true, and `n > 1` that `n` is; `n < 2` is the opposite of `n >= 2`.
    """
    if isinstance(left, Const) and isinstance(right, Unknown):
        left, right, name = right, left, _MIRRORED.get(name, name)
    if not (isinstance(left, Unknown) and left.symbol is not None and isinstance(right, Const)):
        return None
    bound = right.value
    if type(bound) is not int:
        return None
    if name in _OPPOSITES:
        opposite = _OPPOSITES[name]
        return derived("not", about_a_number(opposite, left, right) or derived(opposite, left, right))
    counted = left.symbol.parts[1] if left.symbol.parts[0] == "len" else None
    if not isinstance(counted, Symbol):
        is_true = (name == "GreaterThan" and bound >= 0) or (name == "GreaterThanEqual" and bound >= 1)
        return derived("and", left, derived(name, left, right)) if is_true else None
    if name == "GreaterThanEqual":
        name, bound = "GreaterThan", bound - 1
    if name not in ("GreaterThan", "Equal") or bound < 0:
        return None
    full = derived("bool", Unknown(counted))
    if bound == 0:
        return full if name == "GreaterThan" else derived("not", full)
    return derived("and", full, derived(name, left, Const(bound)))


_MIRRORED: Final = {
    "GreaterThan": "LessThan",
    "GreaterThanEqual": "LessThanEqual",
    "LessThan": "GreaterThan",
    "LessThanEqual": "GreaterThanEqual",
}
_OPPOSITES: Final = {"LessThan": "GreaterThanEqual", "LessThanEqual": "GreaterThan"}
