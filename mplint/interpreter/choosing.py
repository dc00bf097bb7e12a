"""One of the values that something may have, where the precision depends on it: a world for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from mplint.interpreter import candidates
from mplint.interpreter.activations import Split
from mplint.interpreter.calls import each
from mplint.interpreter.candidates import by_rank
from mplint.interpreter.state import POLICY
from mplint.interpreter.values import Bound, Candidate, Choice, Place, Symbol, Unknown, Value

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine


def choose(m: Machine, value: Choice, place: Place, *, may_split: bool = True) -> Value:
    """One of several values on which the precision depends; the world may be split where it is not decided."""
    known = m.program.choices.get(value)
    if known is not None:
        decisive, yes, no = known
        outcome = m.decide(decisive)
        if outcome is None and m.may_split and may_split:
            raise Split(decisive)
        return value if outcome is None else yes if outcome else no
    for position, option in enumerate(value.options[:-1]):
        symbol = Symbol("option", place, position)
        decided = m.decide(symbol)
        if decided is None:
            if m.may_split and may_split:
                raise Split(symbol)
            return value
        if decided:
            return option
    return value.options[-1]


def narrow(m: Machine, value: Choice, chosen: Value) -> None:
    """From here on whatever holds `value` holds `chosen`: what else is done with it belongs to the same world."""
    for cell in m.state.holding(value):
        m.state.set(cell, chosen)


def call_each(m: Machine, callees: tuple[Value, ...], run: Callable[[Value], Value], place: Place) -> Value:
    """Call one of several; where that says which precision is used, another one in each world."""
    if len(callees) < 2:
        return each(m, callees, run)
    receivers = tuple(map(_receiver, callees))
    told = Choice(receivers if len(set(receivers)) == len(callees) else callees)
    chosen = choose(m, told, place, may_split=False)
    if not isinstance(chosen, Choice):
        narrow(m, told, chosen)
        return run(callees[told.options.index(chosen)])
    results: list[Value] = []
    policies: list[object] = []

    def noted(callee: Value) -> Value:
        results.append(run(callee))
        policies.append(m.state.get(POLICY))
        return results[-1]

    result = each(m, callees, noted)
    is_precise = any(map(candidates.is_precise, results)) and all(map(candidates.is_plain, results))
    if (is_precise and len(set(results)) > 1) or len(set(policies)) > 1:
        choose(m, told, place)
    return result


def _receiver(callee: Value) -> Value:
    return callee.receiver if isinstance(callee, Bound) else callee


def settle(m: Machine, value: Unknown) -> Value:
    """One of the values that an unknown is likely to have, on which the precision depends."""
    m.effects += 1
    likely = m.likely(value)
    known = _decided(m, value, likely)
    if known is not None:
        return known
    left = [each for each in by_rank(likely) if m.decide(each.symbol) is None]
    if left and m.may_split:
        raise Split(left[0].symbol)
    if not likely:
        m.unsettled.append(value)
    return value


def resolved(m: Machine, value: Unknown) -> Value | None:
    """Which of its candidates an unknown is, where this world or the branch being run decides it."""
    if m.decisions:
        return _decided(m, value, value.candidates)
    if m.recording is not None:  # where something is decided, the answer may be another
        m.recording.conditions.update(dict.fromkeys(candidate.symbol for candidate in value.candidates))
    return None


def _decided(m: Machine, value: Unknown, likely: Sequence[Candidate]) -> Value | None:
    left: list[Candidate] = []
    for candidate in likely:
        decided = m.decide(candidate.symbol)
        if decided is candidate.holds:
            return candidate.value
        if decided is None:
            left.append(candidate)
    return left[0].value if value.closed and len(left) == 1 else None
