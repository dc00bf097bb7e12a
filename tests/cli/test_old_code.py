"""Living with code that is older than mplint: baselines, changes since a revision, comments that silence."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from mplint.changed import changed_rows
from tests.cli.conftest import Run

# Baselines


def test_a_baseline_leaves_out_what_it_holds_and_nothing_else(mplint: Run, here: Path) -> None:
    written = mplint("--write-baseline", "known.json", a="bad()\nrisky()\n")
    assert (written.exit_code, written.stdout) == (0, "Wrote 2 findings to known.json.\n")
    clean = mplint("--baseline", "known.json")
    assert clean.exit_code == 0
    assert clean.stdout == "All checks passed.\nnote: 2 findings of the baseline known.json left out\n"
    more = mplint("--baseline", "known.json", "--output-format", "concise", a="import x\n\nbad()\nrisky()\nbad()\n")
    assert more.exit_code == 1
    assert more.stdout.startswith("a.py:5:1: MP101")


def test_a_baseline_is_left_alone_by_fixes(mplint: Run, here: Path) -> None:
    mplint("--write-baseline", "known.json", a="bad()\n")
    mplint("--fix", "--baseline", "known.json", a="bad()\nneedy()\n")
    assert (here / "a.py").read_text() == "import helper\nbad()\ngood()\n"


def test_what_is_gone_of_a_baseline_is_told(mplint: Run) -> None:
    mplint("--write-baseline", "known.json", a="bad()\nbad()\n", b="bad()\n")
    told = "1 finding of the baseline is gone: --write-baseline writes it anew"
    assert told in mplint("--baseline", "known.json", a="bad()\n").stdout
    assert "gone" not in mplint("--baseline", "known.json", "b.py").stdout


def test_a_baseline_reads_well_in_a_review(mplint: Run, here: Path) -> None:
    mplint("--write-baseline", "known.json", b="risky()\nbad()\n", a="bad()\n")
    content = json.loads((here / "known.json").read_text())
    assert content["version"] == 1
    entries = [(entry["path"], entry["code"]) for entry in content["findings"]]
    assert entries == [("a.py", "MP101"), ("b.py", "MP101"), ("b.py", "MP102")]
    assert content["findings"][0]["message"] == "`bad` is a fault"


def test_a_baseline_in_the_configuration_counts_from_the_root(
    mplint: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "sub").mkdir()
    mplint("--write-baseline", "sub/known.json", a="bad()\n")
    (here / "mplint.toml").write_text('baseline = "sub/known.json"\n')
    assert mplint().exit_code == 0
    assert mplint("--write-baseline", "sub/known.json", a="bad()\nbad()\n").stdout.startswith("Wrote 2 ")
    monkeypatch.chdir(here / "sub")
    assert mplint("..").exit_code == 0
    assert mplint("..", "--baseline", "known.json").exit_code == 0


def test_a_file_that_cannot_be_read_is_in_no_baseline(mplint: Run, here: Path) -> None:
    assert mplint("--write-baseline", "known.json", a="x = (\n").stdout == "Wrote 0 findings to known.json.\n"
    assert mplint("--baseline", "known.json").exit_code == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no such baseline; --write-baseline"),
        ("[]", "is no baseline"),
        ("{", "is no baseline"),
        ("[" * 100_000, "is no baseline"),
        ('{"version": 1, "findings": [1]}', "is no baseline"),
        ('{"version": 9, "findings": []}', "is a baseline of version 9; this mplint reads 1"),
    ],
)
def test_what_is_no_baseline(mplint: Run, here: Path, content: str | None, message: str) -> None:
    if content is not None:
        (here / "known.json").write_text(content)
    result = mplint("--baseline", "known.json", a="bad()\n")
    assert result.exit_code == 2
    assert f"{here / 'known.json'}: {message}" in result.stderr


def test_a_baseline_that_cannot_be_written(mplint: Run) -> None:
    result = mplint("--write-baseline", "absent/known.json", a="bad()\n")
    assert result.exit_code == 2
    assert "absent/known.json: cannot be written" in result.stderr


# Changes since a revision


@pytest.fixture
def git(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository here, with nobody's configuration."""
    for key, value in {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@example.org",
    }.items():
        monkeypatch.setenv(key, value)
    run_git("init", "-q", "-b", "main")


def run_git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], check=True, capture_output=True)


def commit(message: str = "x") -> None:
    run_git("add", "-A")
    run_git("commit", "-q", "--allow-empty", "-m", message)


