"""The generator itself, and a short batch with fixed seeds; `make judge` runs a long one."""

from __future__ import annotations

import ast
import hashlib
from pathlib import Path

import pytest

from tests.generator.batch import judge_batch
from tests.generator.judge import EITHER, PERHAPS, fault_of
from tests.generator.numerics.judging import differences
from tests.generator.numerics.trial import SUBJECTS
from tests.generator.opinion import OTHER, SOFTMAX, opinion
from tests.generator.program import write
from tests.generator.verdict import Disagreement, Tally

GENERATIONS = ("2", "3")
DIGEST = "16b6aec3d55d1556"
"""Of the first programs: it must be the same in every version of Python. It changes whenever the generator does."""


@pytest.mark.parametrize("generation", GENERATIONS)
def test_programs_are_python(generation: str) -> None:
    for seed in range(100):
        ast.parse(write(generation, seed).source.encode())


@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_record_gives_the_program_again(generation: str) -> None:
    for seed in range(50):
        program = write(generation, seed)
        assert write(generation, seed, program.record).source == program.source


def test_a_seed_gives_the_same_program_in_every_python() -> None:
    digest = hashlib.sha256()
    for seed in range(100):
        digest.update(write("3", seed).source.encode())
    assert digest.hexdigest()[:16] == DIGEST


def test_without_decisions_the_program_is_the_simplest() -> None:
    assert write("3", 0, {}).source == (
        "import keras\n\n"
        'keras.mixed_precision.set_global_policy("mixed_float16")\n\n'
        "inputs = keras.Input((8,))\n"
        "y = keras.layers.Dense(3)(inputs)\n"
        "model = keras.Model(inputs, y)\n"
    )


def test_mplint_looks_at_all_of_them() -> None:
    for generation in GENERATIONS:
        for seed in range(100, 150):
            assert not isinstance(opinion(write(generation, seed)), Disagreement)


@pytest.mark.parametrize(
    ("dtype", "softmax", "fault"),
    [
        ("float32", None, None),
        ("float32", "float32", None),
        ("float16", None, OTHER),
        ("float16", "float32", OTHER),
        ("float32", "bfloat16", SOFTMAX),
        ("float16", "hidden", EITHER),
        ("float32", "hidden", None),
        ("float16", "several float16", EITHER),
        ("float32", "several float16", PERHAPS),
        ("float32", "several float32", None),
        ("float16", "several float32", OTHER),
    ],
)
def test_what_the_judge_sees_in_an_output(dtype: str, softmax: str | None, fault: str | None) -> None:
    assert fault_of(dtype, softmax) == fault


@pytest.mark.parametrize("generation", GENERATIONS)
def test_half_of_the_programs_are_about_numbers_and_about_each_subject(generation: str) -> None:
    programs = [write(generation, seed) for seed in range(200)]
    about = [program for program in programs if program.trials]
    assert 80 <= len(about) <= 120
    assert {trial.subject for program in about for trial in program.trials} == set(SUBJECTS)
    for program in about:
        is_other = program.exact != program.source
        assert not is_other or any(trial.subject == "pipelines" for trial in program.trials), program.id


@pytest.mark.parametrize(
    ("shown", "codes", "count"),
    [
        ([], [], 0),
        (["numbers"], ["MP501"], 0),
        (["numbers"], [], 1),
        ([], ["MP501"], 1),
        ([], ["MP101"], 0),
        (["raises"], ["MP503", "MP501"], 0),
        (["raises"], ["MP501"], 1),
        (["sizes", "batch"], ["MP601"], 1),
        (["numbers"], ["MP402"], 0),
    ],
)
def test_what_the_judge_says_of_numbers(shown: list[str], codes: list[str], count: int) -> None:
    program = next(one for one in (write("3", seed) for seed in range(100)) if one.trials and not one.several_worlds)
    assert len(differences(program, codes, {"shown": shown, "half_error": None})) == count


@pytest.mark.verify
@pytest.mark.slow
@pytest.mark.parametrize("generation", GENERATIONS)
def test_keras_agrees(generation: str, tmp_path: Path) -> None:
    tally = Tally()
    found = judge_batch(generation, range(40), every=5, tally=tally, keep=tmp_path)
    assert not found, "\n".join(f"{one.program.id} {one.kind}: {one.text}\n{one.program.source}" for one in found)
    assert tally.programs == 40
    assert tally.discarded.total() <= 4
    assert tally.half >= 10
    assert tally.trained >= 2
    assert tally.unknown <= 0.05 * tally.outputs
