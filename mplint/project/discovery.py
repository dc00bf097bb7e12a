"""Which files to read: directories are searched, exclusions and `.gitignore` obeyed, odd files left alone."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mplint.settings import EXCLUDE, Settings, is_pattern
from mplint.source.file import SourceError, absolute
from mplint.source.notebook import SUFFIX as NOTEBOOK

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

SUFFIXES = (".py", ".pyw", NOTEBOOK)


class Exclusions:
    """What is left out below `root`: patterns in gitignore's language, and the `.gitignore` files of the tree.

    As in git, a file in an excluded directory cannot be brought back, and the `.gitignore` nearest to a file decides.
    Above `root`, the `.gitignore` files up to the repository's top count, too, unless they exclude the root itself.
    """

    def __init__(
        self,
        root: Path,
        *,
        exclude: Sequence[str] | None = None,
        extend_exclude: Sequence[str] = (),
        respect_gitignore: bool = True,
    ) -> None:
        self.root = absolute(root)
        self._patterns = _spec([*(EXCLUDE if exclude is None else exclude), *extend_exclude])
        self._respect_gitignore = respect_gitignore
        self._ignore_files: dict[Path, GitIgnoreSpec | None] = {}
        repository = _repository(self.root)
        self._top = repository or self.root
        if repository is not None and self._git_ignores_any(self.root):
            self._top = self.root

    @classmethod
    def configured(cls, settings: Settings) -> Exclusions:
        """What the settings leave out of a project."""
        return cls(
            settings.root,
            exclude=settings.exclude,
            extend_exclude=settings.extend_exclude,
            respect_gitignore=settings.respect_gitignore,
        )

    def excludes(self, path: Path, *, directory: bool, below: Path | None = None) -> bool:
        """Whether `path` itself is left out; its parents are not asked.

        With `below`, only patterns and ignore files that see `path` from that directory count: so much is left to
        exclude in a directory that is itself excluded but was named on the command line.
        """
        anchor = below or (self.root if self.root in path.parents else path.parent)
        if self._patterns is not None and self._patterns.match_file(_relative(path, anchor, directory)):
            return True
        return self._respect_gitignore and self._git_ignores(path, directory, below or self._top)

    def excludes_with_parents(self, path: Path) -> bool:
        """Whether a file, or a directory on the way from the root to it, is left out."""
        parents = [parent for parent in path.parents if self.root in parent.parents]
        return any(self.excludes(parent, directory=True) for parent in reversed(parents)) or self.excludes(
            path, directory=path.is_dir()
        )

    def _git_ignores_any(self, directory: Path) -> bool:
        """Whether `directory` or one of its parents in the repository is ignored."""
        inside = [directory, *(parent for parent in directory.parents if self._top in parent.parents)]
        return any(self._git_ignores(one, True, self._top) for one in inside if one != self._top)

    def _git_ignores(self, path: Path, directory: bool, top: Path) -> bool:
        for parent in path.parents:  # the nearest file that says anything decides
            spec = self._ignore_file(parent)
            if spec is not None:
                verdict = spec.check_file(_relative(path, parent, directory)).include
                if verdict is not None:
                    return verdict
            if parent == top:
                break
        return False

    def _ignore_file(self, directory: Path) -> GitIgnoreSpec | None:
        if directory in self._ignore_files:
            return self._ignore_files[directory]
        lines: list[str] = []
        if directory == self._top:
            lines += _lines(directory / ".git" / "info" / "exclude")
        lines += _lines(directory / ".gitignore")
        spec = self._ignore_files[directory] = _spec(lines)
        return spec


def discover(
    paths: Sequence[Path],
    exclusions: Exclusions,
    *,
    force_exclude: bool = False,
    on_unreadable: Callable[[SourceError], None] | None = None,
) -> list[Path]:
    """The files that the command line means: named files, whatever their suffix, and the Python files in directories.

    What is named is not excluded, unless `force_exclude` says so. A named path that is missing, or neither a file nor
    a directory, raises SourceError. So does a directory that may not be read, unless `on_unreadable` takes
    the error.
    """
    found: dict[str, Path] = {}
    for named in paths:
        path = absolute(named)
        if force_exclude and exclusions.excludes_with_parents(path):
            continue
        if path.is_dir():
            for file in python_files(path, exclusions, on_unreadable=on_unreadable or _raise):
                found.setdefault(_identity(file), file)
        elif path.is_file():
            found.setdefault(_identity(path), path)
        elif os.path.lexists(path) and not path.exists():
            raise SourceError(path, "is a link to a file that does not exist; mend or remove the link")
        elif path.exists():
            raise SourceError(path, "is not a regular file; name a file on disk, or `-` to read standard input")
        else:
            raise SourceError(path, "does not exist; check the path")
    return list(found.values())


def python_files(
    directory: Path,
    exclusions: Exclusions,
    *,
    on_unreadable: Callable[[SourceError], None] | None = None,
    suffixes: tuple[str, ...] = SUFFIXES,
) -> Iterator[Path]:
    """The Python files below `directory`, or those with other `suffixes`, in order.

    Links to directories are not followed, so that no loop can trap the search; nor are links to files that the search
    finds anyway. A directory that cannot be read is skipped, and `on_unreadable` told.
    """
    top = absolute(directory)
    below = top if exclusions.root != top and exclusions.excludes_with_parents(top) else None
    real_top = os.path.realpath(top)
    waiting = [top]
    while waiting:
        here = waiting.pop()
        try:
            with os.scandir(here) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except OSError as error:
            if on_unreadable is not None:
                on_unreadable(SourceError(here, f"cannot be searched ({error.strerror}); mend or exclude it"))
            continue
        subdirectories: list[Path] = []
        for entry in entries:
            path = here / entry.name
            try:
                if entry.is_dir(follow_symlinks=False):
                    if not exclusions.excludes(path, directory=True, below=below):
                        subdirectories.append(path)
                    continue
                if not entry.name.endswith(suffixes) or not entry.is_file():
                    continue
                if entry.is_symlink() and _is_within(os.path.realpath(path), real_top):
                    continue
            except OSError:  # a link in a circle, or a file that vanished meanwhile
                continue
            if not exclusions.excludes(path, directory=False, below=below):
                yield path
        waiting.extend(reversed(subdirectories))


def _raise(error: SourceError) -> None:
    raise error


def _identity(path: Path) -> str:
    return os.path.realpath(path) if path.is_symlink() else str(path)


def _is_within(path: str, directory: str) -> bool:
    return path.startswith(directory.rstrip(os.sep) + os.sep)


def _relative(path: Path, base: Path, directory: bool) -> str:
    return path.relative_to(base).as_posix() + ("/" if directory else "")


def _spec(lines: Sequence[str]) -> GitIgnoreSpec | None:
    if not lines:
        return None
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(lines)
    except (ValueError, re.error):  # a line that is no pattern
        return GitIgnoreSpec.from_lines(filter(is_pattern, lines))


def _lines(path: Path) -> list[str]:
    try:
        if not path.is_file():
            return []
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _repository(directory: Path) -> Path | None:
    for candidate in (directory, *directory.parents):
        try:
            if (candidate / ".git").exists():
                return candidate
        except OSError:
            return None
    return None
