"""`mplint init`: the files that a project begins with."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mplint.cli.options import Choice
from mplint.cli.project import files_of, project_of
from mplint.cli.terminal import Progress, emit
from mplint.settings import Settings
from mplint.starting import FORGES, Forge, Step, has_placeholders, likely_forge, steps

if TYPE_CHECKING:
    from mplint.analysis import Report
    from mplint.project.modules import Project


@click.command(short_help="Begin: write a configuration, a hook, a workflow and a baseline.")
@click.argument("folder", default=".", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--forge", type=Choice(FORGES), help="Where changes are reviewed.  [default: by the project's files]")
@click.option("--source", metavar="OWNER/NAME@COMMIT", help="Where hook and workflow take mplint from.")
@click.option("--baseline/--no-baseline", default=True, help="Leave out from now on what is found now.  [default: on]")
@click.option("-y", "--yes", is_flag=True, help="Write without asking.")
def init(folder: Path, **options: Any) -> None:
    """Show which files the project in FOLDER needs to begin with mplint, ask, and write them.

    A file that is there is never changed: what belongs into it is shown. Without a terminal, nothing is written unless
    --yes says so.
    """
    source = options["source"]
    if source is not None and not re.fullmatch(r"[\w.-]+/[\w.-]+@[\w./-]+", source):
        raise click.UsageError(f"--source is OWNER/NAME@COMMIT, not '{source}'")
    from mplint import baseline
    from mplint.project.root import find_root

    root = find_root([folder])
    settings = Settings.load(root)
    wanted = options["baseline"] and settings.baseline is None
    known = baseline.text(*_found(settings)) if wanted else None
    forge: Forge = options["forge"] or likely_forge(root)
    planned = list(steps(root, forge, source, known))
    missing = [step for step in planned if not step.is_there]
    emit("".join(_shown(step, root) for step in planned), sys.stdout)
    if not missing:
        emit("There is nothing to write.\n", sys.stdout)
    elif options["yes"] or (sys.stdin.isatty() and click.confirm("Write what is new?")):
        _write(missing, root)
    else:
        emit("Nothing is written: `mplint init --yes` does it.\n", sys.stdout)


def _found(settings: Settings) -> tuple[Report, Project]:
    """What is found in the whole project."""
    from mplint.fixer import look

    targets = files_of(settings, settings.root)
    with Progress(f"mplint: checking {len(targets)} files"):
        outcome = look(project_of(settings, targets, for_program=True), targets, settings)
    return outcome.left, outcome.project


def _shown(step: Step, root: Path) -> str:
    """A step, with the lines that are written, or are to be added by hand."""
    name = step.path.relative_to(root)
    if step.path.suffix == ".json":
        lines = [f"  ({step.content.count(chr(10))} lines)"]
    else:
        lines = [f"  | {line}".rstrip() for line in step.content.splitlines()]
    head = (
        f"{name} is there, and stays as it is; {step.purpose} would be:"
        if step.is_there
        else (f"new: {name}, {step.purpose}")
    )
    return "\n".join((head, *lines)) + "\n\n"


def _write(missing: Sequence[Step], root: Path) -> None:
    for step in missing:
        step.make()
        emit(f"wrote {step.path.relative_to(root)}\n", sys.stdout)
    if has_placeholders(missing):
        emit("Put where you keep mplint in place of OWNER and COMMIT.\n", sys.stdout)
    try:
        pyproject = (root / "pyproject.toml").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):  # that is for others to tell
        return
    if "[tool.ruff" in pyproject and '"MP"' not in pyproject:
        emit('Tell ruff to leave our comments alone: external = ["MP"] in [tool.ruff.lint].\n', sys.stdout)
