"""`check --fix --verify`: what is written, said and returned for each result of a proof."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from mplint.errors import MplintError
from mplint.verify import prove
from mplint.verify.judge import Outcome
from mplint.verify.prove import FileVerdict, Verdict
from tests.cli.conftest import Run

Proofs = Callable[[Mapping[str, Outcome]], list[set[str]]]


@pytest.fixture
def proofs(monkeypatch: pytest.MonkeyPatch) -> Proofs:
    """Let the verifier end with these outcomes by file; gives the files of each call."""

    def pretend(outcomes: Mapping[str, Outcome]) -> list[set[str]]:
        asked: list[set[str]] = []

        def check_fixes(root: Path, fixes: Mapping[Path, tuple[str, str]], **options: Any) -> Verdict:
            asked.append({path.stem for path in fixes})
            assert options["policies"] == dict.fromkeys(fixes, "mixed_float16")
            return Verdict({path: FileVerdict(outcomes[path.stem], ("measured so",)) for path in fixes}, ())

        monkeypatch.setattr(prove, "check_fixes", check_fixes)
        return asked

    return pretend


def test_what_is_verified_is_written(mplint: Run, proofs: Proofs, here: Path) -> None:
    asked = proofs({"a": Outcome.VERIFIED})
    assert mplint("--fix", "--verify", a="bad()\n", b="good()\n").exit_code == 0
    assert (here / "a.py").read_text() == "good()\n"
    assert asked == [{"a"}]


def test_what_is_inconclusive_is_written_and_told(mplint: Run, proofs: Proofs, here: Path) -> None:
    proofs({"a": Outcome.INCONCLUSIVE})
    result = mplint("--fix", "--verify", a="bad()\n")
    assert result.exit_code == 3
    assert "measured so" in result.stdout
    assert (here / "a.py").read_text() == "good()\n"


def test_what_is_refuted_is_not_written_and_the_rest_is_proved_again(mplint: Run, proofs: Proofs, here: Path) -> None:
    asked = proofs({"a": Outcome.REFUTED, "b": Outcome.VERIFIED})
    result = mplint("--fix", "--verify", a="bad()\n", b="bad()\n")
    assert result.exit_code == 1
    assert (here / "a.py").read_text() == "bad()\n"
    assert (here / "b.py").read_text() == "good()\n"
    assert asked == [{"a", "b"}, {"b"}]
    assert "not made: refuted by running it: measured so" in result.stdout
    assert "1 fixed, 1 left)" in result.stdout


def test_a_fix_over_two_files_is_refuted_in_both(mplint: Run, proofs: Proofs, here: Path) -> None:
    proofs({"a": Outcome.VERIFIED, "other": Outcome.REFUTED})
    assert mplint("--fix", "--verify", a="pair()\n", other="partner\n").exit_code == 1
    assert (here / "a.py").read_text() == "pair()\n"
    assert (here / "other.py").read_text() == "partner\n"


def test_without_tensorflow_nothing_is_written(mplint: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def check_fixes(*arguments: object, **options: object) -> None:
        raise MplintError("there is no TensorFlow in /usr/bin/python3: name another one with --python")

    monkeypatch.setattr(prove, "check_fixes", check_fixes)
    result = mplint("--fix", "--verify", a="bad()\n")
    assert result.exit_code == 2
    assert "no TensorFlow" in result.stderr
    assert (here / "a.py").read_text() == "bad()\n"


def test_nothing_fixed_needs_no_proof(mplint: Run, proofs: Proofs) -> None:
    asked = proofs({})
    assert mplint("--fix", "--verify", a="good()\n").exit_code == 0
    assert asked == []


def test_json_stays_json(mplint: Run, proofs: Proofs) -> None:
    proofs({"a": Outcome.INCONCLUSIVE})
    result = mplint("--fix", "--verify", "--output-format", "json", a="bad()\n")
    assert result.stdout == "[]\n"
    assert "measured so" in result.stderr
