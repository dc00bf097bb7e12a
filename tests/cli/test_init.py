"""`mplint init`: what it writes, and what it leaves alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from mplint import starting
from mplint.errors import MplintError
from mplint.settings import Settings
from tests.cli.conftest import Run


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_it_shows_first_and_writes_on_demand(mplint: Run, here: Path) -> None:
    (here / ".github").mkdir()
    shown = mplint("init", a="bad()\n")
    assert shown.exit_code == 0
    assert files(here) == {"a.py"}
    assert "new: .github/workflows/mplint.yml, reviews of changes\n  | # .github/workflows/mplint.yml\n" in shown.stdout
    assert shown.stdout.endswith("Nothing is written: `mplint init --yes` does it.\n")

    done = mplint("init", "--yes", "--source", "us/mplint@v1.2")
    assert done.exit_code == 0
    new = {"mplint.toml", "mplint-baseline.json", ".pre-commit-config.yaml", ".github/workflows/mplint.yml"}
    assert files(here) == {"a.py", *new}
    assert "OWNER" not in done.stdout
    assert Settings.load(here).baseline == Path("mplint-baseline.json")
    assert len(json.loads((here / "mplint-baseline.json").read_text())["findings"]) == 1
    assert mplint().exit_code == 0
    [hooks] = yaml.safe_load((here / ".pre-commit-config.yaml").read_text())["repos"]
    assert (hooks["repo"], hooks["rev"]) == ("https://github.com/us/mplint", "v1.2")
    assert "uses: us/mplint@v1.2" in (here / ".github/workflows/mplint.yml").read_text()

    again = mplint("init", "--yes")
    assert again.stdout.endswith("There is nothing to write.\n")


def test_nothing_is_overwritten(mplint: Run, here: Path) -> None:
    kept = {
        "pyproject.toml": "[tool.mplint]\nkeras = '3'\n\n[tool.ruff]\n",
        ".pre-commit-config.yaml": "repos: []\n",
        ".gitlab-ci.yml": "a: b\n",
        "mplint-baseline.json": "{}\n",
    }
    for name, text in kept.items():
        (here / name).write_text(text)
    done = mplint("init", "--yes", a="bad()\n")
    assert {name: (here / name).read_text() for name in kept} == kept
    assert files(here) == {"a.py", *kept}
    assert 'pyproject.toml is there, and stays as it is; the configuration would be:\n  | baseline = "' in done.stdout
    assert ".gitlab-ci.yml is there, and stays as it is; reviews of changes would be:" in done.stdout


def test_a_clean_project_needs_no_baseline(mplint: Run, here: Path) -> None:
    (here / "pyproject.toml").write_text("[tool.ruff]\n")
    done = mplint("init", "--yes", "--forge", "gitlab", a="good()\n")
    assert files(here) == {"a.py", "pyproject.toml", "mplint.toml", ".pre-commit-config.yaml", ".gitlab-ci.yml"}
    assert "baseline" not in (here / "mplint.toml").read_text()
    assert "Put where you keep mplint in place of OWNER and COMMIT." in done.stdout
    assert 'external = ["MP"]' in done.stdout


def test_wrong_calls(mplint: Run) -> None:
    assert "--source is OWNER/NAME@COMMIT" in mplint("init", "--source", "x").stderr
    assert mplint("init", "absent").exit_code == 2


def test_a_file_that_came_meanwhile_is_left_alone(tmp_path: Path) -> None:
    step = next(starting.steps(tmp_path, "none", None, None))
    step.path.write_text("mine\n")
    with pytest.raises(MplintError, match="is there already"):
        step.make()
    assert step.path.read_text() == "mine\n"


@pytest.mark.parametrize("forge", ["github", "github-forks", "gitlab"])
def test_the_templates_are_as_their_schemas_want_them(tmp_path: Path, forge: starting.Forge) -> None:
    [made] = [step for step in starting.steps(tmp_path, forge, "us/mplint@0123abc", None) if "reviews" in step.purpose]
    made.make()
    schema = "vendor.gitlab-ci" if forge == "gitlab" else "vendor.github-workflows"
    subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, made.path],
        check=True,
        capture_output=True,
    )
