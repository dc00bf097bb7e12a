"""What the server lets in, over real HTTP."""

from __future__ import annotations

import asyncio
import errno
import json
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from mplint.serve import worker
from mplint.serve.assignment import Assignment, Outcome
from mplint.serve.configuration import Configuration, Limits, Patience
from mplint.serve.database import Database
from mplint.serve.logs import Secrets
from mplint.serve.queue import Pull
from mplint.serve.server import Server
from tests.review.fake_github import Fault
from tests.serve.hosted_github import HostedGitHub
from tests.serve.inside import Reviewer, call, running
from tests.serve.served import SECRET, TOKEN, signed, until
from tests.serve.test_queue import Life

OPENED: dict[str, Any] = {
    "action": "opened",
    "pull_request": {"number": 7},
    "repository": {"full_name": "owner/name"},
}
BODY = json.dumps(OPENED).encode()


@pytest.fixture
def reviewer() -> Reviewer:
    return Reviewer()


@pytest.fixture
def client(reviewer: Reviewer, tmp_path: Path) -> Iterator[httpx.Client]:
    with running(tmp_path, reviewer, largest=10_000) as (client, _):
        yield client


def test_a_right_one_is_taken(client: httpx.Client, reviewer: Reviewer) -> None:
    answer = call(client, BODY)
    assert (answer.status_code, answer.json()) == (202, {"outcome": "queued"})
    until(lambda: reviewer.seen, "it is reviewed")
    [one] = reviewer.seen
    assert (one.repository, one.number) == ("owner/name", 7)
    assert one.address == "https://github.com/owner/name.git", "whatever address the delivery names"


@pytest.mark.parametrize("action", ["opened", "synchronize", "reopened", "ready_for_review"])
def test_what_makes_work(client: httpx.Client, action: str) -> None:
    assert call(client, json.dumps({**OPENED, "action": action}).encode()).status_code == 202


def test_another_base_makes_work(client: httpx.Client) -> None:
    moved = {**OPENED, "action": "edited", "changes": {"base": {"ref": {"from": "main"}}}}
    assert call(client, json.dumps(moved).encode()).status_code == 202


@pytest.mark.parametrize(
    ("event", "content"),
    [
        ("ping", {"zen": "Keep it logically awesome.", "hook_id": 1}),
        ("pull_request", {**OPENED, "action": "closed"}),
        ("pull_request", {**OPENED, "action": "labeled"}),
        ("pull_request", {**OPENED, "action": "edited", "changes": {"title": {"from": "a"}}}),
        ("pull_request", {**OPENED, "action": None}),
        ("push", {"ref": "refs/heads/main"}),
        ("issue_comment", OPENED),
        ("something_new", {}),
    ],
)
def test_all_else_is_answered_and_makes_none(
    client: httpx.Client, reviewer: Reviewer, event: str, content: object
) -> None:
    answer = call(client, json.dumps(content).encode(), event, "one")
    assert (answer.status_code, answer.json()) == (200, {"outcome": "ignored"})
    assert call(client, json.dumps(content).encode(), event, "one").json() == {"outcome": "duplicate"}
    assert not reviewer.seen


@pytest.mark.parametrize(
    "signature",
    [
        None,
        "",
        "sha256=",
        "sha256=" + "0" * 64,
        signed(BODY)["x-hub-signature-256"].upper(),
        signed(BODY)["x-hub-signature-256"].removeprefix("sha256="),
        signed(BODY + b" ")["x-hub-signature-256"],
        signed(BODY, secret="another")["x-hub-signature-256"],
        "sha256=ÿ",
    ],
)
def test_bad_signatures(client: httpx.Client, reviewer: Reviewer, signature: str | None) -> None:
    headers = [(name.encode(), value.encode()) for name, value in signed(BODY).items() if "signature" not in name]
    if signature is not None:
        headers.append((b"X-Hub-Signature-256", signature.encode("latin-1")))
    answer = client.post("/webhook", content=BODY, headers=headers)
    assert answer.status_code == 401
    assert "is the secret the same on both sides?" in answer.json()["reason"]
    assert not reviewer.seen


