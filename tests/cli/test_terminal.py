from __future__ import annotations

import io
import time
from types import SimpleNamespace

import pytest

from mplint.cli import terminal
from mplint.cli.terminal import Progress, emit


class Terminal(io.TextIOWrapper):
    """A stream that says it is a terminal."""

    def __init__(self, *, encoding: str = "utf-8") -> None:
        super().__init__(io.BytesIO(), encoding=encoding)

    def isatty(self) -> bool:
        return True

    @property
    def written(self) -> str:
        assert isinstance(self.buffer, io.BytesIO)
        return self.buffer.getvalue().decode()


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    stream = Terminal()
    monkeypatch.setattr(terminal, "sys", SimpleNamespace(stderr=stream))  # pytest puts its own in sys.stderr again
    monkeypatch.setattr(terminal, "PATIENCE", 0.01)
    monkeypatch.setenv("TERM", "xterm")
    return stream


def test_a_long_run_shows_itself_and_wipes_the_line(screen: Terminal) -> None:
    with Progress("checking 3 files"):
        deadline = time.monotonic() + 10
        while "checking 3 files" not in screen.written and time.monotonic() < deadline:
            time.sleep(0.01)
    assert "checking 3 files (0 s)" in screen.written
    assert screen.written.endswith("\r\x1b[K")


def test_a_short_run_shows_nothing(screen: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "PATIENCE", 60.0)
    with Progress("checking"):
        pass
    assert not screen.written


@pytest.mark.parametrize("why", ["quiet", "dumb", "pipe"])
def test_nothing_is_shown_where_it_is_not_wanted(screen: Terminal, monkeypatch: pytest.MonkeyPatch, why: str) -> None:
    if why == "dumb":
        monkeypatch.setenv("TERM", "dumb")
    if why == "pipe":
        monkeypatch.setattr(screen, "isatty", lambda: False)
    with Progress("checking", wanted=why != "quiet"):
        time.sleep(0.1)
    assert not screen.written


def test_an_error_passes_through(screen: Terminal) -> None:
    with pytest.raises(ZeroDivisionError), Progress("checking"):
        raise ZeroDivisionError


def test_what_the_encoding_cannot_hold_is_escaped() -> None:
    stream = Terminal(encoding="ascii")
    emit("caf\u00e9 \udce9", stream)
    emit(b"\xff", stream)
    assert isinstance(stream.buffer, io.BytesIO)
    assert stream.buffer.getvalue() == b"caf\\xe9 \\udce9\xff"
