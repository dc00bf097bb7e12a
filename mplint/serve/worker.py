"""Workers: each takes a review from the queue, has it made in a process of its own, and notes how it went."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

import mplint
from mplint.errors import MplintError
from mplint.review.forge import ForgeError
from mplint.review.forges.http import Budget
from mplint.serve.assignment import ENDS, Assignment, Outcome
from mplint.serve.configuration import Configuration, clone_address
from mplint.serve.credentials import Credentials
from mplint.serve.database import Database
from mplint.serve.logs import Secrets, tell
from mplint.serve.metrics import Metrics
from mplint.serve.queue import Job, Queue

Make = Callable[[Assignment], Awaitable[Outcome]]
"""Makes a review; it is cancelled where the server ends."""

_TRIES: Final = {"exhausted": 2, "refused": 1}
"""How often an outcome is tried at most; all others, as often as there are attempts."""
_CUT_OFF: Final = 5
"""How often, beyond its attempts, a review may be cut off before it is held to be what ends the server."""
_LONGEST: Final = 3600.0
"""Seconds between two tries at most."""
_PAUSE: Final = 5.0
"""Seconds after which it is tried again what this system did not let be done."""
_PATIENCE: Final = 60.0
"""Seconds that are waited for a token."""
_TOLD: Final = 1 << 16
"""Bytes that are kept of what a review prints."""
_KEPT: Final = (
    *("PATH", "LANG", "LC_ALL", "TZ", "SYSTEMROOT", "LD_LIBRARY_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR"),
    *("GIT_SSL_CAINFO", "GIT_EXEC_PATH", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"),
    *("http_proxy", "https_proxy", "no_proxy"),
)
"""All that a review learns of the environment, in which the secrets are."""


class Workers:
    """A few of them. `stop` lets them take nothing more; cancelled, they leave in the queue what they have begun."""

    def __init__(
        self,
        configuration: Configuration,
        queue: Queue,
        credentials: Credentials,
        metrics: Metrics,
        secrets: Secrets,
        make: Make,
    ) -> None:
        self._configuration, self._queue, self._credentials = configuration, queue, credentials
        self._metrics, self._secrets, self._make = metrics, secrets, make
        self._stopping = False

    async def run(self) -> None:
        """Work until `stop` is called."""
        await asyncio.gather(*(self._work() for _ in range(self._configuration.workers)))

    def stop(self) -> None:
        """End when the reviews that run have ended."""
        self._stopping = True
        self._queue.wake()

    async def _work(self) -> None:
        while not self._stopping:
            changed = self._queue.changed
            try:
                job = await self._queue.take()
                if isinstance(job, Job):
                    await self._review(job)
                    continue
            except Exception as error:  # noqa: BLE001  (the disk may be full now, and not be so later)
                tell("the queue fails", level=logging.ERROR, cause=error)
                job = _PAUSE
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(changed.wait(), job)

    async def _review(self, job: Job) -> None:
        start = time.monotonic()
        try:
            outcome = await self._outcome(job)
        except asyncio.CancelledError:
            with suppress(sqlite3.Error):  # as one that runs it is taken up by the next server, too
                await asyncio.shield(self._queue.put_back(job))
            raise
        except OSError as error:  # this system's fault, not the review's: it lacks processes, files or memory
            tell("no review can be started", level=logging.ERROR, cause=error)
            await self._kept(partial(self._queue.put_back, job, _PAUSE))
            return
        seconds = time.monotonic() - start
        self._metrics.review(outcome, seconds)
        reason = self._secrets.masked(outcome.reason)
        tell(
            "review",
            level=logging.INFO if outcome.kind in ENDS else logging.WARNING,
            pull=str(job.pull),
            outcome=outcome.kind,
            head=outcome.head,
            found=outcome.found,
            said=outcome.said,
            resolved=outcome.resolved,
            attempt=job.attempt,
            seconds=round(seconds, 3),
            reason=reason,
        )
        await self._kept(partial(self._note, job, outcome, reason))

    async def _kept(self, note: Callable[[], Awaitable[None]]) -> None:
        """Note something in the queue, however long the disk is full."""
        while True:
            try:
                return await note()
            except sqlite3.Error as error:
                tell("the queue fails", level=logging.ERROR, cause=error)
                await asyncio.sleep(_PAUSE)

    async def _note(self, job: Job, outcome: Outcome, reason: str) -> None:
        pause = self._pause(job.attempt)
        if outcome.kind in ENDS:
            # Another head than was told: a delivery that came late, or an API that does not know of the push yet.
            is_other = job.pull.head not in ("", outcome.head)
            reviewed = None if outcome.kind == "closed" else (outcome.base, outcome.head)
            await self._queue.done(job, reviewed, pause if is_other else None)
            return
        self._credentials.forget(job.pull)
        attempts = self._configuration.patience.attempts
        if job.attempt >= min(attempts, _TRIES.get(outcome.kind, attempts)):
            await self._queue.bury(job, reason or outcome.kind)
            self._metrics.buried()
            tell("given up", level=logging.ERROR, pull=str(job.pull), attempts=job.attempt, reason=reason)
            return
        is_new = outcome.kind == "superseded" and job.attempt == 1
        await self._queue.retry(job, max(0.0 if is_new else pause, outcome.wait), reason or outcome.kind)

    async def _outcome(self, job: Job) -> Outcome:
        configuration = self._configuration
        if job.attempt > configuration.patience.attempts + _CUT_OFF:
            return Outcome("refused", "the server has ended each time that it was reviewed")
        budget = Budget(patience=_PATIENCE)
        try:
            token = await asyncio.wait_for(self._credentials.token(job.pull, budget), configuration.limits.seconds)
            assignment = Assignment(
                forge=job.pull.forge,
                api=configuration.api,
                address=clone_address(job.pull.forge, configuration.api, job.pull.repository),
                repository=job.pull.repository,
                number=job.pull.number,
                token=token,
                reviewed=job.reviewed,
                limits=configuration.limits,
                wish=configuration.wish,
            )
            return await self._make(assignment)
        except ForgeError as error:
            return Outcome("failed", str(error), error.wait)
        except MplintError as error:
            return Outcome("refused", str(error))
        except asyncio.TimeoutError:
            return Outcome("failed", f"the forge gives no token within {configuration.limits.seconds:.0f} s")
        except OSError:
            raise
        except Exception as error:  # noqa: BLE001  (one review must not end the others)
            tell("mplint itself failed", level=logging.ERROR, cause=error)
            return Outcome("exhausted", f"mplint itself failed: {type(error).__name__}: {error}")
        finally:
            self._metrics.asked(budget.requests, budget.left)

    def _pause(self, attempt: int) -> float:
        """Longer each time, and not the same for all that have failed together."""
        longest = min(self._configuration.patience.pause * 2.0 ** (attempt - 1), _LONGEST)
        return longest * random.SystemRandom().uniform(0.75, 1.25)


async def in_a_process(database: Database, assignment: Assignment) -> Outcome:
    """Have a review made in a process of its own, and leave nothing of it behind: neither processes nor files."""
    folder = Path(tempfile.mkdtemp(dir=database.work))
    try:
        return await _run(database, assignment, folder)
    finally:
        await asyncio.shield(asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True))


async def _run(database: Database, assignment: Assignment, folder: Path) -> Outcome:
    (folder / "temporary").mkdir()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "mplint.serve.reviewer"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=folder,
        env=_environment(folder),
        start_new_session=True,
        pass_fds=(database.held,),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        process.stdin.write(assignment.as_json())  # and it stays open: its end is this server's
        told = asyncio.gather(_last(process.stdout), _last(process.stderr), process.wait())
        out, errors, status = await asyncio.wait_for(told, assignment.limits.seconds)
    except asyncio.TimeoutError:
        return Outcome("exhausted", f"it takes longer than {assignment.limits.seconds:.0f} s")
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        await asyncio.shield(process.wait())
    try:
        return Outcome.from_json(out)
    except (ValueError, TypeError):
        tell("a review broke off", level=logging.ERROR, status=status, said=errors.decode(errors="replace")[-4000:])
        # Native code has no exception for memory that is not to be had: it aborts.
        hint = f": it may need more than {assignment.limits.memory} MiB of memory" if status < 0 else ""
        return Outcome("exhausted", f"its process ended with status {status}{hint}")


async def _last(stream: asyncio.StreamReader) -> bytes:
    """The end of what comes, so that a process that talks without end fills nothing."""
    kept = b""
    while part := await stream.read(_TOLD):
        kept = (kept + part)[-_TOLD:]
    return kept


def _environment(folder: Path) -> dict[str, str]:
    here = str(Path(mplint.__file__).resolve().parents[1])
    return {
        **{name: os.environ[name] for name in _KEPT if name in os.environ},
        "HOME": str(folder),
        "TMPDIR": str(folder / "temporary"),
        "PYTHONPATH": os.pathsep.join(dict.fromkeys((here, *filter(None, sys.path)))),
        "PYTHONSAFEPATH": "1",
        "PYTHONUTF8": "1",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
    }
