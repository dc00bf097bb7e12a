"""Calls that are not run again: a run shows the same as without the memo, and ends at the same step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import libcst as cst
import pytest

from mplint.analysis import analyze
from mplint.interpreter.code import Code, FunctionCode
from mplint.interpreter.exploration import explore
from mplint.interpreter.frames import Context, Frame
from mplint.interpreter.memo import Memo
from mplint.interpreter.program import Program
from mplint.interpreter.values import Address, Made, Place, Symbol, Value
from mplint.interpreter.world import World
from mplint.interpreter.worlds import Exploration, run_script
from mplint.project.modules import Project
from mplint.settings import Settings
from tests.fixture_programs import Fixture, load_all
from tests.interpreter.programs import ROOT, plain

SMALL_TALK = "a, b, c, d, e, f = 1, 2, 3, 4, 5, 6; g, h, i, j, k, l = 1, 2, 3, 4, 5, 6"
"""Enough steps for a call to be worth remembering."""

PROGRAMS = {
    "a variable that changes between the calls": """
limit = 1
def ask(x):
    {talk}
    return x + limit
results = [ask(1), ask(1), ask(1)]
limit = 5
results += [ask(1), ask(1), ask(2)]
""",
    "an object whose attribute changes": """
class Options:
    def __init__(self):
        self.units = 1
    def ask(self):
        {talk}
        return self.units
options = Options()
results = [options.ask(), options.ask(), options.ask()]
options.units = 2
results += [options.ask(), options.ask()]
""",
    "a list that grows": """
seen = []
def ask(x):
    {talk}
    return len(seen)
def add(x):
    {talk}
    seen.append(x)
    return x
results = [ask(1), ask(1), ask(1), add(1), ask(1), add(1), add(1), ask(1), add(1)]
""",
    "what is made anew by each call": """
def make(x):
    {talk}
    return [x]
results = [make(1) is make(1), make(1), make(1), make(1)]
results[1].append(2)
""",
    "a condition that a branch decides": """
import sys
flag = len(sys.argv) > 3
def ask(x):
    {talk}
    return 1 if flag else 2
results = [ask(1), ask(1), ask(1)]
if flag:
    results.append(ask(1))
else:
    results.append(ask(1))
results.append(ask(1))
""",
    "something that is raised and caught": """
def ask(x):
    {talk}
    if x:
        raise ValueError
    return 1
results = [ask(0), ask(0), ask(0)]
for x in (0, 1, 1, 0):
    try:
        results.append(ask(x))
    except ValueError:
        results.append("caught")
""",
    "calls inside calls, and one that calls itself": """
def inner(x):
    {talk}
    return x * 2
def outer(x):
    return inner(x) + inner(x)
def down(x):
    {talk}
    return 0 if x <= 0 else down(x - 1)
results = [outer(1), outer(1), outer(1), outer(2), outer(2), down(3), down(3), down(3)]
""",
    "an argument that comes back": """
def same(x, y=None):
    {talk}
    return x
first, second = [1], [1]
results = [same(first), same(first), same(second) is same(first), same(second), same(x=first), same(3), same(3.0)]
""",
    "what a closure has": """
def around(n):
    def ask(x):
        {talk}
        return x + n
    return ask
one, two = around(1), around(2)
results = [one(1), two(1), one(1), two(1), one(1), two(1)]
""",
    "a library that is patched": """
import numpy
def ask(x):
    {talk}
    return numpy.something
results = [ask(1) == 3, ask(1) == 3, ask(1) == 3]
numpy.something = 3
results += [ask(1) == 3, ask(1) == 3]
""",
    "what an option stands for, where a branch decides on the option": """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--mode", choices=["mixed", "plain"])
args = parser.parse_args()
name = {"mixed": "mixed_float16", "plain": ""}[args.mode]
def ask(x):
    {talk}
    return 1 if name else 2
results = [ask(1), ask(1), ask(1)]
if args.mode == "mixed":
    results.append(ask(1))
""",
    "a function that is handed over, in two worlds": """
import sys, keras, somewhere
keras.mixed_precision.set_global_policy("mixed_float16" if "--amp" in sys.argv else "float32")
def make():
    def build():
        return keras.layers.Dense(1)
    return build
