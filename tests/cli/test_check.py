from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from mplint.analysis import Failure
from mplint.fixer import fixpoint
from tests import stand_in
from tests.cli.conftest import Run


def read(file: Path) -> str:
    with file.open(newline="") as stream:
        return stream.read()


# What is checked


@pytest.mark.parametrize("arguments", [["check", "."], ["."], [], ["check"], ["a.py"], ["--no-fix", "a.py"]])
def test_check_is_the_default_command_and_here_the_default_path(mplint: Run, arguments: list[str]) -> None:
    result = mplint(*arguments, a="bad()\n")
    assert result.exit_code == 1
    assert "--> a.py:1:1" in result.stdout


def test_nothing_found(mplint: Run) -> None:
    result = mplint(a="good()\n")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "All checks passed.\n", "")


def test_no_files(mplint: Run) -> None:
    result = mplint()
    assert result.exit_code == 0
    assert "no Python files" in result.stderr


def test_a_missing_path_is_told_and_the_others_are_checked(mplint: Run) -> None:
    result = mplint("absent.py", "a.py", "--output-format", "concise", a="bad()\n")
    assert result.exit_code == 2
    assert "absent.py: does not exist" in result.stderr
    assert "Nothing found, but not everything could be checked." in mplint("absent.py").stdout
    assert result.stdout.startswith("a.py:1:1: MP101")


def test_excluded_files_are_left_out(mplint: Run, here: Path) -> None:
    (here / "old").mkdir()
    (here / "old" / "c.py").write_text("bad()\n")
    result = mplint("--extend-exclude", "old,b.py", "--output-format", "concise", a="bad()\n", b="bad()\n")
    assert result.stdout.startswith("a.py:1:1: ")
    assert "Found 1" in result.stdout
    assert mplint("b.py", "--exclude", "b.py").exit_code == 1
    assert mplint("b.py", "--exclude", "b.py", "--force-exclude").exit_code == 0


def test_a_file_that_does_not_parse_is_a_finding_in_every_mode(mplint: Run) -> None:
    for flags in ([], ["--fix"], ["--diff"], ["--fix-only"], ["--select", "MP102"], ["--quiet"]):
        result = mplint("--output-format", "concise", *flags, a="x = (\n")
        assert result.exit_code == 1, flags
        assert "MP001" in result.output, flags


@pytest.mark.parametrize("arguments", [["veirfy", "a.py"], ["--quiet", "verify", "a.py"]])
def test_a_command_in_the_place_of_a_path_is_recognized(mplint: Run, arguments: list[str]) -> None:
    result = mplint(*arguments, a="good()\n")
    assert result.exit_code == 2
    assert "Did you mean the command `verify`?" in result.stderr


def test_what_other_tools_call_a_command_is_recognized(mplint: Run) -> None:
    result = mplint("explain", "MP101")
    assert result.exit_code == 2
    assert "Did you mean the command `rule`? It comes first: mplint rule ...\n" in result.stderr


# Settings


def test_rules_are_selected(mplint: Run) -> None:
    texts = {"a": "bad()\nrisky()\n"}
    assert "MP102" not in mplint("--select", "MP101", **texts).stdout
    assert "MP102" not in mplint("--ignore", "MP102", **texts).stdout
    assert "MP102" in mplint("--select", "MP101", "--extend-select", "MP102", **texts).stdout
    assert mplint("--per-file-ignores", "a.py:MP1", **texts).exit_code == 0