@pytest.mark.usefixtures("git")
def test_only_what_changed_since_a_revision_is_told(mplint: Run, here: Path) -> None:
    (here / "a.py").write_text("bad()\nx = 1\nrisky()\n")
    (here / "old.py").write_text("bad()\n" + "x = 1\n" * 10)
    commit()
    (here / "old.py").rename(here / "moved.py")
    run_git("add", "-A")
    shown = mplint(
        "--diff-base", "HEAD", "--output-format", "concise", a="bad()\nx = 1\nplain()\nrisky()\n", new="bad()\n"
    )
    assert [line.split(" ")[0] for line in shown.stdout.splitlines()[:2]] == ["a.py:3:1:", "new.py:1:1:"]
    assert "note: 3 findings have nothing to do with what changed since HEAD, and left out" in shown.stdout


@pytest.mark.usefixtures("git")
def test_changes_count_from_where_the_branch_began(mplint: Run, here: Path) -> None:
    (here / "a.py").write_text("x = 1\n")
    commit()
    run_git("checkout", "-q", "-b", "work")
    commit("mine")
    run_git("checkout", "-q", "main")
    (here / "a.py").write_text("bad()\n")
    commit("theirs")
    run_git("checkout", "-q", "work")
    assert mplint("--diff-base", "main").exit_code == 0
    assert mplint("--diff-base", "main", a="x = 1\nbad()\n").exit_code == 1


@pytest.mark.usefixtures("git")
def test_a_change_that_causes_a_fault_elsewhere_shows_it(mplint: Run, here: Path) -> None:
    (here / "a.py").write_text("needy()\n")  # its cause lies in train.py:1
    (here / "train.py").write_text("x = 1\n")
    commit()
    assert mplint("--diff-base", "HEAD").exit_code == 0
    assert mplint("--diff-base", "HEAD", train="x = 2\n").exit_code == 1


@pytest.mark.usefixtures("git")
def test_fixes_stay_inside_the_changes(mplint: Run, here: Path) -> None:
    (here / "a.py").write_text("bad()\n")
    commit()
    mplint("--fix", "--diff-base", "HEAD", a="bad()\nbad()\n")
    assert (here / "a.py").read_text() == "bad()\ngood()\n"


@pytest.mark.usefixtures("git")
def test_a_revision_that_is_none(mplint: Run, here: Path) -> None:
    result = mplint("--diff-base", "--output=x", a="bad()\n")
    assert result.exit_code == 2
    result = mplint("--diff-base", "absent", a="bad()\n")
    assert f"{here}: git knows no revision `absent`; fetch it, or name another one" in result.stderr


def test_changes_ask_for_a_repository(mplint: Run) -> None:
    result = mplint("--diff-base", "HEAD", a="bad()\n")
    assert result.exit_code == 2
    assert "not a git repository" in result.stderr


@pytest.mark.parametrize(
    ("before", "after", "rows"),
    [
        ("a\nb\nc\n", "a\nb\nc\n", set()),
        ("a\nb\nc\n", "a\nx\nc\n", {2}),
        ("a\nb\nc\n", "a\nc\n", {1, 2}),
        ("a\n", "x\na\r\ny\n", {1, 3}),
        ("", "a\nb", {1, 2}),
    ],
)
def test_changed_rows(before: str, after: str, rows: set[int]) -> None:
    assert set(changed_rows(before, after)) == rows


# Comments that silence


def test_what_is_found_is_silenced_in_the_code(mplint: Run, here: Path) -> None:
    text = (
        "bad()\n"
        "x = bad()  # why\n"
        "y = [\n    risky(),\n    bad(),\n]\n"
        "bad() + \\\n    2\n"
        "bad()  # mplint: ignore[MP1023]\n"
    )
    result = mplint("--add-ignore=later", a=text)
    assert (result.exit_code, result.stdout) == (1, "Silenced 5 of 6.\n"), "the toy knows one line of a statement"
    assert (here / "a.py").read_text() == (
        "bad()  # mplint: ignore[MP101] later\n"
        "x = bad()  # why  # mplint: ignore[MP101] later\n"
        "y = [\n    risky(),  # mplint: ignore[MP102] later\n    bad(),  # mplint: ignore[MP101] later\n]\n"
        "bad() + \\\n    2\n"
        "bad()  # mplint: ignore[MP1023, MP101]\n"
    )


def test_comments_without_a_reason_and_without_findings(mplint: Run, here: Path) -> None:
    assert mplint("--add-ignore", "a.py", a="bad()\r\n").exit_code == 0
    with (here / "a.py").open(newline="") as file:
        assert file.read() == "bad()  # mplint: ignore[MP101]\r\n"
    assert mplint("--add-ignore", a="good()\n").stdout == "Silenced 0 of 0.\n"


@pytest.mark.parametrize("mode", ["--fix", "--diff", "--fix-only"])
@pytest.mark.parametrize("keep", [["--add-ignore=x"], ["--write-baseline", "known.json"]])
def test_to_keep_and_to_mend_at_once(mplint: Run, mode: str, keep: list[str]) -> None:
    result = mplint(mode, *keep, a="bad()\n")
    assert result.exit_code == 2
    assert "use them without --fix" in result.stderr
