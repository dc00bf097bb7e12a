"""The child process: start it, watch it, end it with all that it started."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from mplint.errors import MplintError
from mplint.verify.results import Evidence
from mplint.verify.target import Target

HARNESS: Final = Path(__file__).with_name("harness.py")
PROTOCOL: Final = 1

_POLL: Final = 0.05
_KEPT_LINES: Final = 200
_NOISE: Final = re.compile(r"^(WARNING: All log messages before absl|[IWE]\d{4} |I0000 |\d{4}-\d\d-\d\d .*: I )")


@dataclass(frozen=True)
class Setup:
    """How the program is to be run once.

    `texts` stand in for files; where their places are to be watched, `before` holds what the rewrite made them from.
    `policy` is set before the program starts; `replacement` takes the place of every half-precision policy in it.
    """

    label: str
    texts: Mapping[Path, str]
    before: Mapping[Path, str]
    policy: str | None = None
    replacement: str | None = None
    keep_weights: bool = False


@dataclass(frozen=True)
class Job:
    """Runs of one program, and the two of them whose weights are compared.

    The generation `keras` is demanded, but for "auto"; where nothing else chooses one, the `likely` one is taken if it
    is there. With `audit` nothing is measured; instead all that the program makes is recorded.
    """

    target: Target
    roots: tuple[Path, ...]
    runs: tuple[Setup, ...]
    arguments: tuple[str, ...] = ()
    keras: str = "auto"
    likely: str | None = None
    steps: int = 3
    rows: int = 8
    compare: tuple[str, str] | None = None
    audit: bool = False

    def as_json(self, scratch: Path, *, fork: bool) -> dict[str, Any]:
        """As the harness reads it."""
        return {
            "protocol": PROTOCOL,
            "scratch": str(scratch),
            "report": str(scratch / "report.jsonl"),
            "target": {
                "file": None if self.target.file is None else str(self.target.file),
                "module": self.target.module,
                "factory": self.target.factory,
                "imported": self.target.imported,
            },
            "roots": [str(root) for root in self.roots],
            "arguments": list(self.arguments),
            "keras": self.keras,
            "likely": self.likely,
            "steps": self.steps,
            "rows": self.rows,
            "fork": fork,
            "compare": self.compare,
            "audit": self.audit,
            "runs": [
                {
                    "label": run.label,
                    "texts": {str(path): text for path, text in run.texts.items()},
                    "before": {str(path): text for path, text in run.before.items()},
                    "policy": run.policy,
                    "replacement": run.replacement,
                    "weights": str(scratch / f"{run.label}.npz") if run.keep_weights else None,
                }
                for run in self.runs
            ],
        }


def interpreter(choice: str | None) -> str:
    """The Python to run the program with: the one asked for, else that of the active environment, else mplint's own."""
    if choice is not None:
        found = shutil.which(choice)
        if found is None:
            raise MplintError(f"--python {choice}: there is no such program that can be run")
        return found
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        folder = os.environ.get(variable)
        if folder:
            found = shutil.which(
                "python", path=os.pathsep.join([str(Path(folder, "bin")), str(Path(folder, "Scripts"))])
            )
            if found is not None:
                return found
    return sys.executable


def execute(
    job: Job,
    *,
    python: str,
    folder: Path,
    timeout: float,
    echo: IO[str] | None = None,
    fork: bool = sys.platform == "linux",
) -> Evidence:
    """Run a job in `folder`; no process that it started is left when this returns.

    `echo` gets what the program prints, as it does.
    """
    with tempfile.TemporaryDirectory(prefix="mplint-verify-", ignore_cleanup_errors=True) as name:
        scratch = Path(name).resolve()
        description = job.as_json(scratch, fork=fork)
        (scratch / "job.json").write_text(json.dumps(description), encoding="utf-8")
        report = Path(description["report"])
        report.touch()
        began = time.monotonic()
        try:
            process = subprocess.Popen(
                [python, str(HARNESS), str(scratch / "job.json")],
                cwd=folder,
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,
            )
        except OSError as error:
            raise MplintError(f"{python} cannot be run: {error.strerror}") from None
        assert process.stdout is not None
        tail = _Tail(process.stdout, echo)
        try:
            while True:
                ended = process.poll() is not None
                if ended or time.monotonic() - began > timeout:
                    break
                time.sleep(_POLL)
        finally:
            _end(process)
        evidence = Evidence.read(
            _events(report), timed_out=not ended, output=tail.text(), seconds=time.monotonic() - began
        )
    if evidence.unavailable is not None:
        raise MplintError(f"{python} {evidence.unavailable}; name another interpreter with --python")
    if evidence.versions is None and not evidence.timed_out:
        told = f"{python} ended with status {process.returncode} before TensorFlow was there"
        raise MplintError(f"{told}:\n{evidence.output}")
    return evidence


def _events(report: Path) -> Iterator[dict[str, Any]]:
    """The whole lines of the report so far."""
    for line in report.read_text(encoding="utf-8").splitlines(keepends=True):
        if line.endswith("\n"):
            yield json.loads(line)


def _environment() -> dict[str, str]:
    quiet = {
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "TF_FORCE_GPU_ALLOW_GROWTH": "true",
        "MPLBACKEND": "Agg",
        "WANDB_MODE": "disabled",
        "PYTHONHASHSEED": "0",
    }
    return {**quiet, **os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8"}


def _end(process: subprocess.Popen[str]) -> None:
    """Kill the child, and whatever it or the program has started and left behind."""
    if sys.platform == "win32":
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], check=False, capture_output=True)
    else:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class _Tail:
    """Reads what the program prints, so that it never waits for a reader, and keeps the end."""

    def __init__(self, stream: IO[str], echo: IO[str] | None) -> None:
        self._stream = stream
        self._lines: deque[str] = deque(maxlen=_KEPT_LINES)
        self._thread = threading.Thread(target=self._read, args=(stream, echo), daemon=True)
        self._thread.start()

    def _read(self, stream: IO[str], echo: IO[str] | None) -> None:
        with contextlib.suppress(ValueError, OSError):
            while line := stream.readline(4096):  # a program may print for ever without an end of line
                if not _NOISE.match(line):
                    self._lines.append(line)
                    if echo is not None:
                        echo.write(line)

    def text(self) -> str:
        """The last lines; a process that outlives the child may still hold the stream, so the wait is short."""
        self._thread.join(timeout=1.0)
        if not self._thread.is_alive():
            self._stream.close()
        return "".join(self._lines).strip()


def source_roots(root: Path) -> tuple[Path, ...]:
    """Where the modules of a project are found: its root, and `src` where it has one."""
    return (root, root / "src") if (root / "src").is_dir() else (root,)
