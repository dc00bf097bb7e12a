"""`mplint verify` from the outside; what is run is played."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from mplint.cli.main import main
from mplint.errors import MplintError
from mplint.project.modules import Project
from mplint.project.naming import Naming
from mplint.verify import prove
from mplint.verify.audit import Fact, Tally, Verdict
from mplint.verify.judge import Judgement, judge_audit
from mplint.verify.prove import Audited, Options, Proof
from mplint.verify.results import AFTER, BEFORE, Comparison, Evidence, Versions
from mplint.verify.target import Target
from tests.verify.test_judge import MODEL, RUN, TRAINING, halved

VERSIONS = Versions("3.11.7", "2.21.0", "3.15.1", "3")


@pytest.fixture
def train(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "train.py"
    path.write_text("x = 1\n")
    return path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["verify", *arguments])


def play(monkeypatch: pytest.MonkeyPatch, judgement: Judgement, evidence: Evidence | None = None) -> list[Any]:
    """Let every program end with this; gives what was asked for."""
    asked: list[Any] = []

    def verify(target: Target, options: Options, **others: Any) -> Proof:
        asked.append((target, options, others))
        return Proof(target, False, evidence or Evidence(VERSIONS, {AFTER: RUN}), judgement)

    def compare(target: Target, texts: object, options: Options, **others: Any) -> Proof:
        asked.append((target, texts, options, others))
        return Proof(target, True, evidence or Evidence(VERSIONS, {AFTER: RUN, BEFORE: RUN}), judgement)

    monkeypatch.setattr(prove, "verify", verify)
    monkeypatch.setattr(prove, "compare", compare)
    return asked


@pytest.mark.parametrize(
    ("judgement", "status", "word"),
    [
        (Judgement(), 0, "✓ train.py: verified"),
        (Judgement(faults=("it is so",), doubts=("maybe",)), 1, "✗ train.py: refuted\n  it is so\n"),
        (Judgement(doubts=("maybe",)), 3, "? train.py: inconclusive\n  maybe\n"),
    ],
)
def test_exit_status(
    train: Path, monkeypatch: pytest.MonkeyPatch, judgement: Judgement, status: int, word: str
) -> None:
    play(monkeypatch, judgement)
    result = run("train.py")
    assert result.exit_code == status
    assert word in result.stdout


def test_the_table(train: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    after = replace(RUN, models=(replace(MODEL, training=replace(TRAINING, milliseconds=2.25)),))
    before = halved("digit")
    evidence = Evidence(VERSIONS, {AFTER: after, BEFORE: before}, Comparison(True, 0.0, 4, None))
    (train.parent / "old.py").write_text("x = 0\n")
    play(monkeypatch, Judgement(notes=("by the way",)), evidence)
    assert (
        run("train.py", "--against", "old.py").stdout
        == """\
train.py · Keras 3.15.1 · TensorFlow 2.21.0 · Python 3.11.7

net (Functional), trained by the program's fit on the program's own data
                            before         after
  policy                    mixed_float16  mixed_float16
  layers in half precision  2 of 4         2 of 4
  variables                 4 float32      4 float32
  variables moved           4 of 4         4 of 4
  loss                      0.8            0.8
  steps skipped             0 of 3         0 of 3
  loss scale                32768          32768
  ms per step               1.0            2.2
  weights in float32        –              identical bits
  output digit              float16        float32
  output slant              float32        float32

