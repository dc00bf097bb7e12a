"""A GitHub App: it proves with its key who it is, and is given a token for an hour and one repository."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

import httpx
from gidgethub.apps import get_jwt

from mplint.errors import MplintError
from mplint.review.forges.github import Api, told
from mplint.review.forges.http import Budget, Clock, Transport


class Token(NamedTuple):
    """A token, and until when it opens anything, in seconds since 1970."""

    text: str
    until: float


class App:
    """An app of GitHub. Raises MplintError where its key is none."""

    def __init__(self, identity: str, key: str, api: str, clock: Clock) -> None:
        self._identity, self._key, self._api, self._clock = identity, key, api, clock
        try:
            self._proof()
        except Exception as error:  # noqa: BLE001  (each library below it has exceptions of its own)
            raise MplintError(f"the key of the app is no private key in PEM form ({type(error).__name__})") from None

    async def token(self, installation: int, repository: str, budget: Budget | None = None) -> Token:
        """A token for one repository of an installation."""
        async with httpx.AsyncClient(timeout=30.0, follow_redirects=False) as client:
            api = Api(Transport(client, self._api, self._clock, budget), self._clock, None, self._api)
            place = f"/app/installations/{installation}/access_tokens"
            content = {"repositories": [repository.rpartition("/")[2]]}
            answer = await told(api.post(place, data=content, jwt=self._proof()))
        until = datetime.fromisoformat(answer["expires_at"].replace("Z", "+00:00"))
        return Token(answer["token"], until.timestamp())

    def _proof(self) -> str:
        return get_jwt(app_id=self._identity, private_key=self._key)
