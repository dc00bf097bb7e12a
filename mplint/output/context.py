"""What every format needs beside the report: names, places, colours, and what may be fixed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mplint.errors import MplintError
from mplint.findings import Applicability, Finding, Severity
from mplint.output.terminal import Ink, paint, printable
from mplint.project.modules import Project
from mplint.project.naming import Naming
from mplint.source.file import Location, SourceFile

INKS: Final = {Severity.ERROR: Ink.ERROR, Severity.WARNING: Ink.WARNING, Severity.ADVICE: Ink.ADVICE}


@dataclass(frozen=True)
class Context:
    """How to show a report.

    Paths are shown as from `folder`, where the user is; `unsafe` says whether this run counts unsafe fixes in.
    """

    project: Project
    folder: Path
    color: bool = False
    unsafe: bool = False

    def name(self, path: Path) -> str:
        """The file as the user would type it here."""
        return printable(Naming(self.project.root, self.folder).file(path))

    def relative(self, path: Path) -> str:
        """The file for a program that knows it by its place in the repository: with slashes, and without `..`.

        CI runs mplint at the top of the repository, so that is seen from `folder` where it can be, else from the root.
        """
        for base in (self.folder, self.project.root):
            if path.is_relative_to(base):
                return path.relative_to(base).as_posix()
        return path.as_posix()

    def filename(self, path: Path) -> str:
        """The file for a program: absolute, and `-` where it is standard input without a name."""
        return "-" if path == self.folder / "-" else str(path)

    def source(self, path: Path) -> SourceFile | None:
        """The file, or None where it cannot be read (its finding says so)."""
        try:
            return self.project.source(path)
        except MplintError:
            return None

    def location(self, path: Path, offset: int) -> Location:
        """Where an offset is; the start of a file that cannot be read."""
        source = self.source(path)
        return source.location(offset) if source else Location(None, 1, 1)

    def place(self, finding: Finding) -> str:
        """`file:row:column`, in a notebook `file:cell number:row:column`."""
        location = self.location(finding.path, finding.span.start)
        return f"{self.name(finding.path)}:{location.where}:{location.column}"

    def fixes(self, finding: Finding) -> bool:
        """Whether `--fix` would mend it in a run like this one."""
        allowed = (Applicability.SAFE, Applicability.UNSAFE) if self.unsafe else (Applicability.SAFE,)
        return finding.fix is not None and finding.fix.applicability in allowed

    def paint(self, text: str, ink: Ink) -> str:
        """The text in its colour, where colours are shown."""
        return paint(text, ink, color=self.color)
