"""Statements: control flow over forked and joined states."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

import libcst as cst

from mplint.interpreter import managers, modules, objects, sequences
from mplint.interpreter.activations import Exit, Loop
from mplint.interpreter.calls import Arguments
from mplint.interpreter.code import block, dotted
from mplint.interpreter.conditions import bind_narrowed, condition, decisive, truth
from mplint.interpreter.expressions import binary, compare
from mplint.interpreter.frames import Frame
from mplint.interpreter.keras import losses
from mplint.interpreter.merging import loosened
from mplint.interpreter.sequences import MAX_PASSES
from mplint.interpreter.state import MADE, Cell, State
from mplint.interpreter.targets import assign, bind, delete_item, unbind
from mplint.interpreter.values import (
    NEVER,
    NONE,
    UNKNOWN,
    Address,
    ApiMethod,
    Bound,
    Const,
    Dict,
    Fields,
    List,
    Place,
    Symbol,
    Tuple,
    Unknown,
    Value,
    derived,
    options,
)
from mplint.source.walk import walk

if TYPE_CHECKING:
    from mplint.interpreter.machine import Machine

_ROUNDS: Final = 2
_MAX_FALLIBLE: Final = 12
"""In a longer body of a `try`, only what raises openly is seen to."""


def execute(m: Machine, frame: Frame, body: Sequence[cst.CSTNode]) -> bool:
    """Run `body`; false when control does not reach its end."""
    learned: dict[Symbol, bool] = {}
    new: list[Symbol] = []
    m.learned = {}
    try:
        for statement in body:
            handler = _HANDLERS.get(type(statement))
            if handler is not None and not handler(m, frame, statement):
                return False
            if m.learned:
                learned |= m.learned
                new += m.take_for_known(m.learned)
                m.learned = {}
    finally:
        m.forget_known(new)
    m.learned = learned
    return True


# -- simple statements


def _expression(m: Machine, frame: Frame, node: cst.Expr) -> bool:
    return m.evaluate(frame, node.value) is not NEVER


def _assign(m: Machine, frame: Frame, node: cst.Assign) -> bool:
    value = m.evaluate(frame, node.value)
    if value is NEVER:
        return False
    for target in node.targets:
        assign(m, frame, target.target, value)
    return True


def _annotated(m: Machine, frame: Frame, node: cst.AnnAssign) -> bool:
    if node.value is not None:
        assign(m, frame, node.target, m.evaluate(frame, node.value))
    return True


def _augmented(m: Machine, frame: Frame, node: cst.AugAssign) -> bool:
    left = m.evaluate(frame, node.target)
    right = m.evaluate(frame, node.value)
    operator = type(node.operator).__name__.removesuffix("Assign")
    place = m.place(frame, node)
    if any(_in_place(option, operator) for option in options(left)):
        arms = [partial(_changed, m, option, operator, right, place) for option in options(left)]
        if len(arms) == 1:
            arms[0]()
        else:
            m.alternatives(arms)
        return True
    assign(m, frame, node.target, binary(m, operator, left, right, m.place(frame, node)))
    return True


_IN_PLACE: Final = {
    "list": {"Add": "extend"},
    "set": {
        "BitOr": "update",
        "BitAnd": "intersection_update",
        "Subtract": "difference_update",
        "BitXor": "symmetric_difference_update",
    },
    "dict": {"BitOr": "update"},
}
"""What an augmented assignment does to a container: a method of it, by the operator."""


def _in_place(value: Value, operator: str) -> bool:
    if isinstance(value, List):
        return operator in _IN_PLACE.get(value.kind, ()) or (operator == "Multiply" and value.kind == "list")
    return isinstance(value, (Dict, Fields)) and operator in _IN_PLACE["dict"]


def _changed(m: Machine, value: Value, operator: str, right: Value, place: Place) -> bool:
    """An augmented assignment to a container, which stays the same object."""
    if isinstance(value, List) and operator == "Multiply":
        product = binary(m, operator, value, right, place)
        m.put_items(value.address, m.items(product) if isinstance(product, List) else Tuple((), UNKNOWN))
    elif isinstance(value, (List, Dict, Fields)):
        method = _IN_PLACE[value.kind if isinstance(value, List) else "dict"][operator]
        m.call(Bound(value, ApiMethod(method)), Arguments((right,)), place)
    return True


def _return(m: Machine, frame: Frame, node: cst.Return) -> bool:
    value = m.evaluate(frame, node.value) if node.value is not None else NONE
    activation = m.stack[-1]
    if frame.owner is not None and node.value is not None:
        losses.returned(m, frame, value, m.place(frame, node.value))
    known = {**m.known_since(activation), **m.learned}
    activation.exits.append(Exit(m.capture(), value, tuple(activation.path), known))
    return False


def _raise(m: Machine, frame: Frame, node: cst.Raise) -> bool:
    if node.exc is not None:
        m.evaluate(frame, node.exc)
    m.throw()
    return False


def _break(m: Machine, frame: Frame, node: cst.Break) -> bool:
    if m.stack[-1].loops:
        m.stack[-1].loops[-1].breaks.append(m.capture())
    return False


def _continue(m: Machine, frame: Frame, node: cst.Continue) -> bool:
    if m.stack[-1].loops:
        m.stack[-1].loops[-1].continues.append(m.capture())
    return False


def _assert(m: Machine, frame: Frame, node: cst.Assert) -> bool:
    value = m.evaluate(frame, node.test)
    outcome = truth(m, value)
    if outcome is False:
        m.throw()
        return False
    symbol, holds = decisive(value)
    if outcome is None and symbol is not None:
        m.learned = {**m.learned, symbol: holds}
    return True


def _delete(m: Machine, frame: Frame, node: cst.Del) -> bool:
    targets = node.target.elements if isinstance(node.target, cst.Tuple) else [node.target]
    for target in targets:
        inner = target.value if isinstance(target, cst.Element) else target
        match inner:
            case cst.Name():
                unbind(m, frame, inner.value)
            case cst.Attribute():
                objects.delete_attribute(m, m.evaluate(frame, inner.value), inner.attr.value, m.place(frame, inner))
            case cst.Subscript():
                delete_item(m, frame, inner)
            case _:
                pass
    return True


# -- definitions and imports


def _function(m: Machine, frame: Frame, node: cst.FunctionDef) -> bool:
    value = objects.define_function(m, frame, node)
    bind(m, frame, node.name.value, value)
    return True


def _class(m: Machine, frame: Frame, node: cst.ClassDef) -> bool:
    bind(m, frame, node.name.value, objects.define_class(m, frame, node))
    return True


def _import(m: Machine, frame: Frame, node: cst.Import) -> bool:
    if m.raised and any(m.fails_to_import(name) for name in modules.names_of(node)):
        return False
    for name, value in modules.imported(m, frame, node):
        bind(m, frame, name, value)
    return True


def _import_from(m: Machine, frame: Frame, node: cst.ImportFrom) -> bool:
    if m.raised and any(m.fails_to_import(name) for name in modules.names_of(node)):
        return False
    for name, value in modules.imported_from(m, frame, node):
        bind(m, frame, name, value)
    return True


# -- branches


def _if(m: Machine, frame: Frame, node: cst.If) -> bool:
    outcome, symbol, positive, narrowed, by_release = condition(m, frame, node.test)
    otherwise: Sequence[cst.CSTNode] = ()
    if outcome is not True:
        if type(node.orelse) is cst.Else:
            otherwise = block(node.orelse.body)
        elif node.orelse is not None:
            otherwise = (node.orelse,)
    if outcome is not None:
        chosen = block(node.body) if outcome else otherwise
        if not by_release:
            return execute(m, frame, chosen)
        with m.falling_back(True):
            return execute(m, frame, chosen)
    body = block(node.body)

    def arm(statements: Sequence[cst.CSTNode], taken: bool) -> Callable[[], bool]:
        def run() -> bool:
            bind_narrowed(m, frame, narrowed, taken)
            with m.falling_back(by_release):
                return m.assuming(symbol, taken is positive, lambda: execute(m, frame, statements))

        return run

    symbols = (symbol,) if symbol is not None else ()
    return m.alternatives([arm(body, True), arm(otherwise, False)], symbols, positive)


def _match(m: Machine, frame: Frame, node: cst.Match) -> bool:
    return _cases(m, frame, node.cases, m.evaluate(frame, node.subject))


def _cases(m: Machine, frame: Frame, cases: Sequence[cst.MatchCase], subject: Value) -> bool:
    """Run the first of `cases` that matches: one after the other, as a chain of `elif`."""
    if not cases:
        return True
    case, others = cases[0], cases[1:]
    symbol, positive = _question(m, frame, case.pattern, subject)
    decided = False

    def hit() -> bool:
        nonlocal decided
        matched = _pattern(m, frame, case.pattern, subject)
        if matched is not False and case.guard is not None:
            guard = truth(m, m.evaluate(frame, case.guard))
            matched = matched and guard if guard is not False else False
        if matched is False:
            return False
        decided = matched is True
        return m.assuming(symbol, positive, lambda: execute(m, frame, block(case.body)))

    def missed() -> bool:
        if decided:
            return False
        refuted = symbol if case.guard is None else None
        return m.assuming(refuted, not positive, lambda: _cases(m, frame, others, subject))

    return m.alternatives([hit, missed], (symbol,) if symbol is not None else ())


def _question(m: Machine, frame: Frame, pattern: cst.MatchPattern, subject: Value) -> tuple[Symbol | None, bool]:
    """The condition that decides whether a pattern of constants matches, where it is not known.

    And whether it does where that holds.
    """
    if not isinstance(subject, Unknown):
        return None, True
    match pattern:
        case cst.MatchValue():
            asked = compare(m, "Equal", subject, m.evaluate(frame, pattern.value), m.place(frame, pattern))
        case cst.MatchOr():
            parts = [part.pattern for part in pattern.patterns]
            values = [m.evaluate(frame, part.value) for part in parts if isinstance(part, cst.MatchValue)]
            if len(values) < len(parts):
                return None, True
            asked = compare(m, "In", subject, Tuple(tuple(values)), m.place(frame, pattern))
        case _:
            return None, True
    return (None, True) if truth(m, asked) is not None else decisive(asked)


def _pattern(m: Machine, frame: Frame, pattern: cst.MatchPattern, subject: Value) -> bool | None:
    match pattern:
        case cst.MatchAs():
            inner = True if pattern.pattern is None else _pattern(m, frame, pattern.pattern, subject)
            if pattern.name is not None and inner is not False:
                bind(m, frame, pattern.name.value, subject)
            return inner
        case cst.MatchValue():
            wanted = m.evaluate(frame, pattern.value)
            equal = binary(m, "Equal", subject, wanted, m.place(frame, pattern))
            return truth(m, equal)
        case cst.MatchSingleton():
            wanted = m.evaluate(frame, pattern.value)
            return subject == wanted if isinstance(subject, Const) else None
        case cst.MatchOr():
            outcomes = [_pattern(m, frame, element.pattern, subject) for element in pattern.patterns]
            return True if True in outcomes else None if None in outcomes else False
        case cst.MatchSequence():
            place = m.place(frame, pattern)
            sequence = sequences.iterate(m, subject, place)
            for i, element in enumerate(pattern.patterns):
                if isinstance(element, cst.MatchSequenceElement):
                    _pattern(m, frame, element.value, sequences.item(sequence, i))
            if sequence.rest is None and isinstance(subject, (Tuple, List)):
                starred = any(isinstance(element, cst.MatchStar) for element in pattern.patterns)
                if not starred and len(sequence.items) != len(pattern.patterns):
                    return False
            return None
        case _:
            from_names = (inner for inner in _captured(pattern))
            for name in from_names:
                bind(m, frame, name, derived("match", subject, name))
            return None


def _captured(pattern: cst.CSTNode) -> list[str]:
    return [node.name.value for node in walk(pattern) if isinstance(node, cst.MatchAs) and node.name is not None]


# -- loops


def _for(m: Machine, frame: Frame, node: cst.For) -> bool:
    place = m.place(frame, node)
    sequence = sequences.iterate(m, m.evaluate(frame, node.iter), m.place(frame, node.iter))
    body = block(node.body)
    otherwise = block(node.orelse.body) if node.orelse is not None else ()
    if sequence.rest is None and len(sequence.items) <= MAX_PASSES:
        passed = [_target(m, frame, node.target, item) for item in sequence.items]
        return _unrolled(m, frame, place, body, passed, otherwise)
    return _repeat(m, frame, place, body, _target(m, frame, node.target, sequences.anything(sequence)), otherwise)


def _target(m: Machine, frame: Frame, target: cst.CSTNode, value: Value) -> Callable[[], None]:
    return lambda: assign(m, frame, target, value)


def _unrolled(
    m: Machine,
    frame: Frame,
    place: Place,
    body: Sequence[cst.CSTNode],
    passes: Sequence[Callable[[], None]],
    otherwise: Sequence[cst.CSTNode],
) -> bool:
    """Run the body once per element, each pass in its own context, and `otherwise` where no break left the loop."""
    with _loop(m) as loop:
        outer = m.context
        falls = True
        for index, start in enumerate(passes):
            m.context = outer.at(place, index)
            start()
            if not _pass(m, frame, body, loop):
                falls = False
                break
        m.context = outer
        if falls and execute(m, frame, otherwise):
            loop.breaks.append(m.state)
    return loop.left


def _pass(m: Machine, frame: Frame, body: Sequence[cst.CSTNode], loop: Loop) -> bool:
    """One pass of the body; false when it does not reach the next one."""
    states = [m.state] if execute(m, frame, body) else []
    states += loop.continues
    loop.continues = []
    if states:
        m.state = states[0] if len(states) == 1 else m.join(states, _symbols(m))
    return bool(states)


def _repeat(
    m: Machine,
    frame: Frame,
    place: Place,
    body: Sequence[cst.CSTNode],
    start: Callable[[], None],
    otherwise: Sequence[cst.CSTNode] = (),
) -> bool:
    """Run the body an unknown number of times: until another pass changes nothing, or for a few rounds."""
    for name in _counters(m, place.node, body):
        if isinstance(m.variable(frame, name), Const):
            bind(m, frame, name, UNKNOWN)
    yields = len(m.stack[-1].yields)
    with _loop(m) as loop:
        outer = m.context
        m.context = outer.at(place)
        for left in reversed(range(_ROUNDS)):
            base, captures = m.state, m.captures
            base.pins += 1
            m.state = base.fork()
            start()
            ran = [m.state] if _pass(m, frame, body, loop) else []
            after = m.join([base.fork(), *ran], _symbols(m))
            changes = after.above(base)
            if m.captures == captures:
                base.pins -= 1
            news = [cell for cell, value in changes.items() if _is_news(base, changes, cell, value)]
            if not left:  # it goes on changing
                for cell in news:
                    after.set(cell, loosened(base.get(cell), changes[cell]))
            m.state = after.settled(base)
            if not news:
                break
        m.context = outer
        m.stack[-1].loose = m.stack[-1].loose or len(m.stack[-1].yields) > yields
        if execute(m, frame, otherwise):
            loop.breaks.append(m.state)
    return loop.left


def _counters(m: Machine, node: cst.CSTNode, body: Sequence[cst.CSTNode]) -> frozenset[str]:
    """The variables that the body of a loop counts in (`n += 1`): each pass gives them another value."""
    found = m.program.counters.get(node)
    if found is None:
        inner = (part for statement in body for part in walk(statement))
        targets = (part.target for part in inner if isinstance(part, cst.AugAssign))
        found = frozenset(target.value for target in targets if isinstance(target, cst.Name))
        m.program.counters[node] = found
    return found


def _is_news(base: State, changes: dict[Cell, object], cell: Cell, value: object) -> bool:
    """Whether one of the `changes` to a state is that something was there, and is another now."""
    if type(cell[0]) is Address and (cell[0], MADE) in changes:
        return False
    before = base.get(cell)
    return before is not None and before != value


def _symbols(m: Machine) -> tuple[Symbol, ...]:
    return tuple(m.stack[-1].path[-1:])


@contextmanager
def _loop(m: Machine) -> Iterator[Loop]:
    """A loop: what its body adds to `breaks` are the states in which it may be left."""
    loop = Loop()
    activation = m.stack[-1]
    activation.loops.append(loop)
    entry, pins, kept = m.state, m.state.pins, len(activation.exits) + m.thrown
    yield loop
    activation.loops.pop()
    if len(activation.exits) + m.thrown == kept:
        entry.pins = pins
    loop.left = m.resume(entry, loop.breaks, _symbols(m))
    m.learned = {}


def _while(m: Machine, frame: Frame, node: cst.While) -> bool:
    place = m.place(frame, node)
    body = block(node.body)
    endless = isinstance(node.test, (cst.Name, cst.Integer)) and node.test.value in ("True", "1")
    # counting on while it is known where that leads to
    counts = endless and any(isinstance(m.variable(frame, name), Const) for name in _counters(m, node, body))
    with _loop(m) as loop:
        outer = m.context
        for passes in range(MAX_PASSES):  # pass by pass while the condition is known
            outcome = truth(m, m.evaluate(frame, node.test))
            if outcome is not True:
                break
            m.context = outer.at(place, passes)
            if not _pass(m, frame, body, loop):
                outcome = True  # every way out was a break
                break
            if loop.breaks or (endless and not counts):  # a condition inside decides: how often is not known
                outcome = None
                break
        m.context = outer
        if outcome is None or (outcome is True and passes == MAX_PASSES - 1):
            if endless:  # only a break leaves it
                _repeat(m, frame, place, body, lambda: None)
                loop.breaks.append(m.state)
            else:
                _repeat(m, frame, place, body, lambda: None)
                outcome = False
        otherwise = block(node.orelse.body) if node.orelse is not None else ()
        if outcome is False and execute(m, frame, otherwise):
            loop.breaks.append(m.state)
    return loop.left


# -- with and try


def _with(m: Machine, frame: Frame, node: cst.With) -> bool:
    return _with_items(m, frame, list(node.items), block(node.body))


def _with_items(m: Machine, frame: Frame, items: list[cst.WithItem], body: Sequence[cst.CSTNode]) -> bool:
    if not items:
        return execute(m, frame, body)
    first, rest = items[0], items[1:]
    manager = m.evaluate(frame, first.item)
    fell = True

    def inside(value: Value) -> bool:
        nonlocal fell
        if first.asname is not None:
            assign(m, frame, first.asname.name, value)
        fell = _with_items(m, frame, rest, body)
        return fell

    def end() -> bool:
        managers.leave(m, manager, managers.NO_ERROR, place)
        return True

    place = m.place(frame, first.item)
    if not managers.may_swallow(m, manager):
        managers.within(m, manager, inside, place)
        return fell
    base, captures = m.state, m.captures
    base.pins += 1
    symbol = Symbol("try", place)
    works = m.decide(symbol)
    states: list[State] = []
    raised: list[State] = []
    if works is not False:
        kept = _kept(m)
        m.state = base.fork()
        with _guarded(m, catches=True) as raised:
            managers.within(m, manager, inside, place)
        _on_each_way_out(m, kept, end)
        if fell:
            states.append(m.state)
    if works is not True:
        for state in (*raised, *([] if raised else [base])):  # the body may have failed at once
            m.state = state.fork()
            swallowed = managers.leave(m, manager, (UNKNOWN, UNKNOWN, UNKNOWN), place)
            if swallowed is not False:
                states.append(m.state)
            if swallowed is not True:
                m.throw()
    m.learned = {}
    if m.captures == captures:
        base.pins -= 1
    return m.resume(base, states, (symbol,))


def _try(m: Machine, frame: Frame, node: cst.Try | cst.TryStar) -> bool:
    base, captures, events = m.state, m.captures, len(m.trace.events)
    kept = _kept(m)
    base.pins += 1
    m.state = base.fork()
    # whether the body fails is a condition like any other, where the precision depends on it
    symbol = Symbol("try", m.place(frame, node))
    works = m.decide(symbol) if node.handlers else True
    states: list[State] = []
    fell = False
    after = m.state
    left = False
    raised: list[State] = []
    if works is not False:
        with _guarded(m, bool(node.handlers)) as raised, _falling_back(m, frame, node):
            fell = _fallible(m, frame, block(node.body), raised if node.handlers else None)
        after = m.state
        left = m.captures != captures
        works = works or (fell and len(m.trace.events) == events and _only_imports(node)) or None
        if fell and (node.orelse is None or execute(m, frame, block(node.orelse.body))):
            states.append(m.state)
    if works is not True:
        after.pins += 1
        for handler in node.handlers:
            # what the body did before it failed may be there, or not
            early = works is False or left or not fell
            begun = [base.fork(), *([] if early else [after.fork()]), *(state.fork() for state in raised)]
            m.state = begun[0] if len(begun) == 1 else m.join(begun, (symbol,))
            if handler.name is not None:
                assign(m, frame, handler.name.name, UNKNOWN)
            with _falling_back(m, frame, node):
                fell_through = execute(m, frame, block(handler.body))
            if fell_through:
                states.append(m.state)
    if node.finalbody is not None:
        _on_each_way_out(m, kept, partial(execute, m, frame, block(node.finalbody.body)))
    if m.captures == captures:
        base.pins -= 1
    fell = m.resume(base, states, (symbol,))
    m.learned = {}
    if node.finalbody is not None:
        return execute(m, frame, block(node.finalbody.body)) and fell
    return fell


def _fallible(m: Machine, frame: Frame, body: Sequence[cst.CSTNode], raised: list[State] | None) -> bool:
    """Run a body of which any statement may raise: what the ones before it did is there then."""
    if raised is None or len(body) > _MAX_FALLIBLE:
        return execute(m, frame, body)
    for position, statement in enumerate(body):
        if position and not isinstance(body[position - 1], (cst.Import, cst.ImportFrom)):
            raised.append(m.capture())
            m.state = m.state.fork()
        if not execute(m, frame, (statement,)):
            return False
    return True


@contextmanager
def _guarded(m: Machine, catches: bool) -> Iterator[list[State]]:
    """A body in which something may be raised and caught: the states in which that was seen to happen."""
    raised: list[State] = []
    if catches:
        m.raised.append(raised)
    m.guards += catches
    yield raised
    m.guards -= catches
    if catches:
        m.raised.pop()


_MISSING: Final = frozenset({"AttributeError", "ImportError", "ModuleNotFoundError"})
"""What is raised where a library lacks a name."""
_ANY: Final = frozenset({"", "Exception", "BaseException", "TypeError", "ValueError"})
"""What catches that, too, or that a function takes no such argument."""


@contextmanager
def _falling_back(m: Machine, frame: Frame, node: cst.Try | cst.TryStar) -> Iterator[None]:
    """The body, or the handlers, of a `try` that may be there for other releases of a library."""
    caught = {name for handler in node.handlers for name in _caught(handler.type)}
    with m.falling_back(bool(caught & (_MISSING | _ANY)), None if caught & _MISSING else frame):
        yield


def _caught(node: cst.BaseExpression | None) -> Iterator[str]:
    """The exceptions that a handler names; "" where it takes any."""
    match node:
        case None:
            yield ""
        case cst.Tuple(elements=elements):
            for element in elements:
                yield from _caught(element.value)
        case _:
            yield dotted(node).rpartition(".")[2]


def _kept(m: Machine) -> tuple[int, int, int, int]:
    """How many states in which the function or the loop is left, or the `try` fails, have been kept so far."""
    activation = m.stack[-1]
    loop = activation.loops[-1] if activation.loops else None
    return len(activation.exits), len(loop.breaks) if loop else 0, len(loop.continues) if loop else 0, m.thrown


def _on_each_way_out(m: Machine, kept: tuple[int, int, int, int], run: Callable[[], bool]) -> None:
    """Run what comes last in the states in which the body was left by return, break, continue or raise."""
    activation = m.stack[-1]
    here = m.state
    exits, breaks, continues, raised = kept
    for index in range(exits, len(activation.exits)):
        left = activation.exits[index]
        m.state = left.state.fork()
        if run():
            activation.exits[index] = left._replace(state=m.state)
    lists = [(m.raised[-1], raised)] if m.raised else []
    if activation.loops:
        loop = activation.loops[-1]
        lists += [(loop.breaks, breaks), (loop.continues, continues)]
    for states, first in lists:
        for index in range(first, len(states)):
            m.state = states[index].fork()
            if run():
                states[index] = m.state
    m.state = here


def _only_imports(node: cst.Try | cst.TryStar) -> bool:
    """Whether the body only imports, and notes that it could: then what could be imported is what the program uses."""
    statements = block(node.body)
    return any(isinstance(statement, (cst.Import, cst.ImportFrom)) for statement in statements) and all(
        isinstance(statement, (cst.Import, cst.ImportFrom))
        or (isinstance(statement, cst.Assign) and not any(isinstance(part, cst.Call) for part in walk(statement.value)))
        for statement in statements
    )


def _nothing(m: Machine, frame: Frame, node: cst.CSTNode) -> bool:
    return True


_HANDLERS: Final[dict[type[cst.CSTNode], Callable[..., bool]]] = {
    cst.Expr: _expression,
    cst.Assign: _assign,
    cst.AnnAssign: _annotated,
    cst.AugAssign: _augmented,
    cst.Return: _return,
    cst.Raise: _raise,
    cst.Break: _break,
    cst.Continue: _continue,
    cst.Assert: _assert,
    cst.Del: _delete,
    cst.FunctionDef: _function,
    cst.ClassDef: _class,
    cst.Import: _import,
    cst.ImportFrom: _import_from,
    cst.If: _if,
    cst.Match: _match,
    cst.For: _for,
    cst.While: _while,
    cst.With: _with,
    cst.Try: _try,
    cst.TryStar: _try,
    cst.Pass: _nothing,
    cst.Global: _nothing,
    cst.Nonlocal: _nothing,
}
