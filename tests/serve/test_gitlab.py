"""GitLab's webhooks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from aiohttp import web

from mplint.serve.configuration import APIS
from tests.review.fake_gitlab import FakeGitLab
from tests.review.repositories import Repository
from tests.serve.hosting import basic, git_routes, hosted
from tests.serve.inside import Reviewer, running
from tests.serve.served import SECRET, Served, until


@pytest.fixture
def reviewer() -> Reviewer:
    return Reviewer()


@pytest.fixture
def client(reviewer: Reviewer, tmp_path: Path) -> Iterator[httpx.Client]:
    with running(tmp_path, reviewer, forge="gitlab", api=APIS["gitlab"]) as (client, _):
        yield client


def event(action: str = "open", **about: Any) -> bytes:
    attributes = {"iid": 7, "action": action, **about}
    project = {"path_with_namespace": "group/sub/name"}
    return json.dumps({"object_kind": "merge_request", "object_attributes": attributes, "project": project}).encode()


def call(client: httpx.Client, body: bytes, **headers: str) -> httpx.Response:
    usual = {
        "content-type": "application/json",
        "x-gitlab-event": "Merge Request Hook",
        "x-gitlab-token": SECRET,
        "x-gitlab-event-uuid": f"{hash(body)}",
    }
    return client.post("/webhook", content=body, headers={**usual, **headers})


def test_what_makes_work(client: httpx.Client, reviewer: Reviewer) -> None:
    assert call(client, event()).json() == {"outcome": "queued"}
    until(lambda: reviewer.seen, "it is reviewed")
    [one] = reviewer.seen
    assert (one.forge, one.repository, one.number) == ("gitlab", "group/sub/name", 7)
    assert one.address == "https://gitlab.com/group/sub/name.git"
    assert call(client, event()).json() == {"outcome": "duplicate"}
    assert call(client, event(), **{"idempotency-key": "another"}).json() == {"outcome": "queued"}
    assert call(client, event("update", oldrev="a")).json() == {"outcome": "queued"}


def test_what_does_not(client: httpx.Client, reviewer: Reviewer) -> None:
    assert call(client, event("update")).json() == {"outcome": "ignored"}
    assert call(client, event("merge")).json() == {"outcome": "ignored"}
    assert call(client, event(), **{"x-gitlab-token": "another"}).status_code == 401
    assert call(client, event(), **{"x-gitlab-token": ""}).status_code == 401
    assert call(client, event(iid="7")).status_code == 422
    assert not reviewer.seen


class HostedGitLab(FakeGitLab):
    """The strict fake of GitLab, with its repository over git's own protocol."""

    def more_routes(self) -> list[web.RouteDef]:
        return git_routes("/group/sub/name.git", self.repository)

    def admits(self, request: web.Request) -> bool:
        if "/group/sub/name.git/" in request.path:
            return basic(request) == ("oauth2", "s3cret")
        return super().admits(request)


def test_a_merge_request(repository: Repository, tmp_path: Path) -> None:
    gitlab = HostedGitLab(repository)
    with hosted(gitlab.serving) as url:
        server = Served(tmp_path / "serve.sqlite", url, "--forge", "gitlab", GITLAB_TOKEN="s3cret")
        try:
            with httpx.Client(base_url=server.url) as client:
                assert call(client, event()).status_code == 202
                until(lambda: server.events("review"), "it is reviewed")
                assert server.events("review")[0]["said"] == 2
                repository.commit(first="x = 1\n")
                call(client, event("update", oldrev="x"))
                until(lambda: len(server.events("review")) == 2, "it is reviewed again")
        finally:
            server.close()
    assert "s3cret" not in "".join(server.lines)
    assert [note["resolved"] for note in gitlab.on_lines] == [True, True]
