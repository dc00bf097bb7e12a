"""The strict fake of GitHub as a whole host: with its repository over git's own protocol, and with apps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from typing import Any

import jwt
from aiohttp import web

from tests.review.fake_github import FakeGitHub
from tests.review.repositories import Repository
from tests.serve.hosting import basic, git_routes, hosted


class HostedGitHub(FakeGitHub):
    """It runs in a thread of its own, so that a test and its server can wait for it."""

    def __init__(self, repository: Repository, token: str) -> None:
        super().__init__(repository)
        self.tokens = {token}
        self.public_key = ""
        self.given: list[dict[str, Any]] = []

    @contextmanager
    def hosted(self) -> Iterator[str]:
        """The address of its API."""
        with hosted(self.serving) as url:
            yield url

    def asked(self, method: str, part: str) -> int:
        """How many requests of a method had this in their path."""
        return sum(one == method and part in path for one, path in self.requests)

    def delivery(self, action: str = "synchronize", **about: Any) -> dict[str, Any]:
        """What its webhook sends of the pull request, as far as anybody reads it."""
        return {
            "action": action,
            "number": 7,
            "pull_request": {"number": 7, "state": self.state, "draft": False, "head": {"sha": self.head}},
            "repository": {"id": 1, "full_name": "owner/name", "clone_url": "https://elsewhere.example.org/x.git"},
            "installation": {"id": 42},
            "sender": {"login": "person"},
            **about,
        }

    def routes(self) -> list[web.RouteDef]:
        return [
            *super().routes(),
            web.post("/api/v3/app/installations/42/access_tokens", self._give_token),
            *git_routes("/owner/name.git", self.repository),
        ]

    def admits(self, request: web.Request) -> bool:
        authorization = request.headers.get("authorization", "")
        if request.path.startswith("/owner/name.git/"):
            user, token = basic(request)
            return user == "x-access-token" and token in self.tokens
        if request.path.endswith("/access_tokens"):
            return self._is_app(authorization.removeprefix("bearer "))
        return super().admits(request)

    def _is_app(self, proof: str) -> bool:
        try:
            return bool(jwt.decode(proof, self.public_key, algorithms=["RS256"])["iss"] == "12345")
        except jwt.InvalidTokenError:
            return False

    async def _give_token(self, request: web.Request) -> web.Response:
        self.given.append(await request.json())
        token = f"ghs_{len(self.given):036}"
        self.tokens = {token}
        until = datetime.now(timezone.utc) + timedelta(hours=1)
        return web.json_response({"token": token, "expires_at": f"{until:%Y-%m-%dT%H:%M:%SZ}"}, status=201)
