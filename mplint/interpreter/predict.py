"""What the interpreter says that a program makes, place by place: for the audit, which holds it against a real run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Final, NamedTuple

from mplint import keras_api
from mplint.interpreter.keras import models, policies
from mplint.interpreter.keras.info import info_of
from mplint.interpreter.machine import Machine
from mplint.interpreter.mentioned import policies_by_name
from mplint.interpreter.program import Program
from mplint.interpreter.reach import Reach
from mplint.interpreter.roots import Wanted, run_unentered
from mplint.interpreter.setters import Setters
from mplint.interpreter.trace import LayerCalled, LayerMade, ModelMade, VariableMade
from mplint.interpreter.values import (
    HALF,
    Api,
    Array,
    Choice,
    Class,
    Const,
    Dict,
    Instance,
    List,
    Place,
    Policy,
    Tensor,
    Tuple,
    Value,
    alternatives,
    variable_dtype,
)
from mplint.interpreter.world import Model, World, outputs_of
from mplint.interpreter.worlds import Entry, Exploration, Run, call_of, finish, run_entry, run_script, script
from mplint.keras_api import Kind
from mplint.project.modules import Project
from mplint.source.stack import on_deep_stack

VARIABLE: Final = "variable"
"""The kind of what `add_weight` and `tf.Variable` make; else it is the name of a class."""
_MOST_SHAPES: Final = 16
"""Structures of outputs of one call; where there are more, none of them is known."""
_DEEPEST: Final = 8

Dtypes = frozenset[str | None]
"""The dtypes that one tensor may have; None stands for one that is not known."""


class Site(NamedTuple):
    """A call in the source: its first row and column and its last ones; columns count bytes from 0, as Python's do."""

    file: Path
    row: int
    column: int
    last: int
    end: int


@dataclass
class Forecast:
    """What the things of one kind that a call makes are like, in all worlds; None stands for what is not known.

    `outputs` holds the dtypes of all tensors of a result, in order, mappings by sorted key.
    """

    policies: set[str | None] = field(default_factory=set)
    weights: set[str | None] = field(default_factory=set)
    outputs: set[tuple[Dtypes, ...] | None] = field(default_factory=set)


@dataclass
class Prediction:
    """What a program makes, by place and kind, and what the models in the variables of its first module give.

    In one world; where that does not come to a place, what is made there in any other.
    """

    made: dict[Site, dict[str, Forecast]] = field(default_factory=dict)
    named: dict[str, set[tuple[Dtypes, ...] | None]] = field(default_factory=dict)


@dataclass(frozen=True)
class Start:
    """How a program starts: `path` runs as a script, or is imported and its `factory` called with nothing."""

    path: Path
    factory: str | None = None

    def run(self) -> Run:
        """As the interpreter runs it."""
        return script(self.path) if self.factory is None else call_of(self.path, self.factory)


def predict(project: Project, start: Start, generation: str, policy: str | None = None) -> tuple[Prediction, ...]:
    """What the program at `start` makes in `generation`, under `policy` from its start on where one is given.

    One prediction for each world that its run may be in. What none of them is seen to make is taken from the functions
    that nothing calls, and from the modules that it imports.
    """
    return on_deep_stack(lambda: _predict(project, start, generation, policy))


def _predict(project: Project, start: Start, generation: str, policy: str | None) -> tuple[Prediction, ...]:
    program, found = Program(project), Exploration()
    entry = Entry(start.path, start.path.name, generation, Policy(policy or "float32"))
    run = list(run_entry(program, found, entry, start.run()))
    setters = Setters(project, Reach(project).programs_in_play)
    left = {policy: None for world in run for policy in world.policies}
    for path in sorted({start.path, *project.closure(start.path)}):
        here = replace(entry, path=path, name=path.name)
        timed = _by_time(program, start, entry, run) if path == start.path else {}
        for last, names in timed.items():
            run_unentered(program, found, here, last, setters, Wanted((names,)))
        for ended in left:
            run_unentered(program, found, here, ended, setters, Wanted(None, tuple(timed.values())))
    for path, machine in program.imports:
        finish(found, machine, Entry(path, path.name, generation, machine.shelf.policy), {})
    for failure in found.failures:
        raise failure.error
    sites: dict[Place, Site] = {}
    others = (world for world in found.worlds if world not in run)
    anywhere = {**_made(others, sites), **_made(run, sites)}
    return tuple(_in_world(world, start, anywhere, sites) for world in run)


def _by_time(program: Program, start: Start, entry: Entry, run: Sequence[World]) -> dict[Policy, set[str]]:
    """What the script at the start may call, by the policy that holds where it speaks of it last."""
    found: dict[Policy, set[str]] = {}
    for world in run if start.factory is None else ():
        for name, policy in (policies_by_name(program.project, world, entry.policy) or {}).items():
            found.setdefault(policy, set()).add(name)
    return found


def _in_world(
    world: World, start: Start, anywhere: dict[Site, dict[str, Forecast]], sites: dict[Place, Site]
) -> Prediction:
    named: dict[str, set[tuple[Dtypes, ...] | None]] = {}
    for name, model in _named(world, start.path):
        named.setdefault(name, set()).update(_dtypes(world.machine, model.outputs))
    return Prediction({**anywhere, **_made([world], sites)}, named)


def _named(world: World, path: Path) -> Iterator[tuple[str, Model]]:
    """The models that the module in the file `path` has in its variables at the end of the run."""
    for name, value in world.module_bindings(path).items():
        for model in world.models:
            if model.instance == value:
                yield name, model


