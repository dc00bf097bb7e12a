"""Asking git; it is started with no shell, and is never let run what a repository's files name."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from mplint.errors import MplintError

_QUIET: Final = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
"""No hook and no monitor of the repository is run."""


def git(folder: Path, *arguments: str, configuration: Mapping[str, str] | None = None) -> bytes:
    """What git prints. Raises MplintError where there is no git, or it fails.

    `configuration` goes by the environment, so that what is secret in it stands in no list of processes.
    """
    variables = {**environment(), **_as_variables(configuration or {})}
    try:
        done = subprocess.run(command(folder, *arguments), env=variables, capture_output=True, check=False)
    except FileNotFoundError:
        raise MplintError("git was not found: mplint asks it what has changed") from None
    if done.returncode:
        told = done.stderr.decode(errors="replace").strip()
        raise MplintError(f"{folder}: git {arguments[0]} failed: {told}")
    return done.stdout


def command(folder: Path, *arguments: str) -> tuple[str, ...]:
    """The words of a command of git in a folder."""
    return ("git", *_QUIET, "-C", str(folder), *arguments)


def environment() -> Mapping[str, str]:
    """The environment for git: it never asks anybody, and takes no lock for what only reads."""
    return {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}


def _as_variables(configuration: Mapping[str, str]) -> dict[str, str]:
    variables = {"GIT_CONFIG_COUNT": str(len(configuration))} if configuration else {}
    for number, (key, value) in enumerate(configuration.items()):
        variables |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return variables


def top_of(folder: Path) -> Path:
    """The top of the repository that a folder lies in."""
    return Path(git(folder, "rev-parse", "--show-toplevel").decode().rstrip("\n"))


def commit_of(folder: Path, revision: str) -> str:
    """The commit that a revision names. Raises MplintError where there is none."""
    try:
        found = git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    except MplintError:
        raise MplintError(f"{folder}: git knows no revision `{revision}`; fetch it, or name another one") from None
    return found.decode().strip()


def common_ancestor(folder: Path, commit: str, other: str) -> str:
    """Where two histories parted; `commit` itself where that is not known, as in a shallow clone."""
    try:
        return git(folder, "merge-base", commit, other).decode().strip()
    except MplintError:
        return commit
