"""Reviews on GitLab, as our strict fake of it has it, over real HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from mplint.review.checking import Asked
from mplint.review.forges.gitlab import GitLab
from mplint.review.reviewing import Taste
from mplint.review.session import Told, review_pull_request
from tests.review.clock import FakeClock
from tests.review.fake_gitlab import FakeGitLab
from tests.review.repositories import Repository

pytestmark = pytest.mark.usefixtures("toy")

PADDING = "".join(f"x{number} = 1\n" for number in range(20))

Review = Callable[..., Told]


@pytest.fixture
def gitlab(repository: Repository) -> FakeGitLab:
    repository.commit(a=PADDING, models=f"latent()\n{PADDING}latent()\n", train="calm\n")
    repository.branch()
    repository.commit(a=f"y = [\n    bad(\n        1,\n    ),\n]\n{PADDING}", train="alarm\n")
    return FakeGitLab(repository)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def review(gitlab: FakeGitLab, clock: FakeClock) -> Review:
    def run(**taste: Any) -> Told:
        async def told() -> Told:
            async with gitlab.serving() as url, GitLab.connected(clock, "s3cret", "group/sub/name", 7, url) as forge:
                return await review_pull_request(
                    forge,
                    gitlab.repository.top,
                    Asked(),
                    Taste(**taste),
                    with_status=True,
                )

        return asyncio.run(told())

    return run


def test_a_review_from_the_first_comment_to_the_last_fix(gitlab: FakeGitLab, review: Review) -> None:
    assert review().said == 2
    cause, bad = gitlab.on_lines
    assert (bad["position"]["new_path"], bad["position"]["new_line"]) == ("a.py", 4)
    assert "```suggestion:-2+0\n    good(),\n```" in bad["body"]
    assert len(gitlab.talks) == 3
    assert gitlab.statuses[0]["state"] == "success"
    assert review().said == 0

    head = gitlab.apply(bad)
    assert gitlab.repository.file(head, "a.py").decode() == f"y = [\n    good(),\n]\n{PADDING}"
    assert review().resolved == 1
    assert (bad["resolved"], cause["resolved"]) == (True, False)

    gitlab.repository.commit(a=f"y = [\n    bad(\n        1,\n    ),\n]\n{PADDING}")
    assert review().said == 0
    assert not bad["resolved"]
    assert len(gitlab.talks) == 3


@pytest.mark.parametrize(("divided", "is_suggested"), [("/merge", False), ("// merge", True)])
def test_code_that_reads_as_a_command_is_not_suggested(
    gitlab: FakeGitLab, review: Review, divided: str, is_suggested: bool
) -> None:
    code = f"x = (4, '''\n```\n''', 2\n{divided}\n)\nneedy()\n{PADDING}"
    gitlab.repository.commit(a=code, train="calm\n")
    assert review().said == 1
    [note] = gitlab.on_lines
    assert "**Fix:** write `good()`" in note["body"]
    assert ("````suggestion:-5+0\nimport helper\n" in note["body"]) == is_suggested
    assert (f"\n{divided}\n" in note["body"]) == is_suggested


def test_a_row_that_was_there_has_both_its_numbers(gitlab: FakeGitLab, review: Review) -> None:
    gitlab.repository.commit(a=PADDING, models=f"latent()\nnew = 1\n{PADDING}latent()\n")
    assert review().said == 2
    [note] = [note for note in gitlab.on_lines if note["position"]["new_path"] == "models.py"]
    assert (note["position"]["new_line"], note["position"]["old_line"]) == (1, 1)


def test_pages(gitlab: FakeGitLab, review: Review) -> None:
    gitlab.page = 3
    gitlab.repository.commit(a="".join(f"y{number} = bad()\n" for number in range(12)))
    assert review().said == 13
    assert review().said == 0


@pytest.mark.parametrize(("status", "is_obeyed"), [(500, False), (500, True), (429, False)])
@pytest.mark.parametrize("what", [("POST", "discussions"), ("POST", "notes"), ("GET", "discussions"), ("GET", "user")])
def test_broken_answers(
    gitlab: FakeGitLab, review: Review, clock: FakeClock, what: tuple[str, str], status: int, is_obeyed: bool
) -> None:
    gitlab.failing = [(*what, status, is_obeyed)]
    review()
    assert len(gitlab.talks) == 3
    assert clock.waits == [3.0 if status == 429 else 1.0]


def test_a_token_that_may_only_read(gitlab: FakeGitLab, review: Review) -> None:
    gitlab.may_write = False
    assert "403" in review().read_only
