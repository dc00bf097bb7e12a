"""Whole lives of a pull request: a real server, its real processes, git's own protocol, and a strict GitHub."""

from __future__ import annotations

from collections.abc import Callable

from tests.review.repositories import Repository
from tests.serve.conftest import RIGHT, model
from tests.serve.hosted_github import HostedGitHub
from tests.serve.served import Served

Serve = Callable[..., Served]


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
