"""`mplint review` as a command."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mplint.cli.main import main
from tests.review.fake_github import FakeGitHub
from tests.review.repositories import Repository

ROOT = Path(__file__).resolve().parents[2]

Run = Callable[..., Result]


@pytest.fixture
def mplint(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command at the top of a repository with a change."""
    repository.commit(a="x = 1\n", models="latent()\n")
    repository.branch()
    repository.commit(a="bad()\n")
    monkeypatch.chdir(repository.top)
    for name in list(os.environ):
        if name.startswith(("GITHUB_", "GITLAB_", "CI_")):
            monkeypatch.delenv(name)

    def run(*arguments: str, **environment: str) -> Result:
        return CliRunner().invoke(main, ["review", *arguments], env=environment, prog_name="mplint")

    return run


@pytest.mark.usefixtures("toy")
def test_without_a_forge_it_is_printed(mplint: Run, repository: Repository) -> None:
    result = mplint("--base", "main", "--docs", "https://example.org/rules/", "--sarif", "found.sarif")
    assert result.exit_code == 0
    content = json.loads(result.stdout)
    assert [(each["path"], each["line"]) for each in content["comments"]] == [("a.py", 1)]
    assert "[MP101](https://example.org/rules/MP101.md)" in content["comments"][0]["body"]
    [found] = json.loads((repository.top / "found.sarif").read_text())["runs"][0]["results"]
    assert found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a.py"


@pytest.mark.usefixtures("toy")
def test_only_where_it_is_asked_for_it_fails(mplint: Run) -> None:
    assert mplint("--base", "main", "--fail-on", "error").exit_code == 1
    assert mplint("--base", "main").exit_code == 0


@pytest.mark.usefixtures("toy")
def test_the_change_counts_from_where_it_began(mplint: Run, repository: Repository) -> None:
    repository.git("checkout", "-q", "main")
    repository.commit(other="bad()\n")
    result = mplint("--base", "main", "--head", "work")
    assert [each["path"] for each in json.loads(result.stdout)["comments"]] == ["a.py"]


@pytest.mark.usefixtures("toy")
def test_places_are_as_seen_from_here(mplint: Run, repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    repository.commit({"sub/b.py": "bad()\n"})
    monkeypatch.chdir(repository.top / "sub")
    result = mplint(".", "--base", "main")
    assert [each["path"] for each in json.loads(result.stdout)["comments"]] == ["sub/b.py"]
    result = mplint("../..", "--base", "main")
    assert result.exit_code == 2
    assert "lies outside of the repository" in result.stderr


def test_wrong_calls(mplint: Run) -> None:
    for arguments, said in [
        ([], "--base says what the change is made to"),
        (["--base", "absent"], "git knows no revision `absent`"),
        (["--forge", "github", "--base", "main"], "leave them out with --forge"),
        (["--forge", "github"], "--repository OWNER/NAME says which repository"),
        (["--forge", "github", "--repository", "a/b"], "--number N says which pull or merge request"),
        (["--forge", "github", "--repository", "a/b", "--number", "1"], "set GITHUB_TOKEN"),
        (["--forge", "gitlab", "--repository", "a/b", "--number", "1"], "set GITLAB_TOKEN"),
        (["--forge", "gitea"], "cannot be 'gitea'"),
    ]:
        result = mplint(*arguments)
        assert result.exit_code == 2
        assert said in result.stderr


def command(
    *arguments: str, cwd: Path, environment: dict[str, str] | None = None, hidden: tuple[str, ...] = ()
) -> tuple[int, str, str]:
    """The real command, with some modules hidden."""
    hide = f"sys.modules.update(dict.fromkeys({hidden!r}))"
    start = f"sys.argv = ['mplint', *{list(arguments)!r}]; runpy.run_module('mplint', run_name='__main__')"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "GITLAB_", "CI_"))}
    done = subprocess.run(
        [sys.executable, "-c", f"import runpy, sys; {hide}; {start}"],
        cwd=cwd,
        env={**kept, "PYTHONPATH": str(ROOT), **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_without_the_extra_it_prints_and_says_what_to_install(mplint: Run, repository: Repository) -> None:
    extra = ("gidgethub", "httpx", "aiohttp")
    status, shown, _ = command("review", "--base", "main", cwd=repository.top, hidden=extra)
    assert (status, json.loads(shown)["comments"]) == (0, [])
    asked = ("review", "--forge", "github", "--repository", "a/b", "--number", "1")
    status, _, told = command(*asked, cwd=repository.top, hidden=extra, environment={"GITHUB_TOKEN": "x"})
    assert status == 2
    assert 'pip install "mplint[bot]"' in told


PROGRAM = """\
from tensorflow import keras

keras.mixed_precision.set_global_policy("mixed_float16")
inputs = keras.Input((8,))
outputs = keras.layers.Dense(10, activation="softmax", name="digit")(inputs)
model = keras.Model(inputs, outputs)
"""


def test_in_the_ci_of_github(mplint: Run, repository: Repository, tmp_path: Path) -> None:
    """The event says which pull request, the environment where and with which token."""
    repository.commit(a=PROGRAM)
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 7}}))
    page = tmp_path / "page.md"
    github = FakeGitHub(repository)

    async def run(*more: str) -> tuple[int, str, str]:
        async with github.serving() as url:
            ci = {
                "GITHUB_REPOSITORY": "owner/name",
                "GITHUB_EVENT_PATH": str(event),
                "GITHUB_API_URL": url,
                "GITHUB_TOKEN": "s3cret",
                "GITHUB_STEP_SUMMARY": str(page),
            }
            return await asyncio.to_thread(
                lambda: command("review", "--forge", "github", *more, cwd=repository.top, environment=ci)
            )

    status, shown, told = asyncio.run(run("--dry-run"))
    assert (status, told) == (0, "")
    assert len(json.loads(shown)["comments"]) == 1
    assert not github.comments
    assert asyncio.run(run()) == (0, "Found 1 in this change: 1 error. 1 said, 0 resolved.\n", "")
    assert asyncio.run(run()) == (0, "Found 1 in this change: 1 error. 0 said, 0 resolved.\n", "")
    head = github.apply(github.comments[0])
    assert 'layers.Activation("softmax", dtype="float32", name="digit")' in repository.file(head, "a.py").decode()
    assert asyncio.run(run()) == (0, "Nothing found in this change. 0 said, 1 resolved.\n", "")

    github.may_write = False
    repository.commit(b=PROGRAM)
    status, shown, told = asyncio.run(run("--sarif", str(tmp_path / "found.sarif")))
    assert status == 0
    assert shown.startswith("::error title=mplint MP101 (low-precision-softmax-output),file=b.py,line=5")
    assert "Resource not accessible by integration" in told
    assert "### mplint" in page.read_text()
    assert json.loads((tmp_path / "found.sarif").read_text())["runs"][0]["results"]
