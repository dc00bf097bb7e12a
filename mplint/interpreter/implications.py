"""What the conditions that are decided in a world say about others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from mplint.interpreter.values import Api, Const, Symbol, Tuple

_TESTS: Final = frozenset({"startswith", "endswith", "isdigit", "isalpha"})
_TEXTS: Final = frozenset({"lower", "upper", "strip", "removeprefix", "removesuffix", "replace", "casefold", "split"})


Facts = Mapping[Symbol, bool]
"""What is known about conditions."""

TRANSPARENT: Final = frozenset({"not", "bool", "len"})
"""The kinds of symbols that are true, or false, where what they are made from is."""


def question_behind(symbol: Symbol) -> tuple[Symbol, bool]:
    """The condition that decides whether `symbol` is true, and whether it is where that holds."""
    holds = True
    while symbol.parts[0] in TRANSPARENT and isinstance(symbol.parts[1], Symbol):
        holds = holds is (symbol.parts[0] != "not")
        symbol = symbol.parts[1]
    return symbol, holds


def implied(symbol: Symbol, decisions: Facts) -> bool | None:
    """The truth of the condition `symbol` where it follows from those that are decided; None where it does not.

    A value that is equal to one constant is equal to no other, and what is asked of it can be computed.  Of conditions
    that are joined, each follows from the others: whose opposite contradicts something that is decided, holds.
    """
    decided = concerning(symbol, decisions)
    concerned = [other for other in decided if other.is_compound and not other.tree.isdisjoint(symbol.subjects)]
    if not concerned and not symbol.is_compound:
        return _outcome(symbol, decided, _values(decided)) if decided else None
    facts = dict(decided)
    for other, outcome in decided.items():
        if other.is_compound:
            _add(facts, other, outcome)
    found = _truth(symbol, facts, _values(facts))
    if found is not None:
        return found
    for other in concerned:
        for outcome in (True, False):
            supposed = dict(facts)
            _add(supposed, symbol, outcome)
            result = _outcome(other, supposed, _values(supposed))
            if result is not None and result is not decided[other]:
                return not outcome
    return None


def concerning(symbol: Symbol, decisions: Facts) -> dict[Symbol, bool]:
    """Those decisions that can say something about a condition, by themselves or through others that join conditions.

    There are many, and most are about other things.
    """
    found: set[Symbol] = set()
    waiting = [symbol]
    while waiting:
        here = waiting.pop()
        tree, subjects = here.tree, here.subjects
        for other in decisions:
            if other.is_compound:
                if other not in found and not (tree.isdisjoint(other.subjects) and subjects.isdisjoint(other.tree)):
                    found.add(other)
                    waiting.append(other)
            elif not tree.isdisjoint(other.subjects):
                found.add(other)
    return {other: outcome for other, outcome in decisions.items() if other in found} if found else {}


def in_common(branches: Sequence[Facts]) -> dict[Symbol, bool]:
    """What is known of conditions behind branches, whichever was taken."""
    if not branches:
        return {}
    first, *others = branches
    return {symbol: held for symbol, held in first.items() if all(each.get(symbol) is held for each in others)}


def _values(facts: Facts) -> dict[Symbol, object]:
    """What is said to be equal to something that is known: that, as it stands in the condition."""
    return {
        other.parts[1]: other.parts[2]
        for other, outcome in facts.items()
        if outcome
        and other.parts[0] in ("Equal", "is")
        and isinstance(other.parts[1], Symbol)
        and not isinstance(other.parts[2], Symbol)
    }


def _add(facts: dict[Symbol, bool], part: object, outcome: bool) -> None:
    """Add to `facts` that a condition comes out as `outcome`, and what follows for the conditions that it joins."""
    if not isinstance(part, Symbol):
        return
    facts.setdefault(part, outcome)
    if not part.is_compound:
        return
    match part.parts:
        case ("not", inner):
            _add(facts, inner, not outcome)
        case ("bool", inner):
            _add(facts, inner, outcome)
        case ("and" as kind, left, right) | ("or" as kind, left, right) if outcome is (kind == "and"):
            _add(facts, left, outcome)
            _add(facts, right, outcome)
        case ("if", condition, yes, no):
            for branch, other, taken in ((yes, no, False), (no, yes, True)):
                if isinstance(branch, Const) and bool(branch.value) is not outcome:
                    _add(facts, condition, taken)
                    _add(facts, other, outcome)
        case ("Equal", Symbol() as chosen, value) if outcome and (ways := branches_of(chosen)) is not None:
            condition, yes, no = ways
            for branch, other, taken in ((yes, no, False), (no, yes, True)):
                if isinstance(branch, Const) and not isinstance(value, Symbol) and branch != value:
                    _add(facts, condition, taken)
                    if isinstance(other, Symbol):
                        _add(facts, Symbol("Equal", other, value), True)
        case _:
            pass


def branches_of(symbol: Symbol) -> tuple[object, object, object] | None:
    """What decides which of two values something has, what it is where that holds, and what else."""
    match symbol.parts:
        case ("if", condition, yes, no):
            return condition, yes, no
        case ("or", left, right):
            return left, left, right
        case ("and", left, right):
            return left, right, left
        case _:
            return None


def _truth(part: object, facts: Facts, values: Mapping[Symbol, object]) -> bool | None:
    """Whether a part of a condition is true, as far as `facts` tell, and the `values` that follow from them."""
    if isinstance(part, Const):
        return bool(part.value)
    if not isinstance(part, Symbol):
        return None
    known = facts.get(part)
    return known if known is not None else _outcome(part, facts, values)


def _outcome(symbol: Symbol, facts: Facts, values: Mapping[Symbol, object]) -> bool | None:
    """The same from what a condition is made of, whatever `facts` say of itself."""
    match symbol.parts:
        case ("not", inner):
            found = _truth(inner, facts, values)
            return None if found is None else not found
        case ("bool", inner):
            return _truth(inner, facts, values)
        case ("and" as kind, left, right) | ("or" as kind, left, right):
            sides = (_truth(left, facts, values), _truth(right, facts, values))
            decisive = kind == "or"
            return decisive if decisive in sides else None if None in sides else not decisive
        case ("if", condition, yes, no):
            return _of_branches(condition, _truth(yes, facts, values), _truth(no, facts, values), facts, values)
        case ("Equal", left, right):
            found = _equal(left, right, facts, values)
            if found is not None:
                return found
        case ("is", inner, Const(value=None)):
            held = values.get(inner) if isinstance(inner, Symbol) else None
            if held is not None:
                return held == Const(None)
            if _truth(inner, facts, values):
                return False
        case _:
            pass
    value = values.get(symbol)
    if value is not None:
        return bool(value.value) if isinstance(value, Const) else True
    if not values and not symbol.is_compound:
        return None
    known = {other: value.value for other, value in values.items() if isinstance(value, Const)}
    result = _computed(symbol, known, lambda condition: _truth(condition, facts, values))
    return None if result is _UNKNOWN else bool(result)


def _of_branches(
    condition: object, yes: bool | None, no: bool | None, facts: Facts, values: Mapping[Symbol, object]
) -> bool | None:
    taken = _truth(condition, facts, values)
    if taken is not None:
        return yes if taken else no
    return yes if yes is no else None


def _equal(left: object, right: object, facts: Facts, values: Mapping[Symbol, object]) -> bool | None:
    """Whether two parts of a condition are equal."""
    if isinstance(left, Const) and isinstance(right, Const):
        return left == right
    if not isinstance(left, Symbol):
        return None
    if isinstance(right, Symbol):  # two unknowns may be equal whatever is known of one of them
        return left == right or (_known_equal(right, values[left], facts, values) if left in values else None)
    if left in values:
        return values[left] == right
    if left in facts and facts[left] is (isinstance(right, Const) and not right.value):
        return False
    if right in left.domain:
        rest = (Symbol("Equal", left, value) for value in left.domain if value != right)
        if all(facts.get(other) is False for other in rest):
            return True
    ways = branches_of(left)
    if ways is None:
        return None
    yes, no = (_known_equal(branch, right, facts, values) for branch in ways[1:])
    return _of_branches(ways[0], yes, no, facts, values)


def _known_equal(left: object, right: object, facts: Facts, values: Mapping[Symbol, object]) -> bool | None:
    if isinstance(left, Symbol):
        return _truth(Symbol("Equal", left, right), facts, values)
    return _equal(left, right, facts, values)


_UNKNOWN: Final = object()


def computed(symbol: Symbol, known: Mapping[Symbol, object]) -> object:
    """The value that `symbol` has where the symbols `known` have theirs; None where that cannot be said."""
    found = _computed(symbol, known, lambda _: None)
    return None if found is _UNKNOWN else found


def _computed(part: object, known: Mapping[Symbol, object], truth_of: Callable[[object], bool | None]) -> object:
    """The value of a part of a condition, given the values of some symbols, and what is true."""
    if isinstance(part, Const):
        return part.value
    if isinstance(part, Tuple):
        held = [_computed(item, known, truth_of) for item in part.items]
        return _UNKNOWN if part.rest is not None or _UNKNOWN in held else tuple(held)
    if not isinstance(part, Symbol):
        return _UNKNOWN
    if part in known:
        return known[part]
    kind, *operands = part.parts
    if kind == "call" and isinstance(operands[0], Symbol) and operands[0].parts[0] == "attribute":
        _, receiver, name = operands[0].parts
        return _method(
            _computed(receiver, known, truth_of),
            name,
            [_computed(argument, known, truth_of) for argument in operands[1:]],
        )
    if kind == "call" and operands[0] == Api("builtins.str") and len(operands) == 2:
        return _text(_computed(operands[1], known, truth_of))
    if kind == "if":
        taken = truth_of(operands[0])
        return _UNKNOWN if taken is None else _computed(operands[1 if taken else 2], known, truth_of)
    values = [_computed(operand, known, truth_of) for operand in operands]
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
