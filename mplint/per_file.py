"""What is given for each file before anything is run: which Keras it is for, and the policy that is taken as set."""

from __future__ import annotations

from pathlib import Path

from mplint.project.generation import Evidence, generation_of
from mplint.project.modules import Project
from mplint.settings import Settings
from mplint.source.stack import on_deep_stack


class PerFile:
    """What settings and project say of each file; what is configured goes first."""

    def __init__(self, project: Project, settings: Settings) -> None:
        self._project = project
        self._settings = settings
        self._evidence: dict[Path, Evidence] = {}

    def evidence(self, path: Path) -> Evidence:
        """Which generation the file is written for, and why."""
        if path not in self._evidence:
            self._evidence[path] = self._find(path)
        return self._evidence[path]

    def generation(self, path: Path) -> str | None:
        """The generation that the file is written for; None where nobody can tell."""
        return self.evidence(path).generation

    def generations(self, path: Path) -> tuple[str, ...]:
        """The generations that a program starting at `path` may run in."""
        found = self.generation(path)
        return (found,) if found is not None else ("2", "3")

    def to_run_in(self, path: Path) -> tuple[str, str | None]:
        """The generation to run the file in that is configured, or "auto"; and the one that its project speaks for.

        What is installed beside mplint says nothing of the interpreter that a program runs in.
        """
        configured = self._settings.keras_for(path)[0]
        found = on_deep_stack(lambda: self.evidence(path))
        return configured, None if configured != "auto" or found.of_machine else found.generation

    def assumed(self, path: Path) -> str | None:
        """The policy to take as set at the start of what is run in the file."""
        return self._settings.assumed_for(path)[0]

    def _find(self, path: Path) -> Evidence:
        configured, pattern = self._settings.keras_for(path)
        if pattern is not None and configured != "auto":
            return Evidence(configured, f"per-file-keras says {configured} for {pattern}")
        found = generation_of(self._project, path, configured)
        if self._settings.per_file_keras and (found.generation is None or found.of_machine):
            return self._of_importers(path) or found
        return found

    def _of_importers(self, path: Path) -> Evidence | None:
        """The generation that is configured for all files that import this one, where it is the same."""
        around = {self._settings.keras_for(importer) for importer in self._project.importers(path)}
        told = sorted((value, pattern) for value, pattern in around if value != "auto" and pattern is not None)
        if not told or len(told) < len(around) or len({value for value, _ in told}) > 1:
            return None
        value, pattern = told[0]
        return Evidence(value, f"per-file-keras says {value} for {pattern}, which imports it")
