"""HTTP as a forge wants it: what is refused for now is asked again later, what is broken is asked again soon."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Final, Protocol
from urllib.parse import urlsplit

import httpx

from mplint.review.forge import ForgeError, Uncertain

_TRIES: Final = 6
_PAUSE: Final = 60.0
"""Seconds after a refusal that names no time."""
_LARGEST: Final = 64 << 20
_NOT_SENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


class Clock(Protocol):
    """The time, and waiting for it."""

    def now(self) -> float:
        """Seconds since 1970."""

    async def sleep(self, seconds: float) -> None:
        """Let others go on for so long."""


class WallClock:
    """The clock on the wall."""

    def now(self) -> float:
        """Seconds since 1970."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Let others go on for so long."""
        await asyncio.sleep(seconds)


@dataclass
class Budget:
    """What a session may spend, and has spent.

    `patience` are the seconds that it may still wait, all waits together; `requests` counts what it has sent, and
    `left` is what the forge has last said that it may send.
    """

    patience: float = 900.0
    requests: int = 0
    left: int | None = None


@dataclass(frozen=True)
class Response:
    """An answer, read to its end."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport:
    """Sends requests to one forge, and to no other place, whatever an answer says."""

    def __init__(self, client: httpx.AsyncClient, api: str, clock: Clock, budget: Budget | None = None) -> None:
        self._client, self._origin, self._clock = client, _origin(api), clock
        self._budget = Budget() if budget is None else budget
        self._not_before = 0.0

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes = b"", *, repeatable: bool
    ) -> Response:
        """Send a request until it is answered.

        One that is not `repeatable` makes something: where the answer is lost, it raises Uncertain.
        """
        if _origin(url) != self._origin:
            raise ForgeError(f"{urlsplit(url).netloc}: is not the forge that was asked; its answer leads elsewhere")
        for number in range(_TRIES):
            pause = 2.0**number
            if (wait := self._not_before - self._clock.now()) > 0:
                await self._wait(wait, url)
            try:
                response = await self._sent(method, url, headers, body)
            except httpx.RequestError as error:
                what = type(error).__name__
                if not repeatable and not isinstance(error, _NOT_SENT):
                    await self._wait(pause, url)
                    raise Uncertain(f"{urlsplit(url).netloc}: the answer was lost ({what})") from None
            else:
                refused = self._refused_for(response, number)
                if refused is None and response.status < 500 and _is_whole(response):
                    self._note_limit(response)
                    return response
                what = f"status {response.status}" if response.status >= 300 else "half an answer"
                if refused is not None:
                    await self._wait(refused, url)
                    continue
                if response.status == 503:  # away for a known time, maybe
                    pause = max(pause, self._asked_to_wait(response) or 0.0)
                if not repeatable:
                    await self._wait(pause, url)
                    raise Uncertain(f"{urlsplit(url).netloc}: the answer was lost ({what})")
            await self._wait(pause, url)
        raise ForgeError(f"{urlsplit(url).netloc}: does not answer ({what}); try again later")

    async def _sent(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> Response:
        self._budget.requests += 1
        async with self._client.stream(method, url, headers=dict(headers), content=body) as answer:
            content = bytearray()
            async for part in answer.aiter_bytes():
                content += part
                if len(content) > _LARGEST:
                    raise ForgeError(f"{urlsplit(url).netloc}: answers with more than {_LARGEST} bytes")
            return Response(answer.status_code, answer.headers, bytes(content))

    def _refused_for(self, response: Response, number: int) -> float | None:
        """Seconds for which a request is refused because there were too many; None where that is not why."""
        headers = response.headers
        told = response.body[:2000].lower()
        is_limit = response.status == 429 or (
            response.status == 403
            and (
                "retry-after" in headers
                or headers.get("x-ratelimit-remaining") == "0"
                or b"rate limit" in told
                or b"abuse detection" in told
            )
        )
        is_limit = is_limit or (told.startswith(b'{"errors"') and b'"rate_limited"' in told)  # GraphQL's 200
        if not is_limit:
            return None
        if (after := self._asked_to_wait(response)) is not None:
            return max(after, 1.0)
        reset = _number(headers.get("x-ratelimit-reset")) or _number(headers.get("ratelimit-reset"))
        if reset is not None and headers.get("x-ratelimit-remaining", "0") == "0":
            return max(reset - self._clock.now(), 0.0) + 1.0
        return _PAUSE * 2.0**number

    def _asked_to_wait(self, response: Response) -> float | None:
        """Seconds that an answer asks to wait for, told as such or as a date."""
        after = response.headers.get("retry-after", "")
        try:
            return parsedate_to_datetime(after).timestamp() - self._clock.now()
        except (ValueError, OverflowError):
            return _number(after)

    def _note_limit(self, response: Response) -> None:
        """Where the last request of the hour is spent, the next one waits."""
        left = _number(response.headers.get("x-ratelimit-remaining") or response.headers.get("ratelimit-remaining"))
        if left is not None:
            self._budget.left = int(left)
        reset = _number(response.headers.get("x-ratelimit-reset"))
        if response.headers.get("x-ratelimit-remaining") == "0" and reset is not None:
            self._not_before = reset + 1.0

    async def _wait(self, seconds: float, url: str) -> None:
        if seconds > self._budget.patience:
            error = ForgeError(
                f"{urlsplit(url).netloc}: asks to wait for {seconds:.0f} s, which is too long; try again later"
            )
            error.wait = seconds
            raise error
        self._budget.patience -= seconds
        await self._clock.sleep(seconds)


def _is_whole(response: Response) -> bool:
    """Whether an answer that should be JSON is."""
    if "json" not in response.headers.get("content-type", "") or not response.body:
        return True
    try:
        json.loads(response.body)
    except ValueError:
        return False
    return True


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "nan")
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc
