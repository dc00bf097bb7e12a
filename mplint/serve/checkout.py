"""Two commits of a repository, fetched without their history, and without running anything of it."""

from __future__ import annotations

import base64
import re
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from mplint.errors import MplintError
from mplint.git import git
from mplint.review.environment import ForgeName

_COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_USERS: Final = {"github": "x-access-token", "gitlab": "oauth2"}
_LARGE: Final = 16 << 20
"""Bytes from which on a file is no text: git then holds it neither in memory nor against another."""
_TOO_LARGE: Final = f"signal {int(signal.SIGXFSZ)}"


class CheckoutError(MplintError):
    """What was to be fetched is not to be had."""


class TooLarge(CheckoutError):
    """The commits are larger than what may be fetched."""


def fetch(folder: Path, address: str, commits: Sequence[str], forge: ForgeName, token: str) -> None:
    """Make `folder` a repository that holds the files of the commits.

    It is bare: there are no links to follow, no filters or hooks to run, and no modules to fetch. The token goes to the
    address only, and only by the environment. Raises CheckoutError.
    """
    scheme = urlsplit(address).scheme
    if scheme not in ("https", "http"):
        raise CheckoutError(f"{address}: is fetched from no such place")
    if not all(map(_COMMIT.fullmatch, commits)):
        raise CheckoutError(f"{address}: the forge names commits that are none")
    folder.mkdir(parents=True)
    secret = base64.b64encode(f"{_USERS[forge]}:{token}".encode()).decode()
    configuration = {
        f"http.{address}.extraHeader": f"Authorization: Basic {secret}",
        "http.followRedirects": "false",
        "http.lowSpeedLimit": "1000",
        "http.lowSpeedTime": "60",
        "protocol.allow": "never",
        f"protocol.{scheme}.allow": "always",
        "credential.helper": "",
        "core.askPass": "true",
        "fetch.unpackLimit": "1",
        "gc.auto": "0",
        "maintenance.auto": "false",
    }
    try:
        git(folder, "init", "--quiet", "--bare", "--template=", ".")
        git(folder, "config", "core.bigFileThreshold", str(_LARGE))
        git(
            folder,
            *("fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"),
            *("--end-of-options", address, *dict.fromkeys(commits)),
            configuration=configuration,
        )
    except MplintError as error:
        told = str(error).removeprefix(f"{folder}: ")
        kind = TooLarge if _TOO_LARGE in told else CheckoutError
        raise kind(f"{address}: {told}") from None
