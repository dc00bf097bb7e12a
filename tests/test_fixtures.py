"""The programs of tests/fixtures: what is found in them, what --fix makes of them, and what real Keras says of both."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import nbformat
import pytest

from mplint.analysis import analyze, rules
from mplint.findings import Finding
from mplint.fixer import Outcome, fix
from mplint.project.modules import Project
from mplint.settings import Settings
from mplint.source.file import SourceError, SourceFile
from tests.fixture_programs import GENERATIONS, MEASURED, Expectation, Fixture, load_all

REPOSITORY = Path(__file__).resolve().parent.parent
FIXTURES = load_all()
RECORD = json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.exists() else {"programs": {}}
HALF = {"float16", "bfloat16"}


CODES = {rule.code for rule in rules()}
"""Those of the rules that exist: expectations of others wait for theirs."""

SIZES = "MP6"
"""Advice about sizes: programs for other rules are small on purpose."""

SPEAK_OF = {"MP207": ("3",), "MP302": ("3",), "MP303": ("2",), "MP406": ("3",)}
"""The generations that a rule has programs for, where it is not all of them: in others they may not run at all."""


def each(choose: Callable[[Fixture, str], object] = lambda fixture, generation: True) -> list[Any]:
    """A parameter for each program and generation that is chosen."""
    return [
        pytest.param(fixture, generation, id=f"{fixture.name}-{generation}")
        for fixture in FIXTURES
        for generation in fixture.generations
        if choose(fixture, generation)
    ]


def expected(fixture: Fixture, generation: str) -> list[Expectation]:
    return [expectation for expectation in fixture.expected(generation) if expectation.code in CODES]


def project(fixture: Fixture, replaced: Mapping[Path, bytes] | None = None) -> Project:
    """The program, with some of its files replaced."""
    return Project(fixture.program, fixture.files, replaced)


def settings(fixture: Fixture, generation: str) -> Settings:
    """Those of one generation; the sizes of layers count where they are what a program is about, or nothing is."""
    about_sizes = fixture.rule is None or fixture.rule.startswith(SIZES)
    ignore = () if about_sizes else (SIZES,)
    return Settings(root=fixture.program, keras="2" if generation == "2" else "3", ignore=ignore)


def fixed(fixture: Fixture, generation: str, replaced: Mapping[Path, bytes] | None = None) -> Outcome:
    return fix(project(fixture, replaced), fixture.files, settings(fixture, generation), unsafe=fixture.fix == "unsafe")


def validate(path: Path) -> None:
    """Jupyter's own word on a notebook."""
    content = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(content)


def place(fixture: Fixture, finding: Finding) -> tuple[str, int | None, int]:
    """File, cell and row of a finding."""
    try:
        source = project(fixture).source(finding.path)
    except SourceError:  # MP001 of a file that cannot be decoded
        source = SourceFile(finding.path, finding.path.read_bytes().decode("latin-1"))
    location = source.location(finding.span.start)
    return finding.path.relative_to(fixture.program).as_posix(), location.cell, location.row


def matches(fixture: Fixture, finding: Finding, expectation: Expectation) -> bool:
    file, cell, row = place(fixture, finding)
    at = (expectation.code, expectation.file, expectation.cell)
    return (finding.code, file, cell) == at and row in expectation.rows


@pytest.mark.parametrize("fixture", [pytest.param(fixture, id=fixture.name) for fixture in FIXTURES])
def test_layout(fixture: Fixture) -> None:
    assert set(fixture.generations) <= set(GENERATIONS)
    if fixture.rule != "MP001":
        for path in fixture.files:
            if path.suffix == ".ipynb":
                validate(path)
            else:
                compile(path.read_bytes(), str(path), "exec")
    for expectation in (*fixture.expects, *fixture.allows):
        rows = len((fixture.program / expectation.file).read_bytes().splitlines())
        assert all(0 < row <= rows for row in expectation.rows), expectation
    own = {expectation.code for expectation in fixture.expects}
    assert (fixture.rule in own) if fixture.is_bad else not own


@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize("code", sorted(CODES))
def test_each_rule_has_its_programs(code: str, generation: str) -> None:
    """Three with the fault and three without, in each generation that the rule speaks of."""
    own = [fixture for fixture in FIXTURES if fixture.rule == code and generation in fixture.generations]
    bad = sum(fixture.is_bad for fixture in own)
    if generation in SPEAK_OF.get(code, GENERATIONS):
        assert min(bad, len(own) - bad) >= 3
    else:
        assert not bad


