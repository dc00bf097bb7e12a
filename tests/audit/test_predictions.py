"""What mplint predicts of every program of the tests is what Keras did when they were run, dtype by dtype."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from mplint.interpreter.predict import Start, predict
from mplint.project.modules import Project
from mplint.verify.audit import Tally, Verdict, compare
from tests.fixture_programs import MADE, MEASURED, Fixture, load_all
from tests.truth.programs import PROGRAMS, Program
from tools.measure_truth import DTYPES
from tools.measure_truth import MADE as TRUE
from tools.real_keras import read_made

KNOWN = 0.98
"""The share of the dtypes of what the small programs make that is predicted at least."""


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))["programs"]


MADE_BY, PUT_OUT = read(MADE), read(MEASURED)
TRULY_MADE_BY, TRULY_PUT_OUT = read(TRUE), read(DTYPES)


def audit(project: Project, start: Path, generation: str, lines: Sequence[str], outputs: Any) -> Tally:
    """`outputs` are those of the models in module variables, and of what its builders give (`build()`)."""
    named = {} if isinstance(outputs, str) else outputs  # the program raises
    named = {name: [tuple(dtypes)] for name, dtypes in named.items() if isinstance(dtypes, list) and "(" not in name}
    made = [read_made(line, project.root) for line in lines]
    return compare(predict(project, Start(start), generation), made, named, start)


def of_program(program: Program, generation: str) -> Tally:
    path = Path("/program/program.py")
    project = Project(path.parent, [path], {path: program.source.encode()})
    made, put_out = TRULY_MADE_BY[program.name], TRULY_PUT_OUT[program.name]
    return audit(project, path, generation, made[generation], put_out[generation])


def differences(tally: Tally) -> str:
    return "\n".join(map(str, tally.of(Verdict.DIFFERS)))


@pytest.mark.parametrize(
    ("fixture", "generation", "kind"),
    [
        pytest.param(fixture, generation, kind, id=f"{fixture.name}-{generation}-{kind}")
        for fixture in load_all()
        for generation in fixture.generations
        if not fixture.unmeasured
        for kind in ("program", *(["fixed"] if fixture.fixed_folder(generation) else []))
    ],
)
def test_fixtures(fixture: Fixture, generation: str, kind: str) -> None:
    put_out = PUT_OUT.get(fixture.name, {}).get(generation, {})
    made = MADE_BY.get(fixture.name, {}).get(generation, {})
    assert kind in made.keys() & put_out.keys(), "python -m tools.measure_fixtures"
    rewritten = fixture.fixed(generation) if kind == "fixed" else {}
    project = Project(fixture.program, fixture.files, {fixture.program / name: rewritten[name] for name in rewritten})
    tally = audit(project, fixture.start, generation, made[kind], put_out[kind])
    assert not differences(tally)


@pytest.mark.parametrize(
    ("program", "generation"),
    [pytest.param(p, generation, id=f"{p.name}-{generation}") for p in PROGRAMS for generation in p.generations],
)
def test_programs(program: Program, generation: str) -> None:
    assert not differences(of_program(program, generation))


def test_how_much_is_known() -> None:
    tallies = [of_program(program, generation) for program in PROGRAMS for generation in program.generations]
    agreed = sum(tally.counts[Verdict.AGREES] for tally in tallies)
    seen = sum(len(tally.facts) for tally in tallies)
    assert agreed / seen >= KNOWN


def test_nothing_else_is_recorded() -> None:
    assert MADE_BY.keys() == PUT_OUT.keys()
    assert TRULY_MADE_BY.keys() == TRULY_PUT_OUT.keys()