def _made(worlds: Iterable[World], sites: dict[Place, Site]) -> dict[Site, dict[str, Forecast]]:
    """What is made in some worlds; `sites` are those that are known by now."""
    found: dict[Site, dict[str, Forecast]] = {}
    shown: dict[tuple[Place, str], Forecast] = {}

    def forecast(place: Place, kind: str) -> Forecast:
        held = shown.get((place, kind))
        if held is None:
            site = sites.get(place) or sites.setdefault(place, site_of(place))
            held = shown[place, kind] = found.setdefault(site, {}).setdefault(kind, Forecast())
        return held

    for world in worlds:
        m = world.machine
        places: dict[Instance, Place] = {}
        for event in world.trace.events:
            match event:
                case (
                    LayerMade(layer=layer, place=place, policy=policy)
                    | ModelMade(model=layer, place=place, policy=policy)
                ):
                    places[layer] = place
                    info = info_of(m, layer)
                    held = forecast(place, _kind(layer))
                    now = policies.stated(m, info) if info is not None else policy
                    own = info is not None and now is not info.policy
                    held.policies |= {now.name} if own else {policy.name, now.name}
                    if isinstance(layer.cls, Api):
                        held.weights |= {_variables(layer.cls.path, name, world.generation) for name in held.policies}
                case VariableMade(place=place, dtype=dtype):
                    forecast(place, VARIABLE).weights.add(dtype)
                case _:
                    pass
        for event in world.trace.events:
            if isinstance(event, LayerCalled) and event.layer in places:
                forecast(places[event.layer], _kind(event.layer)).outputs |= _dtypes(m, event.output)
        for model in world.models:
            forecast(model.place, _kind(model.instance)).outputs |= _dtypes(m, model.outputs)
    return found


def _variables(path: str, policy: str | None, generation: str) -> str | None:
    """The dtype of the floating variables of a library's layer; None where it has none that training moves."""
    if not keras_api.has_variables(path) or keras_api.kind(path) is Kind.WRAPPER:
        return None
    kept = policy in HALF and not keras_api.half_variables(path, generation)
    return "float32" if kept else variable_dtype(policy)


def _kind(layer: Instance) -> str:
    return layer.cls.code.node.name.value if isinstance(layer.cls, Class) else layer.cls.path.rpartition(".")[2]


def site_of(place: Place) -> Site:
    """Where a place is, as Python tells it of running code."""
    source = place.source
    span = source.span(place.node)
    (row, column), (last, end) = source.position(span.start), source.position(span.end)
    return Site(
        source.path,
        row,
        len(source.text[span.start - column + 1 : span.start].encode()),
        last,
        len(source.text[span.end - end + 1 : span.end].encode()),
    )


def _dtypes(m: Machine, value: Value) -> set[tuple[Dtypes, ...] | None]:
    """The dtypes of the tensors in a result, for each structure that it may have; None for one that is not known."""
    return set(_structures(m, value, 0))


def _structures(m: Machine, value: Value, depth: int) -> list[tuple[Dtypes, ...] | None]:
    if depth > _DEEPEST:
        return [None]
    match value:
        case Tensor():
            return [(frozenset(way.dtype for way in alternatives(value)),)]
        case Array(dtype=dtype):
            return [(frozenset({dtype}),)]
        case Const():
            return [()]
        case Tuple(rest=None):
            names = models.names_of(value)
            items = value.items if names is None else _sorted(zip(names, value.items, strict=True))
            return _in_order(m, items, depth)
        case List():
            return _structures(m, m.items(value), depth + 1)
        case Dict():
            entries = m.entries(value)
            return [None] if entries.rest is not None else _in_order(m, _sorted(entries.pairs), depth)
        case Choice():
            return [structure for option in value.options for structure in _structures(m, option, depth + 1)]
        case _:
            return [None]


def _sorted(pairs: Iterable[tuple[Value, Value]]) -> tuple[Value, ...]:
    """The values of a mapping by key."""
    return tuple(
        value for _, value in sorted(pairs, key=lambda pair: str(pair[0].value) if isinstance(pair[0], Const) else "")
    )


def _in_order(m: Machine, items: Iterable[Value], depth: int) -> list[tuple[Dtypes, ...] | None]:
    parts = [_structures(m, item, depth + 1) for item in items]
    found: list[tuple[Dtypes, ...] | None] = []
    for chosen in product(*parts):
        if len(found) == _MOST_SHAPES:
            return [None]
        known = [part for part in chosen if part is not None]
        found.append(tuple(dtypes for part in known for dtypes in part) if len(known) == len(chosen) else None)
    return found


def output_dtypes(source_text: str, generation: str) -> dict[str, list[str | None]]:
    """The dtype of each output (None: not known) of each model that the program leaves in a module-level name."""
    path = Path("/program/main.py")
    project = Project(path.parent, [path], {path: source_text.encode()})
    program = Program(project)
    found: dict[str, list[str | None]] = {}
    for world in run_script(program, path, generation):
        for name, model in _named(world, path):
            dtypes = [_dtype(tensor) for tensor in outputs_of(world, model)]
            before = found.get(name)
            found[name] = dtypes if before in (None, dtypes) else [None] * len(dtypes)
    return found


def _dtype(tensor: Tensor) -> str | None:
    dtypes = {way.dtype for way in alternatives(tensor)}
    return dtypes.pop() if len(dtypes) == 1 else None
