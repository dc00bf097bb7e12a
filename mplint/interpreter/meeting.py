"""Where branches meet: what they have in common goes on, and what only makes sense apart gets worlds of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from mplint.interpreter.activations import Split
from mplint.interpreter.candidates import is_precise, of_branches
from mplint.interpreter.implications import Facts, concerning, implied
from mplint.interpreter.keras import strategies
from mplint.interpreter.merging import merge_contents
from mplint.interpreter.state import POLICY, Cell, State, common
from mplint.interpreter.state import join as join_states
from mplint.interpreter.values import (
    FLOATS,
    NONE,
    Api,
    Choice,
    Const,
    Entries,
    Function,
    Instance,
    Partial,
    Policy,
    Symbol,
    Undecided,
    Unknown,
    Value,
    choice,
    derived,
    options,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine


# -- states and results


def join(m: Machine, states: list[State], symbols: Sequence[Symbol] = (), first: bool | None = None) -> State:
    """The state behind a join of branches that were taken under the conditions `symbols`.

    Where they differ in nothing but the policy, it stays open which one it is until something depends on that.  Of two
    branches, `first` may say under which outcome of the one condition that of the first state was taken.
    """
    condition = symbols[0] if symbols else None
    policy: Undecided | None = None
    differs = False

    def merge(cell: Cell, contents: list[object]) -> object:
        nonlocal policy, differs
        if cell == POLICY and m.may_split:
            undecided = Undecided.of(contents, condition)
            if undecided.conditions:
                policy = undecided
                return undecided
        differs = True
        merged = merge_contents(contents)
        if m.may_split and condition is not None and not _is_as_before(merged, cell, states):
            _tell_apart(m, condition, _differing(contents))
        if condition is not None and first is not None and len(contents) == 2:
            together = _together(condition, first, contents)
            if together is not None:
                return together
            _note(m, merged, condition, *(contents if first else contents[::-1]))
        return _met(m, merged, contents, symbols) if isinstance(merged, Unknown) else merged

    joined = join_states(states, merge)
    if policy is not None:
        if differs:
            decide_on(policy)
        m.pending = policy
    return joined


def _is_as_before(merged: object, cell: Cell, states: Sequence[State]) -> bool:
    """Whether branches have only narrowed what a cell holds, and together leave what they found there."""
    if not isinstance(merged, Choice):
        return False
    base = common(states)
    before = None if base is None else base.get(cell)
    return isinstance(before, Choice) and set(before.options) == set(merged.options)


def _together(condition: Symbol, first: bool, contents: Sequence[object]) -> Value | None:
    """What two branches leave in a cell, where it stays together with their condition."""
    one, other = contents
    if not isinstance(one, Value) or not isinstance(other, Value):
        return None
    return of_branches(condition, one, other) if first else of_branches(condition, other, one)


def one_of(
    m: Machine, values: list[Value], symbols: Sequence[Symbol] = (), facts: Sequence[Facts] | None = None
) -> Value:
    """One of `values`, the results of branches under `symbols`; what becomes unknown by that is out of sight.

    `facts` may say what is known of conditions in each of the branches.
    """
    if facts is not None and len(values) > 1:
        together = _by_facts(list(zip(facts, values, strict=True)))
        if together is not None:
            return together
    result = choice(values)
    if facts is not None and len(values) == 2:
        symbol = next((symbol for symbol, held in facts[0].items() if facts[1].get(symbol) is (not held)), None)
        if symbol is not None:
            _note(m, result, symbol, *(values if facts[0][symbol] else values[::-1]))
    return _met(m, result, values, symbols) if isinstance(result, Unknown) else result


def _note(m: Machine, result: object, symbol: Symbol, yes: object, no: object) -> None:
    """Note the condition that decides which of two objects something is."""
    if isinstance(result, Choice) and isinstance(yes, Instance) and isinstance(no, Instance):
        found = (symbol, yes, no)
        m.program.choices[result] = found if m.program.choices.get(result, found) == found else None


def _by_facts(rows: Sequence[tuple[Facts, Value]]) -> Value | None:
    """One of several results, where the conditions that decide which are known."""
    facts, first = rows[0]
    if all(value == first for _, value in rows):
        return first
    for symbol, outcome in facts.items():
        here = [row for row in rows if row[0].get(symbol) is outcome]
        others = [row for row in rows if row[0].get(symbol) is (not outcome)]
        if others and len(here) + len(others) == len(rows):
            one, other = _by_facts(here), _by_facts(others)
            if one is None or other is None:
                return None
            return of_branches(symbol, one, other) if outcome else of_branches(symbol, other, one)
    return None


def _met(m: Machine, merged: Unknown, contents: Sequence[object], symbols: Sequence[Symbol]) -> Unknown:
    """The unknown in which `contents` meet behind `symbols`: whoever asks for it twice asks for one thing.

    Objects among them cannot be told from something unknown any more.
    """
    for content in contents:
        if isinstance(content, Value) and not isinstance(content, Unknown):
            m.escape(content)
    return derived("met", Unknown(symbols[0]), *contents) if symbols and merged.symbol is None else merged


# -- worlds


def tell_apart(m: Machine, values: list[Value], symbols: Sequence[Symbol], states: Sequence[State] = ()) -> None:
    """Split the world where `values`, the results of branches under `symbols`, differ in their precision.

    And where they differ at all, and the branches, which end in `states`, leave different policies.
    """
    if m.may_split and symbols and any(value != values[0] for value in values[1:]):
        policies = [state.get(POLICY) for state in states]
        if any(policy != policies[0] for policy in policies[1:]):
            decide_on(Undecided.of(policies, symbols[0]))
        _tell_apart(m, symbols[0], values)


def decide_on(policy: Undecided) -> NoReturn:
    """Go on in a world for each outcome of the condition that comes first of those that decide on the policy."""
    raise Split(policy.conditions[0])


def depends_on(symbol: Symbol, policy: Undecided, decisions: Facts) -> bool:
    """Whether an outcome of one of the conditions that decide on the policy says what that of `symbol` is.

    Together with what is decided, where that joins conditions.
    """
    joined = {other: outcome for other, outcome in decisions.items() if other.is_compound}
    for condition in policy.conditions:
        if symbol == condition:
            return True
        about = concerning(symbol, {**joined, condition: True})
        if condition in about and any(
            implied(symbol, {**about, condition: outcome}) is not None for outcome in (True, False)
        ):
            return True
    return False


def _tell_apart(m: Machine, symbol: Symbol, contents: Sequence[object]) -> None:
    """Split the world where branches under `symbol` leave `contents` that only make sense together with others.

    A strategy that an option names is for its user to pair with a policy; one that the machine decides is not.
    """
    precise = any(map(_precise, contents)) and not all(map(_scales, contents))
    if precise or _is_own_or_global(contents) or any(_is_manager(m, each) for each in contents):
        raise Split(symbol)
    if symbol.parts[0] != "Equal" and any(_is_unfit(content, m.generation) for content in contents):
        m.program.strategies.add(symbol)
        raise Split(symbol)


def _is_own_or_global(contents: Sequence[object]) -> bool:
    """Whether a dtype is named in one branch and none in another, where a layer takes the global policy."""
    return NONE in contents and any(isinstance(each, Const) and each.value in FLOATS for each in contents)


def _is_manager(m: Machine, content: object) -> bool:
    """Whether `content` is a context manager of the program: what runs in it may have a policy of its own."""
    return (
        isinstance(content, Partial)
        and isinstance(content.callee, Function)
        and content.callee.code.node in m.program.context_managers
    )


def _is_unfit(content: object, generation: str) -> bool:
    """Whether `content` is, or may be, a strategy that mixed_float16 does not work under."""
    return isinstance(content, Value) and any(
        isinstance(option, Instance)
        and isinstance(option.cls, Api)
        and strategies.is_unfit(option.cls.path, generation)
        for option in options(content)
    )


def _differing(contents: list[object]) -> Sequence[object]:
    """What is not the same in `contents`: of dicts, the values under some keys."""
    held = [dict(content.pairs) for content in contents if isinstance(content, Entries)]
    if len(held) < len(contents) or not held:
        return contents
    keys = dict.fromkeys(key for pairs in held for key in pairs)
    columns = ([pairs.get(key, NONE) for pairs in held] for key in keys)
    return [value for column in columns if any(value != column[0] for value in column) for value in column]


def _precise(content: object) -> bool:
    """Whether `content` says in which precision something is computed, or whether a loss is scaled."""
    match content:
        case Policy():
            return True
        case Instance():
            return _scales(content)
        case Choice():
            return any(_precise(option) for option in content.options)
        case Unknown():
            return any(is_precise(candidate.value) for candidate in content.candidates)
        case _:
            return is_precise(content)


def _scales(content: object) -> bool:
    """Whether `content` is an optimizer that scales the loss."""
    return isinstance(content, Instance) and content.cls == Api("keras.optimizers.LossScaleOptimizer")
