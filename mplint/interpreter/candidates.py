"""Values that an unknown is likely to have: where they come from, and what an expression makes of them.

An option that an author gives choices or a default is unknown, and yet not anything.  Each of its candidates is what it
is under a condition, and what is computed of it keeps that condition: `"mixed_" + args.precision` is "mixed_float16"
where `args.precision == "float16"`, so that all that hangs on one option stays together in a world.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from mplint.interpreter.values import (
    FALSE,
    HALF_POLICIES,
    NONE,
    TRUE,
    UNKNOWN,
    Candidate,
    Const,
    DType,
    Entries,
    Instance,
    Policy,
    Symbol,
    Unknown,
    Value,
    choice,
    derived,
    is_member,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

_MAX: Final = 16
"""An unknown with more candidates than this is not computed with."""


def likely(symbol: Symbol, values: Iterable[Value], *, closed: bool = False) -> Unknown:
    """The unknown `symbol`, which is probably one of `values`; certainly, where it is `closed` and all are plain."""
    given = tuple(dict.fromkeys(values))
    different = tuple(filter(is_plain, given))
    closed = closed and len(different) == len(given)
    symbol = Symbol(*symbol.parts, domain=different if closed else ())
    return Unknown(symbol, tuple(Candidate(value, Symbol("Equal", symbol, value)) for value in different), closed)


def switch(symbol: Symbol) -> Unknown:
    """The unknown `symbol`, which is True or False."""
    return Unknown(symbol, (Candidate(TRUE, symbol), Candidate(FALSE, symbol, False)), closed=True)


def switch_or_none(symbol: Symbol, default: Value | None) -> Unknown:
    """The unknown `symbol`, which is True or False, or what it is by `default`."""
    return Unknown(symbol) if default == NONE else switch(symbol)


def widened(value: Unknown, more: Iterable[Value], *, closed: bool = False) -> Unknown:
    """An unknown that may be one of `more`, too; certainly no other, where it is `closed`."""
    if value.symbol is None:
        return value
    known = [candidate.value for candidate in value.candidates]
    return likely(value.symbol, [*known, *more], closed=closed and value.closed)


def as_switch(value: Value) -> Value:
    """What reading a text as a boolean gives: anything where the text is known, too, for it is read by rules."""
    return switch(value.symbol) if isinstance(value, Unknown) and value.symbol is not None else UNKNOWN


def is_precise(value: object) -> bool:
    """Whether `value` names half precision."""
    return _name_of(value) in HALF_POLICIES


def _name_of(value: object) -> str | None:
    """What names a precision: a text, a dtype, a policy; None of others."""
    match value:
        case Const(value=str(name)) | DType(name=name) | Policy(name=str(name)):
            return name
        case _:
            return None


def through(source: Value, result: Value, function: Callable[[Value], Value]) -> Value:
    """The unknown `result` of `function(source)`, with what it is for each candidate of `source`."""
    if not isinstance(source, Unknown) or not isinstance(result, Unknown) or not source.candidates:
        return result
    if len(source.candidates) > _MAX:
        return result
    made: list[Candidate] = []
    closed = source.closed
    for candidate in source.candidates:
        value = function(candidate.value)
        if is_plain(value):
            made.append(Candidate(value, candidate.symbol, candidate.holds))
        elif candidate.value != NONE:  # most that is done to None raises
            closed = False
    return _one_of(result.symbol, tuple(made), closed)


def is_plain(value: Value) -> bool:
    """Whether `value` is one that a candidate may be: it stands for itself wherever it is."""
    return isinstance(value, (Const, DType, Policy)) or is_member(value)


def _one_of(symbol: Symbol | None, candidates: tuple[Candidate, ...], closed: bool) -> Value:
    """The unknown `symbol`, which has these candidates; what decides it, where that is one condition alone."""
    if not candidates:
        return Unknown(symbol)
    values = [candidate.value for candidate in candidates]
    if closed:
        if all(value == values[0] for value in values):
            return values[0]
        for outcome in (TRUE, FALSE):
            if values.count(outcome) == 1 and set(values) == {TRUE, FALSE}:
                decisive = candidates[values.index(outcome)]
                decided = switch(decisive.symbol)
                return decided if decisive.holds is (outcome == TRUE) else derived("not", decided)
    return Unknown(symbol if symbol is not None else Symbol("likely", *candidates), candidates, closed)


def of_branches(condition: Symbol, yes: Value, no: Value) -> Value | None:
    """What is `yes` where the condition holds, else `no`, as an unknown that stays together with it.

    None of what is known in both branches, or cannot be told by a name in one.
    """
    if yes == no:
        return yes
    if yes in (TRUE, FALSE) and no in (TRUE, FALSE):
        return switch(condition) if yes == TRUE else derived("not", switch(condition))
    if all(type(value) is not Unknown for value in (yes, no)):
        return None
    named = derived("if", Unknown(condition), yes, no)
    return None if named.symbol is None else _either(named.symbol, yes, no)


def connected(kind: str, left: Unknown, right: Unknown) -> Unknown:
    """`left and right`, `left or right`."""
    named = derived(kind, left, right)
    return named if named.symbol is None else _either(named.symbol, left, right)


def _either(symbol: Symbol, *alternatives: Value) -> Unknown:
    """The unknown `symbol`, which is one of `alternatives`, with what they are likely to be."""
    sides = [_range_of(value) for value in alternatives]
    values = [value for side, _ in sides for value in side]
    closed = all(is_closed for _, is_closed in sides)
    if closed and all(value in (TRUE, FALSE) for value in values):
        return switch(symbol)
    return likely(symbol, values, closed=closed)


def _range_of(value: Value) -> tuple[list[Value], bool]:
    """The values that something is likely to have, and whether it has no others."""
    if isinstance(value, Unknown):
        return [candidate.value for candidate in value.candidates], value.closed
    return [value], True


def or_else(found: Value, default: Value | None) -> Value:
    """What is asked for with a default: `found`, which is not known, or that."""
    if default is None:
        return found
    if not isinstance(found, Unknown) or found.symbol is None or not is_plain(default):
        return choice([found, default])
    if any(candidate.value == default for candidate in found.candidates):
        return found
    return Unknown(found.symbol, (*found.candidates, Candidate(default, Symbol("Equal", found.symbol, default))))


_VALUES: Final = "values"


def values_of(source: Value) -> Value:
    """What the values of a mapping that is not known stand for: each is an item of `source`."""
    return derived(_VALUES, source)


def source_of(value: Value) -> Symbol | None:
    """The mapping whose values `value` stands for."""
    if isinstance(value, Unknown) and value.symbol is not None and value.symbol.parts[0] == _VALUES:
        inner = value.symbol.parts[1]
        return inner if isinstance(inner, Symbol) else None
    return None


def under(value: Value, key: Value) -> Value:
    """The value under `key`, where `value` stands for those of a mapping that is not known."""
    symbol = source_of(value)
    return value if symbol is None else derived("item", Unknown(symbol), key)


def looked_up(key: Value, entries: Entries, default: Value | None = None) -> Value | None:
    """`{…}[key]` for a key that is not known, in a dict that speaks of precision; None of others.

    Where `default` is None, a key that is not there raises.
    """
    if not isinstance(key, Unknown) or key.symbol is None or entries.rest is not None or entries.optional:
        return None
    held = [value for _, value in entries.pairs] + ([default] if default is not None else [])
    if len(held) > _MAX or not any(map(is_precise, held)) or not all(map(is_plain, held)):
        return None
    made = [
        Candidate(value, condition.symbol, condition.holds)
        for name, value in entries.pairs
        if (condition := _under(key, name)) is not None
    ]
    if default is not None and not (key.closed and len(made) == len(key.candidates)):
        made.append(Candidate(default, Symbol("missing", key.symbol, *(name for name, _ in entries.pairs))))
    return _one_of(None, tuple(made), closed=True)


def narrowed(key: Value, entries: Entries) -> list[Value]:
    """What `{…}[key]` is likely to be, for a key that is not known: the values under its candidates."""
    if not isinstance(key, Unknown):
        return []
    likely = {candidate.value for candidate in key.candidates}
    return [value for name, value in entries.pairs if name in likely]


def is_read(key: Value) -> bool:
    """Whether a configuration file says what `key` is."""
    symbol: object = key.symbol if isinstance(key, Unknown) else None
    while isinstance(symbol, Symbol) and symbol.parts[0] == "item":
        symbol = symbol.parts[1]
    return isinstance(symbol, Symbol) and symbol.parts[0] == "settings"


def _under(key: Unknown, name: Value) -> Candidate | None:
    """The condition under which `key` is `name`; None where it never is."""
    for candidate in key.candidates:
        if candidate.value == name:
            return candidate
    if key.closed or key.symbol is None:
        return None
    if isinstance(name, Const) and isinstance(name.value, bool):
        return Candidate(name, key.symbol, name.value)
    return Candidate(name, Symbol("Equal", key.symbol, name))


def member_of(members: Iterable[tuple[Value, Instance]], wanted: Value, symbol: Symbol) -> Value:
    """`SomeEnum(wanted)`: the member of a value that is not known."""
    if not isinstance(wanted, Unknown) or wanted.symbol is None:
        return likely(symbol, [member for _, member in members], closed=True)
    made = [
        Candidate(member, condition.symbol, condition.holds)
        for value, member in members
        if (condition := _under(wanted, value)) is not None
    ]
    return _one_of(symbol, tuple(made), closed=True)


_RANK: Final = ("mixed_float16", "float16", "mixed_bfloat16", "bfloat16")
"""The names of half precision, the one first that most is to be said about."""


def by_rank(candidates: Iterable[Candidate]) -> list[Candidate]:
    """The candidates, those of half precision first: few conditions can be split on."""

    def rank(candidate: Candidate) -> int:
        name = _name_of(candidate.value)
        return _RANK.index(name) if name in _RANK else len(_RANK)

    return sorted(candidates, key=rank)


def note_comparison(m: Machine, value: Value, other: Value) -> None:
    """Note that the program compares an unknown with a constant: it may be that."""
    if not isinstance(value, Unknown) or value.symbol is None or not isinstance(other, Const):
        return
    if isinstance(other.value, (str, int)) and not isinstance(other.value, bool):
        m.program.note_comparison(value.symbol, other)
