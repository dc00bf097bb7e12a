"""Long calls that another run has made before: what they did there is done again, without running them.

The programs of a project share much of what they do: thirty training scripts go through the same loop.  Where such a
call finds all as it was (its arguments, the cells of the state that it reads, what is known of conditions), it does the
same.  What it has written, made and shown is taken over as it is, with the contexts of the run that came first: in
another run nothing can be mistaken for it.  So it is taken over once in a run, and only where nobody asks on which way
the events have come about: nothing of layers, policies and optimizers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from mplint.interpreter.activations import MAX_DEPTH, MAX_RECURSIVE_STEPS
from mplint.interpreter.memo import MAX_CALLS, Record, Recording, differ, key_of, recorded
from mplint.interpreter.state import MADE, POLICY, Cell
from mplint.interpreter.trace import (
    Applied,
    DTypeTaken,
    EnvironmentSet,
    Escaped,
    Event,
    Known,
    LibraryCalled,
    NameRead,
    Reported,
    Returned,
    VariableMade,
)
from mplint.interpreter.values import Address, Function, Place, Symbol, Tensor, Value

if TYPE_CHECKING:
    from mplint.interpreter.calls import Arguments
    from mplint.interpreter.code import FunctionCode
    from mplint.interpreter.frames import Context, Frame
    from mplint.interpreter.machine import Machine

LONG: Final = 1000
"""A function of which a call took so many steps is remembered from then on."""
NEAR: Final = 2
"""So is what a program calls while so few calls are being run: it makes what the long ones are given,"""
WORTH: Final = 20
"""where it takes so many steps."""
_TRIES: Final = 6
"""A function of which so many calls did what cannot be taken over is not looked at any more."""
_MISSES: Final = 12
"""The same for one of which so many calls in a row were new."""
_ANYWHERE: Final = frozenset(
    {Applied, DTypeTaken, EnvironmentSet, Escaped, LibraryCalled, NameRead, Reported, Returned, VariableMade}
)
"""Events that say the same on whichever way they have come about."""


@dataclass(slots=True, eq=False)
class _Done:
    """A call, and all that it did."""

    value: Value
    cells: tuple[tuple[Cell, object], ...]
    changes: dict[Cell, object]
    written: frozenset[Frame]
    """The modules and classes of which it has written variables."""
    made: tuple[Address, ...]
    asked: Recording
    events: tuple[Event, ...]
    escapes: int
    layers: Known
    tensors: Known
    learned: dict[Symbol, bool]
    handed_over: frozenset[Function]
    recursions: dict[object, int]
    steps: int
    captures: int
    supposed: int
    effects: int


@dataclass(slots=True)
class _Function:
    done: dict[object, list[_Done]] = field(default_factory=dict)
    refused: int = 0
    missed: int = 0


class Replays:
    """The long calls of all runs of a program."""

    def __init__(self) -> None:
        self._functions: dict[FunctionCode, _Function | None] = {}

    def note(self, code: FunctionCode) -> None:
        """Note that a call of a function took long: its next one is worth remembering."""
        self._functions.setdefault(code, _Function())

    def are_remembered(self, m: Machine, code: FunctionCode) -> bool:
        """Whether calls of a function are remembered, from where the run is."""
        known = self._functions.get(code, _UNSEEN)
        return known is not None and (known is not _UNSEEN or (m.is_program and len(m.stack) <= NEAR))

    def call(
        self, m: Machine, function: Function, arguments: Arguments, place: Place, enter: Callable[[], Value]
    ) -> Value:
        """The result of a call: as in another run, or by `enter`, which runs it."""
        key = _key(m, function, arguments) if _is_plain(m) else None
        known = self._functions.setdefault(function.code, _Function())
        if key is None or known is None:
            return enter()
        for done in known.done.get(key, ()):
            if done not in m.shown and _holds(m, done):
                known.missed = known.refused = 0
                return _again(m, done)
        known.missed += 1
        if known.missed > _MISSES:
            self._functions[function.code] = None
            return enter()
        fresh, value = _recorded(m, m.context.at(place), enter)
        if fresh is not None and fresh.steps > WORTH:
            known.done.setdefault(key, []).append(fresh)
        else:
            known.refused += 1
            if known.refused >= _TRIES:
                self._functions[function.code] = None
        return value


_UNSEEN: Final = _Function()


def _is_plain(m: Machine) -> bool:
    """Whether nothing around a call has a say in what it does, beside what is compared."""
    if m.recursive or m.pending is not None:
        return False
    return all(activation.in_call is None for activation in m.stack)


def _key(m: Machine, function: Function, arguments: Arguments) -> object | None:
    key = key_of(m, function, arguments)
    if key is None:
        return None
    return key, m.shelf, frozenset(m.decisions.items()), bool(m.raised), None in m.fallbacks, m.guards > 0


def _holds(m: Machine, done: _Done) -> bool:
    """Whether a call would find all as it was."""
    asked = done.asked
    if m.steps + done.steps > m.budget or len(m.stack) + asked.depth >= MAX_DEPTH:
        return False
    if not asked.loaded <= m.imported.keys() or m.has_any(done.made):
        return False
    for code, times in asked.entered.items():
        if m.running.get(code) or code in m.idle or m.calls_of.get(code, 0) + times > MAX_CALLS:
            return False
    for recursive, taken in done.recursions.items():
        if taken and m.recursions.get(recursive, 0) + taken > MAX_RECURSIVE_STEPS:
            return False
    for cell, content in done.cells:
        found = m.read(cell)
        if found is not content and (found is None or content is None or differ(found, content)):
            return False
    return True


def _again(m: Machine, done: _Done) -> Value:
    """Do what the call did."""
    m.shown.add(done)
    asked, trace = done.asked, m.trace
    m.steps += done.steps
    m.captures += done.captures
    m.supposed += done.supposed
    m.effects += done.effects
    m.clock += asked.calls
    m.learned = {**m.learned, **done.learned}
    m.undecided |= asked.undecided
    m.unknown_tests |= asked.unknown_tests
    m.handed_over |= done.handed_over
    for code, times in asked.entered.items():
        m.calls_of[code] = m.calls_of.get(code, 0) + times
        m.program.entered.add(code.node)
    m.idle |= asked.idle.keys()
    for recursive, taken in done.recursions.items():
        m.recursions[recursive] = m.recursions.get(recursive, 0) + taken
    if asked.idle and m.stack:
        m.stack[-1].idled += sum(asked.idle.values())
    if m.recording is not None:
        m.recording.add(asked, len(m.stack))
    for node, way in asked.ways.items():
        if m.is_shorter(node, way.depth):
            m.ways[node] = way
    m.take_over(done.changes, done.written, done.made)
    trace.events.extend(done.events)
    trace.escapes += done.escapes
    for counted, more in ((trace.layers, done.layers), (trace.tensors, done.tensors)):
        counted.total += more.total
        for place, (times, others) in more.places.items():
            known, unknown = counted.places.get(place, (0, 0))
            counted.places[place] = (known + times, unknown + others)
    return done.value


def _recorded(m: Machine, inside: Context, enter: Callable[[], Value]) -> tuple[_Done | None, Value]:
    """Run a call; what it did, if that can be taken over."""
    trace = m.trace
    first, escapes = len(trace.events), trace.escapes
    layers, tensors = (
        replace(trace.layers, places=dict(trace.layers.places)),
        replace(trace.tensors, places=dict(trace.tensors.places)),
    )
    written, handed_over = set(m.written), set(m.handed_over)
    steps, captures, supposed, effects = m.steps, m.captures, m.supposed, m.effects
    rest, recursions = _rest(m), dict(m.recursions)
    record = recorded(m, enter)
    done: _Done | None = None
    events = tuple(trace.events[first:])
    if rest == _rest(m) and _is_whole(m, record) and all(type(event) in _ANYWHERE for event in events):
        read = record.read(inside)
        if read is not None:
            done = _Done(
                record.value,
                read,
                dict(record.changes),
                frozenset(m.written - written),
                tuple(cell[0] for cell in record.changes if cell[1] == MADE and isinstance(cell[0], Address)),
                record.asked,
                events,
                trace.escapes - escapes,
                _more(layers, trace.layers),
                _more(tensors, trace.tensors),
                record.learned,
                frozenset(m.handed_over - handed_over),
                {code: taken - recursions.get(code, 0) for code, taken in m.recursions.items()},
                m.steps - steps,
                m.captures - captures,
                m.supposed - supposed,
                m.effects - effects,
            )
            m.shown.add(done)
    record.settle(m, kept=True)
    return done, record.value


def _rest(m: Machine) -> tuple[object, ...]:
    """What a call leaves as it was that can be taken over."""
    mixed = sum(map(len, m.trace.mixed.values()))
    return len(m.imported), len(m.unsettled), m.thrown, m.heard, m.pending, m.trace.cut, mixed


def _is_whole(m: Machine, record: Record) -> bool:
    """Whether the record tells all that a call depends on and does, but for what it has read and shown."""
    return not (
        record.asked.open
        or isinstance(record.value, Tensor)  # that it was returned is told of the call, which is another one
        or POLICY in record.changes
        or any(m.running.get(code) for code in record.asked.entered)
    )


def _more(before: Known, after: Known) -> Known:
    """What was counted since `before`."""
    found: dict[Place, tuple[int, int]] = {}
    for place, (known, unknown) in after.places.items() if after.total != before.total else ():
        times, others = before.places.get(place, (0, 0))
        if (known, unknown) != (times, others):
            found[place] = (known - times, unknown - others)
    return Known(found, after.total - before.total)
