from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from mplint import __version__
from mplint.cli.main import main
from tests.cli.conftest import Run


def completions(*arguments: str, incomplete: str) -> set[str]:
    complete = ShellComplete(main, {}, "mplint", "_MPLINT_COMPLETE")
    return {item.value for item in complete.get_completions(list(arguments), incomplete)}


def test_version_and_help(mplint: Run) -> None:
    assert mplint("--version").stdout == f"mplint {__version__}\n"
    text = mplint("--help").stdout
    for command in ("check", "verify", "review", "rule", "config", "init"):
        assert f"\n  {command} " in text
    assert "--unsafe-fixes" in mplint("check", "-h").stdout
    assert "--unsafe-fixes" in mplint("--fix", "--help").stdout


def test_options_of_the_default_command_are_completed_on_the_group() -> None:
    assert {"--output-format", "--output-file"} <= completions(incomplete="--o")
    assert "--version" in completions(incomplete="--v")
    assert {"check", "config"} <= completions(incomplete="c")
    assert "full" in completions("--output-format", incomplete="f")
    assert "--fix-only" in completions("--diff", incomplete="--fix")
    assert "--all" in completions("rule", incomplete="--")


def test_rules_are_listed(mplint: Run) -> None:
    text = mplint("rule").stdout
    assert "MP101  error    low-precision-softmax-output: " in text
    rows = json.loads(mplint("rule", "--output-format", "json").stdout)
    assert [row["code"] for row in rows] == sorted(row["code"] for row in rows)


@pytest.mark.parametrize("word", ["MP101", "mp101", "low-precision-softmax-output"])
def test_a_rule_is_explained(mplint: Run, word: str) -> None:
    text = mplint("rule", word).stdout
    assert text.startswith("# low-precision-softmax-output (MP101)\n")
    assert json.loads(mplint("rule", word, "--output-format", "json").stdout)["code"] == "MP101"


@pytest.mark.parametrize("prefix", ["MP10", "mp10"])
def test_the_rules_of_a_family_are_listed(mplint: Run, prefix: str) -> None:
    rows = mplint("rule", prefix).stdout.splitlines()
    assert rows[0].startswith("MP101  error    low-precision-softmax-output: ")
    assert all(row.startswith("MP10") for row in rows)
    objects = json.loads(mplint("rule", prefix, "--output-format", "json").stdout)
    assert len(objects) == len(rows) > 1


def test_all_rules_are_explained(mplint: Run) -> None:
    text = mplint("rule", "--all").stdout
    assert "(MP001)" in text
    assert "(MP102)" in text


def test_an_unknown_rule(mplint: Run) -> None:
    result = mplint("rule", "MP1010")
    assert result.exit_code == 2
    assert "did you mean `MP101`?" in result.stderr
    assert mplint("rule", "MP101", "--all").exit_code == 2


def test_a_folder_called_like_a_command(mplint: Run, here: Path) -> None:
    (here / "rule").mkdir()
    (here / "rule" / "a.py").write_text("bad()\n")
    assert "rule/a.py:1:1" in mplint("./rule", "--output-format", "concise").stdout


def test_config_says_where_settings_come_from(mplint: Run, here: Path) -> None:
    file = here / "mplint.toml"
    file.write_text('keras = "2"\nper-file-ignores = {"tests/" = ["MP1"]}\n')
    lines = mplint("config", "--config", 'fail-on = "error"').stdout.splitlines()
    assert lines[0] == f"# root: {here}"
    assert f'keras = "2"  # {file}' in lines
    assert 'fail-on = "error"  # --config' in lines
    assert 'output-fix = "auto"  # default' in lines
    held = json.loads(mplint("config", "--output-format", "json").stdout)
    assert held["settings"]["per-file-ignores"] == {"value": {"tests/": ["MP1"]}, "source": str(file)}
    assert 'keras = "auto"  # default' in mplint("config", "--isolated").stdout


def test_config_of_another_file(mplint: Run, here: Path) -> None:
    (here / "sub").mkdir()
    (here / "sub" / "mplint.toml").write_text('keras = "3"\n')
    (here / "sub" / "a.py").write_text("")
    assert 'keras = "3"' in mplint("config", "sub/a.py").stdout
    assert mplint("config", "absent.py").exit_code == 2
