"""Whole lives of a pull request: a real server, its real processes, git's own protocol, and a strict GitHub."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.review.fake_github import Fault
from tests.review.repositories import Repository
from tests.serve.conftest import RIGHT, model
from tests.serve.hosted_github import HostedGitHub
from tests.serve.served import ROOT, SECRET, TOKEN, Served, until

Serve = Callable[..., Served]


def failed(database: Path) -> str:
    """What `--failed` lists."""
    command = [sys.executable, "-m", "mplint", "serve", "--failed", "--database", str(database)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_from_the_first_comment_to_the_last_fix(github: HostedGitHub, repository: Repository, served: Serve) -> None:
    server = served()
    first = server.reviewed(github.delivery("opened"))
    assert (first["outcome"], first["said"], first["head"]) == ("reviewed", 2, github.head)
    assert [(one.path, one.at) for one in github.comments] == [("first.py", (7, 7)), ("first.py", (10, 10))]

    repository.commit(first=model("one", ends=RIGHT) + model("two").partition("pixels")[2].partition("\n")[2])
    fixed = server.reviewed(github.delivery())
    assert (fixed["said"], fixed["resolved"]) == (0, 1)
    assert [one.is_resolved for one in github.comments] == [True, False]

    repository.commit(second=model("three"))
    more = server.reviewed(github.delivery())
    assert (more["said"], more["resolved"]) == (1, 0)
    assert [one.path for one in github.open] == ["first.py", "second.py"]
    assert len(github.notes) == 1
    assert server.measured('mplint_deliveries_total{event="pull_request",outcome="queued"}') == 3
    assert server.measured('mplint_reviews_total{outcome="reviewed"}') == 3
    assert server.measured("mplint_comments_posted_total") == 3
    assert server.measured("mplint_review_seconds_count") == 3
    assert server.measured("mplint_api_requests_total") > 15
    assert server.measured('mplint_queue_jobs{state="waiting"}') == 0


def test_what_was_reviewed_is_not_reviewed_again(github: HostedGitHub, served: Serve) -> None:
    server = served()
    opened = github.delivery("opened")
    assert server.deliver(opened, delivery="first").status_code == 202
    assert server.deliver(opened, delivery="first").json() == {"outcome": "duplicate"}
    until(lambda: server.events("review"), "it is reviewed")
    assert server.deliver(opened, delivery="first").json() == {"outcome": "duplicate"}
    late = github.delivery(pull_request={"number": 7, "head": {"sha": github.base}})
    fetched = github.asked("POST", "git-upload-pack")
    again = server.reviewed(late)
    assert (again["outcome"], again["head"]) == ("unchanged", github.head), "an older push comes late"
    until(lambda: len(server.events("review")) == 3, "it is looked once more, for the API may not know of a push yet")
    assert server.events("review")[2]["outcome"] == "unchanged"
    assert github.asked("POST", "git-upload-pack") == fetched
    assert len(github.comments) == 2


def test_one_that_is_closed_for_a_while(github: HostedGitHub, served: Serve) -> None:
    server = served()
    github.state = "closed"
    assert server.reviewed(github.delivery("opened"))["outcome"] == "closed"
    github.state = "open"
    assert server.reviewed(github.delivery("reopened"))["said"] == 2


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Fault("GET", r"pulls/7$", "hang"), 0),
        (Fault("POST", "git-upload-pack", "hang"), 0),
        (Fault("POST", "/reviews", "hang"), 0),
        (Fault("POST", "/reviews", "hang", late=True), 2),
        (Fault("POST", "/issues/7/comments", "hang"), 2),
        (Fault("POST", "/issues/7/comments", "hang", late=True), 2),
    ],
)
def test_killed_in_the_middle_of_a_review(github: HostedGitHub, served: Serve, fault: Fault, said: int) -> None:
    github.faults = [fault]
    server = served()
    assert server.deliver(github.delivery("opened")).status_code == 202
    until(lambda: not github.faults and len(github.comments) >= said, "the review is at the chosen request")
    until(lambda: not fault.late or "issues" not in fault.path or github.notes, "the request is obeyed")
    server.kill()
    assert not server.events("review")
    server.start()
    until(lambda: server.events("review"), "the review is made after all")
    assert server.events("listening")[-1]["taken_up"] == 1
    assert [one.path for one in github.comments] == ["first.py", "first.py"]
    assert len({one.body for one in github.comments}) == 2
    assert len(github.notes) == 1


def test_deliveries_are_kept_from_a_kill_before_any_review(github: HostedGitHub, served: Serve) -> None:
    github.faults = [Fault("GET", r"pulls/7$", "hang")]
    server = served("--workers", "1")
    assert server.deliver(github.delivery("opened"), delivery="one").status_code == 202
    assert server.deliver(github.delivery(), delivery="two").status_code == 202
    server.kill()
    github.faults = []
    server.start()
    until(lambda: server.events("review"), "it is reviewed")
    assert server.deliver(github.delivery(), delivery="two").json() == {"outcome": "duplicate"}
    assert len(github.comments) == 2


def test_an_api_that_does_not_know_of_the_push_yet(github: HostedGitHub, repository: Repository, served: Serve) -> None:
    server = served("--pause", "2")
    assert server.reviewed(github.delivery("opened"))["head"] == github.head
    before = github.head
    after = repository.commit(second=model("three"))
    repository.git("checkout", "-q", "--detach")
    repository.git("branch", "-f", "work", before)
    server.deliver(github.delivery(pull_request={"number": 7, "head": {"sha": after}}))
    until(lambda: len(server.events("review")) == 2, "the API still tells the old head")
    repository.git("branch", "-f", "work", after)
    until(lambda: len(server.events("review")) == 3, "it is looked once more")
    assert [one["outcome"] for one in server.events("review")] == ["reviewed", "unchanged", "reviewed"]
    assert len(github.comments) == 3


def test_what_is_pushed_during_a_review_is_reviewed_after_it(
    github: HostedGitHub, repository: Repository, served: Serve
) -> None:
    github.faults = [Fault("GET", "compare", 403, {"retry-after": "2"}, {"message": "secondary rate limit"})]
    server = served()
    server.deliver(github.delivery("opened"))
    until(lambda: not github.faults, "the review runs")
    repository.commit(second=model("three"))
    for _ in range(5):
        assert server.deliver(github.delivery()).status_code == 202
    until(lambda: len(server.events("review")) == 2, "it is reviewed once more")
    assert [one["outcome"] for one in server.events("review")] == ["superseded", "reviewed"]
    assert len(github.comments) == 3


def test_a_review_without_end(github: HostedGitHub, served: Serve, tmp_path: Path) -> None:
    github.faults = [Fault("POST", "git-upload-pack", "hang")]
    server = served("--timeout", "3", "--attempts", "1")
    server.deliver(github.delivery("opened"))
    until(lambda: server.events("given up"), "it is given up")
    assert failed(tmp_path / "serve.sqlite") == "owner/name#7: 1 attempt: it takes longer than 3 s\n"
    server.signal(signal.SIGTERM)
    assert server.wait() == 0


def test_broken_answers_and_refusals(github: HostedGitHub, served: Serve) -> None:
    secondary = {"message": "You have exceeded a secondary rate limit."}
    github.faults = [
        Fault("GET", "compare", 502),
        Fault("POST", "/reviews", "cut", late=True),
        Fault("GET", "pulls/7/comments", "half"),
        Fault("POST", "/issues/7/comments", 403, {"retry-after": "1"}, secondary),
        Fault("POST", "git-upload-pack", 500),
    ]
    server = served()
    server.deliver(github.delivery("opened"))
    until(lambda: len(server.events("review")) == 2, "it is tried twice")
    assert [one["outcome"] for one in server.events("review")] == ["failed", "reviewed"]
    assert "git fetch failed" in server.events("review")[0]["reason"]
    assert len(github.comments) == 2
    assert len(github.notes) == 1


def test_a_long_refusal_frees_the_worker(github: HostedGitHub, served: Serve, tmp_path: Path) -> None:
    github.faults = [Fault("GET", r"pulls/7$", 403, {"retry-after": "700"}, {"message": "secondary rate limit"})]
    server = served()
    review = server.reviewed(github.delivery("opened"))
    assert review["outcome"] == "failed"
    with closing(sqlite3.connect(tmp_path / "serve.sqlite")) as database:
        until(
            lambda: database.execute("SELECT not_before - since > 690 FROM jobs WHERE state = 'waiting'").fetchone(),
            "it waits as long as it was asked to",
        )


def test_what_stays_broken_is_given_up_with_its_reason(github: HostedGitHub, served: Serve, tmp_path: Path) -> None:
    tokens, github.tokens = github.tokens, {"another"}
    server = served("--attempts", "2")
    server.deliver(github.delivery("opened"))
    until(lambda: server.events("given up"), "it is given up")
    assert len(server.events("review")) == 2
    until(lambda: server.measured('mplint_queue_jobs{state="failed"}') == 1, "it is kept")
    assert failed(tmp_path / "serve.sqlite") == "owner/name#7: 2 attempts: GitHub refuses it: 401 Bad credentials\n"
    server.signal(signal.SIGTERM)
    assert server.wait() == 0
    github.tokens = tokens
    server.start("--retry-failed")
    until(lambda: len(server.events("review")) == 3, "it is tried once more")
    until(lambda: server.measured('mplint_queue_jobs{state="failed"}') == 0, "it is forgotten")
    assert len(github.comments) == 2
    assert failed(tmp_path / "serve.sqlite") == ""


@pytest.mark.parametrize(
    "configuration",
    [
        'select = ["MP999"]\n',
        f'"{"x" * 100_000}" = 1\n',
        '"\\n\\u001b[2J" = 1\n',
        f"keras = {'[' * 5000}{']' * 5000}\n",
    ],
)
def test_a_wrong_configuration_is_not_tried_again(
    github: HostedGitHub, repository: Repository, served: Serve, tmp_path: Path, configuration: str
) -> None:
    repository.commit({".mplint.toml": configuration})
    server = served()
    server.deliver(github.delivery("opened"))
    until(lambda: server.events("given up"), "it is given up")
    listed = failed(tmp_path / "serve.sqlite")
    assert listed.startswith("owner/name#7: 1 attempt: .mplint.toml: ")
    assert listed.count("\n") == 1
    assert len(listed) < 5000
    assert "\x1b" not in listed


def test_an_end_on_demand_lets_reviews_end(github: HostedGitHub, served: Serve) -> None:
    github.faults = [Fault("GET", "compare", 403, {"retry-after": "3"}, {"message": "secondary rate limit"})]
    server = served()
    server.deliver(github.delivery("opened"))
    until(lambda: not github.faults, "the review runs")
    server.signal(signal.SIGTERM)
    until(lambda: httpx.get(f"{server.url}/readyz").status_code == 503, "it is no longer ready")
    assert httpx.get(f"{server.url}/healthz").status_code == 200
    assert server.wait() == 0
    assert len(github.comments) == 2
    [review] = server.events("review")
    assert review["outcome"] == "reviewed"


def test_an_end_without_grace_leaves_reviews_to_the_next_server(github: HostedGitHub, served: Serve) -> None:
    github.faults = [Fault("GET", "compare", "hang")]
    server = served("--grace", "0.1")
    server.deliver(github.delivery("opened"))
    until(lambda: not github.faults, "the review runs")
    server.signal(signal.SIGTERM)
    assert server.wait() == 0
    assert not server.events("review")
    server.start()
    until(lambda: server.events("review"), "it is made")
    assert server.events("review")[0]["attempt"] == 1, "it had not failed"


def test_a_second_signal_ends_at_once(github: HostedGitHub, served: Serve) -> None:
    github.faults = [Fault("GET", "compare", "hang")]
    server = served()
    server.deliver(github.delivery("opened"))
    until(lambda: not github.faults, "the review runs")
    server.signal(signal.SIGTERM)
    until(lambda: server.events("ending"), "it ends")
    server.signal(signal.SIGTERM)
    assert server.wait() == 1
    server.start()
    until(lambda: server.events("review"), "it is made")


def test_an_app(
    github: HostedGitHub, repository: Repository, served: Serve, tmp_path: Path, key: tuple[str, str]
) -> None:
    github.public_key, private = key
    file = tmp_path / "key.pem"
    file.write_text(private)
    server = served("--app-id", "12345", "--private-key", str(file), GITHUB_TOKEN="")
    assert server.reviewed(github.delivery("opened"))["said"] == 2
    repository.commit(second=model("three"))
    assert server.reviewed(github.delivery())["said"] == 1
    assert github.given == [{"repositories": ["name"]}], "one token, for one repository"
    github.tokens = {"it was taken back"}
    repository.commit(second="x = 1\n")
    server.deliver(github.delivery())
    until(lambda: len(server.events("review")) == 4, "it asks for another one")
    assert [one["outcome"] for one in server.events("review")][2:] == ["failed", "reviewed"]
    assert server.deliver({**github.delivery(), "installation": None}).status_code == 422


def test_nothing_secret_is_seen_by_other_processes(github: HostedGitHub, served: Serve) -> None:
    github.faults = [Fault("POST", "git-upload-pack", "hang")]
    server = served("--grace", "0")
    server.deliver(github.delivery("opened"))
    until(lambda: not github.faults, "git fetches")
    commands: list[bytes] = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            commands.append((process / "cmdline").read_bytes())
        except OSError:
            continue
    assert [command for command in commands if b"mplint.serve.reviewer" in command] or os.name != "posix"
    assert any(b"git-upload-pack" in command or b"fetch" in command for command in commands)
    assert not [command for command in commands if TOKEN.encode() in command or SECRET.encode() in command]
    server.signal(signal.SIGTERM)
    assert server.wait() == 0


def test_what_a_repository_holds_is_never_run(
    github: HostedGitHub, repository: Repository, served: Serve, tmp_path: Path
) -> None:
    trap, outside = tmp_path / "sprung", tmp_path / "outside.py"
    outside.write_text(model("secret"))
    (repository.top / "link.py").symlink_to(outside)
    (repository.top / "folder").symlink_to(tmp_path)
    spring = f"open({str(trap)!r}, 'w')\n"
    attributes = "*.py filter=evil diff=evil textconv=evil\n"
    repository.commit(
        {
            "sitecustomize.py": spring,
            "usercustomize.py": spring,
            "mplint/__init__.py": spring,
            "click.py": spring,
            "conftest.py": spring,
            "setup.py": spring,
            ".gitattributes": attributes,
            ".gitmodules": f'[submodule "x"]\n\tpath = x\n\turl = {tmp_path}\n',
            ".mplint.toml": f'baseline = "{tmp_path}/repository/../outside.py"\ncache-dir = "{tmp_path}/cache"\n',
            "big.py": b"0\n" * (9 << 20),
        }
    )
    review = served().reviewed(github.delivery("opened"))
    assert (review["outcome"], review["said"]) == ("reviewed", 2)
    assert not trap.exists()
    assert not (tmp_path / "cache").exists()
    assert "secret" not in "".join(one.body for one in github.comments)


def test_memory_is_bounded(github: HostedGitHub, repository: Repository, served: Serve, tmp_path: Path) -> None:
    text = "".join(f"x{number} = [{number}, {number}]\n" for number in range(60_000))
    repository.commit({f"m{number}.py": text for number in range(3)})
    repository.commit({"uses.py": "import keras\nimport policy\nimport m0, m1, m2\n"})
    server = served("--memory", "300")
    server.deliver(github.delivery("opened"))
    until(lambda: server.events("given up"), "it is given up")
    assert "more than 300 MiB of memory" in failed(tmp_path / "serve.sqlite")
    repository.commit({f"m{number}.py": None for number in range(3)})
    repository.commit({"uses.py": None})
    server.deliver(github.delivery())
    until(lambda: server.events("review")[-1]["outcome"] == "reviewed", "the next push is reviewed")


def test_killed_in_the_middle_of_a_burst(github: HostedGitHub, served: Serve, tmp_path: Path) -> None:
    """300 deliveries of 100 pull requests at once: what was acknowledged is there, and nothing is there twice."""
    github.faults = [Fault("GET", "pulls/", "hang") for _ in range(20)]
    server = served("--workers", "1")
    kept: set[str] = set()

    def deliver(number: int) -> None:
        content = github.delivery(pull_request={"number": 1 + number % 100})
        try:
            if server.deliver(content, delivery=f"d{number}").status_code in (200, 202):
                kept.add(f"d{number}")
        except httpx.TransportError:
            pass

    with ThreadPoolExecutor(16) as pool:
        waiting = [pool.submit(deliver, number) for number in range(300)]
        until(lambda: len(kept) >= 120, "some are acknowledged")
        server.kill()
        wait(waiting)
    with closing(sqlite3.connect(tmp_path / "serve.sqlite")) as database:
        there = {name for (name,) in database.execute("SELECT id FROM deliveries")}
        jobs = [number for (number,) in database.execute("SELECT number FROM jobs")]
    assert len(kept) < 300
    assert kept <= there
    assert {1 + int(name[1:]) % 100 for name in there} == set(jobs)
    server.start()
    again = {name for name in kept if server.deliver(github.delivery(), delivery=name).json()["outcome"] == "duplicate"}
    assert again == kept
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(deliver, range(300)))
    assert len(kept) == 300
    assert server.measured('mplint_queue_jobs{state="waiting"}') >= 99


def test_a_pull_request_of_3000_files(github: HostedGitHub, repository: Repository, served: Serve) -> None:
    repository.commit({f"many/m{number:04}.py": f"x = {number}\n" for number in range(3100)})
    review = served().reviewed(github.delivery("opened"))
    assert (review["outcome"], review["said"]) == ("reviewed", 2)