def test_the_old_signature_does_not_do(client: httpx.Client) -> None:
    headers = {**signed(BODY), "x-hub-signature": "sha1=" + "0" * 40}
    del headers["x-hub-signature-256"]
    assert client.post("/webhook", content=BODY, headers=headers).status_code == 401


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{" + b" " * 10_000 + b"}", {}, 413),
        (BODY, {"content-type": "application/x-www-form-urlencoded"}, 415),
        (BODY, {"content-type": ""}, 415),
        (BODY, {"x-github-delivery": ""}, 400),
        (BODY, {"x-github-delivery": "x" * 200}, 400),
        (BODY, {"x-github-event": ""}, 400),
        (b"", {}, 400),
        (b"{", {}, 400),
        (b"\xff\xfe", {}, 400),
        (b"[" * 9_000, {}, 400),
        (b"[]", {}, 422),
        (b"7", {}, 422),
        (b'{"action": "opened"}', {}, 422),
    ],
)
def test_what_cannot_be_read(client: httpx.Client, body: bytes, headers: dict[str, str], status: int) -> None:
    assert client.post("/webhook", content=body, headers={**signed(body), **headers}).status_code == status


@pytest.mark.parametrize(
    "change",
    [{"pull_request": {"number": number}} for number in (0, -1, "7", 7.5, True, None, 2**64, [7])]
    + [
        {"repository": {"full_name": name}}
        for name in ("", "name", "a/b/c", "../..", "a/..", "a/b c", "a/b\n", "-/\x00", 7, None, "a/" + "b" * 101)
    ]
    + [{"repository": "owner/name"}, {"pull_request": []}],
)
def test_names_that_are_none(client: httpx.Client, change: dict[str, object]) -> None:
    assert call(client, json.dumps({**OPENED, **change}).encode()).status_code == 422


def test_a_body_without_end_is_not_read_to_its_end(client: httpx.Client) -> None:
    at = client.base_url.host, client.base_url.port or 0
    with socket.create_connection(at) as connection:
        head = "POST /webhook HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        connection.sendall(f"{head}Content-Length: 99999999999\r\n\r\n".encode())
        assert b" 413 " in connection.recv(4096), "before anything of it has come"
    with socket.create_connection(at) as connection:
        connection.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        connection.sendall(b"2000\r\n" + b" " * 0x2000 + b"\r\n2000\r\n" + b" " * 0x2000 + b"\r\n")
        assert b" 413 " in connection.recv(4096)
    assert call(client, BODY).status_code == 202


def test_other_places(client: httpx.Client) -> None:
    assert client.get("/webhook").status_code == 405
    assert client.get("/").status_code == 404
    assert client.get("/healthz").json() == {"status": "alive"}
    assert client.get("/readyz").json() == {"status": "ready"}


def test_duplicates_make_one_review(client: httpx.Client, reviewer: Reviewer) -> None:
    reviewer.let.clear()
    answers = [call(client, BODY, delivery="one") for _ in range(5)]
    assert [each.status_code for each in answers] == [202, 200, 200, 200, 200]
    reviewer.let.set()
    until(lambda: 'mplint_reviews_total{outcome="reviewed"} 1.0' in client.get("/metrics").text, "it is reviewed")
    assert len(reviewer.seen) == 1


def test_pushes_join_the_review_that_waits(tmp_path: Path) -> None:
    reviewer = Reviewer()
    reviewer.let.clear()
    with running(tmp_path, reviewer, workers=4) as (client, _):
        call(client, BODY)
        until(lambda: reviewer.running, "the first review runs")
        for _ in range(10):
            assert call(client, BODY).status_code == 202
        reviewer.let.set()
        until(lambda: len(reviewer.seen) == 2, "there is a second one")
        until(lambda: 'mplint_queue_jobs{state="waiting"} 0.0' in client.get("/metrics").text, "none waits")
    assert len(reviewer.seen) == 2
    assert reviewer.seen[1].reviewed == ("b", "h")


