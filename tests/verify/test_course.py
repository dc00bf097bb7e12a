"""What several proofs say of the fixes in a file; nothing runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from mplint.project.naming import Naming
from mplint.verify import prove
from mplint.verify.judge import NOT_HALF, Judgement, Outcome, judge_rewrite
from mplint.verify.prove import FileVerdict, Proof, Verdict, check_fixes
from mplint.verify.results import AFTER, Evidence, Reached, Run, Versions
from mplint.verify.table import render_verdict
from mplint.verify.target import Target
from tests.verify.test_judge import CRASH, NAMING, RUN, halved, pair

PLACES = ((2, 2), (5, 6))


def run(unreached: tuple[tuple[int, int], ...], model: Path, **changes: Any) -> Run:
    """A run that came to the other places of model.py."""
    return Run(**{**vars(RUN), "reach": {model: Reached(PLACES, unreached)}, **changes})


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "model.py").write_text("def build(): ...\n")
    (tmp_path / "train.py").write_text("import model\nmodel.build().fit()\n")
    return tmp_path


def verdict_of(
    project: Path, monkeypatch: pytest.MonkeyPatch, evidence: Mapping[str, Evidence], **options: Any
) -> FileVerdict:
    """Let the programs end with these measurements, and ask for model.py."""

    def compare(target: Target, texts: object, chosen: object, **others: Any) -> Proof:
        assert target.file is not None
        measured = evidence[target.file.name]
        judgement: Judgement = judge_rewrite(measured, NAMING)
        return Proof(target, True, measured, judgement)

    monkeypatch.setattr(prove, "compare", compare)
    model = project / "model.py"
    importers = {model: [project / "train.py"]}
    verdict = check_fixes(
        project,
        {model: ("", "")},
        naming=Naming(project, project),
        importers=lambda path: importers.get(path, []),
        **options,
    )
    return verdict.files[model]


def test_what_ran_in_float32_is_not_said_not_to_have_run(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = project / "model.py"
    evidence = {
        "train.py": pair(RUN, run(((2, 2),), model)),
        "model.py": pair(halved("digit"), run(PLACES, model)),
    }
    found = verdict_of(project, monkeypatch, evidence)
    assert found == FileVerdict(Outcome.INCONCLUSIVE, (NOT_HALF, "the rewritten row 2 did not run"))
    setting = "mixed_float16 is set at train.py:3 under `if args.amp`"
    found = verdict_of(project, monkeypatch, evidence, conditions={model: setting})
    assert found.reasons[1] == (
        f"{setting}: `mplint verify train.py --against ORIGINAL -- ARGUMENTS` proves it with arguments"
    )


def test_why_the_first_program_failed_is_kept(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = project / "model.py"
    failed = run(PLACES, model, models=(), trouble=CRASH)
    evidence = {"train.py": pair(failed, failed), "model.py": pair(halved("digit"), run(((5, 6),), model))}
    assert verdict_of(project, monkeypatch, evidence).reasons == (
        "before and after the rewrite: running the program failed: ValueError: no",
        "the rewritten rows 5-6 did not run",
    )


def test_a_later_program_adds_no_doubts_of_what_it_did_not_run(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = project / "model.py"
    evidence = {
        "train.py": pair(halved("digit"), run(((5, 6),), model)),
        "model.py": pair(RUN, run(((5, 6),), model, models=())),
    }
    assert verdict_of(project, monkeypatch, evidence).reasons == ("the rewritten rows 5-6 did not run",)


def test_notebooks_are_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def compare(*arguments: object, **options: object) -> None:
        raise AssertionError("something was run")

    monkeypatch.setattr(prove, "compare", compare)
    notebook, model = tmp_path / "a.ipynb", tmp_path / "model.py"
    notebook.write_text("main()")
    verdict = check_fixes(tmp_path, {notebook: ("", "")}, naming=NAMING, importers=lambda path: [])
    assert verdict.files[notebook] == FileVerdict(Outcome.INCONCLUSIVE, ("notebooks are not run",))

    asked: list[tuple[Target, set[Path]]] = []

    def noted(target: Target, texts: Mapping[Path, tuple[str, str]], *arguments: object, **options: object) -> Proof:
        asked.append((target, set(texts)))
        return Proof(target, True, pair(RUN, RUN), judge_rewrite(pair(RUN, RUN), NAMING))

    monkeypatch.setattr(prove, "compare", noted)
    model.write_text("def build(): ...\n")
    check_fixes(tmp_path, {notebook: ("", ""), model: ("", "")}, naming=NAMING, importers=lambda path: [notebook])
    assert asked == [(Target(file=model, imported=True), {model})]


def test_what_failed_is_said_below_its_heading() -> None:
    evidence = Evidence(Versions("3.11.7", "2.21.0", "3.15.1", "3"), {AFTER: Run(**{**vars(RUN), "models": ()})})
    proof = Proof(Target(file=Path("/a/train.py")), True, evidence, Judgement(doubts=("it failed",)))
    verdict = Verdict({Path("/a/net.py"): FileVerdict(Outcome.INCONCLUSIVE, ("why",))}, (proof,))
    assert render_verdict(verdict, naming=Naming(Path("/a"), Path("/a"))) == (
        "train.py · Keras 3.15.1 · TensorFlow 2.21.0 · Python 3.11.7\n\n"
        "  it failed\n\n? fixes in net.py: inconclusive\n  why\n"
    )
