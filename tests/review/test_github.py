"""Reviews on GitHub, as our strict fake of it has it, over real HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from mplint.analysis import Failure, Report
from mplint.errors import MplintError
from mplint.project.modules import Project
from mplint.review import checking, markers, reviewing, session
from mplint.review.checking import Asked
from mplint.review.forge import Uncertain
from mplint.review.forges.github import GitHub
from mplint.review.reviewing import Taste
from mplint.review.session import Told
from mplint.settings import Settings
from tests import stand_in
from tests.review.clock import FakeClock
from tests.review.fake_github import FakeGitHub, Fault
from tests.review.repositories import Repository

pytestmark = pytest.mark.usefixtures("toy")

PADDING = "".join(f"x{number} = 1\n" for number in range(20))

Review = Callable[..., Told]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def opened(repository: Repository) -> Repository:
    """A pull request that brings three faults, one of them elsewhere."""
    repository.commit(a=PADDING, models=f"latent()\n{PADDING}", train="calm\n")
    repository.branch()
    repository.commit(a=f"bad()\n{PADDING}risky()\n", train="alarm\n")
    return repository


@pytest.fixture
def github(opened: Repository) -> FakeGitHub:
    return FakeGitHub(opened)


@pytest.fixture
def review(github: FakeGitHub, clock: FakeClock) -> Review:
    """Review the pull request once."""

    def run(*, timeout: float = 60.0, token: str = "s3cret", with_status: bool = False, **taste: Any) -> Told:
        async def told() -> Told:
            async with (
                github.serving() as url,
                GitHub.connected(clock, token, "owner/name", 7, url, timeout) as forge,
            ):
                return await session.review_pull_request(
                    forge,
                    github.repository.top,
                    Asked(),
                    Taste(**taste),
                    with_status=with_status,
                )

        return asyncio.run(told())

    return run


def said(github: FakeGitHub) -> list[tuple[str, int | None]]:
    return [(comment.path, comment.at[1] if comment.at else None) for comment in github.comments]


def test_a_review_from_the_first_comment_to_the_last_fix(
    github: FakeGitHub, review: Review, repository: Repository
) -> None:
    first = review()
    assert (first.said, first.resolved) == (3, 0)
    assert said(github) == [("train.py", 1), ("a.py", 1), ("a.py", 22)]
    assert [each["event"] for each in github.reviews] == ["COMMENT"]
    assert len(github.notes) == 1

    again = review()
    assert (again.said, again.resolved, github.edits) == (0, 0, 0), "a second run says nothing"

    bad = github.thread_of("MP101")
    head = github.apply(bad)
    assert repository.file(head, "a.py").decode() == f"good()\n{PADDING}risky()\n"
    fixed = review()
    assert (fixed.said, fixed.resolved) == (0, 1)
    assert bad.is_resolved
    assert f"{markers.GONE}_Gone at {head[:12]}._" in bad.body
    assert [comment.path for comment in github.open] == ["train.py", "a.py"]

    repository.commit(a=f"good()\nbad(), 1\n{PADDING}risky()\n")
    more = review()
    assert (more.said, more.resolved) == (1, 0)
    assert len(github.comments) == 4

    repository.commit(a=PADDING, train="calm\n")
    done = review()
    assert (done.said, done.resolved) == (0, 3)
    assert not github.open
    [note] = github.notes
    assert "Nothing found in this change." in note["body"]
    edits = github.edits
    review()
    assert github.edits == edits
    assert len(github.reviews) == 2


def test_a_clean_change_is_met_with_silence(github: FakeGitHub, review: Review, repository: Repository) -> None:
    repository.commit(a=PADDING, train="calm\n")
    review()
    assert not github.comments
    assert not github.notes


def test_what_a_person_resolved_stays_and_is_not_said_again(github: FakeGitHub, review: Review) -> None:
    review()
    mine = github.thread_of("MP101")
    mine.is_resolved = True
    before = mine.body
    github.repository.commit(z="x = 1\n")
    assert review().said == 0
    assert mine.is_resolved
    assert mine.body == before


def test_what_comes_back_is_opened_again(github: FakeGitHub, review: Review, repository: Repository) -> None:
    review()
    mine = github.thread_of("MP101")
    before = mine.body
    repository.commit(a=f"{PADDING}risky()\n")
    review()
    assert [one.code_of for one in github.open] == ["cause", "MP102"]
    repository.commit(a=f"bad()\n{PADDING}risky()\n")
    assert review().said == 0
    assert mine in github.open
    assert mine.body == before


def test_what_a_person_opens_again_stays_open(github: FakeGitHub, review: Review, repository: Repository) -> None:
    review()
    mine = github.thread_of("MP101")
    repository.commit(a=f"{PADDING}risky()\n")
    review()
    mine.is_resolved = False
    repository.commit(z="x = 1\n")
    assert review().resolved == 0
    assert not mine.is_resolved


def test_where_mplint_itself_fails_nothing_is_resolved(
    github: FakeGitHub, review: Review, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    review()
    repository.commit(a=PADDING)

    def failing(project: Project, targets: Sequence[Path], settings: Settings) -> Report:
        report = stand_in.analyze(project, targets, settings)
        return replace(report, failures=(Failure(project.root / "a.py", "it broke"),))

    monkeypatch.setattr(checking, "analyze", failing)
    told = review()
    assert told.resolved == 0
    assert told.review is not None
    assert told.review.failed == ("a.py",)
    assert "mplint itself failed in `a.py`" in github.notes[0]["body"]


def test_comments_of_others_are_left_alone(github: FakeGitHub, review: Review, repository: Repository) -> None:
    review()
    mine = github.thread_of("MP101")
    mine.replies.append(mine.body)
    mine.login = "person"
    github.notes[0]["user"] = {"login": "person"}
    repository.commit(a=PADDING)
    review()
    assert not mine.is_resolved
    assert len(github.notes) == 2


@pytest.mark.parametrize("other", ["person", "github-actions"])
@pytest.mark.parametrize("allows_graphql", [True, False])
def test_comments_that_look_like_ours_are_others(
    github: FakeGitHub, review: Review, repository: Repository, other: str, allows_graphql: bool
) -> None:
    """Who writes our marks, or is called as we are, hides no finding and is not written over."""
    review()
    spoofed = list(github.comments)
    for comment in spoofed:
        comment.login = other
    github.notes[0]["user"] = {"login": other, "type": "User"}
    github.allows_graphql = allows_graphql
    before = [comment.body for comment in spoofed], github.notes[0]["body"]
    repository.commit(a=f"bad()\n{PADDING}risky()\nbad()\n")
    assert review().said == 4
    assert ([comment.body for comment in spoofed], github.notes[0]["body"]) == before
    assert len(github.notes) == 2


@pytest.mark.parametrize("allows_graphql", [True, False])
def test_a_person_whose_token_it_is(github: FakeGitHub, review: Review, allows_graphql: bool) -> None:
    github.login, github.allows_graphql = "somebody", allows_graphql
    assert review().said == 3
    assert review().said == 0


def test_a_mark_in_the_code_is_none(github: FakeGitHub, review: Review, repository: Repository) -> None:
    repository.commit(a=f"bad()  # {markers.GONE}\n{PADDING}")
    review()
    comment = github.thread_of("MP101")
    assert markers.GONE in comment.body
    comment.is_resolved = True
    review()
    assert comment.is_resolved, "a person has resolved it"
    comment.is_resolved = False
    repository.commit(a=PADDING)
    review()
    assert comment.is_resolved


def test_a_comment_moves_with_its_line(github: FakeGitHub, review: Review, repository: Repository) -> None:
    review()
    repository.commit(a=f"top = 1\nbad()\n{PADDING}risky()\n")
    assert review().said == 0
    head = github.apply(github.thread_of("MP101"))
    assert repository.file(head, "a.py").decode() == f"top = 1\ngood()\n{PADDING}risky()\n"


def test_suggestions_are_applied_in_one_batch(github: FakeGitHub, review: Review, repository: Repository) -> None:
    repository.commit(a=f"bad(\r\n  1,\r\n)\r\n{PADDING.replace(chr(10), chr(13) + chr(10))}bad(), '```'\r\n")
    review()
    first, second = (comment for comment in github.comments if "suggestion" in comment.body)
    head = github.apply(first, second)
    expected = f"good()\r\n{PADDING.replace(chr(10), chr(13) + chr(10))}good(), '```'\r\n"
    assert repository.file(head, "a.py").decode() == expected


def test_a_state_on_demand(github: FakeGitHub, review: Review) -> None:
    review(with_status=True)
    [status] = github.statuses
    assert (status["state"], status["sha"], status["context"]) == ("success", github.head, "mplint")


def test_a_token_that_may_comment_and_not_mark(github: FakeGitHub, review: Review) -> None:
    github.faults = [Fault("POST", "statuses", 403)]
    told = review(with_status=True)
    assert (told.said, told.read_only) == (3, "")
    assert "The commit is not marked: GitHub refuses it: 403" in told.in_words


def test_a_token_that_may_comment_and_not_resolve(github: FakeGitHub, review: Review, repository: Repository) -> None:
    review()
    github.may_resolve = False
    bad, before = github.thread_of("MP101"), github.thread_of("MP101").body
    repository.commit(a=f"{PADDING}risky()\n")
    told = review()
    assert (told.resolved, told.read_only, bad.is_resolved) == (0, "", False)
    assert markers.GONE in bad.body
    assert "Talks are not resolved, but say that they are done: GitHub refuses it: Resource not" in told.in_words
    edits = github.edits
    review()
    assert github.edits == edits, "it is left at that"
    repository.commit(a=f"bad()\n{PADDING}risky()\n")
    review()
    assert bad.body == before


def test_batches_and_pages(github: FakeGitHub, review: Review, repository: Repository) -> None:
    github.page = 7
    repository.commit(a="".join(f"y{number} = bad()\n" for number in range(60)))
    assert review(max_comments=45).said == 45
    assert [len(each["comments"]) for each in github.reviews] == [20, 20, 5]
    assert review(max_comments=45).said == 0
    assert any("page=7" in path for _, path in github.requests)
    repository.commit(a="x = 1\n")
    assert review(max_comments=45).resolved == 44
    assert [comment.path for comment in github.open] == ["train.py"]


def test_a_pull_request_of_3000_files(github: FakeGitHub, review: Review, repository: Repository) -> None:
    files: dict[str, str | bytes | None] = {f"many/m{number:04}.py": "x = 1\n" for number in range(3100)}
    repository.commit({**files, "zlast.py": "bad()\n", "many/m0100.py": "y = bad()\n"})
    told = review()
    assert {comment.path for comment in github.comments} == {"a.py", "many/m0100.py"}
    assert len(github.reviews) >= 1
    [note] = github.notes
    assert "On lines that take no comment: 2" in note["body"]
    assert "`zlast.py:1` **MP101**" in note["body"]
    assert "`train.py:1` causes 1 finding" in note["body"]
    assert told.said == 3


def test_a_closed_one_is_not_reviewed(github: FakeGitHub, review: Review) -> None:
    github.state = "closed"
    assert review().review is None
    assert not github.comments


def test_one_that_changes_meanwhile_is_left_to_the_next_run(
    github: FakeGitHub, review: Review, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = reviewing.review

    def slow(*arguments: Any) -> object:
        result = real(*arguments)
        github.repository.commit(z="x = 1\n")
        return result

    monkeypatch.setattr(session, "review", slow)
    assert review().is_superseded
    assert not github.comments


def test_a_token_that_may_only_read(github: FakeGitHub, review: Review) -> None:
    github.may_write = False
    told = review()
    assert "Resource not accessible by integration" in told.read_only
    assert told.review is not None
    assert "::error title=mplint MP101 (low-precision-softmax-output),file=a.py,line=1" in told.review.annotations
    assert '"uri": "a.py"' in told.review.sarif
    assert not github.comments


def test_a_token_that_may_not_ask_for_talks(github: FakeGitHub, review: Review, repository: Repository) -> None:
    github.allows_graphql = False
    assert review().said == 3
    assert review().said == 0, "comments are known all the same"
    repository.commit(a=PADDING)
    assert review().resolved == 0


def test_a_wrong_token_is_told_and_not_shown(github: FakeGitHub, review: Review) -> None:
    with pytest.raises(MplintError, match="401 Bad credentials") as caught:
        review(token="wr0ng")
    assert "wr0ng" not in str(caught.value)


# Faults

WRITES = [("POST", "/reviews"), ("POST", "/issues/7/comments")]
READS = [("GET", r"pulls/7$"), ("GET", "compare"), ("GET", "pulls/7/comments"), ("GET", "issues"), ("POST", "graphql")]


@pytest.mark.parametrize("kind", [500, "cut", "half", "drop"])
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize(("method", "path"), WRITES + READS)
def test_broken_answers_lose_nothing_and_repeat_nothing(
    github: FakeGitHub, review: Review, clock: FakeClock, method: str, path: str, kind: int | str, late: bool
) -> None:
    github.faults = [Fault(method, path, kind, late=late) for _ in range(2)]
    review()
    assert said(github) == [("train.py", 1), ("a.py", 1), ("a.py", 22)]
    assert len(github.notes) == 1
    assert clock.waits, "it waited"
    assert not github.faults or late


@pytest.mark.parametrize(("method", "path"), [WRITES[0], READS[0]])
def test_no_answer_at_all(github: FakeGitHub, review: Review, method: str, path: str) -> None:
    github.faults = [Fault(method, path, "hang")]
    review(timeout=0.2)
    assert len(github.comments) == 3


def test_refusals_for_a_while(github: FakeGitHub, review: Review, clock: FakeClock) -> None:
    secondary = {"message": "You have exceeded a secondary rate limit."}
    github.faults = [
        Fault("POST", "/reviews", 403, {"retry-after": "37"}, secondary),
        Fault("POST", "/reviews", 403, {}, secondary),
        Fault("GET", "compare", 429, {"retry-after": "5"}),
        Fault("GET", "issues", 403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(clock.time + 200)}),
        Fault(
            "POST", "graphql", 200, body={"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]}
        ),
    ]
    review()
    assert len(github.comments) == 3
    assert len(github.reviews) == 1
    assert 37.0 in clock.waits
    assert 5.0 in clock.waits
    assert 120.0 in clock.waits, "without a time, longer each time"
    assert any(100 < wait <= 201 for wait in clock.waits)


def test_servers_that_say_how_long_they_are_away(github: FakeGitHub, review: Review, clock: FakeClock) -> None:
    until = format_datetime(datetime.fromtimestamp(clock.time + 400, timezone.utc), usegmt=True)
    github.faults = [
        Fault("GET", "pulls/7$", 503, {"retry-after": "45"}),
        Fault("GET", "compare", 429, {"retry-after": until}),
        Fault("POST", "/reviews", 503, {"retry-after": "50"}, late=True),
        Fault("GET", "issues", 503, {"retry-after": "inf", "x-ratelimit-remaining": "nan"}),
    ]
    review()
    assert len(github.comments) == 3
    assert {45.0, 50.0} <= set(clock.waits)
    assert any(350 < wait <= 400 for wait in clock.waits)


def test_an_answer_that_cannot_be_unpacked(github: FakeGitHub, review: Review) -> None:
    github.faults = [
        Fault("GET", "compare", 200, {"content-encoding": "gzip"}),
        Fault("POST", "/reviews", 200, {"content-encoding": "gzip"}, late=True),
    ]
    review()
    assert len(github.comments) == 3


def test_a_refusal_for_too_long_ends_the_run(github: FakeGitHub, review: Review) -> None:
    github.faults = [Fault("POST", "/reviews", 403, {"retry-after": "4000"})]
    with pytest.raises(MplintError, match="asks to wait for 4000 s"):
        review()
    assert review().said == 3, "the next one takes it up"


def test_what_stays_broken_ends_the_run(github: FakeGitHub, review: Review) -> None:
    github.faults = [Fault("GET", "compare", 503) for _ in range(10)]
    with pytest.raises(MplintError, match=r"does not answer \(status 503\)"):
        review()
    github.faults = [Fault("POST", "/reviews", 503) for _ in range(10)]
    with pytest.raises(Uncertain, match="the answer was lost"):
        review()
    github.faults = []
    review()
    assert len(github.comments) == 3


def test_a_run_that_ends_in_the_middle_is_taken_up(github: FakeGitHub, review: Review, repository: Repository) -> None:
    repository.commit(a="".join(f"y{number} = bad()\n" for number in range(45)))
    github.faults = [Fault("POST", "/reviews", 200)]  # the first batch is lost, but for that it seems to be done
    review(max_comments=50)
    assert len(github.comments) == 26
    review(max_comments=50)
    assert len({comment.body for comment in github.comments}) == len(github.comments) == 46


def test_answers_that_lead_elsewhere_are_not_followed(github: FakeGitHub, review: Review) -> None:
    github.faults = [Fault("GET", "pulls/7/comments", 200, {"link": '<https://evil.example/x>; rel="next"'}, body=[{}])]
    with pytest.raises(MplintError, match=r"evil\.example: is not the forge that was asked"):
        review()
    github.faults = [Fault("GET", "compare", 302, {"location": "https://evil.example/x"})]
    with pytest.raises(MplintError, match="302"):
        review()
