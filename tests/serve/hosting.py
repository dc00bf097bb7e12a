"""A forge's host: git's own protocol over HTTP, and a thread to serve it in."""

from __future__ import annotations

import asyncio
import base64
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager

from aiohttp import web

from tests.review.repositories import Repository


@contextmanager
def hosted(serving: Callable[[], AbstractAsyncContextManager[str]]) -> Iterator[str]:
    """Serve in a thread, so that a test and its server can wait for it; the address."""
    started, done = threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()
    at: list[str] = []

    async def host() -> None:
        async with serving() as url:
            at.append(url)
            started.set()
            await done.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(host(),))
    thread.start()
    try:
        assert started.wait(30)
        yield at[0]
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join(30)
        loop.close()


def basic(request: web.Request) -> tuple[str, str]:
    """Who asks, and with which token; git is asked for both, when it comes without."""
    word, _, secret = request.headers.get("authorization", "").partition(" ")
    user, _, token = base64.b64decode(secret).decode().partition(":") if word == "Basic" else ("", "", "")
    return user, token


def git_routes(at: str, repository: Repository) -> list[web.RouteDef]:
    """A repository, as git itself serves it."""
    repository.git("config", "uploadpack.allowAnySHA1InWant", "true")

    async def serve(request: web.Request) -> web.Response:
        body = await request.read()
        process = await asyncio.create_subprocess_exec(
            *("git", "http-backend"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={
                "PATH": os.environ["PATH"],
                "GIT_PROJECT_ROOT": str(repository.top),
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

    return [web.get(f"{at}/{{place:.*}}", serve), web.post(f"{at}/{{place:.*}}", serve)]
