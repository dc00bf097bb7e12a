"""Calls that need not be run again: what they read is as it was, and all that they did was to give a result.

Programs ask the same small questions over and over: which class a field of a configuration has, what an activation
is called.  Such a call is run once.  What it read (cells of the state, conditions) is kept with what it gave, and while
that is the same, in whatever run and in whatever calling context, it gives the same again.  It is counted as if it had
been run: with the memo and without it, a run shows the same, and ends at the same step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mplint.interpreter.activations import MAX_DEPTH
from mplint.interpreter.code import FunctionCode
from mplint.interpreter.frames import Context, Frame
from mplint.interpreter.state import Cell, State
from mplint.interpreter.values import (
    HALF_POLICIES,
    Address,
    Api,
    Bound,
    Choice,
    Class,
    Const,
    Dict,
    DType,
    Entries,
    Function,
    Instance,
    List,
    Module,
    Place,
    Policy,
    Range,
    Symbol,
    Tuple,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    import libcst as cst

    from mplint.interpreter.calls import Arguments
    from mplint.interpreter.machine import Machine

MAX_CALLS: Final = 3000
"""A function entered more often than this in one run is not entered again: its result is unknown then."""
_TRIES: Final = 3
"""A function of which so many calls did more than to give a result, and none was known, is not looked at any more."""
_MISSES: Final = 256
"""The same for one of which so many calls in a row have asked for something new."""
_SMALL: Final = 10
"""A call of so few steps is run sooner than looked up."""
_RESULTS: Final = 4
"""Results that are kept for the same arguments."""


class Watched(dict[Cell, object]):
    """The cells of a layer of the state that notes what is looked for below it."""

    __slots__ = ("read", "swept")

    def __init__(self) -> None:
        super().__init__()
        self.read: set[Cell] = set()
        self.swept = False
        """Whether all that is written of some owner was looked for: then no list of cells says what was read."""

    def get(self, cell: Cell, default: object = None) -> object:
        """What the layer has in `cell`."""
        found = super().get(cell)
        if found is None:
            self.read.add(cell)
        return found

    def __iter__(self) -> Iterator[Cell]:
        self.swept = True
        return super().__iter__()


@dataclass(slots=True)
class Recording:
    """What a call that is being run has asked for, beside cells of the state, and what it leaves behind in the run."""

    conditions: dict[Symbol, None] = field(default_factory=dict)
    """The unknown conditions on which it depends, in the order in which they were asked for."""
    entered: dict[FunctionCode, int] = field(default_factory=dict)
    """The functions that it has entered, itself among them, and how often."""
    depth: int = 0
    """The calls inside each other at its deepest point."""
    idle: dict[FunctionCode, int] = field(default_factory=dict)
    """The functions of which a call came to nothing of interest, and the steps that it took."""
    undecided: set[Symbol] = field(default_factory=set)
    """As in the machine, and so are those below."""
    unknown_tests: set[cst.CSTNode] = field(default_factory=set)
    ways: dict[cst.CSTNode, Context] = field(default_factory=dict)
    loaded: set[Path] = field(default_factory=set)
    """The modules that it has imported."""
    open: bool = False
    """Whether it has asked for something else: what came before, or the way on which it was reached."""

    @property
    def calls(self) -> int:
        """How many functions were entered in all."""
        return sum(self.entered.values())

    def enter(self, code: FunctionCode, depth: int) -> None:
        """Note that a function is entered, as the innermost of `depth` calls."""
        self.entered[code] = self.entered.get(code, 0) + 1
        self.depth = max(self.depth, depth)

    def add(self, other: Recording, depth: int = 0) -> None:
        """Add what a call inside this one has asked for, which began inside `depth` others."""
        self.conditions |= other.conditions
        for code, times in other.entered.items():
            self.entered[code] = self.entered.get(code, 0) + times
        for code, steps in other.idle.items():
            self.idle[code] = self.idle.get(code, 0) + steps
        self.depth = max(self.depth, depth + other.depth)
        self.loaded |= other.loaded
        self.open = self.open or other.open


@dataclass(slots=True)
class _Result:
    """A call that did nothing but give `value`: the argument at `position`, where it gave one back."""

    value: Value
    position: int | None
    cells: tuple[tuple[Cell, object], ...]
    asked: Recording
    context: Context
    """The context in which its body was run."""
    steps: int
    captures: int
    """States that it has kept: whether there are any is asked where branches meet."""
    supposed: int
    """How often it took a condition as one of its own branches had it."""
    guarded: bool
    """Whether something would have caught what it raises: then it raises nothing."""
    learned: dict[Symbol, bool]
    """What is known of conditions behind it."""


@dataclass(slots=True)
class _Function:
    """What is known about the calls of one function."""

    promising: bool = False
    """Whether a call was seen to do nothing but give a result: from then on it is noted what the calls read."""
    results: dict[object, list[_Result]] = field(default_factory=dict)
    refused: int = 0
    """The calls that did more than that."""
    missed: int = 0
    """The calls in a row that asked for something new."""


class Memo:
    """The results of calls, for all runs of a program."""

    def __init__(self) -> None:
        self._functions: dict[FunctionCode, _Function | None] = {}

    def call(
        self, m: Machine, function: Function, arguments: Arguments, place: Place, enter: Callable[[], Value]
    ) -> Value:
        """The result of a call: as it was, or by `enter`, which runs it."""
        code = function.code
        known = self._functions.get(code, _UNSEEN)
        if known is None or m.recursive:
            return enter()
        inside = m.context.at(place)
        if known is _UNSEEN or not known.promising:
            marks, steps = m.marks(), m.steps
            value = enter()
            if m.steps - steps < _SMALL:
                self._functions[code] = None
            elif marks != m.marks() or not _is_free(value, inside, arguments):
                self._refuse(code, known)
            else:
                self._functions[code] = _Function(promising=True)
            return value
        key = key_of(m, function, arguments)
        if key is None:
            return enter()
        results = known.results.setdefault(key, [])
        for result in results:
            if _holds(m, result):
                known.missed = known.refused = 0
                return _again(m, result, arguments, inside)
        known.missed += 1
        if len(results) >= _RESULTS or known.missed > _MISSES:
            self._functions[code] = None
            return enter()
        found, value = _recorded(m, arguments, inside, enter)
        if found is None:
            self._refuse(code, known)
        else:
            results.append(found)
        return value

    def _refuse(self, code: FunctionCode, known: _Function) -> None:
        """Note that a call of the function did more than to give a result."""
        if known is _UNSEEN:
            known = self._functions[code] = _Function()
        known.refused += 1
        if known.refused >= _TRIES:
            self._functions[code] = None


_UNSEEN: Final = _Function()


def key_of(m: Machine, function: Function, arguments: Arguments) -> object | None:
    """What a call is known by; None for one that the memo does not tell from others."""
    if not arguments.sure:
        return None
    given: list[object] = []
    for value in arguments.values():
        exact = _exact(value)
        if exact is None:
            return None
        given.append(exact)
    names = tuple(name for name, _ in arguments.keywords)
    program = m.program
    surroundings = (m.generation, m.may_split, len(program.patched), len(program.hooks), program.aliases)
    return (function, names, tuple(given), surroundings)


def _exact(value: object) -> object | None:
    """Something that is equal only for values which nothing tells apart; None where there is no such thing."""
    match value:
        case Const(value=str(text)) if text in HALF_POLICIES:  # where it is written is told
            return None
        case Api(path=path, spelled=spelled):
            return (Api, path, spelled)
        case Unknown(symbol=symbol, candidates=candidates, closed=closed):
            return (Unknown, symbol, candidates, closed)
        case Tuple(items=items, rest=rest):
            held = [_exact(item) for item in (*items, *(() if rest is None else (rest,)))]
            return None if None in held else (Tuple, rest is None, tuple(held))
        case Bound(receiver=receiver, callee=callee):
            parts = (_exact(receiver), _exact(callee))
            return None if None in parts else (Bound, parts)
        case Choice(options=options):
            held = [_exact(option) for option in options]
            return None if None in held else (Choice, tuple(held))
        case Entries(pairs=pairs, rest=rest, optional=optional, shuffled=shuffled):
            held = [_exact(part) for pair in pairs for part in pair] + ([] if rest is None else [_exact(rest)])
            return None if None in held else (Entries, rest is None, tuple(held), optional, shuffled)
        case Policy(set_by=set_by, named_by=named_by):
            return (value, set_by, id(named_by))  # which the policy keeps
        case Const() | Class() | Function() | Instance() | List() | Dict() | Module() | DType() | Range():
            return value
        case _:
            return None


def _holds(m: Machine, result: _Result) -> bool:
    """Whether a call would read now what it has read."""
    if m.raised and not result.guarded:
        return False
    if len(m.stack) + result.asked.depth >= MAX_DEPTH:
        return False
    for cell, content in result.cells:
        found = m.read(cell)
        if found is not content and (found is None or content is None or differ(found, content)):
            return False
    for code, times in result.asked.entered.items():
        if m.running.get(code) or code in m.idle or m.calls_of.get(code, 0) + times > MAX_CALLS:
            return False
    return not ((m.decisions or m.pending is not None) and _is_decided(m, result.asked))


def _is_decided(m: Machine, asked: Recording) -> bool:
    """Whether this world, or the branch being run, decides a condition that was asked for."""
    supposed = m.supposed
    decided = any(m.decide(condition) is not None for condition in asked.conditions)
    m.supposed = supposed  # nothing has been taken so yet
    return decided


def differ(one: object, other: object) -> bool:
    """Whether anything may tell the contents of two cells apart."""
    exact = _exact(one)
    return exact is None or exact != _exact(other)


def _again(m: Machine, result: _Result, arguments: Arguments, inside: Context) -> Value:
    """Do what the call did, its body now being in the context `inside`."""
    asked = result.asked
    m.steps += result.steps
    if m.steps > m.budget:
        m.exhausted()
    m.captures += result.captures
    m.supposed += result.supposed
    m.learned = {**m.learned, **result.learned}
    m.undecided |= asked.undecided
    m.unknown_tests |= asked.unknown_tests
    for code, times in asked.entered.items():
        m.calls_of[code] = m.calls_of.get(code, 0) + times
        m.program.entered.add(code.node)
    m.clock += asked.calls
    m.idle |= asked.idle.keys()
    if asked.idle and m.stack:
        m.stack[-1].idled += sum(asked.idle.values())
    if m.recording is not None:
        m.recording.add(asked, len(m.stack))
    deeper = inside.depth - result.context.depth
    for node, way in asked.ways.items():
        if m.is_shorter(node, way.depth + deeper):
            m.ways[node] = _moved(way, result.context, inside)
    return result.value if result.position is None else arguments.values()[result.position]


def _moved(way: Context, old: Context, new: Context) -> Context:
    """The context that is to `new` what `way`, which is below it, is to `old`."""
    if way is old:
        return new
    assert way.parent is not None, "what a call enters, it enters below itself"
    assert way.site is not None, "and through some site"
    return _moved(way.parent, old, new).at(way.site, way.index)


def _recorded(
    m: Machine, arguments: Arguments, inside: Context, enter: Callable[[], Value]
) -> tuple[_Result | None, Value]:
    """Run a call; what it gave and on what that depends, if it did nothing else."""
    steps, captures, supposed, marks = m.steps, m.captures, m.supposed, m.marks()
    record = recorded(m, enter)
    value, asked = record.value, record.asked
    found: _Result | None = None
    if marks == m.marks() and _is_free(value, inside, arguments):
        read = record.read(inside)
        running = any(m.running.get(code) for code in asked.entered)
        decided = bool(m.decisions) and _is_decided(m, asked)
        if read is not None and not running and not decided and _is_own(record, inside):
            position = next((at for at, given in enumerate(arguments.values()) if given is value), None)
            steps, captures, supposed = m.steps - steps, m.captures - captures, m.supposed - supposed
            guarded = bool(m.raised)
            found = _Result(value, position, read, asked, inside, steps, captures, supposed, guarded, record.learned)
    record.settle(m, kept=found is None)
    return found, value


@dataclass(slots=True)
class Record:
    """A call that was run on a layer of the state of its own, and what it has asked for."""

    value: Value
    base: State
    changes: dict[Cell, object]
    """What it has written; to be settled."""
    asked: Recording
    learned: dict[Symbol, bool]
    """What is known of conditions behind it."""
    _cells: set[Cell]
    _swept: bool

    def read(self, context: Context) -> tuple[tuple[Cell, object], ...] | None:
        """What the call, which `context` stands for, has read.

        None where something cannot be compared with what it would read elsewhere.
        """
        if self._swept:
            return None
        found: list[tuple[Cell, object]] = []
        for cell in self._cells:
            content = self.base.get(cell)
            if is_inside(cell[0], context):
                if content is not None:
                    return None
                continue
            found.append((cell, content))
        return tuple(found)

    def settle(self, m: Machine, *, kept: bool) -> None:
        """Go on in the state that was there before the call, with its changes if they are `kept`."""
        if not kept:
            m.state = self.base if not self.base.pins else State(self.base)
        elif self.base.pins:
            m.state = State(self.base, self.changes)
        else:
            self.base.cells.update(self.changes)
            m.state = self.base


def recorded(m: Machine, enter: Callable[[], Value]) -> Record:
    """Run a call, and note what it asks for."""
    base, outer = m.state, m.recording
    left = m.undecided, m.unknown_tests, m.ways
    raised, depth = m.thrown, len(m.stack)
    cells = Watched()
    base.pins += 1
    m.state = State(base, cells)
    m.recording = asked = Recording()
    m.undecided, m.unknown_tests, m.ways = asked.undecided, asked.unknown_tests, asked.ways
    before, m.learned = m.learned, {}
    try:
        value = enter()
    finally:
        learned, m.learned = m.learned, {**before, **m.learned}
        m.recording = outer
        m.undecided, m.unknown_tests, m.ways = left
        m.undecided |= asked.undecided
        m.unknown_tests |= asked.unknown_tests
        for node, way in asked.ways.items():
            if m.is_shorter(node, way.depth):
                m.ways[node] = way
        if outer is not None:
            outer.add(asked)
    changes, swept = m.state.above(base), cells.swept
    if m.thrown == raised:
        base.pins -= 1
    asked.depth -= depth
    return Record(
        value, base, dict(changes) if type(changes) is Watched else changes, asked, learned, cells.read, swept
    )


def _is_own(record: Record, context: Context) -> bool:
    """Whether all that was written is of what the call has made itself."""
    return all(is_inside(cell[0], context) and record.base.get(cell) is None for cell in record.changes)


def is_inside(owner: object, context: Context) -> bool:
    """Whether what owns a cell was made in the call that `context` stands for."""
    if isinstance(owner, Frame):
        return owner.kind != "module" and owner.context.is_within(context)
    return isinstance(owner, Address) and owner.context.is_within(context)


def _is_free(value: Value, context: Context, arguments: Arguments) -> bool:
    """Whether a result holds nothing that the call has made, and nothing that tells where it was made."""
    stack: list[object] = [value]
    while stack:
        here = stack.pop()
        if any(here is given for given in arguments.values()):
            continue
        match here:
            case Const() | Api() | DType() | Range() | Module():
                pass
            case Unknown(symbol=symbol, candidates=candidates):
                stack.extend(candidates)
                if symbol is not None:
                    stack.append(symbol)
            case Symbol(parts=parts):
                stack.extend(parts)
            case str() | int() | Place() | None:
                pass
            case Context():
                if here.is_within(context):
                    return False
            case Address():
                if here.context.is_within(context):
                    return False
            case Tuple(items=items, rest=rest):
                stack.extend(items)
                if rest is not None:
                    stack.append(rest)
            case Choice(options=options):
                stack.extend(options)
            case Bound(receiver=receiver, callee=callee):
                stack += (receiver, callee)
            case Class(frame=frame) | Function(frame=frame):
                if is_inside(frame, context):
                    return False
            case Instance(address=address) | List(address=address) | Dict(address=address):
                if address.context.is_within(context):
                    return False
            case _:
                return False
    return True
