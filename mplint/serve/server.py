"""The server: what it answers, how it begins, and how it ends."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Final

from aiohttp import web

from mplint.errors import MplintError
from mplint.serve import worker
from mplint.serve.configuration import Configuration
from mplint.serve.credentials import Credentials, Fixed, Installed
from mplint.serve.database import Database
from mplint.serve.deliveries import GitHubWebhook, GitLabWebhook, Unacceptable, Webhook
from mplint.serve.logs import Secrets, tell
from mplint.serve.metrics import CONTENT_TYPE, Metrics
from mplint.serve.queue import Queue
from mplint.serve.worker import Make, Workers

_PATIENCE: Final = 30.0
"""Seconds that a delivery may take to arrive."""
_MARGIN: Final = 120.0
"""Seconds that a token must last longer than a review may."""

_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Server:
    """One server, with all that it has open.

    `make` takes the place of a process for each review.
    """

    def __init__(self, configuration: Configuration, secrets: Secrets, make: Make | None = None) -> None:
        self._configuration, self._secrets = configuration, secrets
        secrets.add(configuration.secret, configuration.token or "", *(configuration.app or ())[1:])
        self.metrics = Metrics()
        self._webhook = _webhook(configuration)
        credentials = _credentials(configuration, secrets)
        self._database = Database(configuration.database)
        self.queue = Queue(self._database)
        make = make or partial(worker.in_a_process, self._database)
        self._workers = Workers(configuration, self.queue, credentials, self.metrics, secrets, make)
        self._stopping = asyncio.Event()

    @asynccontextmanager
    async def listening(self, *, retry_failed: bool = False) -> AsyncIterator[tuple[str, int]]:
        """Listen and work; gives host and port. At the end, what is not done within the grace stays in the queue."""
        working: asyncio.Task[None] | None = None
        runner = web.AppRunner(self._application(), access_log=None, handle_signals=False, shutdown_timeout=5.0)
        try:
            taken_up = await self._taken_up(retry_failed=retry_failed)
            await runner.setup()
            at = await self._bound(runner)
            tell("listening", host=at[0], port=at[1], taken_up=taken_up)
            working = asyncio.create_task(self._workers.run())
            yield at
            await self._end(working)
        finally:
            await runner.cleanup()
            if working is not None:
                working.cancel()
                with suppress(asyncio.CancelledError):
                    await working
            self._database.close()
            tell("ended")

    @property
    def is_stopping(self) -> bool:
        """Whether it begins no more reviews."""
        return self._stopping.is_set()

    def stop(self) -> None:
        """Begin no more reviews, and end."""
        self._stopping.set()

    async def stopped(self) -> None:
        """Wait until it is to end."""
        await self._stopping.wait()

    async def _taken_up(self, *, retry_failed: bool) -> int:
        try:
            return await self.queue.recover(retry_failed=retry_failed)
        except sqlite3.Error as error:
            raise MplintError(f"{self._database.path}: cannot be used as a database ({error})") from None

    async def _bound(self, runner: web.AppRunner) -> tuple[str, int]:
        host, port = self._configuration.host, self._configuration.port
        try:
            await web.TCPSite(runner, host, port).start()
        except (OSError, UnicodeError) as error:  # the latter where the host is no name of any
            raise MplintError(f"cannot listen at {host}:{port}: {getattr(error, 'strerror', error)}") from None
        address = runner.addresses[0]
        return str(address[0]), int(address[1])

    async def _end(self, working: asyncio.Task[None]) -> None:
        """Let the reviews that run end; deliveries are still taken, for the queue outlives the server."""
        self._stopping.set()
        self._workers.stop()
        tell("ending", grace=self._configuration.grace)
        await asyncio.wait({working}, timeout=self._configuration.grace)

    # What it answers

    def _application(self) -> web.Application:
        application = web.Application(middlewares=[_answered])
        application.add_routes(
            [
                web.post("/webhook", self._receive),
                web.get("/healthz", self._health),
                web.get("/readyz", self._ready),
                web.get("/metrics", self._measured),
            ]
        )
        return application

    async def _receive(self, request: web.Request) -> web.Response:
        event = request.headers.get("X-GitHub-Event", "")
        identity = outcome = reason = ""
        pull: object = ""
        status = 200
        try:
            body = await self._body(request)
            self._webhook.authenticate(request.headers, body)
            delivery = self._webhook.read(request.headers, body)
            event, identity, pull = delivery.event, delivery.identity, delivery.pull or ""
            is_new = await self.queue.add(identity, delivery.pull)
            outcome = "duplicate" if not is_new else "ignored" if delivery.pull is None else "queued"
            status = 202 if outcome == "queued" else 200
        except Unacceptable as error:
            status, outcome, reason = error.status, "refused", str(error)
        except sqlite3.Error as error:
            tell("the database fails", level=logging.ERROR, cause=error)
            status, outcome, reason = 503, "not kept", "the database cannot be written to"
        known = event if identity else "unknown"
        self.metrics.delivery(known, outcome)
        tell("delivery", event_name=known, id=identity, pull=str(pull), outcome=outcome, status=status)
        return web.json_response({"outcome": outcome, **({"reason": reason} if reason else {})}, status=status)

    async def _body(self, request: web.Request) -> bytes:
        """What was sent, unless it is too much, or no JSON."""
        largest = self._configuration.largest
        too_large = Unacceptable(413, f"is larger than {largest} bytes")
        if request.content_type != "application/json":
            raise Unacceptable(415, "is no application/json: choose that as the webhook's content type")
        if (request.content_length or 0) > largest:
            raise too_large
        body = bytearray()

        async def read() -> None:
            async for part in request.content.iter_chunked(1 << 16):
                body.extend(part)
                if len(body) > largest:
                    raise too_large

        try:
            await asyncio.wait_for(read(), _PATIENCE)
        except asyncio.TimeoutError:
            raise Unacceptable(408, "takes too long to arrive") from None
        except (web.RequestPayloadError, ConnectionError):
            raise Unacceptable(400, "cannot be read") from None
        return bytes(body)

    async def _health(self, request: web.Request) -> web.Response:
        return web.json_response({"status": "alive"})

    async def _ready(self, request: web.Request) -> web.Response:
        if self.is_stopping:
            return web.json_response({"status": "ending"}, status=503)
        try:
            await self.queue.probe()
        except sqlite3.Error as error:
            tell("the database fails", level=logging.ERROR, cause=error)
            return web.json_response({"status": "the database cannot be written to"}, status=503)
        return web.json_response({"status": "ready"})

    async def _measured(self, request: web.Request) -> web.Response:
        text = self.metrics.text(await self.queue.depth(), time.time())
        return web.Response(body=text, headers={"Content-Type": CONTENT_TYPE})


async def serve(configuration: Configuration, secrets: Secrets, *, retry_failed: bool = False) -> None:
    """Serve until a signal comes; a second one ends everything at once, and loses nothing either."""
    server = Server(configuration, secrets)
    loop = asyncio.get_running_loop()

    def signalled() -> None:
        if server.is_stopping:
            tell("ended at once", level=logging.WARNING)
            os._exit(1)  # reviews end with the server, and are made anew by the next one
        server.stop()

    for each in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(each, signalled)
    async with server.listening(retry_failed=retry_failed):
        await server.stopped()


@web.middleware
async def _answered(request: web.Request, handler: _Handler) -> web.StreamResponse:
    """Every request has an answer, and none of them tells what went wrong inside."""
    try:
        return await handler(request)
    except (web.HTTPException, asyncio.CancelledError):
        raise
    except Exception as error:  # noqa: BLE001  (whatever it is, the server goes on)
        tell("a request fails", level=logging.ERROR, cause=error, path=request.path)
        return web.json_response({"outcome": "failed"}, status=500)


def _webhook(configuration: Configuration) -> Webhook:
    if configuration.forge == "gitlab":
        return GitLabWebhook(configuration.secret)
    return GitHubWebhook(configuration.secret, needs_installation=configuration.app is not None)


def _credentials(configuration: Configuration, secrets: Secrets) -> Credentials:
    if configuration.app is not None:
        from mplint.review.forges.app import App
        from mplint.review.forges.http import WallClock

        app = App(*configuration.app, configuration.api, WallClock())
        return Installed(app, secrets, configuration.limits.seconds + _MARGIN)
    assert configuration.token is not None
    return Fixed(configuration.token)