def test_a_database_that_fails_is_told(tmp_path: Path) -> None:
    with running(tmp_path, Reviewer()) as (client, server):
        connection = sqlite3.connect(tmp_path / "serve.sqlite")
        connection.execute("DROP TABLE deliveries")
        connection.commit()
        connection.close()
        assert client.get("/readyz").status_code == 503
        assert client.get("/healthz").status_code == 200
        answer = call(client, BODY)
        assert (answer.status_code, answer.json()["outcome"]) == (503, "not kept")
        assert server.metrics


@pytest.mark.parametrize(("kind", "tries"), [("failed", 3), ("exhausted", 2), ("refused", 1)])
def test_how_often_it_is_tried(tmp_path: Path, kind: Any, tries: int) -> None:
    reviewer = Reviewer(lambda assignment: Outcome(kind, f"no, {SECRET}"))
    with running(tmp_path, reviewer) as (client, _):
        call(client, BODY)
        until(lambda: 'mplint_queue_jobs{state="failed"} 1.0' in client.get("/metrics").text, "it is given up")
        assert len(reviewer.seen) == tries
        assert "mplint_reviews_given_up_total 1.0" in client.get("/metrics").text
    with sqlite3.connect(tmp_path / "serve.sqlite") as connection:
        assert connection.execute("SELECT attempts, reason FROM jobs").fetchall() == [(tries, "no, ***")]


def test_a_push_takes_up_what_was_given_up(tmp_path: Path) -> None:
    outcomes = [Outcome("refused", "no"), Outcome("reviewed", base="b", head="h")]
    reviewer = Reviewer(lambda assignment: outcomes.pop(0))
    with running(tmp_path, reviewer) as (client, _):
        call(client, BODY)
        until(lambda: 'mplint_queue_jobs{state="failed"} 1.0' in client.get("/metrics").text, "it is given up")
        call(client, BODY)
        until(lambda: 'mplint_queue_jobs{state="failed"} 0.0' in client.get("/metrics").text, "it is reviewed")


def test_a_review_that_breaks_does_not_break_the_server(tmp_path: Path) -> None:
    async def broken(assignment: Assignment) -> Outcome:
        raise RuntimeError(assignment.repository)

    with running(tmp_path, broken) as (client, _):
        call(client, BODY)
        until(lambda: 'mplint_queue_jobs{state="failed"} 1.0' in client.get("/metrics").text, "it is given up")
        assert client.get("/readyz").status_code == 200


