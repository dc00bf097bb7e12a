"""GitLab's webhooks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from mplint.serve.configuration import APIS
from tests.serve.inside import Reviewer, running
from tests.serve.served import SECRET, until


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
