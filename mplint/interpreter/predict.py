"""What the interpreter says of the outputs of a program's models, for tests and for the audit."""

from __future__ import annotations

from pathlib import Path

from mplint.interpreter.program import Program
from mplint.interpreter.values import Instance, alternatives
from mplint.interpreter.world import World, outputs_of
from mplint.interpreter.worlds import run_script
from mplint.project.modules import Project


def output_dtypes(source_text: str, generation: str) -> dict[str, list[str | None]]:
    """The dtype of each output (None: not known) of each model that the program leaves in a module-level name."""
    path = Path("/program/main.py")
    project = Project(path.parent, [path], {path: source_text.encode()})
    program = Program(project)
    found: dict[str, list[str | None]] = {}
    for world in run_script(program, path, generation):
        for name, dtypes in _models(program, world, path).items():
            before = found.get(name)
            found[name] = dtypes if before in (None, dtypes) else [None] * len(dtypes)
    return found


def _models(program: Program, world: World, path: Path) -> dict[str, list[str | None]]:
    frame = program.module_frame(path)
    found = {}
    for name, value in world.bindings(frame):
        if not isinstance(value, Instance):
            continue
        for model in world.models:
            if model.instance == value:
                found[name] = [_dtype(world, tensor) for tensor in outputs_of(world, model)]
    return found


def _dtype(world: World, tensor: object) -> str | None:
    from mplint.interpreter.values import Tensor

    if not isinstance(tensor, Tensor):
        return None
    dtypes = {way.dtype for way in alternatives(tensor)}
    return dtypes.pop() if len(dtypes) == 1 else None
