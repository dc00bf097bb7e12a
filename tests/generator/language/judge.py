"""Running a program in CPython and in the interpreter, and holding the one against the other."""

from __future__ import annotations

import contextlib
import io
import math
import os
import sys
import types
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from mplint.interpreter.program import Program
from mplint.interpreter.values import Value
from mplint.interpreter.world import World
from mplint.interpreter.worlds import run_script
from mplint.project.modules import Project
from tests.generator.language.author import FLAGS
from tests.generator.language.compare import Comparison

FILE = Path("/program/main.py")
ENVIRONMENTS: tuple[Mapping[str, str], ...] = ({}, {"FLAG_A": "1"}, {"FLAG_B": "1"}, {"FLAG_A": "1", "FLAG_B": "yes"})
"""Under each of these a program is run: what is claimed must hold in all of them."""


@dataclass
class Verdict:
    """What came of one program."""

    wrong: list[str] = field(default_factory=list)
    known: int = 0
    unknown: int = 0
    raised: str = ""
    """The error that ended it in some environment; nothing is compared then."""
    cut: bool = False


def judge(source: str) -> Verdict:
    """Compare every name that the program leaves, in each environment that it asks about."""
    asked = [flag for flag in FLAGS if flag in source]
    environments = [e for e in ENVIRONMENTS if set(e) <= set(asked)]
    runs = []
    for environment in environments:
        try:
            runs.append((environment, really(source, environment)))
        except Exception as error:  # noqa: BLE001  (the program's own)
            return Verdict(raised=f"{type(error).__name__}: {error}")
    program = Program(Project(FILE.parent, [FILE], {FILE: source.encode()}))
    worlds = run_script(program, FILE, "3")
    verdict = Verdict(cut=any(world.trace.cut for world in worlds))
    for environment, real in runs:
        best = min((_against(real, program, world) for world in worlds), key=lambda seen: len(seen.wrong))
        verdict.known += best.known
        verdict.unknown += best.unknown
        verdict.wrong += [f"{text} (with {dict(environment)})" if environment else text for text in best.wrong]
    return verdict


def really(source: str, environment: Mapping[str, str]) -> dict[str, object]:
    """The names that CPython has when the program has ended."""
    names: dict[str, object] = {"__name__": "__main__"}
    with _alone(environment), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(source, str(FILE), "exec"), names)
    return {name: value for name, value in names.items() if not name.startswith("__")}


@contextlib.contextmanager
def _alone(environment: Mapping[str, str]) -> Iterator[None]:
    """Nothing of what the program does to the process stays."""
    before = dict(vars(math))
    kept = {key: value for key, value in os.environ.items() if key not in FLAGS and key != "OWN"}
    with (
        mock.patch.dict(os.environ, {**kept, **environment}, clear=True),
        mock.patch.object(sys, "argv", ["main.py"]),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        try:
            yield
        finally:
            for name in vars(math).keys() - before.keys():
                delattr(math, name)


def _against(real: Mapping[str, object], program: Program, world: World) -> Comparison:
    seen = Comparison(world.machine)
    said: dict[str, Value] = dict(world.bindings(program.module_frame(FILE)))
    for name, value in real.items():
        if isinstance(value, types.GeneratorType):
            continue  # to look into it would run it, and the next world would be held against what that did
        if name in said:
            seen.check(value, said[name], name)
        else:
            seen.unknown += 1
    return seen