def test_configuration_counts_and_flags_win(mplint: Run, here: Path) -> None:
    (here / "pyproject.toml").write_text('[tool.mplint]\nignore = ["MP101"]\noutput-format = "concise"\n')
    assert mplint(a="bad()\n").stdout == "All checks passed.\n"
    assert mplint("--select", "MP101").stdout.startswith("a.py:1:1: MP101")
    assert mplint("--isolated").exit_code == 1
    assert mplint("--config", 'select = ["MP101"]').exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--select", "MP1O1"], "there is no rule `MP1O1`; did you mean `MP101`?"),
        (["--keras", "tow"], "cannot be 'tow'"),
        (["--assume-policy", "mixed_flaot16"], "did you mean `mixed_float16`?"),
        (["--output-format", "jsn"], "did you mean `json`?"),
        (["--output-format", "sarif="], "'sarif=' names no file behind the `=`"),
        (["--output-format", "sarif", "--statistics"], "--statistics has no output format sarif; it has concise"),
        (["--fail-on", "warnings"], "did you mean `warning`?"),
        (["--selct", "MP1"], "--select"),
        (["--config", "kears = 2"], "there is no setting `kears`; did you mean `keras`?"),
        (["--config", "absent.toml"], "absent.toml: cannot be read"),
        (["-", "a.py"], "`-` is standard input alone"),
        (["--diff", "--statistics"], "choose one"),
        (["--verify"], "--verify proves what --fix writes"),
        (["--output-file", "nowhere/report.txt"], "cannot be written"),
    ],
)
def test_mistakes_end_with_status_2(mplint: Run, arguments: list[str], message: str) -> None:
    result = mplint(*arguments, a="good()\n")
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.output


# Exit statuses


@pytest.mark.parametrize(
    ("text", "flags", "status"),
    [
        ("bad()", [], 1),
        ("plain()", [], 0),
        ("plain()", ["--fail-on", "advice"], 1),
        ("risky()", ["--fail-on", "error"], 0),
        ("bad()", ["--exit-zero"], 0),
        ("bad()", ["--fix"], 0),
        ("bad()", ["--fix", "--exit-non-zero-on-fix"], 1),
        ("good()", ["--fix", "--exit-non-zero-on-fix"], 0),
        ("bad(); risky()", ["--fix"], 1),
        ("bad(); risky()", ["--fix", "--unsafe-fixes"], 0),
        ("bad(); risky()", ["--fix-only"], 0),
        ("bad()", ["--fix-only", "--exit-non-zero-on-fix"], 1),
        ("bad()", ["--diff"], 1),
        ("risky()", ["--diff"], 0),
        ("risky()", ["--diff", "--unsafe-fixes"], 1),
        ("bad()", ["--diff", "--exit-zero"], 0),
        ("stubborn()", ["--fix"], 1),
    ],
)
def test_exit_status(mplint: Run, text: str, flags: list[str], status: int) -> None:
    assert mplint(*flags, a=f"{text}\n").exit_code == status


def test_an_internal_failure_is_told_and_the_rest_is_checked(mplint: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*arguments: object) -> object:
        report = stand_in.analyze(*arguments)  # type: ignore[arg-type]
        return replace(report, failures=(Failure(Path.cwd() / "b.py", "KeyError: 'x'"),))

    monkeypatch.setattr(fixpoint, "analyze", failing)
    result = mplint(a="bad()\n", b="odd()\n")
    assert result.exit_code == 2
    assert "b.py: mplint itself failed here, please report it: KeyError: 'x'" in result.stderr
    assert "MP101" in result.stdout


def test_a_defect_elsewhere_never_looks_like_a_finding(mplint: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object) -> object:
        raise ZeroDivisionError

    monkeypatch.setattr(fixpoint, "analyze", broken)
    result = mplint(a="bad()\n")
    assert result.exit_code == 2
    assert "ZeroDivisionError" in result.stderr
    assert "please report it" in result.stderr


# Fixing


def test_fix_writes_and_reports_what_is_left(mplint: Run, here: Path) -> None:
    result = mplint("--fix", "--output-format", "concise", a="bad()\r\nrisky()")
    assert read(here / "a.py") == "good()\r\nrisky()"
    assert result.stdout == (
        "a.py:2:1: MP102 `risky` is a fault\nFound 2 (1 fixed, 1 left, 1 fixable with --unsafe-fixes).\n"
    )


def _written(path: Path) -> tuple[int, int, int]:
    """What changes when a file is written, in place or anew; reading it changes its access time."""
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def test_a_second_run_changes_nothing(mplint: Run, here: Path) -> None:
    mplint("--fix", a="bad()\n")
    before = _written(here / "a.py")
    assert mplint("--fix").stdout == "All checks passed.\n"
    assert _written(here / "a.py") == before


