"""Running small programs in the interpreter."""

from __future__ import annotations

import textwrap
from pathlib import Path

from mplint.interpreter.exploration import explore
from mplint.interpreter.program import Program
from mplint.interpreter.values import HALF_POLICIES, Choice, Const, Dict, List, Tuple, Unknown, Value
from mplint.interpreter.world import World
from mplint.interpreter.worlds import Exploration, run_script
from mplint.project.modules import Project

ROOT = Path("/program")
SETTER = "from tensorflow import keras\nset_policy = keras.mixed_precision.set_global_policy\n"
"""How the programs of the tests below begin that set a policy."""


def found_in(root: Path) -> Exploration:
    """What is found in all files below `root`, which is written for Keras 3."""
    project = Project.at(root)
    found = explore(Program(project), frozenset(project.files), lambda path: ("3",))
    assert not found.failures
    return found


def worlds(generation: str = "3", **files: str) -> tuple[Program, list[World]]:
    """The worlds of running the file `main` in a project of `files`."""
    contents = {ROOT / f"{name}.py": textwrap.dedent(text).encode() for name, text in files.items()}
    project = Project(ROOT, list(contents), contents)
    program = Program(project)
    return program, run_script(program, ROOT / "main.py", generation)


def variables(source: str, **files: str) -> dict[str, object]:
    """The variables that a program leaves, as Python data: `...` stands for what is not known."""
    program, found = worlds(main=source, **files)
    assert len(found) == 1, [world.decisions for world in found]
    frame = program.module_frame(ROOT / "main.py")
    return {name: plain(found[0], value) for name, value in found[0].bindings(frame) if not name.startswith(("_", "@"))}


def policies(source: str, **files: str) -> set[str | None]:
    """The global policy at the end of each world of a program."""
    _, found = worlds(main=source, **files)
    return {policy.name for world in found for policy in world.policies}


def half(source: str, **files: str) -> bool:
    """Whether some world of a program ends in half precision."""
    return not HALF_POLICIES.isdisjoint(policies(source, **files))


def policies_with(variable: str, source: str, **files: str) -> set[tuple[str | None, object]]:
    """The global policy at the end of each world of a program, and what a variable of it holds there."""
    program, found = worlds(main=source, **files)
    frame = program.module_frame(ROOT / "main.py")
    return {(world.policies[0].name, plain(world, dict(world.bindings(frame))[variable])) for world in found}


def plain(world: World, value: Value) -> object:
    """An abstract value as Python data."""
    machine = world.machine
    match value:
        case Const(value=constant):
            return constant
        case Unknown():
            return ...
        case Tuple():
            items = tuple(plain(world, item) for item in value.items)
            return (*items, "and more") if value.rest is not None else items
        case List():
            held = plain(world, machine.items(value))
            assert isinstance(held, tuple)
            return list(held)
        case Dict():
            entries = machine.entries(value)
            return {plain(world, key): plain(world, held) for key, held in entries.pairs}
        case Choice():
            return {"one of": [plain(world, option) for option in value.options]}
        case _:
            return type(value).__name__