def test_what_this_system_lacks_is_no_fault_of_the_review(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_PAUSE", 0.01)
    tries: list[int] = []

    async def short_of_files(assignment: Assignment) -> Outcome:
        tries.append(assignment.number)
        if len(tries) < 5:
            raise OSError(errno.EMFILE, "Too many open files")
        return Outcome("reviewed", base="b", head="h")

    with running(tmp_path, short_of_files) as (client, _):
        call(client, BODY)
        until(lambda: 'mplint_reviews_total{outcome="reviewed"} 1.0' in client.get("/metrics").text, "it is reviewed")
        assert 'mplint_reviews_total{outcome="failed"}' not in client.get("/metrics").text
    assert len(tries) == 5


def test_a_late_push_is_looked_for_after_a_failure_too(tmp_path: Path) -> None:
    told = {**OPENED, "pull_request": {"number": 7, "head": {"sha": "new"}}}
    old, new = (Outcome("reviewed", base="b", head=head) for head in ("old", "new"))
    outcomes = [Outcome("failed"), old, Outcome("exhausted"), new]
    with running(tmp_path, Reviewer(lambda assignment: outcomes.pop(0))) as (client, _):
        call(client, json.dumps(told).encode())
        until(lambda: not outcomes, "what the delivery told is reviewed")
        until(lambda: 'mplint_queue_jobs{state="running"} 0.0' in client.get("/metrics").text, "it is noted")
        assert 'mplint_queue_jobs{state="failed"} 0.0' in client.get("/metrics").text


def test_the_only_attempt_may_be_cut_off(tmp_path: Path) -> None:
    life = Life(tmp_path)
    life.run(life.queue.add, "one", Pull("github", "owner/name", 7))
    life.take()
    life.database.close()
    reviewer = Reviewer()
    with running(tmp_path, reviewer, patience=Patience(1, 0.0)):
        until(lambda: reviewer.seen, "it is reviewed")


def test_an_end_while_the_database_fails_is_an_end(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def lived() -> None:
        reviewer = Reviewer()
        reviewer.let.clear()
        server = Server(
            Configuration(tmp_path / "serve.sqlite", SECRET, token=TOKEN, port=0, grace=0.0, workers=1),
            Secrets(),
            reviewer,
        )
        async with server.listening():
            await server.queue.add("one", Pull("github", "owner/name", 7))
            while not reviewer.running:
                await asyncio.sleep(0)
            with closing(sqlite3.connect(tmp_path / "serve.sqlite")) as connection:
                connection.execute("DROP TABLE jobs")
        reviewer.let.set()

    asyncio.run(lived())
    Database(tmp_path / "serve.sqlite").close()
    assert "the queue fails" not in caplog.messages, "no worker goes on"


def test_a_forge_that_gives_no_token_in_time(github: HostedGitHub, tmp_path: Path, key: tuple[str, str]) -> None:
    github.public_key, private = key
    github.faults = [Fault("POST", "access_tokens", "hang")]
    reviewer, app = Reviewer(), ("12345", private)
    with running(tmp_path, reviewer, api=github.url, app=app, limits=Limits(seconds=2.0)) as (client, _):
        call(client, json.dumps({**OPENED, "installation": {"id": 42}}).encode())
        until(lambda: reviewer.seen, "it is reviewed")
        assert 'mplint_reviews_total{outcome="failed"} 1.0' in client.get("/metrics").text


def test_a_change_that_changes_meanwhile_is_reviewed_again(tmp_path: Path) -> None:
    outcomes = [Outcome("superseded"), Outcome("reviewed", base="b", head="h")]
    reviewer = Reviewer(lambda assignment: outcomes.pop(0))
    with running(tmp_path, reviewer) as (client, _):
        call(client, BODY)
        until(lambda: not outcomes, "it is reviewed again")


def test_a_burst(tmp_path: Path) -> None:
    """300 deliveries, of 100 pull requests, as fast as they go."""
    reviewer = Reviewer()
    with running(tmp_path, reviewer, workers=8) as (client, _):
        reviewer.let.clear()
        bodies = [
            json.dumps({**OPENED, "pull_request": {"number": 1 + number % 100}}).encode() for number in range(300)
        ]
        assert {call(client, body, delivery=f"d{n}").status_code for n, body in enumerate(bodies)} == {202}
        reviewer.let.set()
        until(lambda: 'mplint_queue_jobs{state="waiting"} 0.0' in client.get("/metrics").text, "none waits")
        until(lambda: 'mplint_queue_jobs{state="running"} 0.0' in client.get("/metrics").text, "none runs")
        assert {call(client, body, delivery=f"d{n}").status_code for n, body in enumerate(bodies)} == {200}
    assert {one.number for one in reviewer.seen} == set(range(1, 101))
    assert len(reviewer.seen) <= 108, "what came during a review makes one more of it, all else joins"
    assert 1 < reviewer.most <= 8


def test_a_caller_that_goes_away(client: httpx.Client) -> None:
    at = client.base_url.host, client.base_url.port or 0
    with socket.create_connection(at) as connection:
        connection.sendall(b"POST /webhook HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n")
        connection.sendall(b"Content-Length: 100\r\n\r\nhalf of it")
    with socket.create_connection(at) as connection:
        connection.sendall(b"POST /webhook HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n")
        connection.sendall(b"Content-Encoding: gzip\r\nContent-Length: 6\r\n\r\nno zip")
        assert b" 400 " in connection.recv(4096)
    with socket.create_connection(at) as connection:
        connection.sendall(b"\x16\x03\x01 no HTTP\r\n\r\n")
        assert b" 400 " in connection.recv(4096)
    assert call(client, BODY).status_code == 202