@pytest.mark.parametrize(("fixture", "generation"), each())
def test_what_is_found(fixture: Fixture, generation: str) -> None:
    report = analyze(project(fixture), fixture.files, settings(fixture, generation))
    assert not report.failures
    for expectation in expected(fixture, generation):
        found = [finding for finding in report.findings if matches(fixture, finding, expectation)]
        assert len(found) == 1, f"{expectation}: found {len(found)} times"
        assert expectation.severity in {None, str(found[0].severity)}
    surplus = [
        f"{finding.code} at {place(fixture, finding)}: {finding.message}"
        for finding in report.findings
        if not any(
            matches(fixture, finding, expectation) for expectation in (*expected(fixture, generation), *fixture.allows)
        )
    ]
    assert not surplus


@pytest.mark.parametrize(("fixture", "generation"), each(expected))
def test_what_is_written(fixture: Fixture, generation: str) -> None:
    outcome = fixed(fixture, generation)
    written = {path: project(fixture).source(path).encode(text) for path, text in outcome.files.items()}
    for path in (fixture.fixed_folder(generation) or fixture.program).rglob("*.ipynb"):
        validate(path)
    assert bool(written) == (fixture.fix != "none"), outcome.withdrawn
    assert {path.relative_to(fixture.program).as_posix(): data for path, data in written.items()} == fixture.fixed(
        generation
    ), "python -m tools.update_fixtures"
    again = fixed(fixture, generation, written)
    assert not again.files
    if fixture.fix != "none":
        assert not {finding.code for finding in again.left.findings} & {e.code for e in fixture.expected(generation)}


def results(fixture: Fixture, generation: str) -> Mapping[str, Any]:
    row: Mapping[str, Any] = RECORD["programs"].get(fixture.name, {}).get(generation, {})
    return row


def half_outputs(fixture: Fixture, outcome: Any) -> set[str]:
    """The models that put out something half, of those that should not."""
    if isinstance(outcome, str):  # the program raised: it has no models
        return set()
    return {name for name, dtypes in outcome.items() if HALF & set(dtypes) and name not in fixture.half}


@pytest.mark.parametrize(("fixture", "generation"), each(lambda f, _: not f.unmeasured))
def test_expectations_are_what_real_keras_does(fixture: Fixture, generation: str) -> None:
    row = results(fixture, generation)
    assert "program" in row, "python -m tools.measure_fixtures"
    faulty = {"MP101", "MP102", "MP105"} & {expectation.code for expectation in fixture.expected(generation)}
    assert bool(half_outputs(fixture, row["program"])) == (bool(faulty) and not fixture.masked)


@pytest.mark.parametrize(("fixture", "generation"), each(lambda f, g: not f.unmeasured and f.fixed_folder(g)))
def test_rewritten_programs_really_end_in_float32(fixture: Fixture, generation: str) -> None:
    row = results(fixture, generation)
    assert "fixed" in row, "python -m tools.measure_fixtures"
    assert not isinstance(row["fixed"], str), "it raises"
    if not isinstance(row["program"], str):  # it raised before it was rewritten
        assert row["fixed"].keys() >= row["program"].keys()
    assert not any(isinstance(dtypes, str) for dtypes in row["fixed"].values()), "a model cannot be called"
    assert not half_outputs(fixture, row["fixed"])


def test_nothing_else_is_recorded() -> None:
    assert RECORD["programs"].keys() == {fixture.name for fixture in FIXTURES}


def test_the_record_is_of_the_programs_as_they_are() -> None:
    stale = [
        fixture.name
        for fixture in FIXTURES
        if not fixture.unmeasured and RECORD["programs"][fixture.name].get("of") != fixture.fingerprint
    ]
    assert not stale, "python -m tools.measure_fixtures"


# A few processes, so that they run side by side, and not one for each program: TensorFlow takes seconds to import.
# Every third program is run again: it is the versions of Keras that are looked at, all texts are as they were measured.
PARTS = (("MP0", "MP1"), ("MP2",), ("MP3", "MP4"), ("MP5", "MP6", "silent"))


def test_the_parts_hold_every_program() -> None:
    parts = tuple(name for part in PARTS for name in part)
    assert all(sum(fixture.name.startswith(name) for name in parts) == 1 for fixture in FIXTURES)


@pytest.mark.verify
@pytest.mark.slow
@pytest.mark.parametrize("names", PARTS, ids=lambda names: names[0])
def test_record_is_what_keras_does_today(names: tuple[str, ...]) -> None:
    from tools.real_keras import versions

    if versions() != RECORD["measured_with"]:
        pytest.skip(f"measured with {RECORD['measured_with']}")
    done = subprocess.run(
        [sys.executable, "-m", "tools.measure_fixtures", "--check", "--every", "3", *names],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
