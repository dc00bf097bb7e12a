"""Real git repositories for reviews."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

_ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


class Repository:
    """A repository with a branch `main` and the branch of a pull request, `work`."""

    def __init__(self, top: Path) -> None:
        self.top = top
        top.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str) -> str:
        return self.run(*arguments).decode(errors="surrogateescape").strip()

    def run(self, *arguments: str) -> bytes:
        done = subprocess.run(["git", "-C", self.top, *arguments], env=_ENVIRONMENT, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        return done.stdout

    def write(self, **texts: str | bytes) -> None:
        """Files by their stems."""
        self.put({f"{stem}.py": text for stem, text in texts.items()})

    def put(self, files: dict[str, str | bytes | None]) -> None:
        """Files by their names; None takes one away."""
        for name, text in files.items():
            path = self.top / name
            if text is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode() if isinstance(text, str) else text)

    def commit(self, files: dict[str, str | bytes | None] | None = None, **texts: str | bytes) -> str:
        """Write files, commit all there is; the commit."""
        self.put(files or {})
        self.write(**texts)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "x")
        return self.git("rev-parse", "HEAD")

    def branch(self, name: str = "work") -> None:
        self.git("checkout", "-q", "-b", name)

    def file(self, commit: str, path: str) -> bytes:
        return self.run("cat-file", "blob", f"{commit}:{path}")
