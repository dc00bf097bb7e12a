"""What goes to the terminal, or to what stands in its place."""

from __future__ import annotations

import os
import sys
import threading
import time
from types import TracebackType
from typing import IO, Final

import click

PATIENCE: Final = 1.0
"""Seconds before a run counts as long."""

_CLEAR: Final = "\r\x1b[K"


def colors(stream: IO[str]) -> bool:
    """Whether to colour: NO_COLOR forbids, FORCE_COLOR demands, else a terminal that can."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") != "0":
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def emit(content: str | bytes, stream: IO[str]) -> None:
    """Write all of it: what the stream's encoding cannot hold is escaped, bytes go out as they are."""
    if isinstance(content, str):
        content = content.encode(getattr(stream, "encoding", None) or "utf-8", "backslashreplace")
    click.echo(content, file=stream, nl=False)


def on_one_line(text: str) -> str:
    """The text as one line that nothing obeys: in CI, a line that a file's words make may be a command."""
    from mplint.output.terminal import printable

    return printable(" ".join(text.splitlines()))


class Progress:
    """A line on standard error that shows a long run to be alive; on a terminal only, and gone at the end."""

    def __init__(self, what: str, *, wanted: bool = True) -> None:
        self._what = what
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._show, daemon=True)
        self._wanted = wanted and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    def __enter__(self) -> None:
        if self._wanted:
            self._thread.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        if self._wanted:
            self._thread.join()

    def _show(self) -> None:
        start = time.monotonic()
        wait = PATIENCE
        while not self._done.wait(wait):
            wait = 0.2
            emit(f"{_CLEAR}{self._what} ({time.monotonic() - start:.0f} s)", sys.stderr)
        if time.monotonic() - start > PATIENCE:
            emit(_CLEAR, sys.stderr)
