"""Running a recursive computation with room for it.

LibCST's codegen is recursive, and so is whatever walks its trees: a chain of two thousand `elif` or of two thousand
implicitly joined strings is legal Python and exceeds the interpreter's default limit of 1000 frames. Raising the limit
alone would trade the RecursionError for a crash where the thread's stack is small, so the work moves to a thread whose
stack is known to be large.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import FunctionType
from typing import TypeVar

_T = TypeVar("_T")

_STACK_SIZES = (512 << 20, 64 << 20, 16 << 20)
"""Address space, not memory: only touched pages are allocated. Smaller ones for systems that refuse the first."""
_FRAMES = 100_000
_SLOTS = 65_000
"""Pointers that a frame asks room for, so that its chunk of CPython's frame stack is one MiB, and half of it free."""

_starting = threading.Lock()
_here = threading.local()


def on_deep_stack(function: Callable[[], _T]) -> _T:
    """Call `function` where recursion may go some ten thousand frames deep; what it raises is raised here.

    Nested calls run in place. The recursion limit belongs to the process, and is a high one while such a call runs.
    """
    if getattr(_here, "deep", False):
        return function()

    outcome: list[_T] = []
    failure: list[BaseException] = []

    def work() -> None:
        _here.deep = True
        try:
            outcome.append(_roomy(function))
        except BaseException as error:  # noqa: BLE001 - the calling thread raises it
            failure.append(error)

    with _high_limit:
        _start(work).join()
    if failure:
        raise failure[0]
    return outcome[0]


def _plain(function: Callable[[], _T]) -> _T:
    return function()


# Since 3.11 CPython keeps frames in chunks of 16 KiB, and gives a chunk back as soon as its last frame is left.  A
# recursive computation whose calls stand at a chunk's edge then asks the system for memory at every call: a tenth of
# mplint's time.  A frame that asks for more than half a MiB gets a chunk of one, and all frames above it the rest.
_roomy: Callable[[Callable[[], _T]], _T] = FunctionType(
    _plain.__code__.replace(co_stacksize=_SLOTS), globals(), "roomy"
)


def _start(work: Callable[[], None]) -> threading.Thread:
    refusal: Exception | None = None
    with _starting:  # the stack size is a setting of the process
        previous = threading.stack_size()
        try:
            for size in _STACK_SIZES:
                try:
                    threading.stack_size(size)
                    thread = threading.Thread(target=work, name="mplint-deep-stack", daemon=True)
                    thread.start()
                except (RuntimeError, ValueError) as error:
                    refusal = error
                else:
                    return thread
        finally:
            threading.stack_size(previous)
    raise RecursionError("no thread with a large stack could be started") from refusal


class _HighLimit:
    """Raises the recursion limit for as long as anybody is inside."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._usual = 0

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._usual = sys.getrecursionlimit()
                sys.setrecursionlimit(max(_FRAMES, self._usual))
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                sys.setrecursionlimit(self._usual)


_high_limit = _HighLimit()
