"""Reviews of real programs: what is suggested is what `--fix` writes."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from mplint.review.checking import Asked
from mplint.review.forges.github import GitHub
from mplint.review.reviewing import Taste
from mplint.review.session import Told, review_pull_request
from tests.fixture_programs import ROOT as FIXTURES
from tests.review.clock import FakeClock
from tests.review.conftest import Reviewed
from tests.review.fake_github import FakeGitHub
from tests.review.repositories import Repository

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def reviewed_on(github: FakeGitHub) -> Told:
    async def told() -> Told:
        async with github.serving() as url, GitHub.connected(FakeClock(), "s3cret", "owner/name", 7, url) as forge:
            return await review_pull_request(forge, github.repository.top, Asked(), Taste())

    return asyncio.run(told())


@pytest.mark.parametrize(
    "name",
    [
        "MP101/bad/byte-order-mark-and-crlf",
        "MP101/bad/commented-multiline-head",
        "MP101/bad/tabs",
        "MP205/bad/k3-times-the-inverse",  # its fix brings another fault to light, which goes with it
        "MP211/bad/k2-gan-behind-both-tapes",
    ],
)
def test_suggestions_give_what_fix_writes(repository: Repository, name: str) -> None:
    repository.commit({"README.md": "x\n"})
    repository.branch()
    fixture = FIXTURES / name
    shutil.copytree(fixture / "program", repository.top, dirs_exist_ok=True)
    repository.commit()
    github = FakeGitHub(repository)
    reviewed_on(github)
    suggested = [comment for comment in github.comments if "suggestion\n" in comment.body]
    assert suggested
    head = github.apply(*suggested)
    written = [path for folder in fixture.glob("fixed*") for path in folder.rglob("*.py")]
    assert written
    for path in written:
        at = path.relative_to(fixture).as_posix().split("/", 1)[1]
        assert repository.file(head, at) == path.read_bytes()
    assert reviewed_on(github).said == 0
    assert not github.open


def test_a_policy_that_is_switched_on_is_told_at_its_line(repository: Repository, reviewed: Reviewed) -> None:
    """Nobody has touched model.py; that it is wrong now is said where the policy is set."""
    shutil.copytree(EXAMPLES / "digits", repository.top, dirs_exist_ok=True)
    policy = (repository.top / "precision.py").read_text()
    base = repository.commit(precision=policy.replace("mixed_float16", "float32"))
    head = repository.commit(precision=policy)
    done = reviewed(base, head)
    [comment] = done.comments
    assert (comment.code, comment.path, comment.first) == ("cause", "precision.py", 8)
    assert "`model.py:14` **MP101**" in comment.body
    assert "`model.py:16` **MP102**" in comment.body
    assert "`mplint --fix` mends 2 of them." in comment.body


def test_of_several_changes_on_the_way_the_policy_is_the_cause(repository: Repository, reviewed: Reviewed) -> None:
    digits = {path.name: path.read_bytes() for path in (EXAMPLES / "digits").glob("*.py")}
    base = repository.commit({name: text for name, text in digits.items() if name not in ("train.py", "precision.py")})
    head = repository.commit(dict(digits))
    [comment] = reviewed(base, head).comments
    assert (comment.code, comment.path, comment.first) == ("cause", "precision.py", 8)


def test_the_working_tree_has_no_part_in_it(repository: Repository, reviewed: Reviewed) -> None:
    shutil.copytree(EXAMPLES / "digits", repository.top, dirs_exist_ok=True)
    base = repository.commit(model="x = 1\n")
    head = repository.commit(model=(EXAMPLES / "digits" / "model.py").read_bytes())
    repository.git("checkout", "-q", base)
    repository.write(precision="", train="1 +", new="2 +")
    done = reviewed(base, head)
    assert [(comment.code, comment.path) for comment in done.comments] == [("MP101", "model.py"), ("MP102", "model.py")]


def test_what_the_documentation_shows_is_said(repository: Repository, reviewed: Reviewed) -> None:
    shutil.copytree(EXAMPLES / "digits", repository.top, dirs_exist_ok=True)
    policy = (repository.top / "precision.py").read_text()
    base = repository.commit(precision=policy.replace("mixed_float16", "float32"))
    [comment] = reviewed(base, repository.commit(precision=policy)).comments
    page = (EXAMPLES.parent / "docs" / "review.md").read_text()
    assert f"```markdown\n{comment.body}\n```" in page
