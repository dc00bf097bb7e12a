"""Calls: binding arguments, entering the program's own functions, and handing the rest to whoever knows it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from mplint.interpreter import candidates, forgetting
from mplint.interpreter.activations import MAX_DEPTH, MAX_RECURSIVE_STEPS, Activation, Exit
from mplint.interpreter.code import FunctionCode
from mplint.interpreter.frames import Context
from mplint.interpreter.implications import Facts, in_common
from mplint.interpreter.keras import chains
from mplint.interpreter.memo import MAX_CALLS
from mplint.interpreter.replays import LONG
from mplint.interpreter.trace import Returned
from mplint.interpreter.values import (
    MAX_OPTIONS,
    NEVER,
    NONE,
    UNKNOWN,
    Api,
    Class,
    Const,
    Dict,
    Entries,
    Function,
    Instance,
    Maybe,
    Module,
    Partial,
    Place,
    Symbol,
    Tensor,
    Tuple,
    Unknown,
    Value,
    choice,
    derived,
    immutable,
    made_somewhere,
)

if TYPE_CHECKING:
    from mplint.interpreter.frames import Frame
    from mplint.interpreter.machine import Machine

_RECURSION: Final = 16
"""Calls of one function inside each other that are entered."""
_IDLE_STEPS: Final = 5_000
"""A function of which a call took more steps, and came to no layer, tensor or policy, is not entered again in the run.

