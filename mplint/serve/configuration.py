"""What whoever runs the server has decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from mplint.errors import MplintError
from mplint.review.environment import ForgeName

APIS: Final[Mapping[ForgeName, str]] = {"github": "https://api.github.com", "gitlab": "https://gitlab.com/api/v4"}


@dataclass(frozen=True)
class Limits:
    """What one review may use: seconds, and MiB of memory and of a file."""

    seconds: float = 900.0
    memory: int = 4096
    file: int = 2048


@dataclass(frozen=True)
class Patience:
    """How often a review is tried, and how long is waited before the second try; each later wait is twice as long."""

    attempts: int = 5
    pause: float = 15.0


@dataclass(frozen=True)
class Wish:
    """How reviews are to be: what `mplint review` has as options."""

    max_comments: int = 25
    docs: str | None = None
    fail_on: str | None = None
    with_status: bool = False
    unsafe_fixes: bool = False


@dataclass(frozen=True)
class Configuration:
    """All of it; secrets are shown nowhere.

    `token` opens the forge where no app does; `app` is the app's number and its private key.
    """

    database: Path
    secret: str = field(repr=False)
    forge: ForgeName = "github"
    api: str = APIS["github"]
    token: str | None = field(default=None, repr=False)
    app: tuple[str, str] | None = field(default=None, repr=False)
    host: str = "127.0.0.1"
    port: int = 8080
    workers: int = 2
    grace: float = 60.0
    largest: int = 25 << 20
    limits: Limits = Limits()
    patience: Patience = Patience()
    wish: Wish = Wish()


def clone_address(forge: ForgeName, api: str, repository: str) -> str:
    """Where git finds a repository of the forge whose API is at `api`."""
    if api == APIS[forge]:
        return f"https://{forge}.com/{repository}.git"
    ending = "/api/v3" if forge == "github" else "/api/v4"
    return f"{api.removesuffix('/').removesuffix(ending)}/{repository}.git"


def require_address(api: str) -> str:
    """The address of an API, if it is one. Raises MplintError."""
    try:
        parts = urlsplit(api)
        is_one = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets, or a port, that are none
        is_one = False
    if not is_one or parts.username or parts.query or parts.fragment:
        raise MplintError(f"--api-url: `{api}` is no address such as https://github.example.org/api/v3")
    return api.rstrip("/")
