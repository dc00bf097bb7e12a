"""Conditions: what is true, what is not known, and what a branch learns about its variables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import libcst as cst

from mplint.interpreter import namespaces, versions
from mplint.interpreter.calls import Arguments
from mplint.interpreter.choosing import resolved
from mplint.interpreter.classes import class_attribute, library_bases, tuple_fields
from mplint.interpreter.code import dotted
from mplint.interpreter.frames import Frame
from mplint.interpreter.implications import question_behind
from mplint.interpreter.keras.names import is_object
from mplint.interpreter.values import (
    UNKNOWN,
    Api,
    ApiMethod,
    Bound,
    Choice,
    Class,
    Const,
    Dict,
    DType,
    Fields,
    Function,
    Instance,
    List,
    Module,
    Partial,
    Policy,
    Range,
    Symbol,
    Tuple,
    Unknown,
    Value,
    Varying,
    choice,
)

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

Narrowed = dict[str, tuple[list[Value], list[Value]]]
"""Variables whose alternatives a condition sorts: those possible where it holds, and where it does not."""


def truth(m: Machine, value: Value) -> bool | None:
    """Whether `value` is true; None when not known."""
    match value:
        case Const(value=constant):
            return bool(constant)
        case Unknown(symbol=symbol):
            decided = m.decide(symbol)
            if decided is None and value.candidates and (known := resolved(m, value)) is not None:
                return truth(m, known)
            return decided
        case Varying():
            return versions.truth(m, value)
        case Tuple():
            return True if value.items else (False if value.rest is None else None)
        case List(kind="iterator"):
            return True
        case List():
            items = m.items(value)
            return True if items.items else (False if items.rest is None else None)
        case Dict():
            entries = m.entries(value)
            if entries.pairs:
                return True if len(entries.optional) < len(entries.pairs) else None
            return False if entries.rest is None else None
        case Fields():
            held = namespaces.contents(m, value)
            if len(held.optional) < len(held.pairs):
                return True
            return None if held.pairs or held.rest is not None else False
        case Range():
            return bool(range(value.start, value.stop, value.step))
        case Instance(cls=Class() as cls):
            return _truth_of_object(m, value, cls)
        case Bound(callee=ApiMethod()):  # whatever the library has under that name
            return None
        case Instance() | Function() | Class() | Module() | Partial() | Bound() | DType() | Policy():
            return True
        case Choice():
            outcomes = {truth(m, option) for option in value.options}
            return outcomes.pop() if len(outcomes) == 1 else None
        case Api(path=path):
            return True if is_object(path) else m.decide(Symbol("name", path))
        case _:
            return None


_EMPTY_IS_FALSE: Final = frozenset({"builtins.dict", "builtins.list", "builtins.set", "builtins.int", "enum.Flag"})


def _truth_of_object(m: Machine, value: Instance, cls: Class) -> bool | None:
    for name in ("__bool__", "__len__"):
        method = class_attribute(m, cls, name)
        if method is not None:
            return truth(m, m.call(Bound(value, method), Arguments(), value.address.place))
    if tuple_fields(m, value) is not None:  # true while it has fields
        return True
    return True if _EMPTY_IS_FALSE.isdisjoint(library_bases(cls)) else None


def condition(
    m: Machine, frame: Frame, test: cst.BaseExpression
) -> tuple[bool | None, Symbol | None, bool, Narrowed, bool]:
    """The outcome of `test`, and what is needed where it is not known.

    That is the symbol that decides it, whether it holds when the symbol does, what the branches learn, and whether the
    branches are for several releases of a library.
    """
    positive = True
    supposed, whole = m.supposed, test
    while type(test) is cst.UnaryOperation and type(test.operator) is cst.Not:
        positive = not positive
        test = test.expression
    _name_unknowns(m, frame, test)
    value = m.evaluate(frame, test)
    outcome = truth(m, value)
    symbol, holds = decisive(value)
    if outcome is None or m.supposed > supposed:
        m.unknown_tests.add(whole)
        if symbol is not None:
            m.program.tests.setdefault(symbol, (m.place(frame, test), holds))
    if outcome is not None:
        return (outcome if positive else not outcome), None, positive, {}, versions.depends_on_release(value)
    narrowed = _narrow(m, frame, test)
    if not positive:
        narrowed = {name: (no, yes) for name, (yes, no) in narrowed.items()}
    return None, symbol, positive is holds, narrowed, versions.depends_on_release(value)


def bind_narrowed(m: Machine, frame: Frame, narrowed: Narrowed, taken: bool) -> None:
    """Bind the variables that a condition has narrowed to what they are in the branch that is `taken`, or in the other.

    One that nothing is left of keeps what it had.
    """
    for name, (yes, no) in narrowed.items():
        kept = yes if taken else no
        if kept:
            m.bind(frame, name, choice(kept))


def decisive(value: Value) -> tuple[Symbol | None, bool]:
    """The symbol that decides the unknown truth of `value`, and whether it is true where that holds."""
    match value:
        case Unknown(symbol=Symbol() as symbol) | Varying(symbol=Symbol() as symbol):
            return question_behind(symbol)
        case Api(path=path):
            return Symbol("name", path), True
        case _:
            return None, True


def _name_unknowns(m: Machine, frame: Frame, test: cst.BaseExpression) -> None:
    """Give variables of which nothing is known a name where they are tested: the next test finds the same value."""
    names = m.program.tested.get(test)
    if names is None:
        names = m.program.tested[test] = tuple(dict.fromkeys(_variables(test)))
    for name in names:
        if frame.names is not None and name not in frame.names:
            continue
        if m.variable(frame, name) == UNKNOWN:
            m.bind(frame, name, Unknown(Symbol("variable", name, m.place(frame, test), m.context)))


def _variables(test: cst.BaseExpression) -> Iterator[str]:
    """The variables that a test asks, or asks something of: `flag`, `args.flag`, `config["flag"] == "on"`."""
    match test:
        case cst.Name():
            yield test.value
        case cst.Attribute() | cst.Subscript():
            yield from _variables(test.value)
        case cst.Call(func=cst.Attribute() as function):
            yield from _variables(function)
        case cst.UnaryOperation(operator=cst.Not()):
            yield from _variables(test.expression)
        case cst.BooleanOperation():
            yield from _variables(test.left)
            yield from _variables(test.right)
        case cst.Comparison():
            yield from _variables(test.left)
        case _:
            return


def _narrow(m: Machine, frame: Frame, test: cst.BaseExpression) -> Narrowed:
    """Try the alternatives of the one variable in a simple test, and sort them by its outcome."""
    name = _subject(test)
    if name is None or (frame.names is not None and name not in frame.names):
        return {}
    before = m.variable(frame, name)
    if not isinstance(before, Choice):
        return {}
    yes: list[Value] = []
    no: list[Value] = []
    state = m.state
    for option in before.options:
        m.state = state.fork()
        m.bind(frame, name, option)
        outcome = truth(m, m.evaluate(frame, test))
        if outcome is not False:
            yes.append(option)
        if outcome is not True:
            no.append(option)
    m.state = state
    return {name: (yes, no)}


def _subject(test: cst.BaseExpression) -> str | None:
    if type(test) is cst.Name:
        return test.value
    match test:
        case cst.Comparison(left=cst.Name() as left) if not any(
            isinstance(part.comparator, cst.Call) for part in test.comparisons
        ):
            return left.value
        case cst.Call() if dotted(test.func) in ("isinstance", "callable", "hasattr") and test.args:
            return dotted(test.args[0].value) or None
        case _:
            return None