It parses, looks for files, keeps books; much of this is done for each of many things.
"""
SUSPENDED: Final = "@suspended"
"""The field of a generator whose body has not been started: the function and its arguments."""
PROVIDED: Final = "provided"
"""The kind of the symbols of parameters that statements of the program may set from afar."""


@immutable()
class Arguments:
    """What a call passes; `rest` stands for further positional ones (`*unknown`), `more` for further keywords."""

    args: tuple[Value, ...] = ()
    keywords: tuple[tuple[str, Value], ...] = ()
    rest: Value | None = None
    more: Value | None = None

    def get(self, name: str, position: int | None = None) -> Value | None:
        """The argument called `name`, or standing at `position`; None when it was not given or cannot be told."""
        for key, value in self.keywords:
            if key == name:
                return value
        if position is not None and position < len(self.args):
            return self.args[position]
        return None

    def behind(self, *first: Value) -> Arguments:
        """The same with `first` put in front."""
        return Arguments(first + self.args, self.keywords, self.rest, self.more)

    def without_first(self) -> Arguments:
        """The same without the first positional one."""
        return Arguments(self.args[1:], self.keywords, self.rest, self.more)

    def named(self) -> Entries:
        """The keywords as a dict."""
        return as_entries(self.keywords, self.more)

    def values(self) -> tuple[Value, ...]:
        """All the values that are passed."""
        found = self.args + tuple([value for _, value in self.keywords]) if self.keywords else self.args
        return found if self.sure else found + tuple(value for value in (self.rest, self.more) if value is not None)

    @property
    def sure(self) -> bool:
        """Whether these are all: neither `*unknown` nor `**unknown`."""
        return self.rest is None and self.more is None


def as_entries(keywords: Iterable[tuple[str, Value]], more: Value | None) -> Entries:
    """Keywords as a dict; one that may not be given (`**` of a dict that may not have it) is optional."""
    given = tuple((Const(key), value) for key, value in keywords)
    optional = frozenset(key for key, value in given if type(value) is Maybe)
    pairs = tuple((key, value.value or UNKNOWN if type(value) is Maybe else value) for key, value in given)
    return Entries(pairs, more, optional)


def each(m: Machine, alternatives: tuple[Value, ...], run: Callable[[Value], Value]) -> Value:
    """Run one call for each alternative of its callee, in states of their own, and join."""
    values: list[Value] = []

    def arm(alternative: Value) -> Callable[[], bool]:
        def go() -> bool:
            values.append(run(alternative))
            return True

        return go

    m.alternatives([arm(alternative) for alternative in alternatives])
    result = m.one_of(values)
    if isinstance(result, Tensor) and result.made.kind == "joined" and len(alternatives) > MAX_OPTIONS:
        return made_somewhere(result)  # which of a registry's blocks comes last is not known
    return result


def unseen(m: Machine, callee: Value, arguments: Arguments) -> Value:
    """A call into what cannot be followed: its arguments escape, its result is named by where it came from."""
    for value in arguments.values():
        m.escape(value)
    for value in arguments.values():
        _hand_over(m, value)
    if isinstance(callee, (Unknown, Api)) and arguments.sure:
        keywords = [part for key, value in arguments.keywords for part in (key, value)]
        named = derived("call", callee, *arguments.args, *keywords)
        if named.symbol is not None:
            return named
    return chains.carried(m, arguments.values())


def _hand_over(m: Machine, value: Value) -> None:
    """Run a function that was made on the way and goes where it cannot be followed: something will call it there.

    Nobody else can.  What it changes is not carried on, since when it is called is not known.
    """
    while isinstance(value, Partial):
        value = value.callee
    if not isinstance(value, Function) or value.frame.kind != "function":
        return
    m.effects += 1
    if value in m.handed_over:
        return
    m.handed_over.add(value)
    place = m.program.place(value.frame.source, value.code.node)
    m.aside(lambda: m.call(value, Arguments((), (), UNKNOWN), place))


def call_function(
    m: Machine,
    function: Function,
    arguments: Arguments,
    place: Place,
    in_call: Instance | None = None,
    on_yield: Callable[[Value], object] | None = None,
    *,
    resumed: bool = False,
) -> Value:
    """Enter a function of the program; a generator's only when it is `resumed`, and what it gives is a tuple then.

    `in_call` is the layer whose `call` this is; `on_yield` runs the body of a `with` at a context manager's yield.
    """
    code = function.code
    if on_yield is None and code.is_generator and not resumed:
        if code.node in m.program.context_managers:
            return Partial(function, arguments.args, arguments.keywords)
        return _suspended(m, function, arguments, place)
    if m.program.cached and code.node in m.program.cached and not resumed:
        return _cached(m, function, arguments, place)
    entered = m.calls_of.get(code, 0)
    endless = len(m.stack) >= MAX_DEPTH or entered >= MAX_CALLS or _goes_deep(m, code)
    is_idle = code in m.idle and not m.running.get(code)
    if endless or is_idle or _goes_in_circles(m, code, arguments):
        for value in arguments.values():
            m.escape(value)
        if endless or is_idle:
            m.trace.cut = m.trace.cut or endless
            m.note_open()
            forgetting.forget(m, function, arguments)
        return UNKNOWN
    if in_call is None and on_yield is None and not resumed:
        return _remembered(m, function, arguments, place)
    return _entered(m, function, arguments, place, in_call, on_yield)


def _remembered(m: Machine, function: Function, arguments: Arguments, place: Place) -> Value:
    """Run a function, unless it is known what that does."""
    program = m.program

    def enter() -> Value:
        return program.memo.call(m, function, arguments, place, lambda: _entered(m, function, arguments, place))

    if program.replays.are_remembered(m, function.code):
        return program.replays.call(m, function, arguments, place, enter)
    return enter()


def _entered(
    m: Machine,
    function: Function,
    arguments: Arguments,
    place: Place,
    in_call: Instance | None = None,
    on_yield: Callable[[Value], object] | None = None,
) -> Value:
    """Run a function."""
    code = function.code
    m.calls_of[code] = m.calls_of.get(code, 0) + 1
    if m.recording is not None:
        m.recording.enter(code, len(m.stack) + 1)
    m.program.entered.add(code.node)
    owner = function.frame.owner if function.frame.kind == "class" else None
    outer = m.context
    m.context = outer.at(place)
    if m.is_shorter(code.node, m.context.depth):
        m.ways[code.node] = m.context
    frame = m.program.frame(code.node, "function", code.source, code, m.context, function.frame, code.locals, owner)
    bind_arguments(m, frame, function, arguments, place)
    try:
        activation = Activation(frame, in_call, arguments)
        m.clock += 1
        activation.began = m.clock
        result = _named(m, code, arguments, run(m, activation, code, on_yield))
    finally:
        m.context = outer
    if in_call is None and isinstance(result, Tensor):
        m.record(Returned(place, outer, result))
    return result


_NAMED: Final = (Unknown, Const, Api, Instance, Dict, Module, Class, Function)


def _named(m: Machine, code: FunctionCode, arguments: Arguments, result: Value) -> Value:
    """A result that is not known, by a name that it has wherever the function is called with the same arguments."""
    if type(result) is not Unknown or result.candidates or not arguments.sure:
        return result
    match result.symbol:
        case None:
            pass
        case Symbol(parts=("value", Place(), Context() as context)) if context.is_within(m.context):
            pass
        case _:
            return result
    given = arguments.values()
    if not all(isinstance(value, _NAMED) and value != UNKNOWN for value in given):
        return result
    parts = [value.symbol if isinstance(value, Unknown) else value for value in given]
    names = [name for name, _ in arguments.keywords]
    return Unknown(Symbol("result", m.program.place(code.source, code.node), *parts, *names))


def _cached(m: Machine, function: Function, arguments: Arguments, place: Place) -> Value:
    """A call of a function under `lru_cache`: what is known to have been passed before has been done."""
    cell = ((function, arguments), "@result")
    found = m.state.get(cell)
    if isinstance(found, Value):
        return found

    def run() -> Value:
        return call_function(m, function, arguments, place, resumed=True)

    certain = arguments.sure and all(type(value) is Const for value in arguments.values())
    result = run() if certain else m.perhaps(run)
    m.state.set(cell, result)
    return result


def _suspended(m: Machine, function: Function, arguments: Arguments, place: Place) -> Value:
    """The iterator that calling a generator gives: nothing of its body has been run."""
    made = m.new_list(place, Tuple((), UNKNOWN), "iterator")
    if arguments.sure:
        m.state.set((made.address, SUSPENDED), Partial(function, arguments.args, arguments.keywords))
    return made


def _goes_deep(m: Machine, code: FunctionCode) -> bool:
    """Whether a function has called itself too often for another time."""
    running = m.running.get(code)
    if not running:
        return False
    m.effects += 1
    taken = m.recursions.get(code, 0) + (m.steps - running[1].steps if len(running) > 1 else 0)
    return len(running) >= _RECURSION or taken > MAX_RECURSIVE_STEPS


def _goes_in_circles(m: Machine, code: FunctionCode, arguments: Arguments) -> bool:
    """Whether a recursive call would show nothing new.

    It passes what the call that is being run was passed, and unknown values, and nothing has changed in between.
    """
    running = m.running.get(code)
    if not running:
        return False
    last = running[-1]
    fresh = set(arguments.values()).difference(last.arguments.values() if last.arguments is not None else ())
    return all(isinstance(value, Unknown) for value in fresh) and not m.has_changed_since(last.began)


def run(
    m: Machine,
    activation: Activation,
    code: FunctionCode,
    on_yield: Callable[[Value], object] | None = None,
) -> Value:
    """Execute the body of a function whose parameters are bound in the frame of `activation`."""
    frame = activation.frame
    _begin(m, activation, code)
    if code.expression is not None:
        try:
            return m.evaluate(frame, code.expression)
        finally:
            _end(m, activation, code)
    activation.on_yield = on_yield
    activation.decided = len(m.decisions)
    entry, pins, thrown, learned = m.state, m.state.pins, m.thrown, m.learned
    try:
        fell = m.execute(frame, code.body)
    finally:
        _end(m, activation, code)
    exits = activation.exits
    if fell:
        exits.append(Exit(m.state, NONE, (), m.learned))
    symbols = tuple(dict.fromkeys(symbol for each in exits for symbol in each.path))
    states = [each.state for each in exits]
    values = [each.value for each in exits]
    facts = [each.known for each in exits]
    if not code.is_generator:
        m.join_values(values, symbols, states)
    if m.thrown == thrown:
        entry.pins = pins  # the states in which the function was left end here
    m.resume(entry, states, symbols)
    if not code.has_closures:
        m.state.drop(frame, code.locals)
    m.learned = {**learned, **_lasting(m, in_common(facts))}
    if code.is_generator:
        items = Tuple(tuple(activation.yields)) if len(states) == 1 and not activation.exits[1:] else None
        if items is None or activation.loose:
            items = Tuple((), choice(activation.yields) if activation.yields else UNKNOWN)
        return items
    if not values:  # a method that is to be overridden raises for whoever forgets to; an object's own does something
        return UNKNOWN if code.is_abstract else NEVER
    return m.one_of(values, symbols, facts)


def _lasting(m: Machine, facts: Facts) -> dict[Symbol, bool]:
    """What is known of conditions that can be asked for behind the call that is being run, too."""
    return {symbol: outcome for symbol, outcome in facts.items() if not _is_inside(m.context, symbol)}


def _is_inside(context: Context, symbol: Symbol) -> bool:
    """Whether a condition is about something that was found in the call that `context` stands for."""
    parts = (part for inner in symbol.tree for part in inner.parts)
    return any(isinstance(part, Context) and part.is_within(context) for part in parts)


def _begin(m: Machine, activation: Activation, code: FunctionCode) -> None:
    activation.steps, activation.interest = m.steps, m.trace.interest
    m.running.setdefault(code, []).append(activation)
    m.recursive += code.calls_itself
    m.stack.append(activation)


def _end(m: Machine, activation: Activation, code: FunctionCode) -> None:
    m.stack.pop()
    running = m.running[code]
    running.pop()
    m.recursive -= code.calls_itself
    if len(running) == 1:
        m.recursions[code] = m.recursions.get(code, 0) + m.steps - activation.steps
    taken = m.steps - activation.steps - activation.idled
    if taken > LONG:
        m.program.replays.note(code)
    if taken > _IDLE_STEPS and m.trace.interest == activation.interest:
        m.note_idle(code, taken)
    if activation.idled and m.stack:
        m.stack[-1].idled += activation.idled


def bind_arguments(m: Machine, frame: Frame, function: Function, arguments: Arguments, place: Place) -> None:
    """Bind the parameters of `function` in `frame`; what was not passed and has no default is unknown."""
    code = function.code
    args = list(arguments.args)
    keywords = dict(arguments.keywords)
    defaults = dict(function.defaults)
    for parameter in code.parameters:
        name = parameter.name
        if parameter.kind == "star":
            value: Value = Tuple(tuple(args), arguments.rest)
            args = []
        elif parameter.kind == "star_star":
            told = defaults.keys() - {each.name for each in code.parameters}  # by the command line alone
            extra = [(key, defaults[key]) for key in defaults if key in told and key not in keywords]
            entries = as_entries([*extra, *keywords.items()], arguments.more)
            value = m.new_dict(m.program.place(code.source, code.node), entries)
            keywords = {}
        elif args and parameter.kind in ("positional", "positional_only"):
            value = args.pop(0)
            if name in defaults:
                m.program.passed.add((code.node, name))
        elif name in keywords and parameter.kind != "positional_only":
            value = keywords.pop(name)
            if name in defaults:
                m.program.passed.add((code.node, name))
            if type(value) is Maybe:
                value = choice([value.value or UNKNOWN, defaults.get(name, UNKNOWN)])
        elif name in defaults:
            if arguments.rest is not None or arguments.more is not None:
                m.program.passed.add((code.node, name))
            value = defaults[name]
            if type(value) is Unknown and value.symbol is not None and value.symbol.parts[0] == PROVIDED:
                value = m.provided(value)
            loose = arguments.rest if parameter.kind.startswith("positional") else None
            if loose is not None:
                value = UNKNOWN
            elif arguments.more is not None:
                value = candidates.or_else(candidates.under(arguments.more, Const(name)), value)
        elif arguments.rest is not None and parameter.kind.startswith("positional"):
            value = arguments.rest
        else:
            value = Unknown(Symbol("parameter", code.qualname, name))
        m.state.set((frame, name), value)
