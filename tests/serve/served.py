"""`mplint serve` as a process, and what a forge and its operator see of it."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).resolve().parents[2]
SECRET = "the-secret-of-the-webhook"
TOKEN = "ghp_theTokenOfTheTests0123456789"
PATIENCE = 120.0
"""Seconds until a test gives up to wait."""


def until(holds: Callable[[], object], what: str) -> None:
    """Wait until something holds."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, f"it never came to this: {what}"
        time.sleep(0.01)


def signed(body: bytes, event: str = "pull_request", delivery: str = "", secret: str = SECRET) -> dict[str, str]:
    """The headers that GitHub sends with a body."""
    return {
        "content-type": "application/json",
        "x-github-event": event,
        "x-github-delivery": delivery or str(uuid.uuid4()),
        "x-hub-signature-256": "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest(),
    }


class Served:
    """A running server; it can be killed and started again, with the same database."""

    def __init__(self, database: Path, api: str, *arguments: str, **environment: str) -> None:
        self._command = [
            *(sys.executable, "-m", "mplint", "serve", "--database", str(database), "--port", "0"),
            *("--api-url", api, "--log-format", "json", "--pause", "0.05", *arguments),
        ]
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "GITHUB_", "MPLINT_"))
        }
        self._environment = {**kept, "MPLINT_WEBHOOK_SECRET": SECRET, "GITHUB_TOKEN": TOKEN, **environment}
        self.lines: list[str] = []
        self._client = httpx.Client(timeout=60)
        self.start()

    def start(self, *more: str) -> None:
        """Start it, and wait until it listens."""
        seen = len(self.lines)
        self._process = subprocess.Popen(
            [*self._command, *more], cwd=ROOT, env=self._environment, stderr=subprocess.PIPE, text=True
        )
        self._reader = threading.Thread(target=self._read, args=(self._process,), daemon=True)
        self._reader.start()
        until(lambda: self._find("listening", seen) or self._process.poll() is not None, "the server listens")
        found = self._find("listening", seen)
        assert found, self.lines
        self.url = f"http://127.0.0.1:{found[0]['port']}"

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stderr is not None
        self.lines.extend(iter(process.stderr.readline, ""))

    def events(self, event: str) -> list[dict[str, Any]]:
        """What it has logged of one kind, of all its lives."""
        return self._find(event, 0)

    def _find(self, event: str, start: int) -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in self.lines[start:] if line.startswith("{")]
        return [line for line in lines if line["event"] == event]

    def deliver(self, content: object, *, delivery: str = "", event: str = "pull_request") -> httpx.Response:
        """Call its webhook."""
        body = json.dumps(content).encode()
        return self._client.post(f"{self.url}/webhook", content=body, headers=signed(body, event, delivery))

    def reviewed(self, content: object) -> dict[str, Any]:
        """Call its webhook, and wait for the review."""
        before = len(self.events("review"))
        assert self.deliver(content).status_code == 202
        until(lambda: len(self.events("review")) > before, "a review ends")
        return self.events("review")[before]

    def measured(self, name: str) -> float:
        """The value of one of its metrics."""
        for line in self._client.get(f"{self.url}/metrics").text.splitlines():
            if line.startswith(f"{name} "):
                return float(line.rpartition(" ")[2])
        raise AssertionError(name)

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def kill(self) -> None:
        """End it as a loss of power would."""
        self._process.kill()
        self.wait()

    def wait(self) -> int:
        """Its exit status."""
        status = self._process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        return status

    def close(self) -> bool:
        """End it if it runs; whether it had ended by itself."""
        if self._process.poll() is None:
            self._process.kill()
        self._client.close()
        return self.wait() == 0
