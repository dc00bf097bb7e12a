"""Reviews on GitHubs that others have written.

myworld keeps state, and checks paths; prism holds each request against GitHub's own description of its API.
"""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
import threading
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from mplint.findings import Severity
from mplint.review.checking import Asked
from mplint.review.comments import Comment
from mplint.review.forge import ForgeError, Note, PullRequest, Thread
from mplint.review.forges.github import GitHub
from mplint.review.reviewing import Taste
from mplint.review.session import Told, review_pull_request
from mplint.review.suggestions import Suggestion
from mplint.review.summary import Status
from tests.review.clock import FakeClock
from tests.review.repositories import Repository

pytestmark = [pytest.mark.network, pytest.mark.slow]

BEFORE: dict[str, str] = {"a.py": "x = 1\n", "models.py": "latent()\n", "train.py": "calm\n"}
AFTER: dict[str, str] = {"a.py": "bad()\nx = 1\n", "train.py": "alarm\n"}


class Myworld(GitHub):
    """A pull request there; its commits are not those of git, and it cannot compare them."""

    local: PullRequest

    async def pull_request(self) -> PullRequest:
        return self.local


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """myworld, installed in an environment of its own."""
    folder = tmp_path_factory.mktemp("myworld")
    venv.create(folder, with_pip=True)
    done = subprocess.run(
        [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "myworld==0.2.1"],
        capture_output=True,
        check=False,
    )
    if done.returncode:
        pytest.skip("myworld cannot be installed here")
    return folder / "bin" / "myworld"


@pytest.fixture
def served(program: Path, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """The address of its GitHub, which holds one pull request, and a token for it."""
    seed = {
        "viewer": "bot",
        "users": [{"login": "bot"}, {"login": "person"}],
        "repos": [
            {
                "name": "owner/name",
                "files": BEFORE,
                "branches": {"work": {"files": AFTER, "author": "person", "message": "x"}},
                "pulls": [{"title": "x", "head": "work", "base": "main", "author": "person", "body": "x"}],
            }
        ],
    }
    environment = tmp_path / "env.yaml"
    environment.write_text(yaml.safe_dump({"name": "review", "task": "x", "servers": {"github": {"seed": seed}}}))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(word) for word in (program, "serve", "--env", environment, "--port", port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if "Application startup complete" in line:
                    break
            client = httpx.Client(transport=httpx.HTTPTransport(retries=5))
            [run] = client.get(f"http://127.0.0.1:{port}/envs").json()["envs"]
            yield f"http://127.0.0.1:{port}/gw/api.github.com", run["credentials"]["agent"]["github_token"]
        finally:
            process.terminate()


@pytest.mark.usefixtures("toy")
def test_comments_are_stored_once(served: tuple[str, str], repository: Repository) -> None:
    base = repository.commit(dict(BEFORE))
    head = repository.commit(dict(AFTER))
    api, token = served

    def review() -> Told:
        async def told() -> Told:
            async with Myworld.connected(FakeClock(), token, "owner/name", 1, api) as forge:
                assert isinstance(forge, Myworld)
                forge.local = PullRequest(base, head, base, is_open=True)
                return await review_pull_request(forge, repository.top, Asked(), Taste())

        return asyncio.run(told())

    def stored(what: str) -> Any:
        return httpx.get(f"{api}/repos/owner/name/{what}", headers={"authorization": f"token {token}"}).json()

    assert review().said == 2
    comments = stored("pulls/1/comments")
    assert [(each["path"], each["line"]) for each in comments] == [("train.py", 1), ("a.py", 1)]
    assert "```suggestion\ngood()\n```" in comments[1]["body"]
    assert [each["state"] for each in stored("pulls/1/reviews")] == ["COMMENTED"]
    [summary] = stored("issues/1/comments")
    assert "Found 2 in this change: 2 errors." in summary["body"]
    assert review().said == 0
    assert len(stored("pulls/1/comments")) == 2
    assert len(stored("issues/1/comments")) == 1


@pytest.fixture(scope="module")
def contract(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of prism with GitHub's own description of its API, which answers with its examples."""
    folder = tmp_path_factory.mktemp("prism")
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not here")
    install = [npm, "install", "--silent", "--no-audit", "--no-fund", "@stoplight/prism-cli@5.16.0"]
    done = subprocess.run([*install, "@octokit/openapi@23.0.2"], cwd=folder, capture_output=True, check=False)
    if done.returncode:
        pytest.skip("prism cannot be installed here")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    description = folder / "node_modules" / "@octokit" / "openapi" / "generated" / "api.github.com.json"
    command = [str(folder / "node_modules" / ".bin" / "prism"), "mock", "--port", str(port), str(description)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if "Prism is listening" in line:
                    break
            reader = threading.Thread(target=process.stdout.read, daemon=True)  # it stops where nobody reads
            reader.start()
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def test_requests_are_as_github_describes_them(contract: str) -> None:
    async def as_described(request: httpx.Request) -> None:
        request.headers["accept"] = "application/json"  # the description knows no other, GitHub does

    def comment(first: int, last: int) -> Comment:
        suggestion = Suggestion(first, last, "x\n", ("ab" * 16,))
        return Comment("MP101", "ab" * 16, Severity.ERROR, "a.py", None, first, last, None, "x", "x", suggestion)

    async def asked() -> None:
        async with httpx.AsyncClient(event_hooks={"request": [as_described]}) as client:
            forge = GitHub(client, FakeClock(), "t", "octocat/hello", 7, contract)
            pull = await forge.pull_request()
            assert pull.is_open
            assert await forge.post(pull, [comment(1, 2), comment(3, 3)]) == ()
            await forge.edit(Thread("1", "T", "ab", "x", False, 1, 1), "x")
            await forge.summarize(None, "x")
            await forge.summarize(Note("1", "x"), "x")
            await forge.mark(pull, Status("success", "x"))
            with pytest.raises(ForgeError, match="refuses it"):
                await forge.mark(pull, Status("nonsense", "x"))  # type: ignore[arg-type]

    asyncio.run(asked())
