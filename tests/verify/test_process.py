"""The child process, played by small scripts."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mplint.errors import MplintError
from mplint.verify.process import Job, Setup, execute, interpreter
from mplint.verify.results import AFTER, Evidence
from mplint.verify.target import Target

JOB = Job(Target(file=Path("/nowhere/train.py")), (Path("/nowhere"),), (Setup(AFTER, {}, {}),))

READY = '{"event": "ready", "python": "3.11.0", "tensorflow": "2.21.0", "keras": "3.15.1", "generation": "3"}'

START = """
import json, os, subprocess, sys, time
job = json.load(open(sys.argv[2]))
def tell(line):
    with open(job["report"], "a") as file:
        file.write(line + "\\n")
"""


@pytest.fixture
def play(tmp_path: Path) -> object:
    """Runs a job with an interpreter that does something else with it."""

    def run(body: str, *, timeout: float = 20, echo: io.StringIO | None = None) -> Evidence:
        script = tmp_path / "script.py"
        script.write_text(START + body)
        python = tmp_path / "python"
        python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{script}" "$@"\n')
        python.chmod(0o755)
        return execute(JOB, python=str(python), folder=tmp_path, timeout=timeout, echo=echo)

    return run


def running(mark: str) -> bool:
    return mark in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout


def test_a_report_is_read(play: object) -> None:
    assert callable(play)
    evidence = play(f'tell(\'{READY}\'); tell(\'{{"event": "started", "label": "after"}}\'); print(\'words\')')
    assert evidence.versions is not None
    assert evidence.versions.keras == "3.15.1"
    assert evidence.unfinished == AFTER
    assert not evidence.timed_out
    assert evidence.output == "words"


def test_what_a_program_prints_is_no_report(play: object) -> None:
    assert callable(play)
    evidence = play(
        f"print('{{\"event\": \"done\"}}' * 100_000, flush=True); tell('{READY}'); open(job['report'], 'a').write('{{')"
    )
    assert evidence.runs == {}
    assert evidence.versions is not None


def test_output_is_passed_on_without_the_noise(play: object) -> None:
    assert callable(play)
    echo = io.StringIO()
    play(f"tell('{READY}'); print('I0000 00:00:1.2 1 port.cc:153] noise'); print('said')", echo=echo)
    assert echo.getvalue() == "said\n"


def test_a_time_out_ends_everything(play: object) -> None:
    assert callable(play)
    mark = f"sleep-{os.getpid()}"
    body = f"""
tell('{READY}')
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)  # {mark}"])
time.sleep(100)
"""
    began = time.monotonic()
    evidence = play(body, timeout=2)
    assert evidence.timed_out
    assert time.monotonic() - began < 10
    assert not running(mark)


def test_what_the_program_leaves_behind_is_ended(play: object) -> None:
    assert callable(play)
    mark = f"left-{os.getpid()}"
    play(f"tell('{READY}'); subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(100)  # {mark}'])")
    assert not running(mark)


def test_without_tensorflow(play: object) -> None:
    assert callable(play)
    with pytest.raises(MplintError, match=r"python has no TensorFlow; name another interpreter with --python"):
        play('tell(\'{"event": "unavailable", "text": "has no TensorFlow"}\')')


def test_a_child_that_does_not_come_up(play: object) -> None:
    assert callable(play)
    with pytest.raises(MplintError, match=r"ended with status 7 before TensorFlow was there:\noh dear"):
        play("print('oh dear'); sys.exit(7)")


def test_no_interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MplintError, match="there is no such program"):
        interpreter(str(tmp_path / "python"))
    broken = tmp_path / "broken"
    broken.write_bytes(b"\x7fELF nothing")
    broken.chmod(0o755)
    with pytest.raises(MplintError, match="cannot be run"):
        execute(JOB, python=str(broken), folder=tmp_path, timeout=5)


def test_the_interpreter_of_the_active_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CONDA_PREFIX", raising=False)
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    assert interpreter(None) == sys.executable
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text("#!/bin/sh\n")
    python.chmod(0o755)
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path))
    assert interpreter(None) == str(python)
