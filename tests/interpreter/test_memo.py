"""Calls that are not run again: a run shows the same as without the memo, and ends at the same step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mplint.interpreter.code import FunctionCode
from mplint.interpreter.memo import Memo
from mplint.interpreter.values import Value
from tests.interpreter.programs import ROOT, plain, worlds

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
}


def run(source: str) -> tuple[list[object], int]:
    """What a program leaves in `results`, in each world, and the steps that it takes."""
    program, found = worlds(main=source.replace("{talk}", SMALL_TALK))
    frame = program.module_frame(Path(ROOT / "main.py"))
    return [plain(world, dict(world.bindings(frame))["results"]) for world in found], sum(
        world.machine.steps for world in found
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_shows_the_same_as_without(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The slow way, in which every call is run, gives the same results in as many steps."""
    quick = run(PROGRAMS[name])
    monkeypatch.setattr(Memo, "call", lambda self, m, function, arguments, place, enter: enter())
    assert quick == run(PROGRAMS[name])


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
    run(source)
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
