"""The process in which real Keras answers; tests/generator/real.py is its other side."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.generator.program import Program

REPOSITORY = Path(__file__).resolve().parent.parent.parent


class Worker:
    """A process that does one job after the other, each a JSON object a line, and answers in their order."""

    def __init__(self, module: str, generation: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, generation],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def close(self) -> None:
        """Let it end."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def send(self, job: Mapping[str, Any]) -> None:
        """Give it a job."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()

    def answer(self) -> Mapping[str, Any]:
        """The next answer, in the order of the jobs."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"Keras ended with status {self._process.wait()}")
        found: Mapping[str, Any] = json.loads(line)
        return found


class Keras(Worker):
    """One generation of Keras, which says what models give."""

    def __init__(self, generation: str) -> None:
        super().__init__("tests.generator.real", generation)

    def ask(self, program: Program, source: str | None = None, fixed: str | None = None) -> None:
        """Have a program run (or another text instead of it), or trained beside its rewritten text."""
        job: dict[str, Any] = {"id": program.id, "source": source or program.source, "inputs": program.inputs}
        if fixed is not None:
            job["fixed"] = fixed
        self.send(job)

    def ask_of_numbers(self, program: Program, fixed: str | None = None) -> None:
        """Have a program's numbers measured (or those of its rewritten text)."""
        trials = [trial.job() for trial in program.trials]
        job = {"id": program.id, "source": fixed or program.source, "exact": fixed or program.exact}
        self.send({**job, "trials": trials, "inputs": program.inputs})
