"""The strict fake of GitHub as a whole host: with its repository over git's own protocol, and with apps."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from typing import Any

import jwt
from aiohttp import web

from tests.review.fake_github import FakeGitHub
from tests.review.repositories import Repository


class HostedGitHub(FakeGitHub):
    """It runs in a thread of its own, so that a test and its server can wait for it."""

    def __init__(self, repository: Repository, token: str) -> None:
        super().__init__(repository)
        self.tokens = {token}
        self.public_key = ""
        self.given: list[dict[str, Any]] = []
        repository.git("config", "uploadpack.allowAnySHA1InWant", "true")
        repository.git("config", "uploadpack.allowFilter", "true")

    @contextmanager
    def hosted(self) -> Iterator[str]:
        """The address of its API."""
        started, done = threading.Event(), asyncio.Event()
        loop = asyncio.new_event_loop()

        async def host() -> None:
            async with self.serving():
                started.set()
                await done.wait()

        thread = threading.Thread(target=loop.run_until_complete, args=(host(),))
        thread.start()
        try:
            assert started.wait(30)
            yield self.url
        finally:
            loop.call_soon_threadsafe(done.set)
            thread.join(30)
            loop.close()

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
            web.get("/owner/name.git/{place:.*}", self._git),
            web.post("/owner/name.git/{place:.*}", self._git),
        ]

    def admits(self, request: web.Request) -> bool:
        authorization = request.headers.get("authorization", "")
        if request.path.startswith("/owner/name.git/"):
            word, _, secret = authorization.partition(" ")
            user, _, token = base64.b64decode(secret).decode().partition(":")
            return word == "Basic" and user == "x-access-token" and token in self.tokens
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

    async def _git(self, request: web.Request) -> web.Response:
        """The repository, as git itself serves it."""
        body = await request.read()
        process = await asyncio.create_subprocess_exec(
            *("git", "http-backend"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={
                "PATH": os.environ["PATH"],
                "GIT_PROJECT_ROOT": str(self.repository.top),
                "GIT_HTTP_EXPORT_ALL": "1",
                "GIT_CONFIG_GLOBAL": os.devnull,
                "GIT_PROTOCOL": request.headers.get("git-protocol", ""),
                "PATH_INFO": f"/.git/{request.match_info['place']}",
                "REQUEST_METHOD": request.method,
                "QUERY_STRING": request.query_string,
                "CONTENT_TYPE": request.headers.get("content-type", ""),
                "CONTENT_LENGTH": str(len(body)),
            },
        )
        told, _ = await process.communicate(body)
        head, _, content = told.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        status = int(headers.pop("Status", "200").split()[0])
        return web.Response(status=status, headers=headers, body=content)


def as_body(content: object) -> bytes:
    """What a webhook sends."""
    return json.dumps(content).encode()
