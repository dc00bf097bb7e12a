"""What opens a repository: a token of the environment, or one that a GitHub App is given for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from mplint.errors import MplintError
from mplint.review.forges.app import App, Token
from mplint.review.forges.http import Budget
from mplint.serve.logs import Secrets
from mplint.serve.queue import Pull


class Credentials(Protocol):
    """Where tokens come from."""

    async def token(self, pull: Pull, budget: Budget) -> str:
        """A token for the repository of a pull request. Raises MplintError."""

    def forget(self, pull: Pull) -> None:
        """It may open nothing any more."""


class Fixed:
    """One token for all."""

    def __init__(self, token: str) -> None:
        self._token = token

    async def token(self, pull: Pull, budget: Budget) -> str:
        """The token."""
        return self._token

    def forget(self, pull: Pull) -> None:
        """There is no other one."""


class Installed:
    """Those of an app: each opens one repository, and is kept as long as it lasts for `needed` more seconds."""

    def __init__(self, app: App, secrets: Secrets, needed: float, now: Callable[[], float] = time.time) -> None:
        self._app, self._secrets, self._needed, self._now = app, secrets, needed, now
        self._tokens: dict[tuple[int, str], Token] = {}

    async def token(self, pull: Pull, budget: Budget) -> str:
        """The one that is kept, or a new one."""
        if pull.installation is None:
            raise MplintError(f"{pull}: its webhook named no installation of the app")
        key = pull.installation, pull.repository
        self._tokens = {key: token for key, token in self._tokens.items() if self._lasts(token)}
        if (kept := self._tokens.get(key)) is not None:
            return kept.text
        given = await self._app.token(*key, budget)
        self._secrets.add(given.text, until=given.until)
        self._tokens[key] = given
        return given.text

    def forget(self, pull: Pull) -> None:
        """Ask for a new one next time."""
        if pull.installation is not None:
            self._tokens.pop((pull.installation, pull.repository), None)

    def _lasts(self, token: Token) -> bool:
        return token.until > self._now() + self._needed
