"""Rewrites that really run beside their originals."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from mplint.project.naming import Naming
from mplint.verify.judge import Outcome
from mplint.verify.prove import Options, Verdict, check_fixes, compare
from mplint.verify.results import AFTER, BEFORE
from mplint.verify.table import render_verdict
from mplint.verify.target import Target

pytestmark = [pytest.mark.verify, pytest.mark.slow, pytest.mark.xdist_group("verify")]

HEADS = (
    (
        '    kind = layers.Dense(5, activation="softmax", name="kind")(x)\n',
        """\
    kind = layers.Dense(5, name="kind_logits")(x)
    kind = layers.Activation("softmax", dtype="float32", name="kind")(kind)
""",
    ),
    ('layers.Dense(1, name="size")', 'layers.Dense(1, name="size", dtype="float32")'),
)
SPARE = ('layers.Dense(3, name="spare")', 'layers.Dense(3, name="spare", dtype="float32")')
WIDE = ('layers.Dense(3, name="wide")', 'layers.Dense(3, name="wide", dtype="float32")')


@pytest.fixture
def root(here: Path) -> Path:
    return here / "project"


def check(root: Path, *replacements: tuple[str, str], keras: str = "3", **options: object) -> Verdict:
    """Prove replacements in model.py, which train.py imports."""
    model, train = root / "reader" / "model.py", root / "reader" / "train.py"

    def importers(path: Path) -> Iterable[Path]:
        return [train] if path == model else []

    before = after = model.read_text()
    for old, new in replacements:
        assert old in after
        after = after.replace(old, new)
    fixes = {model: (before, after)}
    policies = {model: "mixed_float16"}
    options.update(keras=lambda path: (keras, None), importers=importers, policies=policies, timeout=120)
    return check_fixes(root, fixes, naming=Naming(root, root), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("keras", ["2", "3"])
def test_a_right_rewrite_is_verified_before_it_is_written(root: Path, keras: str) -> None:
    verdict = check(root, *HEADS, SPARE, keras=keras)
    told = render_verdict(verdict, naming=Naming(root, root))
    assert verdict.outcome is Outcome.VERIFIED, told
    (proof,) = verdict.proofs
    assert proof.target.file == root / "reader" / "train.py"
    before, after = proof.evidence.runs[BEFORE], proof.evidence.runs[AFTER]
    # The program never calls `spare`: it was called for its rewritten line.
    assert [[output.dtype for output in model.outputs] for model in before.models] == [["float16"] * 2, ["float16"]]
    assert [[output.dtype for output in model.outputs] for model in after.models] == [["float32"] * 2, ["float32"]]
    assert proof.evidence.comparison is not None
    assert proof.evidence.comparison.equal
    assert proof.evidence.comparison.weights == 8
    lines = [line.split() for line in told.splitlines()]
    assert ["output", "size", "float16", "float32"] in lines
    assert ["weights", "in", "float32", "–", "identical", "bits"] in lines
    assert told.splitlines()[-1] == "✓ fixes in reader/model.py: verified"


def test_a_rewrite_that_changes_float32_and_heals_half_is_refuted(root: Path) -> None:
    other = (HEADS[1][0], 'layers.Dense(1, name="size", dtype="float32", kernel_initializer="zeros")')
    verdict = check(root, other)
    assert verdict.outcome is Outcome.REFUTED
    faults = "\n".join(*[of_file.reasons for of_file in verdict.files.values()])
    assert "output `kind` of `reader` is still float16" in faults
    assert "in float32 the rewritten program trains to other weights than the original: largest difference" in faults
    assert verdict.proofs[0].evidence.comparison is not None
    assert verdict.proofs[0].evidence.comparison.repeatable is True


def test_what_is_known_to_stay_half_does_not_refute(root: Path) -> None:
    verdict = check(root, HEADS[1], leaves_half=True)
    assert verdict.outcome is Outcome.VERIFIED, render_verdict(verdict, naming=Naming(root, root))
    assert "output `kind` of `reader` is still float16" in verdict.proofs[0].judgement.notes


def test_a_rewrite_that_fails_is_refuted(root: Path) -> None:
    verdict = check(root, (HEADS[1][0], 'layers.Dense(1, nam="size")'))
    assert verdict.outcome is Outcome.REFUTED
    ((reason,),) = [of_file.reasons for of_file in verdict.files.values()]
    assert reason.startswith("the original runs, the rewritten program does not: ")
    assert reason.endswith("(reader/model.py:11)")


def test_what_did_not_run_is_not_verified(root: Path) -> None:
    verdict = check(root, *HEADS, WIDE)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert [of_file.reasons for of_file in verdict.files.values()] == [("the rewritten row 23 did not run",)]
    assert [str(proof.target.file) for proof in verdict.proofs] == [
        str(root / "reader" / name) for name in ("train.py", "model.py")
    ]


def test_a_program_that_never_trains_alike_is_inconclusive(here: Path) -> None:
    file = here / "unrepeatable.py"
    text = file.read_text()
    rewritten = text.replace("kernel_initializer=entropy)", 'kernel_initializer=entropy, dtype="float32")')
    texts, naming = {file: (text, rewritten)}, Naming(here, here)
    proof = compare(Target(file=file), texts, Options(timeout=120), root=here, folder=here, naming=naming)
    assert proof.outcome is Outcome.INCONCLUSIVE
    assert proof.judgement.doubts == ("the original program does not train alike twice, so float32 cannot be compared",)
