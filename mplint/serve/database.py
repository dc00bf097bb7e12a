"""The one file in which a server keeps what it must not forget; it belongs to one server at a time."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Final, TypeVar

from mplint.errors import MplintError

_T = TypeVar("_T")

Work = Callable[[sqlite3.Connection], _T]

_VERSION: Final = 1
_SCHEMA: Final = """
CREATE TABLE deliveries (
    id TEXT PRIMARY KEY,
    received REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX deliveries_by_age ON deliveries (received);
CREATE TABLE jobs (
    forge TEXT NOT NULL,
    repository TEXT NOT NULL COLLATE NOCASE,
    number INTEGER NOT NULL,
    installation INTEGER,
    head TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'failed')),
    again INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    since REAL NOT NULL,
    not_before REAL NOT NULL,
    reason TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (forge, repository, number)
) WITHOUT ROWID;
CREATE TABLE reviewed (
    forge TEXT NOT NULL,
    repository TEXT NOT NULL COLLATE NOCASE,
    number INTEGER NOT NULL,
    base TEXT NOT NULL,
    head TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (forge, repository, number)
) WITHOUT ROWID;
CREATE INDEX reviewed_by_age ON reviewed (at);
"""
_PATIENCE: Final = 60.0
"""Seconds that the last reviews of a server that was killed have to end; they take none, unless native code parses."""


class Database:
    """The file, open and locked; beside it lie the lock and the folder `work`, in which reviews are made.

    Reviews are given the descriptor `held`, and hold `work` by it as long as they live: the next server waits for the
    last of them. Raises MplintError where the file is in use, or none of ours.
    """

    def __init__(self, path: Path) -> None:
        path = self.path = Path(os.path.realpath(path))  # whatever other names it has, its lock has one
        if path.is_dir():
            raise MplintError(f"{path}: is a folder; name a file")
        self.work = path.with_name(f"{path.name}-work")
        with ExitStack() as opened:
            try:
                opened.callback(os.close, _locked(path))
                self.work.mkdir(mode=0o700, exist_ok=True)
                self.held = _free(self.work)
                opened.callback(os.close, self.held)
                for left in self.work.iterdir():
                    shutil.rmtree(left, ignore_errors=True)
                self._connection = opened.enter_context(closing(_connected(path)))
            except (OSError, sqlite3.Error) as error:
                raise MplintError(f"{path}: cannot be used as a database ({error})") from None
            self._thread = opened.enter_context(ThreadPoolExecutor(1, "mplint-database"))
            self._opened = opened.pop_all()

    async def run(self, work: Work[_T]) -> _T:
        """Do some work in one transaction; when this returns, it is on the disk. Raises sqlite3.Error."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._transaction, work)

    def close(self) -> None:
        """Let others have the file."""
        self._opened.close()

    def _transaction(self, work: Work[_T]) -> _T:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            result = work(self._connection)
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        return result


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """The file, to be looked at, also while a server has it. Raises MplintError."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            _require_ours(connection, path)
            yield connection
    except sqlite3.Error as error:
        raise MplintError(f"{path}: cannot be read as a database of `mplint serve` ({error})") from None


def _connected(path: Path) -> sqlite3.Connection:
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))  # SQLite would let all read it
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    [tables] = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if tables:
        _require_ours(connection, path)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    if not tables:
        connection.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version={_VERSION}; COMMIT;")
    return connection


def _require_ours(connection: sqlite3.Connection, path: Path) -> None:
    [version] = connection.execute("PRAGMA user_version").fetchone()
    if version != _VERSION:
        raise MplintError(f"{path}: is no database of this version of `mplint serve`; name another file")


def _locked(path: Path) -> int:
    """The descriptor by which this process has the file for itself."""
    try:
        import fcntl
    except ModuleNotFoundError:
        raise MplintError("mplint serve needs a system with POSIX's locks, such as Linux or macOS") from None
    lock = os.open(path.with_name(f"{path.name}-lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise MplintError(f"{path}: another `mplint serve` has it; each needs a database of its own") from None
    return lock


def _free(folder: Path) -> int:
    """The descriptor by which reviews hold their folder, as soon as those of an earlier server are gone."""
    import fcntl

    held = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                os.close(held)
                raise MplintError(f"{folder}: a review of an earlier server does not end; end it") from None
            time.sleep(0.05)
        else:
            return held
