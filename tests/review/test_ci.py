"""The action and the templates for CI: as their schemas want them, and run."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.house.repository import ROOT, files
from tests.review.fake_github import FakeGitHub
from tests.review.repositories import Repository

ACTION = ROOT / "action.yml"

PROGRAM = """\
from tensorflow import keras

keras.mixed_precision.set_global_policy("mixed_float16")
inputs = keras.Input((8,))
outputs = keras.layers.Dense(10, activation="softmax", name="digit")(inputs)
model = keras.Model(inputs, outputs)
"""


def is_valid(schema: str, file: Path) -> bool:
    """Whether a file is as a schema that check-jsonschema brings with it wants it."""
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", str(file)],
        capture_output=True,
        check=False,
    )
    return done.returncode == 0


@pytest.mark.parametrize(
    ("schema", "file"),
    [
        ("github-actions", "action.yml"),
        ("github-workflows", "mplint/templates/github.yml"),
        ("github-workflows", "mplint/templates/github-forks.yml"),
        ("gitlab-ci", "mplint/templates/gitlab.yml"),
    ],
)
def test_files_for_ci_are_as_their_schemas_want_them(schema: str, file: str) -> None:
    assert is_valid(schema, ROOT / file)


def test_the_schema_of_actions_is_strict(tmp_path: Path) -> None:
    broken = tmp_path / "action.yml"
    broken.write_text(ACTION.read_text().replace("using: composite", "using: nonsense"))
    assert not is_valid("github-actions", broken)


def steps() -> dict[str, dict[str, Any]]:
    return {step["name"]: step for step in yaml.safe_load(ACTION.read_text())["runs"]["steps"]}


def test_no_text_of_others_gets_into_a_script() -> None:
    """What a pull request says comes in through the environment, never by pasting it into a script."""
    assert not [name for name, step in steps().items() if "${{" in step["run"]]
    forks = yaml.safe_load((ROOT / "mplint" / "templates" / "github-forks.yml").read_text())
    [job] = forks["jobs"].values()
    assert [step["uses"].split("@")[0] for step in job["steps"]] == ["actions/checkout", "OWNER/mplint"]
    assert "ref" not in job["steps"][0]["with"]


def run_step(name: str, cwd: Path, **environment: str | Path) -> subprocess.CompletedProcess[str]:
    """One step of the action, as a runner runs it."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("GITHUB_", "GIT_"))}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", steps()[name]["run"]],
        cwd=cwd,
        env={**kept, **{key: str(value) for key, value in environment.items()}},
        capture_output=True,
        text=True,
        check=False,
    )


def checked_out(repository: Repository, tmp_path: Path) -> Path:
    """A checkout of the target branch of a pull request from a fork, as the workflow for forks has it."""
    repository.commit(a="x = 1\n")
    repository.branch()
    repository.commit({"click.py": "raise SystemExit('run')\n"}, a=PROGRAM)
    repository.git("update-ref", "refs/pull/7/head", "work")
    repository.git("checkout", "-q", "main")
    checkout = tmp_path / "checkout"
    subprocess.run(["git", "clone", "-q", "--single-branch", str(repository.top), str(checkout)], check=True)
    return checkout


def test_the_action_reviews(repository: Repository, tmp_path: Path) -> None:
    """With this interpreter's mplint in place of an installed one."""
    checkout = checked_out(repository, tmp_path)
    program = tmp_path / "mplint-review" / "bin" / "mplint"
    program.parent.mkdir(parents=True)
    start = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from mplint.cli.main import run; run()"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{start}" "$@"\n')
    program.chmod(0o755)
    fetched = run_step("Fetch the pull request", checkout, NUMBER="7")
    assert fetched.returncode == 0, fetched.stderr
    assert not (checkout / "click.py").exists()
    github = FakeGitHub(repository)
    event = tmp_path / "event.json"
    event.write_text('{"pull_request": {"number": 7}}')

    async def review() -> subprocess.CompletedProcess[str]:
        async with github.serving() as url:
            environment: dict[str, str | Path] = {
                "RUNNER_TEMP": tmp_path,
                "GITHUB_TOKEN": "s3cret",
                "GITHUB_REPOSITORY": "owner/name",
                "GITHUB_API_URL": url,
                "GITHUB_EVENT_PATH": event,
                "GITHUB_SERVER_URL": "https://github.com",
                "GITHUB_ACTION_REPOSITORY": "OWNER/mplint",
                "GITHUB_ACTION_REF": "v1",
                "MAX_COMMENTS": "25",
                "FAIL_ON": "error",
                "SARIF_FILE": "found.sarif",
                "PATHS": "a.py\n",
                "ARGUMENTS": "--keras\n3",
                "PYTHONSAFEPATH": "1",
            }
            return await asyncio.to_thread(lambda: run_step("Review", checkout, **environment))

    done = asyncio.run(review())
    assert (done.returncode, done.stderr) == (1, ""), done.stderr
    assert done.stdout == "Found 1 in this change: 1 error. 1 said, 0 resolved.\n"
    [comment] = github.comments
    assert "(https://github.com/OWNER/mplint/blob/v1/docs/rules/MP101.md)" in comment.body
    assert (checkout / "found.sarif").exists()


@pytest.mark.network
@pytest.mark.slow
def test_the_action_installs(tmp_path: Path) -> None:
    action = tmp_path / "action"
    for file in files():
        target = action / file.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, target, follow_symlinks=False)
    done = run_step("Install mplint", tmp_path, GITHUB_ACTION_PATH=action)
    assert done.returncode == 0, done.stderr
    program = tmp_path / "mplint-review" / "bin" / "mplint"
    told = subprocess.run([program, "review", "--help"], capture_output=True, text=True, check=True).stdout
    assert "--forge" in told