build = make()
def register(x):
    {talk}
    somewhere.register(build)
    return x
results = [register(1), register(1), register(1)]
""",
    "all that something holds": """
from absl import flags
flags.DEFINE_integer("units", 1, "")
flags.FLAGS.units = 3
def ask():
    (1, 2, 3, 4, 5, 6, 7, 8, 9)
    return flags.FLAGS.flag_values_dict()["units"]
results = [ask(), ask(), ask()]
flags.FLAGS.units = 4
results.append(ask())
""",
    "an object that comes to stand for several": """
import somewhere
def make():
    return []
def ask(x, y):
    {talk}
    return x is y
last, count = True, []
while somewhere.goes_on():
    seen = make()
    count.append(seen)
    first, second, last = ask(seen, seen), ask(seen, seen), ask(seen, seen)
results = [last]
""",
    "an object whose items become its attributes": """
class Options(dict):
    pass
options = Options(units=1)
def ask(x):
    {talk}
    return getattr(options, "units", 0) == 1
results = [ask(1), ask(1), ask(1)]
options.__dict__ = options
results.append(ask(1))
""",
    "what is unknown of an object of the call's own": """
import types, somewhere
def ask(x):
    {talk}
    made = types.SimpleNamespace(**somewhere.options())
    return made.flag
a, b, c, d = ask(1), ask(1), ask(1), ask(1)
results = []
if c:
    results.append(1 if d else 2)
""",
    "calls that take long and come to nothing": """
def inner(x):
    for i in range(30):
        for j in range(30):
            for k in range(30):
                (i, j, k, x)
    return x
def ask(x):
    {talk}
    return inner(x)
results = [ask(1), ask(1), ask(1), inner(1), ask(2)]
""",
    "tests in a call, in two worlds": """
import sys, keras, somewhere
keras.mixed_precision.set_global_policy("mixed_float16" if "--amp" in sys.argv else "float32")
def ask(x):
    {talk}
    if somewhere.flag:
        return 1 if somewhere.flag else 3
    return 2
results = [ask(1), ask(1), ask(1)]
if ask(1) == 5:
    results.append(0)
""",
}


def through(
    self: Memo, m: object, function: object, arguments: object, place: object, enter: Callable[[], Value]
) -> Value:
    """In place of `Memo.call`: every call is run."""
    return enter()


def project_of(source: str) -> Project:
    contents = {ROOT / "main.py": source.replace("{talk}", SMALL_TALK).encode()}
    return Project(ROOT, list(contents), contents)


def run(project: Project) -> list[object]:
    """What each world of a program shows: what it leaves in `results`, and how it came there."""
    program = Program(project)
    frame = program.module_frame(ROOT / "main.py")
    found = run_script(program, ROOT / "main.py", "3")
    return [(plain(world, dict(world.bindings(frame))["results"]), *outline(world)) for world in found]


def outline(world: World) -> Iterator[object]:
    """What a run was, in a form that can be compared with another of the same files."""
    m = world.machine
    yield world.entry
    yield {written(symbol): outcome for symbol, outcome in world.decisions.items()}
    yield m.steps, m.clock, m.supposed, m.trace.cut
    yield [written(event) for event in m.trace.events]
    yield [
        {written(place): known for place, known in each.places.items()} for each in (m.trace.layers, m.trace.tensors)
    ]
    yield {(at(function), written(way)) for function, way in m.ways.items()}
    yield {at(test) for test in m.unknown_tests}
    yield {written(symbol) for symbol in m.undecided}


def at(node: cst.CSTNode) -> int:
    return id(node)  # each file is parsed once


def written(value: object) -> object:
    """A part of a run, with the places and contexts that it comes from."""
    match value:
        case Place():
            return at(value.node)
        case Context():
            return tuple((at(site.node), value.index) for site in value.sites())
        case Address():
            return at(value.place.node), written(value.context), value.role
        case Frame():
            return value.kind, written(value.context), None if value.code is None else at(value.code.node)
        case Symbol():
            return tuple(map(written, value.parts))
        case Made():
            operands = tuple((made.kind, made.place, made.context) for made in (each.made for each in value.operands))
            return value.kind, value.by, value.computed_in, written((value.place, value.context, value.layer, operands))
        case tuple() | list():
            return tuple(map(written, value))
        case Code():
            return value.qualname
        case _ if is_dataclass(value):
            return type(value).__name__, *(written(getattr(value, part.name)) for part in fields(value))
        case _:
            return repr(value)


@pytest.mark.parametrize("name", PROGRAMS)
def test_shows_the_same_as_without(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The slow way, in which every call is run, gives the same results in as many steps."""
    project = project_of(PROGRAMS[name])
    quick = run(project)
    monkeypatch.setattr(Memo, "call", through)
    assert quick == run(project)


