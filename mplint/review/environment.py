"""Which pull request a run is about: what its caller says, else what CI says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mplint.errors import MplintError
from mplint.review.forge import Forge

if TYPE_CHECKING:
    from mplint.review.forges.http import Budget, Clock

ForgeName = Literal["github", "gitlab"]


@dataclass(frozen=True)
class Place:
    """A pull request of a forge, and the token that opens it."""

    forge: ForgeName
    repository: str
    number: int
    token: str = field(repr=False)
    api: str | None = None


def place(
    forge: ForgeName, environment: Mapping[str, str], repository: str | None, number: int | None, api: str | None
) -> Place:
    """The place that is meant. Raises MplintError where something of it is not known."""
    github = forge == "github"
    repository = repository or environment.get("GITHUB_REPOSITORY" if github else "CI_PROJECT_PATH")
    number = number or (_of_event(environment) if github else _number(environment.get("CI_MERGE_REQUEST_IID")))
    token = environment.get("GITHUB_TOKEN" if github else "GITLAB_TOKEN")
    api = api or environment.get("GITHUB_API_URL" if github else "CI_API_V4_URL")
    if not repository:
        raise MplintError("--repository OWNER/NAME says which repository; no CI does")
    if not number:
        raise MplintError("--number N says which pull or merge request; this is no CI run of one")
    if not token:
        raise MplintError(f"set {'GITHUB_TOKEN' if github else 'GITLAB_TOKEN'}: without a token nobody may comment")
    return Place(forge, repository, number, token, api)


def connected(
    place: Place, clock: Clock | None = None, budget: Budget | None = None
) -> AbstractAsyncContextManager[Forge]:
    """The forge, opened at the place. Raises MplintError where the extra `bot` is not installed."""
    try:
        from mplint.review.forges.http import WallClock

        clock = clock or WallClock()
        at = (clock, place.token, place.repository, place.number)
        if place.forge == "github":
            from mplint.review.forges import github

            return github.GitHub.connected(*at, place.api or github.API, budget=budget)
        from mplint.review.forges import gitlab

        return gitlab.GitLab.connected(*at, place.api or gitlab.API, budget=budget)
    except ModuleNotFoundError as error:
        raise MplintError(
            f'{error.name} is not installed, through which forges are asked: pip install "mplint[bot]"'
        ) from None


def _of_event(environment: Mapping[str, str]) -> int | None:
    """The number of the pull request in the event that started a run of GitHub Actions."""
    try:
        event = json.loads(Path(environment["GITHUB_EVENT_PATH"]).read_bytes())
        return int(event["pull_request"]["number"])
    except (KeyError, TypeError, ValueError, OSError):
        return None


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdigit() else None
