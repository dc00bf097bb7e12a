"""The queue by itself, with a clock that nobody waits for."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from mplint.errors import MplintError
from mplint.serve.database import Database
from mplint.serve.queue import Job, Pull, Queue, failed

_T = TypeVar("_T")

PULL = Pull("github", "owner/name", 7, 42, "head")


class Life:
    """One server's life with a database."""

    def __init__(self, folder: Path) -> None:
        self.now = 1_000_000.0
        self._path = folder / "serve.sqlite"
        self._start()

    def _start(self) -> None:
        self.database = Database(self._path)
        self.queue = Queue(self.database, lambda: self.now)

    def restart(self) -> int:
        self.database.close()
        self._start()
        return self.run(self.queue.recover)

    def run(self, ask: Callable[..., Awaitable[_T]], *arguments: object) -> _T:
        async def asked() -> _T:
            return await ask(*arguments)

        return asyncio.run(asked())

    def take(self) -> Job:
        job = self.run(self.queue.take)
        assert isinstance(job, Job)
        return job

    @property
    def depth(self) -> tuple[int, int, int]:
        return self.run(self.queue.depth)[:3]


def test_the_way_of_a_review(tmp_path: Path) -> None:
    life = Life(tmp_path)
    assert life.run(life.queue.take) == 3600.0
    assert life.run(life.queue.add, "one", PULL)
    assert not life.run(life.queue.add, "one", PULL)
    assert life.depth == (1, 0, 0)
    job = life.take()
    assert job == Job(PULL, 1, None)
    assert life.run(life.queue.take) == 3600.0, "it runs already"
    life.run(life.queue.retry, job, 30.0, "no answer")
    assert life.run(life.queue.take) == 30.0
    life.now += 30
    assert life.take().attempt == 2
    life.run(life.queue.done, job, ("b", "h"))
    assert life.depth == (0, 0, 0)
    life.run(life.queue.add, "two", PULL)
    assert life.take() == Job(PULL, 1, ("b", "h"))


def test_what_was_cut_off_is_taken_up(tmp_path: Path) -> None:
    life = Life(tmp_path)
    life.run(life.queue.add, "one", PULL)
    life.take()
    life.run(life.queue.add, "two", PULL._replace(head="newer"))
    assert life.restart() == 1
    assert life.take() == Job(PULL._replace(head="newer"), 2, None), "a try that ended the server counts"
    life.run(life.queue.put_back, Job(PULL, 2, None))
    assert life.take().attempt == 2


def test_what_was_given_up_is_listed_and_comes_back(tmp_path: Path) -> None:
    life = Life(tmp_path)
    life.run(life.queue.add, "one", PULL)
    life.run(life.queue.bury, life.take(), "no")
    assert [(one.pull, one.attempts, one.reason) for one in failed(tmp_path / "serve.sqlite")] == [(PULL, 1, "no")]
    assert life.restart() == 0
    assert life.depth == (0, 0, 1)
    life.run(life.queue.add, "two", PULL)
    assert life.take().attempt == 1


def test_a_clock_that_is_put_back_delays_nothing_new(tmp_path: Path) -> None:
    life = Life(tmp_path)
    life.run(life.queue.add, "one", PULL)
    life.now -= 7200
    job = life.take()
    life.run(life.queue.add, "two", PULL)
    life.run(life.queue.done, job, ("b", "h"))
    life.now -= 7200
    assert life.take().attempt == 1


def test_one_more_look_is_a_new_review(tmp_path: Path) -> None:
    life = Life(tmp_path)
    life.run(life.queue.add, "one", PULL)
    life.run(life.queue.done, life.take(), ("b", "h"), 30.0)
    assert life.run(life.queue.take) == 30.0
    life.now += 30
    assert life.take() == Job(PULL._replace(head=""), 1, ("b", "h")), "whatever is there now"


def test_a_repository_has_one_name_however_it_is_written(tmp_path: Path) -> None:
    life, other = Life(tmp_path), PULL._replace(repository="Owner/Name")
    life.run(life.queue.add, "one", PULL)
    job = life.take()
    life.run(life.queue.add, "two", other)
    assert life.depth == (0, 1, 0), "there are never two reviews of one pull request"
    life.run(life.queue.done, job, ("b", "h"))
    assert life.take() == Job(other, 1, ("b", "h"))


def test_deliveries_are_forgotten_in_the_end(tmp_path: Path) -> None:
    life = Life(tmp_path)
    life.run(life.queue.add, "one", None)
    life.now += 29 * 86400
    assert not life.run(life.queue.add, "one", None)
    life.now += 2 * 86400
    assert life.run(life.queue.add, "one", None)


def test_a_database_of_another_version(tmp_path: Path) -> None:
    Life(tmp_path).database.close()
    with sqlite3.connect(tmp_path / "serve.sqlite") as connection:
        connection.execute("PRAGMA user_version = 99")
    for _ in range(2):  # and it is not left locked
        with pytest.raises(MplintError, match="is no database of this version"):
            Life(tmp_path)


PULLS = st.sampled_from([PULL, PULL._replace(number=8), PULL._replace(repository="owner/other")])


class Lives(RuleBasedStateMachine):
    """Deliveries, reviews and ends in any order: what came after the last look at a pull request is not lost."""

    folder: Path

    @initialize()
    def start(self) -> None:
        for file in self.folder.glob("serve.sqlite*"):
            if file.is_file():
                file.unlink()
        self.life = Life(self.folder)
        self.count = 0
        self.pending: set[Pull] = set()
        self.running: dict[Pull, Job] = {}

    @rule(pull=PULLS)
    def deliver(self, pull: Pull) -> None:
        self.count += 1
        assert self.life.run(self.life.queue.add, f"d{self.count}", pull)
        assert not self.life.run(self.life.queue.add, f"d{self.count}", pull)
        self.pending.add(pull)

    @rule()
    def take(self) -> None:
        self.life.now += 3600
        job = self.life.run(self.life.queue.take)
        possible = self.pending - set(self.running)
        assert isinstance(job, Job) == bool(possible)
        if isinstance(job, Job):
            assert job.pull in possible
            self.pending.discard(job.pull)
            self.running[job.pull] = job

    @rule(pull=PULLS, fails=st.booleans())
    def end(self, pull: Pull, fails: bool) -> None:
        job = self.running.pop(pull, None)
        if job is not None and fails:
            self.life.run(self.life.queue.retry, job, 60.0, "no")
            self.pending.add(pull)
        elif job is not None:
            self.life.run(self.life.queue.done, job, ("b", "h"))

    @rule()
    def restart(self) -> None:
        self.life.restart()
        self.pending |= set(self.running)
        self.running.clear()

    @invariant()
    def all_is_there(self) -> None:
        waiting, running, given_up = self.life.depth
        assert (waiting, running, given_up) == (len(self.pending - set(self.running)), len(self.running), 0)

    def teardown(self) -> None:
        if hasattr(self, "life"):
            self.life.database.close()


def test_any_order_of_events(tmp_path: Path) -> None:
    Lives.folder = tmp_path
    case = Lives.TestCase
    case.settings = settings(max_examples=30, stateful_step_count=25)
    case().runTest()


def test_nobody_else_reads_or_writes_its_files(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        life = Life(tmp_path)
        life.run(lambda: life.queue.add("one", PULL))
        assert len(list(tmp_path.iterdir())) >= 3
        assert not [file for file in tmp_path.iterdir() if file.stat().st_mode & 0o077]
    finally:
        os.umask(before)
