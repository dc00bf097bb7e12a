"""Functions and methods that no call was seen to enter: each is run once, with its defaults or unknown arguments."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import libcst as cst

from mplint.interpreter import modules, namespaces
from mplint.interpreter.activations import OutOfBudget, Patience, Split
from mplint.interpreter.calls import Arguments
from mplint.interpreter.candidates import switch
from mplint.interpreter.code import dotted
from mplint.interpreter.definitions import functions
from mplint.interpreter.keras.info import keras_base_of
from mplint.interpreter.machine import Machine
from mplint.interpreter.program import Program
from mplint.interpreter.setters import Setters
from mplint.interpreter.switches import flags
from mplint.interpreter.untried import Untried
from mplint.interpreter.values import (
    HALF_POLICIES,
    Bound,
    Class,
    Fields,
    Function,
    Instance,
    Made,
    Place,
    Policy,
    StaticMethod,
    Symbol,
    Tensor,
    Unknown,
    Value,
)
from mplint.interpreter.worlds import Entry, Exploration, Run, new_machine, run_entry
from mplint.source.file import ParseFault, SourceError
from mplint.source.walk import names_in

MAX_ROOT_STEPS: Final = 60_000
"""Expressions evaluated for a function that nobody was seen to call, in all its worlds."""
MAX_IDLE_STEPS: Final = 5_000
"""The same where it comes to no layer, no tensor and no policy: it makes configurations, reads files.

Of the functions of TensorFlow's model garden that make layers, the last begins after 3,000.
"""
_PATIENCE: Final = Patience(MAX_IDLE_STEPS, lambda machine: MAX_ROOT_STEPS if machine.trace.interest else 0)
MAX_FLOAT32_STEPS: Final = 15_000
"""The same where no half precision is set at the start: it would have to be set on the way."""
_WORD: Final = re.compile(r"\w")
_CALLED: Final = re.compile(r"\s*\(")


@dataclass(frozen=True)
class Wanted:
    """The functions and classes of a module that are to be run, by name: of `names`, or of all, those not in `done`.

    Both are several collections, each of which may be large.
    """

    names: tuple[Collection[str], ...] | None = None
    done: tuple[Collection[str], ...] = ()

    def __contains__(self, name: str) -> bool:
        is_named = self.names is None or any(name in names for names in self.names)
        return is_named and not any(name in names for names in self.done)


EVERYTHING: Final = Wanted()


def run_unentered(
    program: Program,
    found: Exploration,
    entry: Entry,
    policy: Policy,
    setters: Setters,
    wanted: Wanted = EVERYTHING,
    *,
    again: bool = False,
) -> None:
    """Run what nothing has entered in the module `entry.path`, under `policy`; the module is imported before that.

    Of its functions and classes only those that are `wanted`; under a policy that is not half, only what may set
    one, as `setters` knows.  `again` runs what was entered, too: that was under another policy.
    """
    before = program.entered
    if again:
        program.entered = set()
    _Roots(program, found, entry, policy, setters).run(wanted)
    if again:
        program.entered |= before


def _inherits(owner: cst.ClassDef) -> bool:
    """Whether the class derives from one of the program: then its methods may be called there."""
    names = {dotted(base.value).rpartition(".")[2] for base in owner.bases}
    return bool(names - {"Model", "Layer", "Sequential", "object", "ABC"})


def _is_chosen(setter: Place) -> bool:
    """Whether a module sets a policy when it is imported only if a condition holds."""
    source, branch = setter.source, setter.source.enclosing(setter.node, cst.If)
    if branch is None or source.enclosing(setter.node, cst.FunctionDef) is not None:
        return False
    while branch is not None:
        if "__name__" in names_in(branch.test):
            return False
        branch = source.enclosing(branch, cst.If)
    return True


def _looks_names_up(program: Program, path: Path) -> bool:
    """Whether the module in the file `path`, or one that imports it, looks names up at run time."""
    related = (path, *program.project.importers(path))
    return any(program.project.mentions(other, b"getattr(", b"globals()") for other in related)


def _is_spoken_of(text: str, name: str) -> bool:
    """Whether the text of a module speaks of the function `name` without calling it."""
    # a search for the bare name runs at the speed of memory: what stands around it is looked at afterwards
    for match in re.finditer(re.escape(name), text):
        start, end = match.span()
        if (
            not _WORD.match(text, end)
            and not (start and _WORD.match(text, start - 1))
            and not text.startswith("def ", max(start - 4, 0))
            and not _CALLED.match(text, end)
        ):
            return True
    return False


@dataclass(frozen=True)
class _Made:
    """An object of a class, and the run that has just made it."""

    machine: Machine
    value: Value


class _Roots:
    """The roots of one module, run under one policy."""

    def __init__(self, program: Program, found: Exploration, entry: Entry, policy: Policy, setters: Setters) -> None:
        self._program = program
        self._found = found
        self._path = entry.path
        is_half = policy.name in HALF_POLICIES
        budget = min(entry.budget, MAX_ROOT_STEPS) if is_half else MAX_FLOAT32_STEPS
        self._entry = replace(entry, budget=budget, patience=_PATIENCE)
        self._policy = policy
        self._setters = setters
        self._objects: dict[cst.ClassDef, _Made | None] = {}
        self._offered = Untried(program, setters)
        self._untried: dict[cst.FunctionDef, frozenset[str]] = {}
        """What is to be tried of functions that were entered, by their parameters."""

    def run(self, wanted: Wanted) -> None:
        """Run those of them that are `wanted`."""
        program = self._program
        try:
            tree = program.source(self._path).module
        except (SourceError, ParseFault):
            return
        left = [
            (owner, node)
            for owner, node in functions(tree)
            if (owner or node).name.value in wanted
            and (node not in program.entered or node in program.roots or self._offers(node))
            and (not node.name.value.startswith("__") or node.name.value in ("__call__", "__init__"))
            and (self._policy.name in HALF_POLICIES or self._setters.may_set(self._path, node.name.value))
        ]
        if not left:
            return
        own = own_policies(program, self._entry)
        is_own = bool(own) and all(one.name in HALF_POLICIES for one in own)
        looked_up = _looks_names_up(program, self._path)
        for owner, node in left:
            offered = self._untried.get(node)
            if offered is None:
                if node in program.entered and node not in program.roots:
                    continue  # entered by another root by now
                program.roots.add(node)
            self._run(owner, node, borrowed=not is_own or looked_up or self._is_passed_on(owner, node))
            program.passed.difference_update((node, name) for name in offered or ())  # no caller does

    def _take(self, m: Machine, policy: Policy) -> None:
        """Let `policy` be the one that holds, but where a module that was imported sets it under a condition.

        There the same condition may decide other things, and what it is does so in each world.
        """
        if not any(_is_chosen(place) for place in policy.set_by if place.source.path in (self._path, *m.imported)):
            m.set_policy(policy)

    def _offers(self, node: cst.FunctionDef) -> bool:
        """Whether a function that was entered has a flag for half precision that nobody was seen to pass."""
        if self._policy.name in HALF_POLICIES or self._program.project.is_test(self._path):
            return False
        offered = self._offered.of(self._path, node)
        if offered:
            self._untried[node] = offered
        return bool(offered)

    def _is_passed_on(self, owner: cst.ClassDef | None, node: cst.FunctionDef) -> bool:
        """Whether a function is registered, handed on or inherited: it has callers that were not seen."""
        text = self._program.source(self._path).text
        return bool(node.decorators) or _is_spoken_of(text, node.name.value) or (owner is not None and _inherits(owner))

    def _run(self, owner: cst.ClassDef | None, node: cst.FunctionDef, *, borrowed: bool) -> None:
        name = f"{self._path.name}:{owner.name.value + '.' if owner else ''}{node.name.value}"
        here = replace(self._entry, name=name, borrowed=borrowed)
        made: _Made | None = None
        if owner is not None:
            if owner not in self._objects:
                self._objects[owner] = self._construct(here, owner)
            made = self._objects[owner]
            if made is not None:
                here = replace(here, start=made.machine)
        if node.name.value == "__init__":  # an object of the class is all that there is to see
            return
        for given in (False, True) if node.name.value == "call" and _may_be_given(node) else (False,):
            for _ in run_entry(self._program, self._found, here, self._root(owner, node, made, given)):
                pass

    def _construct(self, here: Entry, owner: cst.ClassDef) -> _Made | None:
        """An object of the class, made once for all of its methods.  None where making it has several worlds."""
        values: list[Value | None] = []

        def run(m: Machine) -> None:
            modules.load(m, self._path)
            self._take(m, self._policy)
            values.append(self._object(m, owner))

        entry = replace(here, name=f"{self._path.name}:{owner.name.value}")
        worlds = list(run_entry(self._program, self._found, entry, run))
        if len(worlds) != 1:
            return None
        machine = worlds[0].machine
        value = values[0] if len(values) == 1 else None if values else self._unfinished(machine, owner)
        if value is None:
            return None
        machine.state.pins += 1
        return _Made(machine, value)

    def _object(self, m: Machine, owner: cst.ClassDef) -> Value | None:
        cls = self._class(m, owner)
        if cls is None:
            return None
        held = m.variable(cls.frame, "__init__")
        keywords = self._flags(held).keywords if isinstance(held, Function) else ()
        known = self._program.makings.in_common(cls, held, (name for name, _ in keywords))
        arguments = Arguments((), (*keywords, *known))
        return m.call(cls, arguments, self._place(owner))

    def _unfinished(self, m: Machine, owner: cst.ClassDef) -> Instance | None:
        """The object of the class as far as it was made when the run ended: what it would have become is not known."""
        cls = self._class(m, owner)
        made = m.program.address(self._place(owner), m.program.root_context, "object")
        if cls is None or not m.has_made(made):
            return None
        instance = Instance(made, cls)
        namespaces.note_loose(m, Fields(instance))
        return instance

    def _class(self, m: Machine, owner: cst.ClassDef) -> Class | None:
        cls = m.variable(m.program.module_frame(self._path), owner.name.value)
        return cls if isinstance(cls, Class) and cls.code.node is owner else None

    def _place(self, node: cst.CSTNode) -> Place:
        return self._program.place(self._program.source(self._path), node)

    def _root(self, owner: cst.ClassDef | None, node: cst.FunctionDef, made: _Made | None, given: bool) -> Run:
        def run(m: Machine) -> None:
            frame = modules.load(m, self._path)
            # what is tried is another run of a program: what this one has set meanwhile is not set there
            self._take(m, self._entry.policy if node in self._untried else self._policy)
            place = self._place(node)
            if owner is None:
                value = m.variable(frame, node.name.value)
                if isinstance(value, Function) and value.code.node is node:
                    m.call(value, self._flags(value), place)
                return
            cls = m.variable(frame, owner.name.value)
            held = m.variable(cls.frame, node.name.value) if isinstance(cls, Class) else None
            if isinstance(held, StaticMethod):
                m.call(held, Arguments(), place)
            elif isinstance(held, Function):
                instance = made.value if made is not None else self._object(m, owner)
                if isinstance(instance, Instance):
                    _method(m, instance, held, place, self._flags(held), given)

        return run

    def _flags(self, function: Function) -> Arguments:
        """What a caller that was not seen may pass."""
        code = function.code
        offered = self._untried.get(code.node) if isinstance(code.node, cst.FunctionDef) else None
        if offered is None or code.name == "__init__":
            return flags(function, self._setters, self._path)
        return Arguments((), tuple((name, switch(Symbol("option", code.qualname, name))) for name in sorted(offered)))


def own_policies(program: Program, entry: Entry) -> tuple[Policy, ...]:
    """The policies that the module may set by itself when it is imported; none where that cannot be followed."""
    machine = new_machine(program, replace(entry, policy=Policy("float32")), {}, True)
    try:
        modules.load(machine, entry.path)
    except Split:
        return (Policy(None),)
    except OutOfBudget:
        return ()
    return machine.policies


def _may_be_given(call: cst.FunctionDef) -> bool:
    """Whether a caller of a layer may pass more than a caller has to: a mask."""
    return any(map(_is_optional, call.params.params[2:]))


def _is_optional(parameter: cst.Param) -> bool:
    default = parameter.default
    return isinstance(default, cst.Name) and default.value == "None" and parameter.name.value != "training"


def _method(m: Machine, instance: Instance, held: Function, place: Place, arguments: Arguments, given: bool) -> None:
    """Run a method on an object: `call` of a layer through the layer, so that its input is cast.

    With all that it may be `given`, or no more than it must.
    """
    if held.code.name == "call" and keras_base_of(m, instance) is not None:
        unseen = Tensor(None, Made("argument", place, m.context), False)
        optional = held.code.node.params.params[2:] if given and isinstance(held.code.node, cst.FunctionDef) else ()
        names = [parameter.name.value for parameter in optional if _is_optional(parameter)]
        keywords = tuple((name, Unknown(Symbol("parameter", held.code.qualname, name))) for name in names)
        m.call(instance, Arguments((unseen,), keywords), place)
    else:
        m.call(Bound(instance, held), arguments, place)
