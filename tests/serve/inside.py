"""A server in the process of a test, with reviews that are made as the test wants."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from mplint.serve.assignment import Assignment, Outcome
from mplint.serve.configuration import Configuration, Patience
from mplint.serve.logs import Secrets
from mplint.serve.server import Server
from tests.serve.served import SECRET, TOKEN, signed

Answer = Callable[[Assignment], Outcome]


class Reviewer:
    """Notes what it is to review, and does it when `let` allows it."""

    def __init__(self, answer: Answer | None = None) -> None:
        self.seen: list[Assignment] = []
        self.running: list[int] = []
        self.most = 0
        self.let = threading.Event()
        self.let.set()
        self._answer = answer or (lambda assignment: Outcome("reviewed", base="b", head="h"))

    async def __call__(self, assignment: Assignment) -> Outcome:
        assert assignment.number not in self.running, "one review at a time of a pull request"
        self.running.append(assignment.number)
        self.most = max(self.most, len(self.running))
        try:
            await asyncio.to_thread(self.let.wait)
            self.seen.append(assignment)
            return self._answer(assignment)
        finally:
            self.running.remove(assignment.number)


@contextmanager
def running(
    folder: Path, make: Callable[[Assignment], Awaitable[Outcome]], **configured: Any
) -> Iterator[tuple[httpx.Client, Server]]:
    """A client of a server that runs in a thread; it has ended at the end."""
    known: dict[str, Any] = {"secret": SECRET, "token": TOKEN, "port": 0, "patience": Patience(3, 0.0), "grace": 10.0}
    server = Server(Configuration(folder / "serve.sqlite", **{**known, **configured}), Secrets(), make)
    started, loop = threading.Event(), asyncio.new_event_loop()
    at: list[tuple[str, int]] = []

    async def run() -> None:
        async with server.listening() as place:
            at.append(place)
            started.set()
            await server.stopped()

    thread = threading.Thread(target=loop.run_until_complete, args=(run(),))
    thread.start()
    assert started.wait(30)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{at[0][1]}", timeout=60) as client:
            yield client, server
    finally:
        loop.call_soon_threadsafe(server.stop)
        thread.join(60)
        assert not thread.is_alive()
        loop.close()


def call(client: httpx.Client, body: bytes, event: str = "pull_request", delivery: str = "") -> httpx.Response:
    """A delivery with a right signature."""
    return client.post("/webhook", content=body, headers=signed(body, event, delivery))
