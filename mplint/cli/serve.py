"""`mplint serve`: review pull requests when a forge calls."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mplint.cli.options import Choice
from mplint.cli.review import FORGES
from mplint.cli.terminal import emit, on_one_line
from mplint.errors import MplintError
from mplint.settings import SEVERITIES

if TYPE_CHECKING:
    from mplint.serve.configuration import Configuration

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command(short_help="Review pull requests when a forge calls: a server for webhooks.")
@click.option(
    "--database", type=_FILE, required=True, help="Where deliveries are kept; it is made where there is none."
)
@click.option("--forge", type=Choice(FORGES), default="github", show_default=True, help="Who calls.")
@click.option("--api-url", metavar="URL", help="The forge's API.  [default: that of the public one]")
@click.option(
    "--webhook-secret", type=_FILE, metavar="FILE", help="The webhook's secret.  [default: MPLINT_WEBHOOK_SECRET]"
)
@click.option("--app-id", metavar="ID", envvar="MPLINT_APP_ID", show_envvar=True, help="Act as this GitHub App.")
@click.option(
    *("--private-key", "private_key"),
    type=_FILE,
    metavar="FILE",
    envvar="MPLINT_PRIVATE_KEY_FILE",
    show_envvar=True,
    help="Its private key.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--port", type=click.IntRange(0, 65535), default=8080, show_default=True, help="0 takes a free one.")
@click.option("--workers", type=click.IntRange(1, 64), default=2, show_default=True, help="Reviews at the same time.")
@click.option("--timeout", type=click.IntRange(1, 3000), default=900, show_default=True, help="Seconds for one.")
@click.option("--memory", type=click.IntRange(256), default=4096, show_default=True, help="MiB for one.")
@click.option("--attempts", type=click.IntRange(1, 20), default=5, show_default=True, help="Before it is given up.")
@click.option(
    "--pause",
    type=click.FloatRange(0),
    default=15.0,
    show_default=True,
    help="Seconds before the second; then doubled.",
)
@click.option("--grace", type=click.FloatRange(0), default=60.0, show_default=True, help="Seconds to end in.")
@click.option(
    "--max-comments", type=click.IntRange(0, 100), default=25, show_default=True, help="Comments, the worst first."
)
@click.option("--docs", metavar="URL", help="Where the pages of the rules are, for links to them.")
@click.option("--status", is_flag=True, help="Mark commits, too, with the state of their reviews.")
@click.option(
    "--fail-on", type=Choice(SEVERITIES), help="Which state is a failure from this severity on.  [default: never]"
)
@click.option("--unsafe-fixes", is_flag=True, help="Suggest also fixes that are not safe.")
@click.option("--log-format", type=Choice(("text", "json")), default="text", show_default=True, help="How to log.")
@click.option("--failed", is_flag=True, help="List the reviews that were given up, and why; start nothing.")
@click.option("--retry-failed", is_flag=True, help="Begin with the reviews that were given up.")
def serve(**options: Any) -> None:
    """Listen for webhooks at /webhook, and review each pull request that is opened or pushed to.

    Reviews are those of `mplint review`. A delivery is acknowledged when it is on the disk: whatever happens then, it
    is reviewed, and nothing is said twice. Each review runs in a process of its own, with bounded time and memory;
    nothing of a repository is run. /healthz and /readyz say how the server is, /metrics what it does.

    Secrets are taken from files or the environment: the webhook's, and GITHUB_TOKEN (or GITLAB_TOKEN), or the private
    key of a GitHub App. SIGTERM ends the server when its reviews have ended, a second one at once; what is left is
    taken up at the next start. This needs `pip install "mplint[bot]"`; docs/serve.md tells how to set it up.

    Exit status: 0 ended when asked to, 1 ended at once, 2 a wrong call.
    """
    if options["failed"]:
        _list(options["database"])
        return
    try:
        from mplint.serve import logs
        from mplint.serve.server import serve as run
    except ModuleNotFoundError as error:
        raise MplintError(f'{error.name} is not installed, which servers need: pip install "mplint[bot]"') from None
    import asyncio
    import gc

    gc.enable()  # which the command line has switched off: a server lives long
    configuration = _configured(options, os.environ)
    secrets = logs.Secrets()
    logs.start(secrets, as_json=options["log_format"] == "json")
    asyncio.run(run(configuration, secrets, retry_failed=options["retry_failed"]))


def _configured(options: Mapping[str, Any], environment: Mapping[str, str]) -> Configuration:
    from mplint.serve.configuration import APIS, Configuration, Limits, Patience, Wish, require_address

    forge = options["forge"]
    token, app = _credentials(options, environment)
    docs = options["docs"].rstrip("/") if options["docs"] else None
    return Configuration(
        database=options["database"],
        secret=_secret(options["webhook_secret"], environment),
        forge=forge,
        api=require_address(options["api_url"]) if options["api_url"] else APIS[forge],
        token=token,
        app=app,
        host=options["host"],
        port=options["port"],
        workers=options["workers"],
        grace=options["grace"],
        limits=Limits(seconds=options["timeout"], memory=options["memory"]),
        patience=Patience(options["attempts"], options["pause"]),
        wish=Wish(options["max_comments"], docs, options["fail_on"], options["status"], options["unsafe_fixes"]),
    )


def _secret(file: Path | None, environment: Mapping[str, str]) -> str:
    secret = _read(file, "--webhook-secret") if file else _variable("MPLINT_WEBHOOK_SECRET", environment)
    if not secret:
        raise MplintError(
            "set MPLINT_WEBHOOK_SECRET, or name a file with --webhook-secret: without a secret anybody may call"
        )
    return secret


def _credentials(
    options: Mapping[str, Any], environment: Mapping[str, str]
) -> tuple[str | None, tuple[str, str] | None]:
    """A token, or an app's number and key."""
    app, key, forge = options["app_id"], options["private_key"], options["forge"]
    if app or key:
        if not (app and key):
            raise MplintError("--app-id and --private-key belong together")
        if forge != "github":
            raise MplintError("--app-id: only GitHub has apps; set GITLAB_TOKEN")
        return None, (app, _read(key, "--private-key"))
    name = "GITHUB_TOKEN" if forge == "github" else "GITLAB_TOKEN"
    token = _variable(name, environment)
    if not token:
        other = ", or act as an app with --app-id and --private-key" if forge == "github" else ""
        raise MplintError(f"set {name}{other}: without a token nobody may comment")
    return token, None


def _variable(name: str, environment: Mapping[str, str]) -> str:
    text = environment.get(name, "").strip()
    if not text.isprintable():
        raise MplintError(f"{name}: is no text on one line")
    return text


def _read(file: Path, option: str) -> str:
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "no text"
        raise MplintError(f"{option}: {file}: cannot be read ({why})") from None


def _list(database: Path) -> None:
    """A line for each review that was given up."""
    from mplint.serve.queue import failed

    for one in failed(database):
        tries = "1 attempt" if one.attempts == 1 else f"{one.attempts} attempts"
        emit(f"{one.pull}: {tries}: {on_one_line(one.reason)}\n", sys.stdout)