@pytest.mark.slow
@pytest.mark.parametrize("fixture", load_all(), ids=lambda fixture: fixture.name)
def test_shows_the_same_of_whole_programs(fixture: Fixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same runs, the same tables that they share, and the same findings."""
    project = Project(fixture.program, fixture.files)
    quick = analysis(project, fixture, monkeypatch)
    monkeypatch.setattr(Memo, "call", through)
    assert quick == analysis(project, fixture, monkeypatch)


_SHARED = ("entered", "roots", "guesses", "looked_up", "patched", "cached", "hooks")
_NAMED = ("answers", "compared", "tests", "strategies", "parts", "opened", "trained", "escaped", "settled", "several")


def analysis(project: Project, fixture: Fixture, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    found: list[tuple[Program, Exploration]] = []

    def noted(program: Program, *rest: Any) -> Exploration:
        found.append((program, explore(program, *rest)))
        return found[-1][1]

    monkeypatch.setattr("mplint.analysis.explore", noted)
    report = analyze(project, fixture.files, Settings(root=fixture.program))
    [(program, explored)] = found
    shared: list[object] = [getattr(program, name) for name in _SHARED]
    shared += [sorted(repr(written(part)) for part in getattr(program, name)) for name in _NAMED]
    # a fix that speaks of one of several layers does not always speak of the same
    findings = [replace(finding, fix=None) for finding in report.findings]
    return [[list(outline(world)) for world in explored.worlds], shared, findings, report.notes, report.timing.known]


def test_what_was_entered_is_so_in_each_run() -> None:
    """Whoever starts to note anew which functions are entered sees those of remembered calls, too."""
    program = Program(project_of(PROGRAMS["calls inside calls, and one that calls itself"]))
    run_script(program, ROOT / "main.py", "3")
    before, program.entered = program.entered, set()
    run_script(program, ROOT / "main.py", "3")
    assert program.entered == before


def entered(source: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The functions that are really run, in order."""
    names: list[str] = []
    call = Memo.call

    def noted(
        self: Memo, m: object, function: object, arguments: object, place: object, enter: Callable[[], Value]
    ) -> Value:
        code = getattr(function, "code", None)

        def go() -> Value:
            if isinstance(code, FunctionCode):
                names.append(code.name)
            return enter()

        return call(self, m, function, arguments, place, go)  # type: ignore[arg-type]

    monkeypatch.setattr(Memo, "call", noted)
    run(project_of(source))
    return names


def test_a_question_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """From wherever it comes: the first call shows that it only gives a result, the second is remembered."""
    source = """
def ask(x):
    {talk}
    return x + 1
def elsewhere():
    return ask(1)
results = [ask(1), ask(1), ask(1), elsewhere(), elsewhere(), ask(2), ask(2)]
"""
    assert entered(source, monkeypatch).count("ask") == 3


def test_what_does_something_is_done_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Layers, writes and what is not worth it are run as often as they are called."""
    source = """
from keras import layers
count = []
def make(x):
    {talk}
    layers.Dense(x)
    return x
def note(x):
    {talk}
    count.append(x)
    return x
def small(x):
    return x
results = [make(1), make(1), make(1), note(1), note(1), note(1), small(1), small(1)]
"""
    names = entered(source, monkeypatch)
    assert [names.count(name) for name in ("make", "note", "small")] == [3, 3, 2]
