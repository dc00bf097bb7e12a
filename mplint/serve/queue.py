"""What is to be reviewed, on disk: a delivery that was acknowledged is never lost, and never done twice."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from mplint.review.environment import ForgeName
from mplint.serve.database import Database, reading

_REMEMBERED: Final = 30 * 86400.0
"""Seconds for which a delivery is known again; GitHub sends one again for three days."""
_KNOWN: Final = 180 * 86400.0
"""Seconds for which it is known what was reviewed: after that, a review finds out that there is nothing new."""

_TAKE: Final = """
UPDATE jobs SET state = 'running', attempts = attempts + 1 WHERE forge = ? AND repository = ? AND number = ?
"""
_AGAIN: Final = """
UPDATE jobs SET state = 'waiting', again = 0, attempts = 0, since = ?, not_before = 0, reason = ''
WHERE again = 1 AND forge = ? AND repository = ? AND number = ?
"""
_DONE: Final = "DELETE FROM jobs WHERE forge = ? AND repository = ? AND number = ?"
_RETRY: Final = """
UPDATE jobs SET state = 'waiting', not_before = ?, reason = ? WHERE forge = ? AND repository = ? AND number = ?
"""
_PUT_BACK: Final = """
UPDATE jobs SET state = 'waiting', attempts = attempts - 1, not_before = ?
WHERE forge = ? AND repository = ? AND number = ?
"""
_LOOK_AGAIN: Final = """
UPDATE jobs SET state = 'waiting', head = '', attempts = 0, not_before = ?, reason = ''
WHERE forge = ? AND repository = ? AND number = ?
"""
_BURY: Final = "UPDATE jobs SET state = 'failed', reason = ? WHERE forge = ? AND repository = ? AND number = ?"


class Pull(NamedTuple):
    """A pull request; `installation` is that of the app and `head` its last commit, where they are told."""

    forge: ForgeName
    repository: str
    number: int
    installation: int | None = None
    head: str = ""

    @property
    def key(self) -> tuple[str, str, int]:
        """What tells it from all others."""
        return self.forge, self.repository, self.number

    def __str__(self) -> str:
        return f"{self.repository}#{self.number}"


@dataclass(frozen=True)
class Job:
    """A review to make, now for the `attempt`th time; `reviewed` are the commits of the last one that was made."""

    pull: Pull
    attempt: int
    reviewed: tuple[str, str] | None


@dataclass(frozen=True)
class Failed:
    """A review that is not tried any more."""

    pull: Pull
    attempts: int
    since: float
    reason: str


class Depth(NamedTuple):
    """How many reviews there are to make, and since when the oldest of them waits, in seconds since 1970."""

    waiting: int
    running: int
    failed: int
    oldest: float | None


class Queue:
    """One row a pull request, so that newer pushes join the review that waits, and one review of it is made at a time.

    A row that is `running` when a server starts is one that was cut off, for the database has no other server.
    """

    def __init__(self, database: Database, now: Callable[[], float] = time.time) -> None:
        self._database, self._now = database, now
        self.changed = asyncio.Event()
        """Set as soon as there may be more to take; whoever waits has taken hold of it before it looked."""

    async def recover(self, *, retry_failed: bool = False) -> int:
        """Take up what was cut off, and what has failed if that is wanted; gives how much."""

        def work(connection: sqlite3.Connection) -> int:
            taken = connection.execute("UPDATE jobs SET state = 'waiting', again = 0 WHERE state = 'running'").rowcount
            if retry_failed:
                again = "UPDATE jobs SET state = 'waiting', attempts = 0, not_before = 0 WHERE state = 'failed'"
                taken += connection.execute(again).rowcount
            return taken

        return await self._database.run(work)

    async def add(self, delivery: str, pull: Pull | None) -> bool:
        """Remember a delivery, and what it makes necessary, if anything; False where it was here before."""
        now = self._now()

        def work(connection: sqlite3.Connection) -> bool:
            connection.execute("DELETE FROM deliveries WHERE received < ?", (now - _REMEMBERED,))
            new = connection.execute("INSERT OR IGNORE INTO deliveries VALUES (?, ?)", (delivery, now)).rowcount
            if new and pull is not None:
                connection.execute(
                    """
                    INSERT INTO jobs (forge, repository, number, installation, head, state, since, not_before)
                    VALUES (?, ?, ?, ?, ?, 'waiting', ?, 0)
                    ON CONFLICT DO UPDATE SET
                        repository = excluded.repository,
                        installation = excluded.installation,
                        head = excluded.head,
                        again = state = 'running',
                        attempts = iif(state = 'running', attempts, 0),
                        since = iif(state = 'failed', excluded.since, since),
                        not_before = iif(state = 'failed', excluded.not_before, not_before),
                        state = iif(state = 'failed', 'waiting', state)
                    """,
                    (*pull, now),
                )
            return bool(new)

        is_new = await self._database.run(work)
        if is_new and pull is not None:
            self.wake()
        return is_new

    async def take(self) -> Job | float:
        """The next review to make, or the seconds until there may be one."""
        now = self._now()

        def work(connection: sqlite3.Connection) -> Job | float:
            found = connection.execute(
                """
                SELECT forge, repository, number, installation, head, attempts, not_before FROM jobs
                WHERE state = 'waiting' ORDER BY max(not_before, since) LIMIT 1
                """
            ).fetchone()
            if found is None:
                return 3600.0
            pull, attempts, not_before = Pull(*found[:5]), found[5], found[6]
            if not_before > now:
                return float(min(not_before - now, 3600.0))
            connection.execute(_TAKE, pull.key)
            reviewed = connection.execute(
                "SELECT base, head FROM reviewed WHERE forge = ? AND repository = ? AND number = ?", pull.key
            ).fetchone()
            return Job(pull, attempts + 1, reviewed)

        return await self._database.run(work)

    async def done(self, job: Job, reviewed: tuple[str, str] | None, look_again: float | None = None) -> None:
        """There is nothing left to do, after a review of these commits if there was one.

        Some seconds later it may be looked once more what is there, whatever that is.
        """
        now = self._now()

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM reviewed WHERE at < ?", (now - _KNOWN,))
            if reviewed is not None:
                row = (*job.pull.key, *reviewed, now)
                connection.execute("INSERT OR REPLACE INTO reviewed VALUES (?, ?, ?, ?, ?, ?)", row)
            if look_again is None:
                self._again_or(connection, job, _DONE)
            else:
                self._again_or(connection, job, _LOOK_AGAIN, now + look_again)

        await self._database.run(work)
        self.wake()

    async def retry(self, job: Job, after: float, reason: str) -> None:
        """Try it once more, some seconds later."""
        await self._otherwise(job, _RETRY, self._now() + after, reason)

    async def put_back(self, job: Job, after: float = 0.0) -> None:
        """It was not the review's fault that it was not made: some seconds later, it is as if it had not been tried."""
        await self._otherwise(job, _PUT_BACK, self._now() + after)

    async def bury(self, job: Job, reason: str) -> None:
        """Try it no more; only a new delivery, or a person, takes it up again."""
        await self._otherwise(job, _BURY, reason)

    async def depth(self) -> Depth:
        """How much there is to do. Raises sqlite3.Error where the database is not to be had."""

        def work(connection: sqlite3.Connection) -> Depth:
            counts = dict(connection.execute("SELECT state, count(*) FROM jobs GROUP BY state"))
            [oldest] = connection.execute("SELECT min(since) FROM jobs WHERE state != 'failed'").fetchone()
            return Depth(counts.get("waiting", 0), counts.get("running", 0), counts.get("failed", 0), oldest)

        return await self._database.run(work)

    async def probe(self) -> None:
        """Write to the database, to see that it can be written to. Raises sqlite3.Error."""
        now = self._now()
        await self._database.run(
            lambda connection: connection.execute("INSERT OR REPLACE INTO deliveries VALUES ('', ?)", (now,))
        )

    def wake(self) -> None:
        """Let all that wait look again."""
        self.changed.set()
        self.changed = asyncio.Event()

    async def _otherwise(self, job: Job, statement: str, *values: object) -> None:
        await self._database.run(lambda connection: self._again_or(connection, job, statement, *values))
        self.wake()

    def _again_or(self, connection: sqlite3.Connection, job: Job, statement: str, *values: object) -> None:
        """What was pushed while the review ran is reviewed at once; else what is to be done otherwise."""
        if not connection.execute(_AGAIN, (self._now(), *job.pull.key)).rowcount:
            connection.execute(statement, (*values, *job.pull.key))


def failed(path: Path) -> Iterator[Failed]:
    """The reviews in a database that are not tried any more, the oldest first."""
    with reading(path) as connection:
        rows = connection.execute(
            "SELECT forge, repository, number, installation, head, attempts, since, reason FROM jobs "
            "WHERE state = 'failed' ORDER BY since"
        )
        for row in rows:
            yield Failed(Pull(*row[:5]), *row[5:])