def test_fixes_are_listed_where_asked_for(mplint: Run) -> None:
    result = mplint("--fix", "--show-fixes", a="bad()\nbad()\n")
    assert result.stdout == (
        "Fixed 2:\n- a.py:\n    2 x MP101 (low-precision-softmax-output)\nFound 2 (2 fixed, 0 left).\n"
    )


def test_fix_only_says_nothing_of_what_is_left(mplint: Run, here: Path) -> None:
    assert mplint("--fix-only", a="bad()\nrisky()\n").stdout == "Fixed 1.\n"
    assert read(here / "a.py") == "good()\nrisky()\n"
    assert mplint("--fix-only").stdout == "Nothing to fix.\n"


def test_diff_changes_nothing(mplint: Run, here: Path) -> None:
    result = mplint("--diff", a="bad()\r\nx", b="good()\n")
    assert result.stdout_bytes == (
        b"--- a.py\n+++ a.py\n@@ -1,2 +1,2 @@\n-bad()\r\n+good()\r\n x\n\\ No newline at end of file\n"
    )
    assert result.stderr == "Would fix 1.\n"
    assert read(here / "a.py") == "bad()\r\nx"


def test_a_withdrawn_fix_is_told(mplint: Run, here: Path) -> None:
    result = mplint("--fix", a="bad()\nstubborn()\n")
    assert read(here / "a.py") == "good()\nstubborn()\n"
    assert "warning: a.py:2:1: the fix of MP101 was withdrawn: the finding was still there" in result.stderr
    assert "fixable" not in result.stdout


def test_a_fix_in_a_file_that_was_not_named_is_shown_not_made(mplint: Run, here: Path) -> None:
    result = mplint("--fix", "a.py", a="pair()\n", other="partner\n")
    assert result.exit_code == 1
    assert read(here / "a.py") == "pair()\n"
    assert "other.py is not among the files to check" in result.stdout
    assert mplint("--fix", "a.py", "other.py").exit_code == 0
    assert (read(here / "a.py"), read(here / "other.py")) == ("good()\n", "friend\n")


@pytest.mark.skipif(os.name != "posix", reason="needs permissions")
def test_a_file_that_cannot_be_written_is_told(mplint: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def changing(*arguments: object) -> object:
        report = stand_in.analyze(*arguments)  # type: ignore[arg-type]
        (here / "a.py").write_text("bad()  # changed meanwhile\n")
        return report

    monkeypatch.setattr(fixpoint, "analyze", changing)
    result = mplint("--fix", a="bad()\n", b="bad()\n")
    assert result.exit_code == 2
    assert "a.py" in result.stderr
    assert read(here / "a.py") == "bad()  # changed meanwhile\n"
    assert read(here / "b.py") == "good()\n"
    assert "1 fixed" in result.stdout


# Standard input


def test_standard_input(mplint: Run) -> None:
    result = mplint("-", "--output-format", "concise", input="bad()\n")
    assert result.exit_code == 1
    assert result.stdout.startswith("-:1:1: MP101 [*]")


def test_standard_input_with_a_name(mplint: Run, here: Path) -> None:
    result = mplint("-", "--stdin-filename", "a.py", "--output-format", "json", a="good()\n", input="bad()\n")
    assert [row["filename"] for row in json.loads(result.stdout)] == [str(here / "a.py")]
    assert json.loads(mplint("-", "--output-format", "json", input="bad()\n").stdout)[0]["filename"] == "-"


def test_fixed_standard_input_goes_to_standard_output(mplint: Run) -> None:
    result = mplint("--fix", "-", "--output-format", "concise", input=b"\xef\xbb\xbfbad()\r\nrisky()")
    assert result.stdout_bytes == b"\xef\xbb\xbfgood()\r\nrisky()"
    assert result.stderr.startswith("-:2:1: MP102")
    assert result.exit_code == 1


@pytest.mark.parametrize("data", [b"good()\n", b"x = (\n", b"\xff\xfe", b""])
def test_standard_input_with_nothing_to_fix_comes_out_as_it_is(mplint: Run, data: bytes) -> None:
    assert mplint("--fix", "-", input=data).stdout_bytes == data


def test_excluded_standard_input_comes_out_as_it_is(mplint: Run) -> None:
    flags = ("--fix", "-", "--stdin-filename", "a.py", "--exclude", "a.py")
    assert mplint(*flags, input="bad()\n").stdout == "good()\n"
    assert mplint(*flags, "--force-exclude", input="bad()\n").stdout == "bad()\n"


def test_standard_input_is_never_written_to_its_file(mplint: Run, here: Path) -> None:
    mplint("--fix", "-", "--stdin-filename", "a.py", a="bad()  # on disk\n", input="bad()\n")
    assert read(here / "a.py") == "bad()  # on disk\n"


def test_diff_of_standard_input(mplint: Run) -> None:
    result = mplint("--diff", "-", input="bad()\n")
    assert result.stdout == "--- -\n+++ -\n@@ -1 +1 @@\n-bad()\n+good()\n"


# Output


def test_json_is_all_that_goes_to_standard_output(mplint: Run) -> None:
    result = mplint("--output-format", "json", a="bad()\n")
    assert [row["code"] for row in json.loads(result.stdout)] == ["MP101"]
    assert json.loads(mplint("--output-format", "json", "--fix").stdout) == []


def test_notes_follow_the_last_line(mplint: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fixpoint, "analyze", lambda *_: stand_in.report(notes=("use --assume-policy",)))
    assert mplint(a="").stdout == "All checks passed.\nnote: use --assume-policy\n"
    assert mplint("--quiet").stdout == ""
    result = mplint("--output-format", "json")
    assert (result.stdout, result.stderr) == ("[]\n", "note: use --assume-policy\n")


def test_several_formats_at_once(mplint: Run, here: Path) -> None:
    forms = ["--output-format", "sarif=r.sarif", "--output-format", "concise", "--output-format", "junit=r.xml"]
    result = mplint(*forms, a="bad()\n")
    assert result.exit_code == 1
    assert result.stdout.startswith("a.py:1:1: MP101")
    assert json.loads(read(here / "r.sarif"))["runs"][0]["results"][0]["ruleId"] == "MP101"
    assert read(here / "r.xml").startswith("<?xml")
    assert "\n--> a.py:1:1\n" in mplint("--output-format", "gitlab=r.json").stdout, "the usual format is shown"
    result = mplint("--output-format", "sarif=absent/r.sarif")
    assert result.exit_code == 2
    assert "absent/r.sarif: the report cannot be written there" in result.stderr


def test_words_for_people_do_not_mix_with_what_programs_read(mplint: Run, here: Path) -> None:
    (here / "mplint.toml").write_text('output-format = "gitlab"\n')
    assert json.loads(mplint(a="good()\n").stdout) == []


def test_statistics(mplint: Run) -> None:
    result = mplint("--statistics", a="bad()\nbad()\n")
    assert result.stdout.startswith("2  MP101 [*] low-precision-softmax-output\nFound 2")
    assert result.exit_code == 1


def test_the_report_can_go_to_a_file(mplint: Run, here: Path) -> None:
    result = mplint("-o", "report.txt", "--output-format", "concise", a="bad()\n")
    assert (result.exit_code, result.stdout) == (1, "")
    assert read(here / "report.txt").startswith("a.py:1:1: MP101")


def test_quiet_shows_findings_only(mplint: Run) -> None:
    assert mplint("-q", "--output-format", "concise", a="bad()\n").stdout == "a.py:1:1: MP101 [*] `bad` is a fault\n"


def test_verbose_says_where_settings_come_from(mplint: Run, here: Path) -> None:
    result = mplint("-v", "--keras", "2", a="")
    assert f"root: {here}" in result.stderr
    assert "keras = 2 (--keras)" in result.stderr


def test_timing_goes_to_standard_error(mplint: Run) -> None:
    result = mplint("--timing", a="")
    assert "layers" in result.stderr
    assert "layers" not in result.stdout


@pytest.mark.parametrize(
    ("environment", "colored"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "0"}, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_colours(mplint: Run, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], colored: bool) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert ("\x1b[" in mplint(a="bad()\n").stdout) is colored
    assert ("\x1b[" in mplint("--diff").stdout) is colored
    assert "\x1b[" not in mplint("--output-format", "json").stdout
