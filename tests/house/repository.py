"""The repository seen from outside, and the commands that are run on it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

# The scripts beside this interpreter, whatever the PATH says.
SCRIPTS = Path(sys.executable).parent

# A test may itself be run by a git hook, which points git at the repository of the hook.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | {
    "GIT_AUTHOR_NAME": "Test",
    "GIT_AUTHOR_EMAIL": "test@example.org",
    "GIT_COMMITTER_NAME": "Test",
    "GIT_COMMITTER_EMAIL": "test@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


def run(*command: str | Path, cwd: Path = ROOT, status: int = 0, **variables: str | Path) -> str:
    """Run a command that must end with `status`; gives what it printed, errors included."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=ENVIRONMENT | {name: str(value) for name, value in variables.items()},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == status, f"{command} ended with {done.returncode}:\n{done.stdout}"
    return done.stdout


def python(*arguments: str | Path, cwd: Path = ROOT, status: int = 0, **variables: str | Path) -> str:
    """Run this interpreter as `run` does."""
    return run(sys.executable, *arguments, cwd=cwd, status=status, **variables)


def files() -> list[Path]:
    """Every file that is, or on the next `git add` will be, part of the repository."""
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    return [ROOT / name for name in listed.split("\0") if name and os.path.lexists(ROOT / name)]
