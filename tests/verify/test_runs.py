"""Programs that really run: what is measured, and what it is called."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mplint.errors import MplintError
from mplint.project.naming import Naming
from mplint.verify.judge import Outcome
from mplint.verify.prove import Proof
from mplint.verify.results import AFTER, ModelRun
from mplint.verify.table import render
from tests.verify.conftest import RunsProgram

pytestmark = [pytest.mark.verify, pytest.mark.slow, pytest.mark.xdist_group("verify")]

both = pytest.mark.parametrize("keras", ["2", "3"])


def shown(proof: Proof) -> str:
    return render(proof, naming=Naming(Path("/"), Path("/")))


def models(proof: Proof) -> dict[str, ModelRun]:
    return {model.name: model for model in proof.evidence.runs[AFTER].models}


@both
def test_models_are_fed_in_every_way(proof_of: RunsProgram, keras: str) -> None:
    proof = proof_of("feeds.py", keras=keras)
    assert proof.outcome is Outcome.VERIFIED, shown(proof)
    assert proof.evidence.versions is not None
    assert proof.evidence.versions.generation == keras
    found = models(proof)
    assert list(found) == ["arrays", "piped", "generated", "rows", "stepped"]
    for model in found.values():
        assert model.policy == "mixed_float16"
        assert 0 < model.half_layers < model.layers
        assert set(model.variables) == {"float32"}
        training = model.training
        assert training is not None
        assert (training.source, training.steps, training.skipped) == ("fit", 3, 0)
        assert training.moved == training.followed == model.trainable
        assert training.scale == training.first_scale == 2.0**15
    assert [output.name for output in found["arrays"].outputs] == ["kind", "size"]
    assert proof.judgement.notes == ("not judged, since neither compiled nor trained: bare",)


@both
def test_what_is_wrong_is_refuted(proof_of: RunsProgram, keras: str) -> None:
    proof = proof_of("faulty.py", keras=keras)
    assert proof.outcome is Outcome.REFUTED
    faults = "\n".join(proof.judgement.faults)
    name = "probabilities" if keras == "2" else None
    output = f"output `{name}` of `half_output`" if name else "the output of `half_output`"
    assert f"{output} is float16" in faults
    assert "2 trainable variables of `half_variables` are in half precision" in faults
    assert "every step of `infinite` was skipped, all 45; the loss scale fell from 32768 to " in faults
    assert "3 steps of training changed no variable of `still`" in faults
    assert ("the loss of `overflowing` is not finite" in faults) == (keras == "2")
    assert len(proof.judgement.faults) == (6 if keras == "2" else 5), faults


@pytest.mark.parametrize(
    ("ending", "likely", "told"),
    [
        ("crash", None, "KeyError: 'no such thing' (ending.py:22)"),
        ("exit", "2", "the program ended itself and said it cannot go on (ending.py:24)"),
        ("vanish", "3", "ended with status 0 before it was done"),
    ],
)
def test_a_program_that_fails_is_inconclusive(
    proof_of: RunsProgram, ending: str, likely: str | None, told: str
) -> None:
    proof = proof_of("ending.py", ending, likely=likely)
    assert proof.evidence.versions is not None
    assert likely in (None, proof.evidence.versions.generation)
    assert proof.outcome is Outcome.INCONCLUSIVE
    assert told in proof.judgement.doubts[0]


def test_a_program_that_does_not_end_is_ended(proof_of: RunsProgram) -> None:
    proof = proof_of("ending.py", "loop", timeout=12)
    assert proof.outcome is Outcome.INCONCLUSIVE
    assert "the program was not done after 12 s" in proof.judgement.doubts[0]
    assert proof.evidence.seconds < 18


def test_a_program_may_print_and_exit_and_leave_processes_behind(proof_of: RunsProgram) -> None:
    proof = proof_of("ending.py", "return")
    assert proof.outcome is Outcome.VERIFIED, shown(proof)
    processes = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert "left behind by" not in processes


@both
def test_nothing_is_saved_or_downloaded(proof_of: RunsProgram, here: Path, keras: str) -> None:
    before = sorted(path.name for path in here.iterdir())
    proof = proof_of("saving.py", keras=keras)
    assert proof.outcome is Outcome.VERIFIED, shown(proof)
    assert sorted(path.name for path in here.iterdir()) == before


@both
def test_a_loop_of_the_program_is_stopped(proof_of: RunsProgram, keras: str) -> None:
    proof = proof_of("loop_eager.py", keras=keras)
    assert proof.outcome is Outcome.VERIFIED, shown(proof)
    (model,) = models(proof).values()
    assert model.training is not None
    assert (model.training.source, model.training.steps, model.training.moved) == ("loop", 3, 4)
    assert model.training.scale == 2.0**15
    assert "the program was stopped when it had trained long enough" in proof.judgement.notes


def test_a_loop_of_graph_functions_is_stopped(proof_of: RunsProgram) -> None:
    proof = proof_of("loop_function.py", keras="3")
    assert proof.outcome is Outcome.REFUTED
    assert len(proof.judgement.faults) == 1
    assert "of `g` is float16" in proof.judgement.faults[0]
    assert [model.training and model.training.steps for model in models(proof).values()] == [3, 3]


def test_the_parts_of_a_model_without_a_call_are_judged(proof_of: RunsProgram) -> None:
    proof = proof_of("gan_fit.py", keras="2")
    assert list(models(proof)) == ["gan"]
    (fault,) = proof.judgement.faults
    assert "output `g." in fault
    training = models(proof)["gan"].training
    assert training is not None
    assert (training.steps, training.skipped, training.moved) == (3, 0, 8)


def test_a_missing_kernel_is_no_fault(proof_of: RunsProgram) -> None:
    proof = proof_of("no_kernel.py", keras="2")
    assert proof.outcome is Outcome.INCONCLUSIVE
    assert "no kernel for MaxPool3D" in proof.judgement.doubts[0]
    assert [output.dtype for output in models(proof)["scan"].outputs] == ["float32"]


def test_another_policy_can_be_tried(proof_of: RunsProgram) -> None:
    proof = proof_of("no_kernel.py", policy="mixed_bfloat16")
    assert proof.outcome is Outcome.VERIFIED, shown(proof)
    assert models(proof)["scan"].policy == "mixed_bfloat16"


def test_the_program_decides_its_generation_and_builders_are_found(proof_of: RunsProgram) -> None:
    proof = proof_of("legacy_switch.py")
    assert proof.evidence.versions is not None
    assert proof.evidence.versions.generation == "2"
    assert proof.outcome is Outcome.VERIFIED, shown(proof)
    (model,) = models(proof).values()
    assert model.training is not None
    assert model.training.data == "random data, compiled here (adam, mse)"


def test_a_factory_in_a_module_of_a_package(proof_of: RunsProgram, here: Path) -> None:
    proof = proof_of("project/reader/model.py:spare", policy="mixed_float16")
    (fault,) = proof.judgement.faults
    assert "is float16" in fault


def test_a_dotted_module_and_a_new_process_for_each_run(proof_of: RunsProgram) -> None:
    proof = proof_of("legacy_switch:build_model", fork=False)
    assert proof.outcome is Outcome.VERIFIED, shown(proof)


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("legacy_switch.py:build_mode", "has no `build_mode`; did you mean `build_model`?"),
        ("no_such_package.module:build", "there is no module 'no_such_package'"),
    ],
)
def test_a_wrong_target_is_a_usage_error(proof_of: RunsProgram, target: str, told: str) -> None:
    with pytest.raises(MplintError) as raised:
        proof_of(target)
    assert told in str(raised.value)


def test_an_interpreter_without_tensorflow(proof_of: RunsProgram, tmp_path: Path) -> None:
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
    bare.chmod(0o755)
    with pytest.raises(MplintError, match=r"has no TensorFlow .*name another interpreter with --python"):
        proof_of("ending.py", python=os.fspath(bare))


def test_an_interpreter_without_keras_2(proof_of: RunsProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hidden = tmp_path / "hidden" / "tf_keras"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("raise ImportError('not here')")
    monkeypatch.setenv("PYTHONPATH", os.fspath(hidden.parent))
    with pytest.raises(MplintError, match="pip install tf-keras"):
        proof_of("ending.py", keras="2")


@pytest.mark.parametrize(("package", "keras", "told"), [("keras", "2", "3 here"), ("tf_keras", "3", "2 here")])
def test_the_other_keras_is_refused_before_it_trains(
    proof_of: RunsProgram, here: Path, monkeypatch: pytest.MonkeyPatch, package: str, keras: str, told: str
) -> None:
    monkeypatch.chdir(here)
    proof = proof_of("other_keras.py", package, keras=keras)
    assert proof.outcome is Outcome.INCONCLUSIVE
    assert proof.judgement.doubts == (
        f"the program uses the package `{package}`, which is Keras {told}: run it with --keras {told[0]} "
        "(other_keras.py:17)",
    )
    assert (here / "started.txt").exists()
    assert not (here / "went_on.txt").exists()
    assert not (here / "model.keras").exists()


def test_a_function_that_makes_models_of_the_other_keras_is_told(proof_of: RunsProgram, here: Path) -> None:
    (here / "net.py").write_text("import keras\n\n\ndef build():\n    return keras.Sequential([keras.Input((4,))])\n")
    proof = proof_of("net.py", keras="2")
    assert proof.outcome is Outcome.INCONCLUSIVE
    assert proof.judgement.doubts == (
        "the program uses the package `keras`, which is Keras 3 here: run it with --keras 3",
    )


def test_both_keras_may_be_imported(proof_of: RunsProgram) -> None:
    proof = proof_of("both_keras.py")
    assert proof.outcome is Outcome.VERIFIED, shown(proof)
    assert models(proof)["model"].policy == "float32"
