"""The abstract machine: one run of one entry point in one world."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import libcst as cst

from mplint.interpreter import attributes, dispatch, expressions, meeting, objects, statements
from mplint.interpreter.activations import Activation, OutOfBudget, Patience, PolicyMatters
from mplint.interpreter.configuration import gin
from mplint.interpreter.frames import Context, Frame
from mplint.interpreter.implications import TRANSPARENT, Facts, implied, in_common, question_behind
from mplint.interpreter.keras import variables
from mplint.interpreter.keras.names import is_missing
from mplint.interpreter.merging import either, loosened, merge_entries, merge_items
from mplint.interpreter.state import MADE, POLICY, SHUFFLED, Cell, State, is_attribute
from mplint.interpreter.trace import (
    Counted,
    EnvironmentSet,
    Escaped,
    Event,
    LayerCalled,
    LayerMade,
    LibraryCalled,
    ModelUsed,
    NameRead,
    Opened,
    PolicyRefused,
    PolicySet,
    Reported,
    Returned,
    ScopeEntered,
    ScopeLeft,
    Trace,
    VariableMade,
)
from mplint.interpreter.values import (
    ABSENT,
    UNKNOWN,
    Address,
    Api,
    Bound,
    Candidate,
    Choice,
    Const,
    Dataset,
    Dict,
    Entries,
    Function,
    Instance,
    List,
    Maybe,
    Partial,
    Place,
    Policy,
    Symbol,
    Tensor,
    Tuple,
    Undecided,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from mplint.interpreter.calls import Arguments
    from mplint.interpreter.code import FunctionCode
    from mplint.interpreter.memo import Recording
    from mplint.interpreter.modules import Shelf
    from mplint.interpreter.program import Program

_T = TypeVar("_T")

MAX_STEPS: Final = 200_000
"""Expressions evaluated for one entry point, in all its worlds."""


class Machine:
    """Executes statements and evaluates expressions on abstract values.

    It starts under the policy of `shelf`, with the modules there, or where the run `start` has ended.  `decisions`
    fixes the outcome of unknown conditions in this world; a condition that would have to be decided raises `Split`
    while `may_split`.  It ends when it has taken `budget` steps, or when its `patience` ends.
    """

    def __init__(
        self,
        program: Program,
        shelf: Shelf,
        decisions: dict[Symbol, bool],
        may_split: bool,
        start: Machine | None = None,
        budget: int = MAX_STEPS,
        patience: Patience | None = None,
    ) -> None:
        self.program = program
        self._places = program.places
        self.generation = shelf.generation
        self.decisions = decisions
        self.may_split = may_split
        self.shelf = shelf
        self.state: State = State(start.state if start is not None else shelf.state)
        self.state.set(POLICY, shelf.policy)
        # what this run has written and made: all else is as on the shelf, where it is found at once
        self.written: set[Frame] = set(start.written) if start is not None else set()
        self._made: dict[Address, int] = dict.fromkeys(start._made, 0) if start is not None else {}
        self._changed: dict[object, int] = {}
        self.recursive = 0  # calls of functions that call themselves that are being run: what they change is noted
        self.clock = 0
        """Calls entered so far; in `_made` and `_changed`, when an object was made and when it last changed."""
        self.undecided: set[Symbol] = set()
        """The conditions over which branches were joined."""
        self.unsettled: list[Unknown] = []
        """The values on which the precision depends, and of which nothing was known at that time."""
        self.pending: Undecided | None = None
        """The global policy, while it is left to conditions over which branches were joined."""
        self.replayed: set[Event] = set()
        """The events that imported modules have brought, and in `given` what they have left in cells."""
        self.given: dict[Cell, object] = {}
        self.is_program = False
        """Whether this is the run of a program, not that of a function alone."""
        self.context = program.root_context
        self.trace = Trace()
        self.ways: dict[cst.CSTNode, Context] = dict(start.ways) if start is not None else {}
        """The shortest way into each function that was entered."""
        self.unknown_tests: set[cst.CSTNode] = set(start.unknown_tests) if start is not None else set()
        """The tests whose outcome the source does not tell: this run takes one, or both."""
        self.supposed = 0
        """How often an unknown condition was taken as this world, or the branch being run, has it."""
        self.recording: Recording | None = None
        """What the innermost call that is to be remembered has asked for so far."""
        self.effects = 0
        """Counts what is done or asked that no memo knows of, beside what the trace and the state show."""
        self.learned: dict[Symbol, bool] = {}
        """The outcomes of conditions behind the statement just run: with other ones the block is left there."""
        self.guards = 0
        """How many `try` statements that catch something are being run."""
        self.fallbacks: list[Frame | None] = []
        """For each `try` being run that goes on without a name that is missing: its namespace if it catches anything.

        None if just that is what it catches.  While what it does then is run, it stands here, too.  So does a branch
        that is for some releases of a library.
        """
        self.stack: list[Activation] = []
        self.steps = 0
        self.budget = budget if patience is None else min(budget, patience.steps)
        self._most = budget
        self._patience = patience
        self.heard = 0
        """The step at which the run has last come to a policy or a layer."""
        self.captures = 0  # states kept so far
        self.calls_of: dict[object, int] = {}
        self.idle: set[FunctionCode] = set()
        """The functions of which a call took long and came to nothing of interest."""
        self.recursions: dict[object, int] = {}
        """The steps that the recursive calls of a function have taken."""
        self.running: dict[object, list[Activation]] = {}
        """The calls of each function that are being run, outermost first."""
        self.imported: dict[Path, None] = {}
        """The modules that this run has imported, in order."""
        self.shown: set[object] = set(start.shown) if start is not None else set()
        """The calls that other runs may take over, or that this one has taken over."""
        self.handed_over: set[Function] = set()
        """The functions, made by others on the way, that went where they cannot be followed."""
        self.raised: list[list[State]] = []
        """For each `try` that is being run, the states in which something was raised in it."""

    # -- running code

    def evaluate(self, frame: Frame, node: cst.CSTNode) -> Value:
        """The value of the expression `node`."""
        self.steps += 1
        if self.steps > self.budget:
            self.exhausted()
        handler = _HANDLERS.get(type(node))
        return UNKNOWN if handler is None else handler(self, frame, node)

    def exhausted(self) -> None:
        """End a run that has taken its budget, or whose patience ends."""
        until = self._most if self._patience is None else min(self._most, self._patience.until(self))
        if self.steps > until:
            raise OutOfBudget
        self.budget = until

    def execute(self, frame: Frame, body: Sequence[cst.CSTNode]) -> bool:
        """Run statements; false when control does not reach their end."""
        return statements.execute(self, frame, body)

    def call(self, callee: Value, arguments: Arguments, place: Place) -> Value:
        """The result of calling `callee`."""
        return dispatch.call(self, callee, arguments, place)

    def binary(self, name: str, left: Value, right: Value, place: Place) -> Value:
        """`left <name> right` for an operator of LibCST's naming."""
        return expressions.binary(self, name, left, right, place)

    def attribute(self, value: Value, name: str, place: Place, *, plainly: bool = False) -> Value:
        """The value of `value.name`; `plainly`, as `object` finds it, whatever the class has to say."""
        return attributes.plain(self, value, name, place) if plainly else attributes.get(self, value, name, place)

    def has_attribute(self, value: Value, name: str) -> bool | None:
        """Whether `value` has an attribute; None when not known."""
        return attributes.has(self, value, name)

    def delete_attribute(self, target: Value, name: str, place: Place) -> None:
        """`del target.name`."""
        objects.delete_attribute(self, target, name, place)

    def set_attribute(self, target: Value, name: str, value: Value, place: Place, *, plainly: bool = False) -> None:
        """`target.name = value`; `plainly`, as `object` does it, whatever the class has to say."""
        if plainly and isinstance(target, Instance):
            objects.set_plainly(self, target, name, value, place)
        else:
            objects.set_attribute(self, target, name, value, place)

    def place(self, frame: Frame, node: cst.CSTNode) -> Place:
        """Where `node` stands."""
        try:
            return self._places[id(node)]
        except KeyError:
            return self.program.place(frame.source, node)

    # -- variables

    def variable(self, frame: Frame, name: str) -> Value | None:
        """The variable `name` of a module, class or function; None where it is not bound."""
        found = self.read((frame, name))
        return found.value if type(found) is Maybe else found  # type: ignore[return-value]

    def content(self, frame: Frame, name: str) -> Value | None:
        """What the cell of a variable holds: as `variable`, but `Maybe` where it may be unbound."""
        return self.read((frame, name))  # type: ignore[return-value]

    def read(self, cell: Cell) -> object | None:
        """What a cell of the state holds."""
        owner = cell[0]
        if type(owner) is Frame and owner.kind != "function" and owner not in self.written and self.recording is None:
            return self.shelf.state.get(cell)
        return self.state.get(cell)

    def is_bound(self, frame: Frame, name: str) -> bool | None:
        """Whether the variable `name` of a module or class is bound; None when not known."""
        return self._is_there((frame, name))

    def unbind(self, frame: Frame, name: str) -> None:
        """Delete a variable."""
        self.bind(frame, name, ABSENT)

    def bind(self, frame: Frame, name: str, value: Value) -> None:
        """Bind the variable `name` of a module, class or function."""
        if frame.kind != "function":
            self.written.add(frame)
        if self.recursive and frame is not self.stack[-1].frame:
            self._note_change((frame, name), value)
        self.state.set((frame, name), value)

    def patch(self, target: Api, name: str, value: Value) -> None:
        """The program puts an attribute on a library's object."""
        self.program.patched.add(name)
        self.state.set((target.path, name), value)

    def patched(self, target: Api, name: str) -> Value | None:
        """The attribute that the program has, or may have, put on a library's object; None where it has put none."""
        found = self.state.get((target.path, name)) if name in self.program.patched else None
        return found if isinstance(found, Value) and found is not ABSENT else None

    # -- objects

    def allocate(self, place: Place, role: str) -> Address:
        """The address of what `place` makes in the present context; made again, it stands for several objects."""
        address = self.program.address(place, self.context, role)
        if address in self._made and self.state.get((address, MADE)) is not None:
            self.program.several.add(address)
            self.state.set((address, "@several"), True)
        else:
            self._made.setdefault(address, self.clock)
            self.state.set((address, MADE), True)
        return address

    def _note_change(self, cell: Cell, content: object) -> None:
        if self.recursive and self.state.get(cell) != content:
            self._changed[cell[0]] = self.clock

    def has_changed_since(self, clock: int) -> bool:
        """Whether anything that was there at `clock` has changed since then."""
        return any(
            when >= clock and self._made.get(owner, -1) < clock  # type: ignore[call-overload]
            for owner, when in self._changed.items()
        )

    def has_made(self, address: Address) -> bool:
        """Whether this run has made what lives at `address`."""
        self.effects += 1
        return address in self._made

    def has_any(self, addresses: Iterable[Address]) -> bool:
        """Whether this run has made something of what another has."""
        return not self._made.keys().isdisjoint(addresses)

    def take_over(self, changes: dict[Cell, object], written: Iterable[Frame], made: Iterable[Address]) -> None:
        """Write and make what another run has."""
        self.written.update(written)
        self._made.update(dict.fromkeys(made, self.clock))
        for cell, content in changes.items():
            self.state.set(cell, content)

    def is_several(self, address: Address) -> bool:
        """Whether `address` stands for more than one object here."""
        may_be = address in self.program.several or self.recording is not None  # which has to see what is asked for
        return may_be and self.state.get((address, "@several")) is not None

    def put(self, address: Address, name: str, value: Value) -> None:
        """Write a field of an object: strongly while the address stands for one, else joined with what is there."""
        cell = (address, name)
        if self.is_several(address):
            before = self.state.get(cell)
            if isinstance(before, Value):
                value = either([before, value])
        self._note_change(cell, value)
        self.state.set(cell, value)

    def field(self, address: Address, name: str) -> Value | None:
        """A field of an object; None when it was never written, or was deleted."""
        found = self.state.get((address, name))
        if type(found) is Maybe:
            return found.value
        return found if isinstance(found, Value) else None

    def has_field(self, address: Address, name: str) -> bool | None:
        """Whether an object has a field; None when not known."""
        return self._is_there((address, name))

    def drop_field(self, address: Address, name: str) -> None:
        """Delete a field of an object."""
        if self.field(address, name) is not None:
            self.put(address, name, ABSENT)
            self.state.set((address, SHUFFLED), ABSENT)  # what comes back stands behind the others

    def _is_there(self, cell: Cell) -> bool | None:
        found = self.read(cell)
        if type(found) is Maybe:
            return False if found.value is None else None
        return isinstance(found, Value)

    def fields(self, owner: Address | Frame) -> dict[str, Value]:
        """All the fields of an object, or variables of a class or module, that are or may be there."""
        found: dict[str, Value] = {}
        for name, content in self.state.of(owner).items():
            if is_attribute(name) and isinstance(content, Value):
                value = content.value if isinstance(content, Maybe) else content
                if value is not None:
                    found[name] = value
        return found

    def new_list(self, place: Place, items: Tuple, kind: str = "list") -> List:
        """A list, set or generator with these contents."""
        address = self.allocate(place, kind)
        self.put_items(address, items)
        return List(address, kind)

    def items(self, value: List) -> Tuple:
        """The contents of a list."""
        found = self.state.get((value.address, "[]"))
        return found if isinstance(found, Tuple) else Tuple((), UNKNOWN)

    def put_items(self, address: Address, items: Tuple) -> None:
        """Replace the contents of a list."""
        cell = (address, "[]")
        if self.is_several(address):
            before = self.state.get(cell)
            if isinstance(before, Tuple) and before != items:
                items = merge_items([before, items])
        self._note_change(cell, items)
        self.state.set(cell, items)

    def new_dict(self, place: Place, entries: Entries) -> Dict:
        """A dict with these contents."""
        address = self.allocate(place, "dict")
        self.put_entries(address, entries)
        return Dict(address)

    def entries(self, value: Dict) -> Entries:
        """The contents of a dict."""
        found = self.state.get((value.address, "{}"))
        return found if isinstance(found, Entries) else Entries((), UNKNOWN)

    def put_entries(self, address: Address, entries: Entries) -> None:
        """Replace the contents of a dict."""
        cell = (address, "{}")
        if self.is_several(address):
            before = self.state.get(cell)
            if isinstance(before, Entries) and before != entries:
                entries = merge_entries([before, entries])
        self._note_change(cell, entries)
        self.state.set(cell, entries)

    # -- forks and joins

    def decide(self, symbol: Symbol | None) -> bool | None:
        """The outcome of an unknown condition where this world, or the branch being run, fixes it."""
        if symbol is None:
            return None
        if symbol.parts[0] in TRANSPARENT:
            symbol, holds = question_behind(symbol)
            if not holds:
                found = self.decide(symbol)
                return None if found is None else not found
        if self.recording is not None:
            self.recording.conditions[symbol] = None
        if self.decisions:
            found = self.decisions.get(symbol)
            if found is None:
                found = implied(symbol, self.decisions)
            if found is not None:
                self.supposed += 1
                return found
        if self.pending is not None and self.may_split and meeting.depends_on(symbol, self.pending, self.decisions):
            meeting.decide_on(self.pending)
        return None

    def assuming(self, symbol: Symbol | None, outcome: bool, branch: Callable[[], _T]) -> _T:
        """Run a branch in which the condition `symbol` is known to be `outcome`; it is known behind it, too."""
        if symbol is None:
            return branch()
        path = self.stack[-1].path
        path.append(symbol)
        try:
            result = self.knowing({symbol: outcome}, branch)
        finally:
            path.pop()
        self.learned = {symbol: outcome, **self.learned}
        return result

    def knowing(self, facts: Facts, rest: Callable[[], _T]) -> _T:
        """Run what is only reached where conditions come out as `facts` say."""
        new = self.take_for_known(facts)
        try:
            return rest()
        finally:
            self.forget_known(new)

    def take_for_known(self, facts: Facts) -> list[Symbol]:
        """From here on conditions come out as `facts` say; which of them were not known."""
        new = [symbol for symbol in facts if symbol not in self.decisions]
        for symbol in new:
            self.decisions[symbol] = facts[symbol]
        return new

    def forget_known(self, symbols: Sequence[Symbol]) -> None:
        """What was known of these conditions held up to here."""
        for symbol in symbols:
            del self.decisions[symbol]

    def known_since(self, activation: Activation) -> dict[Symbol, bool]:
        """What is known of conditions, and was not known when a function was called."""
        return dict(itertools.islice(self.decisions.items(), activation.decided, None))

    def alternatives(
        self, arms: Sequence[Callable[[], bool]], symbols: Sequence[Symbol] = (), first: bool | None = None
    ) -> bool:
        """Run each of `arms` from the present state and go on where any reaches its end; false when none does.

        Of two arms, `first` may say under which outcome of the one condition the first is run, else the second.
        """
        self.undecided.update(symbols)
        base, captures = self.state, self.captures
        base.pins += 1
        left: list[State] = []
        activation = self.stack[-1]
        yields = len(activation.yields)
        before, learned = self.learned, []
        for arm in arms:
            self.state = base.fork()
            self.learned = {}
            if arm():
                left.append(self.state)
                learned.append(self.learned)
        self.learned = {**before, **in_common(learned)}
        activation.loose = activation.loose or len(activation.yields) > yields
        if self.captures == captures:
            base.pins -= 1
        return self.resume(base, left, symbols, first)

    def perhaps(self, run: Callable[[], _T]) -> _T:
        """Do what the program may do in part, not at all or again: what it changes is not known behind it."""
        base, captures, learned = self.state, self.captures, self.learned
        base.pins += 1
        self.state = base.fork()
        result = run()
        after, self.learned = self.state, learned
        for cell, content in after.above(base).items():
            before = base.get(cell)
            if before is not None and before != content:
                after.set(cell, loosened(before, content))
        if self.captures == captures:
            base.pins -= 1
        self.state = after.settled(base)
        return result

    def aside(self, run: Callable[[], object]) -> None:
        """Do what the program may do at a time that is not known: what it changes is left out."""
        base, captures, learned = self.state, self.captures, self.learned
        base.pins += 1
        self.state = base.fork()
        run()
        self.learned = learned
        if self.captures == captures:
            base.pins -= 1
        self.state = base.fork().settled(base)

    def resume(
        self, base: State, states: list[State], symbols: Sequence[Symbol] = (), first: bool | None = None
    ) -> bool:
        """Go on behind `base` in any of `states`, which all stand on it; false when there are none."""
        if not states:
            self.state = base.fork()
            return False
        self.state = (states[0] if len(states) == 1 else self.join(states, symbols, first)).settled(base)
        return True

    def capture(self) -> State:
        """The present state, kept for later: what it stands on is not written until then."""
        self.captures += 1
        self.state.pins += 1
        return self.state

    def join(self, states: list[State], symbols: Sequence[Symbol] = (), first: bool | None = None) -> State:
        """The state behind a join of branches that were taken under the conditions `symbols`."""
        return meeting.join(self, states, symbols, first)

    def one_of(
        self, values: list[Value], symbols: Sequence[Symbol] = (), facts: Sequence[Facts] | None = None
    ) -> Value:
        """One of `values`, the results of branches under `symbols`; what becomes unknown by that is out of sight."""
        return meeting.one_of(self, values, symbols, facts)

    def join_values(self, values: list[Value], symbols: Sequence[Symbol], states: Sequence[State] = ()) -> None:
        """Split the world where `values`, the results of branches under `symbols`, do not make sense in one."""
        meeting.tell_apart(self, values, symbols, states)

    def likely(self, value: Unknown) -> tuple[Candidate, ...]:
        """The values that an unknown is likely to have: its own candidates, and what the program and its files name."""
        return value.candidates if value.closed else self.program.candidates(value)

    def provided(self, value: Unknown) -> Value:
        """What a parameter is that statements of the program may have set from afar."""
        self.effects += 1
        return gin.bound(self, value)

    def note_answer(self, question: object, answer: object) -> None:
        """Note what the running file has asked, and what it is told in this generation of Keras."""
        self.program.answers.setdefault((self.stack[-1].frame.source.path, question), {})[self.generation] = answer

    def fails_to_find(self, spelled: str) -> bool:
        """Whether a name of a library is not there, where the program would catch that: what then is not known here."""
        missing = is_missing(spelled, self.generation)
        if missing or is_missing(spelled, "2" if self.generation == "3" else "3"):
            self.note_answer(spelled, not missing)
        if not missing:
            return False
        self.throw()
        return True

    def fails_to_import(self, name: str) -> bool:
        """Whether an import fails where the program would catch that.

        Who asks for tf_keras first, and has something else without it, runs under Keras 3 where that is not installed.
        """
        if name.partition(".")[0] != "tf_keras":
            return self.fails_to_find(name)
        missing = self.generation == "3"
        self.note_answer("tf_keras", not missing)
        if missing:
            self.throw()
        return missing

    # -- what happened

    def marks(self) -> tuple[int, ...]:
        """How much was done so far that lasts: what comes between two equal ones may have written the state at most."""
        trace = self.trace
        return (self.effects, len(trace.events), trace.tensors.total, trace.layers.total, len(trace.mixed))

    @property
    def thrown(self) -> int:
        """How many states in which something was raised are kept for the `try` that is being run."""
        return len(self.raised[-1]) if self.raised else 0

    def is_shorter(self, function: cst.CSTNode, depth: int) -> bool:
        """Whether a way of this depth into a function is shorter than those that were seen."""
        known = self.ways.get(function)
        return known is None or depth < known.depth

    def throw(self) -> None:
        """Something is raised: whoever catches it goes on from the present state."""
        if self.raised:
            self.effects += 1
            self.raised[-1].append(self.capture())

    def note_idle(self, code: FunctionCode, steps: int) -> None:
        """Note that a call of a function took so many steps, and came to nothing of interest."""
        self.idle.add(code)
        if self.stack:
            self.stack[-1].idled += steps
        if self.recording is not None:
            self.recording.idle[code] = self.recording.idle.get(code, 0) + steps

    def note_open(self) -> None:
        """Note that something is asked for of which no record of a call tells: what came before, or where it stands."""
        self.effects += 1
        if self.recording is not None:
            self.recording.open = True

    def record(self, event: Event) -> None:
        """Add an event to the trace."""
        if self.pending is not None and self.may_split and not isinstance(event, _OF_ANY_POLICY):
            meeting.decide_on(self.pending)
        self.trace.events.append(event)
        if type(event) in _TELLING:
            self.heard = self.steps

    def escape(self, value: Value, seen: set[object] | None = None) -> None:
        """Note that `value`, and what it holds, went where it cannot be followed."""
        for part in self.parts(value, seen):
            if isinstance(part, Instance):
                self.record(Escaped(part.address))
                self.trace.escapes += 1
            elif isinstance(part, Tensor):
                variables.lose(self, part)

    def use(self, value: Value) -> None:
        """Note that the models in `value` are parts of something larger."""
        for part in self.parts(value):
            if isinstance(part, Instance):
                self.record(ModelUsed(part))
                self.taken_from(part)

    def taken_from(self, layer: Instance) -> None:
        """Note that `layer`, asked of a model by name or by `model.layers`, goes on elsewhere: the model is opened."""
        model = self.state.get((layer.address, "@of"))
        if isinstance(model, Instance):
            self.record(Opened(model))

    def parts(self, value: Value, seen: set[object] | None = None) -> Iterable[Value]:
        """`value` and the values that it holds in containers, in their order, but for constants."""
        if seen is None and type(value) not in _HOLDING:
            return () if type(value) is Const else (value,)
        return self._parts(value, set() if seen is None else seen)

    def _parts(self, value: Value, seen: set[object]) -> Iterator[Value]:
        stack = [value]
        while stack:
            here = stack.pop()
            if here in seen or isinstance(here, Const):
                continue
            seen.add(here)
            yield here
            match here:
                case Choice():
                    stack.extend(reversed(here.options))
                case Tuple():
                    if here.rest:
                        stack.append(here.rest)
                    stack.extend(reversed(here.items))
                case List():
                    stack.append(self.items(here))
                case Dict():
                    entries = self.entries(here)
                    if entries.rest:
                        stack.append(entries.rest)
                    stack.extend(held for _, held in reversed(entries.pairs))
                case Partial():
                    stack.extend(here.args)
                    stack.extend(held for _, held in here.keywords)
                case Bound():
                    stack.append(here.receiver)
                case Dataset():
                    stack.append(here.element)
                case _:
                    pass

    @property
    def caller(self) -> Instance | None:
        """The layer or model inside whose `call` the machine is."""
        self.effects += 1
        for activation in reversed(self.stack):
            if activation.in_call is not None:
                return activation.in_call
        return None

    @property
    def has_fallback(self) -> bool:
        """Whether the program would notice here that a library lacks a name, or goes on because it does.

        Who catches any exception of a function that it calls, looks for something else.
        """
        return any(frame is None or frame is self.stack[-1].frame for frame in self.fallbacks)

    @contextmanager
    def falling_back(self, is_so: bool, frame: Frame | None = None) -> Iterator[None]:
        """Run something that, if `is_so`, is there for a release that lacks a name, or that has it."""
        if is_so:
            self.fallbacks.append(frame)
        yield
        if is_so:
            self.fallbacks.pop()

    # -- the global policy

    @property
    def policy(self) -> Policy:
        """The global dtype policy now."""
        if self.shelf.is_neutral:
            raise PolicyMatters
        self.effects += 1
        found = self.state.get(POLICY)
        if isinstance(found, Undecided) and self.may_split:
            meeting.decide_on(found)
        return found if isinstance(found, Policy) else Policy(None)

    @property
    def policies(self) -> tuple[Policy, ...]:
        """The global dtype policy now, or those of which it is one where nothing depends on which."""
        found = self.state.get(POLICY) if not self.shelf.is_neutral else None
        if isinstance(found, Undecided):
            return found.policies
        return (found if isinstance(found, Policy) else Policy(None),)

    def set_policy(self, policy: Policy) -> None:
        """Make `policy` the global one."""
        if self.shelf.is_neutral:
            raise PolicyMatters
        self.state.set(POLICY, policy)
        self.pending = None


_TELLING: Final = frozenset({PolicySet, LayerMade, LayerCalled})
_HANDLERS: Final = expressions.HANDLERS
_HOLDING: Final = frozenset({Choice, Tuple, List, Dict, Partial, Bound, Dataset})
"""The kinds of values that hold others."""
_OF_ANY_POLICY: Final = (
    Counted,
    EnvironmentSet,
    Escaped,
    LibraryCalled,
    NameRead,
    PolicySet,
    PolicyRefused,
    Reported,
    Returned,
    ScopeEntered,
    ScopeLeft,
    VariableMade,
)
"""Events that say the same whatever the policy is; all others belong to a world in which it is known."""
