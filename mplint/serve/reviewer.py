"""The process that makes one review: it reads its assignment, says how it went, and goes when its server does.

Started as `python -m mplint.serve.reviewer`, as the leader of a group of processes.
"""

from __future__ import annotations

import asyncio
import math
import os
import signal
import sys
import threading
import traceback
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mplint.errors import MplintError
from mplint.findings import Severity
from mplint.review.checking import Asked
from mplint.review.environment import Place, connected
from mplint.review.forge import Forge, ForgeError
from mplint.review.reviewing import Taste
from mplint.review.session import review_pull_request
from mplint.serve.assignment import Assignment, Outcome
from mplint.serve.checkout import CheckoutError, TooLarge, fetch

if TYPE_CHECKING:
    from mplint.review.forges.http import Budget

_PATIENCE = 60.0
"""Seconds that it waits for a forge that refuses; the server waits longer, and has its worker free meanwhile."""
_LONGEST = 4000
"""Characters of a reason, which may be in words of the repository."""


def main() -> None:
    """Review what standard input says; nothing but the outcome goes to standard output."""
    out = os.dup(1)
    os.dup2(2, 1)
    assignment = Assignment.from_json(_line())
    threading.Thread(target=_end_with_server, daemon=True).start()
    _limit(assignment)
    outcome = review(assignment, Path.cwd())
    os.write(out, outcome.as_json())
    sys.stderr.flush()
    os._exit(0)


def review(assignment: Assignment, folder: Path) -> Outcome:
    """Make a review in an empty folder."""
    try:
        from mplint.review.forges.http import Budget

        budget = Budget(patience=_PATIENCE)
        outcome = _outcome(assignment, folder, budget)
    except MemoryError:
        return Outcome("exhausted", f"it needs more than {assignment.limits.memory} MiB of memory")
    return replace(outcome, reason=outcome.reason[:_LONGEST], requests=budget.requests, left=budget.left)


def _outcome(assignment: Assignment, folder: Path, budget: Budget) -> Outcome:
    try:
        return asyncio.run(_reviewed(assignment, folder, budget))
    except ForgeError as error:
        return Outcome("failed", str(error), error.wait)
    except TooLarge:
        return Outcome("exhausted", f"its files are larger than {assignment.limits.file} MiB")
    except CheckoutError as error:
        return Outcome("failed", str(error))
    except MplintError as error:
        return Outcome("refused", str(error))
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  (a defect of ours, which the next try may not meet)
        traceback.print_exc()
        return Outcome("exhausted", f"mplint itself failed: {type(error).__name__}: {error}")


async def _reviewed(assignment: Assignment, folder: Path, budget: Budget) -> Outcome:
    place = Place(assignment.forge, assignment.repository, assignment.number, assignment.token, assignment.api)
    async with connected(place, budget=budget) as forge:
        return await _told(assignment, forge, folder)


async def _told(assignment: Assignment, forge: Forge, folder: Path) -> Outcome:
    pull = await forge.pull_request()
    about = Outcome("reviewed", base=pull.base, head=pull.head)
    if not pull.is_open:
        return replace(about, kind="closed")
    if (pull.base, pull.head) == assignment.reviewed:
        return replace(about, kind="unchanged")
    repository, wish = folder / "repository", assignment.wish
    commits = (pull.base, pull.head)
    await asyncio.to_thread(fetch, repository, assignment.address, commits, assignment.forge, assignment.token)
    taste = Taste(wish.max_comments, wish.docs, Severity[wish.fail_on.upper()] if wish.fail_on else None)
    asked = Asked(overrides={"unsafe_fixes": True} if wish.unsafe_fixes else {})
    told = await review_pull_request(forge, repository, asked, taste, pull=pull, with_status=wish.with_status)
    if told.is_superseded:
        return replace(about, kind="superseded")
    if told.read_only:
        return replace(about, kind="exhausted", reason=told.read_only)
    found = told.review.found if told.review is not None else 0
    return replace(about, found=found, said=told.said, resolved=told.resolved, reason=" ".join(told.forbidden))


def _line() -> bytes:
    """The first line of standard input, which stays open."""
    line = bytearray()
    while not line.endswith(b"\n"):
        part = os.read(0, 1 << 16)
        if not part:
            sys.exit("no assignment on standard input: this is a part of `mplint serve`")
        line += part
    return bytes(line)


def _end_with_server() -> None:
    """End with all that was started here as soon as the server is gone: a new one may make this review again."""
    with suppress(OSError):
        while os.read(0, 1 << 16):
            pass
    os.killpg(os.getpgrp(), signal.SIGKILL)


def _limit(assignment: Assignment) -> None:
    """Bound what this process and those that it starts may use, where the system can."""
    try:
        import resource
    except ModuleNotFoundError:
        return
    limits = assignment.limits
    wanted = {
        "RLIMIT_AS": limits.memory << 20,
        "RLIMIT_CPU": math.ceil(limits.seconds),
        "RLIMIT_FSIZE": limits.file << 20,
        "RLIMIT_CORE": 0,  # which would hold the token
    }
    for name, value in wanted.items():
        kind = getattr(resource, name, None)
        if kind is not None:
            with suppress(OSError, ValueError):  # it is lower already, or not to be had
                resource.setrlimit(kind, (value, value))


if __name__ == "__main__":
    main()
