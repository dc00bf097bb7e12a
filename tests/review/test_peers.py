"""Reviews on a GitHub that others have written: myworld keeps state, and checks paths."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from mplint.review.checking import Asked
from mplint.review.forge import PullRequest
from mplint.review.forges.github import GitHub
from mplint.review.reviewing import Taste
from mplint.review.session import Told, review_pull_request
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
