"""Fetching, from a real git server, and from where nothing is to be had."""

from __future__ import annotations

from pathlib import Path

import pytest

from mplint.git import git
from mplint.serve.checkout import CheckoutError, fetch
from tests.review.fake_github import Fault
from tests.review.repositories import Repository
from tests.serve.hosted_github import HostedGitHub
from tests.serve.served import TOKEN


@pytest.fixture
def address(github: HostedGitHub) -> str:
    return f"{github.url.removesuffix('/api/v3')}/owner/name.git"


def test_two_commits_without_history(
    address: str, github: HostedGitHub, repository: Repository, tmp_path: Path
) -> None:
    repository.commit(more="x = 1\n")
    folder = tmp_path / "fetched"
    fetch(folder, address, (github.base, github.head), "github", TOKEN)
    assert git(folder, "cat-file", "blob", f"{github.head}:more.py") == b"x = 1\n"
    assert git(folder, "rev-list", "--all", github.head, github.base).decode().split() == [github.head, github.base]
    assert not [path for path in folder.rglob("*") if "hooks" in path.parts or path.name == "FETCH_HEAD"]
    for file in folder.rglob("*"):
        assert not file.is_file() or TOKEN.encode() not in file.read_bytes()


@pytest.mark.parametrize("fault", [Fault("GET", "info/refs", 302, {"location": "http://127.0.0.1:9/x.git/info/refs"})])
def test_nobody_is_followed_elsewhere(address: str, github: HostedGitHub, tmp_path: Path, fault: Fault) -> None:
    github.faults = [fault]
    with pytest.raises(CheckoutError, match="git fetch failed"):
        fetch(tmp_path / "fetched", address, (github.base, github.head), "github", TOKEN)


def test_what_is_not_to_be_had(address: str, github: HostedGitHub, tmp_path: Path) -> None:
    trap = tmp_path / "sprung"
    for number, (where, commit, token) in enumerate(
        [
            (address, "0" * 40, TOKEN),
            (address, github.head, "another"),
            (address, "--upload-pack=evil", TOKEN),
            (address, "HEAD", TOKEN),
            ("http://127.0.0.1:9/owner/name.git", github.head, TOKEN),
            (f"ext::touch {trap}", github.head, TOKEN),
            (f"file://{github.repository.top}", github.head, TOKEN),
            (str(github.repository.top), github.head, TOKEN),
        ]
    ):
        with pytest.raises(CheckoutError) as caught:
            fetch(tmp_path / str(number), where, (commit, commit), "github", token)
        assert TOKEN not in str(caught.value)
    assert not trap.exists()
