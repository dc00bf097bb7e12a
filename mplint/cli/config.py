"""`mplint config`: the settings that hold, and where each comes from."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from mplint.cli.options import configuration, shown_as
from mplint.cli.terminal import emit
from mplint.findings import Severity
from mplint.settings import Settings


@click.command(short_help="Show the settings and where each comes from.")
@click.argument("file", required=False, type=click.Path(exists=True, path_type=Path))
@configuration
@shown_as("it")
def config(file: Path | None, config: tuple[str, ...], isolated: bool, output_format: str) -> None:
    """Show the settings that hold for FILE (here: the current folder), and where each comes from."""
    from mplint.project.root import find_root

    root = find_root([file or Path.cwd()])
    settings = Settings.load(root, config, isolated)
    if output_format == "json":
        held = {key: {"value": _plain(value), "source": origin} for key, value, origin in settings.items()}
        text = json.dumps({"root": str(root), "settings": held}, indent=2) + "\n"
    else:
        lines = [f"{key} = {json.dumps(_plain(value))}  # {origin}" for key, value, origin in settings.items()]
        text = "\n".join((f"# root: {root}", *lines)) + "\n"
    emit(text, sys.stdout)


def _plain(value: object) -> object:
    """The value as configuration would spell it."""
    if isinstance(value, (Severity, Path)):
        return str(value)
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        return {pattern: list(held) if isinstance(held, tuple) else held for pattern, held in value}
    return value
