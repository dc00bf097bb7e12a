from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mplint.fixer import Outcome, fix, fixpoint
from mplint.project.modules import Project
from mplint.settings import Settings
from tests import stand_in

Fixed = Callable[..., Outcome]


@pytest.fixture
def fixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fixed:
    """Fix the given files (by stem), of which `targets` are named."""
    monkeypatch.setattr(fixpoint, "analyze", stand_in.analyze)

    def run(*, unsafe: bool = False, targets: tuple[str, ...] = (), encoding: str = "utf-8", **texts: str) -> Outcome:
        files = {stem: tmp_path / f"{stem}.py" for stem in texts}
        for stem, text in texts.items():
            files[stem].write_bytes(text.encode(encoding))
        project = Project(tmp_path, list(files.values()))
        return fix(project, [files[stem] for stem in targets or texts], Settings(root=tmp_path), unsafe=unsafe)

    return run


def texts(outcome: Outcome) -> dict[str, str]:
    return {path.stem: text for path, text in outcome.files.items()}


def reasons(outcome: Outcome) -> list[str]:
    return [reason for _, reason in outcome.withdrawn]


def test_safe_fixes_are_made_and_the_rest_is_left(fixed: Fixed) -> None:
    outcome = fixed(a="bad()\nrisky()\nplain()\nbad()\n", b="ok\n")
    assert texts(outcome) == {"a": "good()\nrisky()\nplain()\ngood()\n"}
    assert [finding.code for finding in outcome.applied] == ["MP101", "MP101"]
    assert [finding.message for finding in outcome.left.findings] == ["`risky` is a fault", "`plain` is a fault"]


def test_unsafe_fixes_are_made_where_they_are_asked_for(fixed: Fixed) -> None:
    assert texts(fixed(unsafe=True, a="bad()\nrisky()\nshown()\n")) == {"a": "good()\ngood()\nshown()\n"}


def test_nothing_to_do_changes_nothing(fixed: Fixed) -> None:
    outcome = fixed(a="plain()\n")
    assert not outcome.files
    assert not outcome.applied


def test_overlapping_fixes_take_turns(fixed: Fixed) -> None:
    outcome = fixed(a="bad(); outer(bad())\n")
    assert texts(outcome) == {"a": "good(); good()\n"}
    assert len(outcome.applied) == 2  # the outer one took the inner fault with it


def test_an_edit_that_two_fixes_share_is_made_once(fixed: Fixed) -> None:
    assert texts(fixed(a="needy()\nneedy()\n")) == {"a": "import helper\ngood()\ngood()\n"}


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("stubborn", "still there"),
        ("worse", "it would cause MP101: `bad` is a fault"),
        ("broken", "does not parse"),
        ("doubled", "Python does not compile"),
        ("sneaky", "it would cause MP101 elsewhere: `latent` is a fault"),
    ],
)
def test_a_fix_that_fails_its_check_is_withdrawn_and_the_others_are_made(fixed: Fixed, word: str, reason: str) -> None:
    outcome = fixed(a=f"bad()\nbad()\n{word}()\nbad()\nlatent()\n")
    assert texts(outcome) == {"a": f"good()\ngood()\n{word}()\ngood()\nlatent()\n"}
    [given] = reasons(outcome)
    assert reason in given
    [left] = outcome.left.findings
    assert left.fix
    assert str(left.fix.applicability) == "display-only"
    assert reason in left.fix.message


def test_what_an_unsafe_fix_uncovers_is_mended_next(fixed: Fixed) -> None:
    outcome = fixed(unsafe=True, a="switch()\nlatent()\n", b="bad()\n")
    assert texts(outcome) == {"a": "alarm\nlatent()\n", "b": "good()\n"}
    assert [finding.message for finding in outcome.left.findings] == ["`latent` is a fault"]
    assert not outcome.withdrawn


def test_a_fix_that_the_encoding_cannot_hold_is_withdrawn(fixed: Fixed) -> None:
    outcome = fixed(encoding="latin-1", a="# coding: latin-1\nforeign('é')\nbad()\n")
    assert texts(outcome) == {"a": "# coding: latin-1\nforeign('é')\ngood()\n"}
    assert "latin-1" in reasons(outcome)[0] or "iso-8859-1" in reasons(outcome)[0]


def test_a_file_that_does_not_parse_is_left_alone(fixed: Fixed) -> None:
    outcome = fixed(a="bad(\n", b="bad()\n")
    assert texts(outcome) == {"b": "good()\n"}
    assert [finding.code for finding in outcome.left.findings] == ["MP001"]


def test_a_fix_over_two_files_is_made_in_both(fixed: Fixed) -> None:
    assert texts(fixed(a="pair()\n", other="partner\n")) == {"a": "good()\n", "other": "friend\n"}


def test_a_fix_that_needs_a_file_that_was_not_named_is_only_shown(fixed: Fixed) -> None:
    outcome = fixed(targets=("a",), a="pair()\nbad()\n", other="partner\n")
    assert texts(outcome) == {"a": "pair()\ngood()\n"}
    [left] = outcome.left.findings
    assert left.fix
    assert str(left.fix.applicability) == "display-only"
    assert "other.py" in left.fix.message


def test_a_second_pass_changes_nothing(fixed: Fixed) -> None:
    once = texts(fixed(unsafe=True, a="bad()\nouter(risky())\nneedy()\nworse()\nswitch()\n"))
    assert not fixed(unsafe=True, **once).files


def test_newlines_stay_as_they_are(fixed: Fixed) -> None:
    assert texts(fixed(a="bad()\r\nx = 1\nbad()")) == {"a": "good()\r\nx = 1\ngood()"}


def test_too_many_rounds_are_told(fixed: Fixed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fixpoint, "ROUNDS", 1)
    outcome = fixed(unsafe=True, a="bad()\nrisky()\n")
    assert texts(outcome) == {"a": "good()\nrisky()\n"}
    assert "run it again" in outcome.left.notes[0]


def test_a_file_that_is_to_stay_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fixpoint, "analyze", stand_in.analyze)
    files = [tmp_path / "a.py", tmp_path / "other.py"]
    files[0].write_text("pair()\nbad()\n")
    files[1].write_text("partner\nbad()\n")
    reasons = {files[1]: "refuted"}
    settings = Settings(root=tmp_path)
    outcome = fix(Project(tmp_path, files), files, settings, unsafe=False, untouched=reasons)
    assert texts(outcome) == {"a": "pair()\ngood()\n"}
    assert [finding.fix and finding.fix.message for finding in outcome.left.findings] == [
        "write `good()` (not made: refuted)",
        "write `good()` (not made: refuted)",
    ]
