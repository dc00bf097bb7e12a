"""The files that a command is about, and the project around them, as the settings have it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mplint.project.discovery import Exclusions
    from mplint.project.modules import Project
    from mplint.settings import Settings
    from mplint.source.file import SourceError


def exclusions_of(settings: Settings) -> Exclusions:
    """What is left out of the project."""
    from mplint.project.discovery import Exclusions

    return Exclusions.configured(settings)


def files_of(
    settings: Settings,
    named: Path,
    *,
    force_exclude: bool = False,
    on_unreadable: Callable[[SourceError], None] | None = None,
) -> list[Path]:
    """The files that a named path means."""
    from mplint.project.discovery import discover

    return discover([named], exclusions_of(settings), force_exclude=force_exclude, on_unreadable=on_unreadable)


def project_of(
    settings: Settings,
    files: Sequence[Path],
    overlay: Mapping[Path, bytes] | None = None,
    *,
    for_program: bool = False,
) -> Project:
    """The whole project, with `files` in any case.

    Files are called as one would open them from here; in what is told `for_program`, by their place below the root.
    """
    from mplint.project.modules import Project

    return Project.at(
        settings.root,
        exclusions=exclusions_of(settings),
        extra=files,
        overlay=overlay,
        folder=settings.root if for_program else Path.cwd(),
    )