note: by the way
✓ train.py: verified
"""
    )


def test_colours_for_a_terminal(train: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    play(monkeypatch, Judgement(), Evidence(VERSIONS, {AFTER: halved("digit")}))
    coloured = run("train.py").output
    assert "\x1b[1;31mfloat16" in coloured
    assert "\x1b[1;32mfloat32" in coloured
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in run("train.py").output


def test_json(train: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worse = replace(
        RUN, models=(replace(MODEL, training=replace(TRAINING, losses=(float("nan"),), scale=float("inf"))),)
    )
    play(monkeypatch, Judgement(faults=("the loss",)), Evidence(VERSIONS, {AFTER: worse}))
    result = run("train.py", "--output-format", "json")

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    data = json.loads(result.stdout, parse_constant=refuse)
    assert result.exit_code == 1
    assert (data["outcome"], data["reasons"]) == ("refuted", ["the loss"])
    assert data["versions"]["generation"] == "3"
    (model,) = data["runs"]["after"]["models"]
    assert model["outputs"][0] == {"name": "digit", "dtype": "float32", "shape": [None, 10]}
    assert model["training"]["losses"] == ["nan"]


def test_what_is_asked_for(train: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = play(monkeypatch, Judgement())
    (train.parent / "pyproject.toml").write_text("[tool.mplint]\n")
    words = (
        "--steps 5 --rows 2 --timeout 7 --keras 2 --policy mixed_bfloat16 --python there train.py:build -- --units 3"
    )
    assert run(*words.split()).exit_code == 0
    ((target, options, others),) = asked
    assert target == Target(file=train, factory="build")
    assert options == Options("there", "2", 5, 2, 7.0, "mixed_bfloat16", ("--units", "3"))
    here = train.parent
    assert others == {"root": here, "folder": here, "naming": Naming(here, here)}


@pytest.mark.parametrize(
    ("text", "configured", "words", "keras", "likely"),
    [
        ("x = 1\n", "", "", "auto", None),
        ("x = 1\n", 'keras = "2"\n', "", "2", None),
        ("x = 1\n", 'keras = "2"\n', "--keras auto", "auto", None),
        ("x = 1\n", 'keras = "2"\nper-file-keras = { "*.py" = "3" }\n', "", "3", None),
        ("x = 1\n", 'per-file-keras = { "*.py" = "3" }\n', "--keras 2", "2", None),
        ("from tensorflow.keras.mixed_precision import experimental\n", "", "", "auto", "2"),
        ("from tensorflow.keras import ops\n", "", "", "auto", "3"),
        ("from tensorflow.keras import ops\n", "", "--keras 2", "2", None),
    ],
)
def test_the_generation_is_what_config_says(
    train: Path, monkeypatch: pytest.MonkeyPatch, text: str, configured: str, words: str, keras: str, likely: str | None
) -> None:
    asked = play(monkeypatch, Judgement())
    train.write_text(text)
    (train.parent / "mplint.toml").write_text(configured)
    assert run("train.py", *words.split()).exit_code == 0
    ((_, options, _),) = asked
    assert (options.keras, options.likely) == (keras, likely)


def test_a_module_of_another_place_has_the_configured_generation(train: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = play(monkeypatch, Judgement())
    (train.parent / "mplint.toml").write_text('keras = "2"\n')
    assert run("elsewhere:build").exit_code == 0
    ((_, options, _),) = asked
    assert (options.keras, options.likely) == ("2", None)


def test_against(train: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = play(monkeypatch, Judgement())
    (train.parent / "old.py").write_text("x = 0\n")
    assert run("train.py", "--against", "old.py").exit_code == 0
    assert asked[0][1] == {train: ("x = 0\n", "x = 1\n")}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("missing.py", "missing.py does not exist"),
        ("train.py --against train.py", "nothing differs from it"),
        ("train.py --against missing.py", "does not exist"),
        ("train.py --policy mixed_float61", "did you mean `mixed_float16`"),
        ("train.py --keras 4", "cannot be '4'"),
        ("train.py --steps 0", "0 is not in the range"),
        ("train.py --python no-such-python", "there is no such program"),
        ("", "Missing argument"),
    ],
)
def test_wrong_usage(train: Path, words: str, told: str) -> None:
    result = run(*words.split())
    assert result.exit_code == 2
    assert told in result.stderr
    assert result.stdout == ""


def test_no_tensorflow(train: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def verify(*arguments: object, **folders: object) -> None:
        raise MplintError("python has no TensorFlow")

    monkeypatch.setattr(prove, "verify", verify)
    result = run("train.py")
    assert result.exit_code == 2
    assert result.stderr == "error: python has no TensorFlow\n"


def test_help_warns_of_the_missing_sandbox() -> None:
    assert "WITHOUT A SANDBOX" in " ".join(run("--help").stdout.split())


def facts(*verdicts: Verdict) -> Tally:
    return Tally(tuple(Fact("train.py", 3, "Dense", "output", "float16", "float32", verdict) for verdict in verdicts))


@pytest.mark.parametrize(
    ("tally", "evidence", "status", "told"),
    [
        (
            facts(Verdict.AGREES, Verdict.UNKNOWN),
            Evidence(VERSIONS, {AFTER: RUN}),
            0,
            """
not predicted
              what           ran in   predicted
  train.py:3  Dense, output  float16  float32

as predicted: 1 of 2 dtypes of layers, outputs and variables
✓ train.py: verified
""",
        ),
        (
            facts(Verdict.DIFFERS),
            Evidence(VERSIONS, {AFTER: RUN}),
            1,
            """
other than predicted
              what           ran in   predicted
  train.py:3  Dense, output  float16  float32

as predicted: 0 of 1 dtypes of layers, outputs and variables
✗ train.py: refuted
  1 of 1 dtypes differ from what mplint predicts: please report it
""",
        ),
        (Tally(), Evidence(VERSIONS, {AFTER: RUN}), 3, "makes no layer, model or variable"),
        (facts(Verdict.AGREES), Evidence(VERSIONS, timed_out=True, unfinished=AFTER), 3, "--timeout gives it longer"),
    ],
)
def test_audit(
    train: Path, monkeypatch: pytest.MonkeyPatch, tally: Tally, evidence: Evidence, status: int, told: str
) -> None:
    def played(target: Target, options: Options, *, project: Project, folder: Path) -> Audited:
        assert (options.policy, project.root, folder) == ("mixed_bfloat16", train.parent, train.parent)
        return Audited(target, evidence, tally, judge_audit(evidence, tally, project.naming))

    monkeypatch.setattr(prove, "audit_predictions", played)
    result = run("train.py", "--audit", "--policy", "mixed_bfloat16")
    assert result.exit_code == status
    assert told in result.stdout
    data = json.loads(run("train.py", "--audit", "--policy", "mixed_bfloat16", "--output-format", "json").stdout)
    assert sum(data["counts"].values()) == len(data["facts"]) == len(tally.facts)


def test_an_audit_is_of_one_program(train: Path) -> None:
    result = run("train.py", "--audit", "--against", "train.py")
    assert result.exit_code == 2
    assert "takes no --against" in result.stderr
