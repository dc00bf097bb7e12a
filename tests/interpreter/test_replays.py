"""Long calls that another run has made: a run shows the same, and ends at the same step, as if it had made them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

import pytest

from mplint.interpreter import replays
from mplint.interpreter.machine import Machine
from mplint.interpreter.program import Program
from mplint.interpreter.trace import Event
from mplint.interpreter.values import Value
from mplint.interpreter.world import World
from mplint.interpreter.worlds import run_script
from mplint.project.modules import Project
from tests.interpreter.programs import ROOT, plain

SHARED = """
import tensorflow as tf
limit = 1
seen = []
registry = {}
class Options:
    def __init__(self):
        self.units = 1
options = Options()
def talk(x):
    a, b, c, d, e, f = 1, 2, 3, 4, 5, 6; g, h, i, j, k, l = 1, 2, 3, 4, 5, 6
    a, b, c, d, e, f = 1, 2, 3, 4, 5, 6; g, h, i, j, k, l = 1, 2, 3, 4, 5, 6
    return x
def ask(x):
    return talk(x) + limit
def add(x):
    talk(x)
    seen.append(x)
    options.units = options.units + x
    return seen
def make(x):
    talk(x)
    return [x, Options()]
def log(x):
    tf.print(tf.zeros(3))
    talk(x)
def give(x):
    talk(x)
    return tf.zeros(3)
def fail(x):
    talk(x)
    if x:
        raise ValueError
    return x
def down(x):
    talk(x)
    return 0 if x <= 0 else down(x - 1)
def flagged(x):
    import sys
    talk(x)
    if len(sys.argv) > 3:
        return 1
    return 2
def late(x):
    talk(x)
    import other
    return other.value
def look(name):
    talk(name)
    return registry[name]
"""
PROGRAMS = {
    "the same question": ("result = shared.ask(1)",) * 3,
    "another argument": ("result = shared.ask(1)", "result = shared.ask(2)", "result = shared.ask(1)"),
    "a variable that one program sets": (
        "result = shared.ask(1)",
        "shared.limit = 5; result = shared.ask(1)",
        "result = shared.ask(1)",
    ),
    "what is written": ("shared.add(1); result = shared.seen, shared.options.units",) * 3,
    "what was written before": (
        "shared.add(1); result = shared.seen, shared.options.units",
        "shared.seen.append(7); shared.add(1); result = shared.seen, shared.options.units",
        "shared.options.units = 3; shared.add(1); result = shared.seen, shared.options.units",
    ),
    "what is made": ("result = shared.make(1); result.append(2); result[1].units = 4; units = result[1].units",) * 3,
    "what is made twice": (
        "one = shared.make(1); other = shared.make(1); one.append(2); result = one is other, one, other",
    )
    * 3,
    "what is logged": ("result = shared.log(1)",) * 3,
    "a tensor": ("result = shared.give(1)",) * 3,
    "what is raised": (
        "result = shared.fail(0)",
        "try:\n    result = shared.fail(1)\nexcept ValueError:\n    result = 'caught'",
        "try:\n    result = shared.fail(0)\nexcept ValueError:\n    result = 'caught'",
    ),
    "what calls itself": ("result = shared.down(3)",) * 3,
    "a condition": (
        "result = shared.flagged(1)",
        "import sys\nresult = shared.flagged(1) if len(sys.argv) > 3 else 0",
        "result = shared.flagged(1)",
    ),
    "an import": ("result = shared.late(1)", "import other; other.value = 3; result = shared.late(1)") * 2,
    "a registry": (
        "shared.registry['a'] = 1; result = shared.look('a')",
        "shared.registry['a'] = 2; result = shared.look('a')",
        "shared.registry['a'] = 1; result = shared.look('a')",
    ),
}


def shown(texts: tuple[str, ...]) -> Iterator[tuple[object, ...]]:
    """What each of some programs shows, which are run one after the other and share a module."""
    files = {f"main{position}": f"import shared\n{text}\n" for position, text in enumerate(texts)}
    contents = {
        ROOT / f"{name}.py": textwrap.dedent(text).encode()
        for name, text in {**files, "shared": SHARED, "other": "value = 1\n"}.items()
    }
    project = Project(ROOT, list(contents), contents)
    program = Program(project)
    for name in files:
        for world in run_script(program, ROOT / f"{name}.py", "3"):
            yield (
                name,
                [(key, plain(world, value)) for key, value in _bindings(program, world, name)],
                [_said(event) for event in world.trace.events],
                world.trace.tensors.total,
                len(world.trace.tensors.places),
                world.machine.steps,
                len(world.machine.ways),
                len(world.decisions),
            )


def _bindings(program: Program, world: World, name: str) -> Iterator[tuple[str, Value]]:
    frame = program.module_frame(ROOT / f"{name}.py")
    yield from ((key, value) for key, value in world.bindings(frame) if not key.startswith(("_", "@")))


def _said(event: Event) -> tuple[str, str]:
    place = getattr(event, "place", None)
    return type(event).__name__, "" if place is None else f"{place.source.path.name}:{place.source.span(place.node)}"


@pytest.mark.parametrize("name", PROGRAMS)
def test_runs_show_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    taken_over = list(shown(PROGRAMS[name]))
    monkeypatch.setattr(replays.Replays, "are_remembered", lambda self, m, code: False)
    assert taken_over == list(shown(PROGRAMS[name]))


def test_calls_are_taken_over(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    again = replays._again

    def noted(m: Machine, one: replays._Done) -> Value:
        done.append(next(iter(one.asked.entered)).name)
        return again(m, one)

    monkeypatch.setattr(replays, "_again", noted)
    list(shown(PROGRAMS["what is written"]))
    assert done == ["add", "add"]
    done.clear()
    list(shown(PROGRAMS["what was written before"]))
    assert "add" not in done
