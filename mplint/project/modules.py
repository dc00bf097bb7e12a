"""A project: its files, what is in them, and who imports whom. Nothing is imported or run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TypeVar, cast

from mplint.project.data import MAX_BYTES, MAX_FILES, SUFFIXES, Data, read_data
from mplint.project.discovery import Exclusions, python_files
from mplint.project.dynamic import files_run_by
from mplint.project.imports import imports_of
from mplint.project.layout import Layout
from mplint.project.naming import Naming
from mplint.project.packaging import Packaging, Script, packaging_in
from mplint.project.search_path import added_directories, located
from mplint.source.file import SourceError, SourceFile, absolute, read_bytes
from mplint.source.notebook import SUFFIX as NOTEBOOK
from mplint.source.reading import source_of

_T = TypeVar("_T")

_MAX_BYTES_KEPT = 64 << 20
_DEPTH_OF_PROJECTS = 3
"""How deep below the root the projects of a monorepo may stand."""


@dataclass
class _Kept:
    """What was read of one file; all of it goes when its content is replaced."""

    data: bytes | None = None
    source: SourceFile | None = None
    mentions: dict[bytes, bool] = field(default_factory=dict)
    glances: dict[object, object] = field(default_factory=dict)
    imports: frozenset[Path] | None = None


class Project:
    """Every Python file under one root, and the questions that need more than one of them."""

    def __init__(
        self,
        root: Path,
        files: Sequence[Path],
        overlay: Mapping[Path, bytes] | None = None,
        *,
        folder: Path | None = None,
    ) -> None:
        """`files` is every Python file under `root`; `overlay` replaces contents on disk, and may add files.

        From `folder` (without one: from the root) files are called.
        """
        self.root = absolute(root)
        self.naming = Naming(self.root, self.root if folder is None else absolute(folder))
        self._overlay = {absolute(path): data for path, data in (overlay or {}).items()}
        self.files: tuple[Path, ...] = tuple(sorted({*map(absolute, files), *self._overlay}))
        self._known = frozenset(self.files)
        modules = [path for path in self.files if path.suffix != NOTEBOOK]
        self._layout = Layout(self.root, modules, lambda: self._packaging.sources)
        self._kept: dict[Path, _Kept] = {}
        self._bytes_kept = 0
        self._resolved: dict[tuple[str, int, Path], Path | str] = {}
        self._added: dict[Path | None, tuple[Path, ...]] = {}
        self._closures: dict[Path, frozenset[Path]] = {}
        self._importers: dict[Path, frozenset[Path]] = {}
        self._settings: dict[Path, Data | None] = {}
        self._exclusions: Exclusions | None = None

    @classmethod
    def at(
        cls,
        root: Path,
        *,
        exclusions: Exclusions | None = None,
        extra: Sequence[Path] = (),
        overlay: Mapping[Path, bytes] | None = None,
        folder: Path | None = None,
    ) -> Project:
        """The project under `root`: all its Python files that are not excluded, and `extra` in any case."""
        exclusions = exclusions or Exclusions(root)
        project = cls(root, [*python_files(root, exclusions), *extra], overlay, folder=folder)
        project._exclusions = exclusions
        return project

    def edited(self, contents: Mapping[Path, bytes]) -> Project:
        """The project with other contents of some files. What was read of the other files is not read again."""
        other = Project(self.root, self.files, {**self._overlay, **contents}, folder=self.naming.folder)
        other._exclusions = self._exclusions
        if other.files == self.files:
            changed = set(map(self._own, contents))
            other._layout = self._layout
            other._kept = {path: kept for path, kept in self._kept.items() if path not in changed}
            other._bytes_kept = self._bytes_kept
        return other

    # Contents

    def source(self, path: Path) -> SourceFile:
        """The file at `path`, read once. Raises SourceError where it cannot be read or decoded."""
        path, kept = self._keep(path)
        if kept.source is None:
            data = self.data(path)
            kept.source = source_of(path, data)
            kept.data = data  # whatever room there is: what replaces the file must replace these bytes
        return kept.source

    def data(self, path: Path) -> bytes:
        """The bytes of a file: the overlay's, else the disk's. Raises SourceError.

        Those that `source` was made from stay the same from then on, whatever happens on the disk.
        """
        path, kept = self._keep(path)
        if kept.data is None:
            data = self._overlay.get(path)
            if data is None:
                data = read_bytes(path)
            if self._bytes_kept + len(data) > _MAX_BYTES_KEPT:
                return data
            self._bytes_kept += len(data)
            kept.data = data
        return kept.data

    def glance(self, path: Path, read: Callable[[str], _T]) -> _T:
        """`read(text)` of a file, computed once. Raises SourceError.

        Unlike with `source`, the text is not kept: for a small fact about each of many files. `read` must depend on its
        argument alone.
        """
        path, kept = self._keep(path)
        if read not in kept.glances:
            source = kept.source or source_of(path, self.data(path))
            kept.glances[read] = read(source.text)
        return cast(_T, kept.glances[read])

    def code(self, path: Path) -> bytes:
        """The Python of a file: its bytes, or the program of a notebook. Raises SourceError."""
        return self.glance(path, str.encode) if path.suffix == NOTEBOOK else self.data(path)

    def mentions(self, path: Path, *needles: bytes) -> bool:
        """Whether the code of a file holds any of `needles`. A file that cannot be read mentions nothing."""
        path, kept = self._keep(path)
        data: bytes | None = None
        for needle in needles:
            found = kept.mentions.get(needle)
            if found is None:
                if data is None:
                    try:
                        data = self.code(path)
                    except SourceError:
                        data = b""
                found = kept.mentions[needle] = needle in data
            if found:
                return True
        return False

    # Packaging

    def console_scripts(self) -> tuple[Script, ...]:
        """The functions that the commands call which installing the project makes."""
        return self._packaging.scripts

    @cached_property
    def _packaging(self) -> Packaging:
        """What packaging declares at the root and in the projects of a monorepo."""
        directories = {self.root}
        for path in self.files:
            directories.update(parent for parent in path.parents if self.root in parent.parents)
        depth = len(self.root.parts) + _DEPTH_OF_PROJECTS
        found = [packaging_in(one) for one in sorted(directories) if len(one.parts) <= depth]
        return Packaging(
            tuple(dict.fromkeys(script for one in found for script in one.scripts)),
            tuple(dict.fromkeys(source for one in found for source in one.sources)),
        )

    # Configuration files

    @cached_property
    def settings_files(self) -> tuple[Path, ...]:
        """The configuration files under the root."""
        found = python_files(self.root, self._exclusions or Exclusions(self.root), suffixes=SUFFIXES)
        return tuple(islice(found, MAX_FILES))

    def settings(self, path: Path) -> Data | None:
        """What a configuration file under the root says; None where it is none, or cannot be read."""
        path = absolute(path)
        if path not in self._settings:
            try:
                real = path.resolve()
                inside = self.root.resolve() in real.parents and real.is_file() and real.stat().st_size <= MAX_BYTES
                self._settings[path] = read_data(path, read_bytes(path)) if inside else None
            except (OSError, SourceError):
                self._settings[path] = None
        return self._settings[path]

    @cached_property
    def precise_settings(self) -> Mapping[Path, Data]:
        """What those configuration files say that speak of half precision."""
        found: dict[Path, Data] = {}
        for path in self.settings_files:
            data = self.settings(path)
            if data is not None and "float16" in str(data.tree):
                found[path] = data
        return found

    @cached_property
    def _instantiated(self) -> frozenset[str]:
        """What Hydra makes as configuration files say: `_target_: nets.mlp.Mlp`."""
        found: set[str] = set()
        waiting: list[object] = []
        for path in self.settings_files:
            data = self.settings(path)
            waiting.append(data.tree if data is not None else None)
        while waiting:
            here = waiting.pop()
            if isinstance(here, Mapping):
                target = here.get("_target_")
                found.update([target] if isinstance(target, str) else [])
                waiting.extend(here.values())
            elif isinstance(here, (list, tuple)):
                waiting.extend(here)
        return frozenset(found)

    # Modules

    def module_name(self, path: Path) -> str:
        """The dotted name under which a file is imported: `pkg.models.net`, `train`; a package's `__init__` is `pkg`.

        In a regular package the name starts at the outermost one; elsewhere it is what an import from the
        project's root (or `src`) would say, or the stem alone where no import could.
        """
        return self._layout.module_name(path)

    def packages_of(self, path: Path) -> list[Path]:
        """The `__init__` files of the regular packages that a module is in, which run before it; outermost first."""
        found: list[Path] = []
        for parent in self._own(path).parents:
            package = parent / "__init__.py"
            if package not in self._known:
                break
            found.insert(0, package)
        return [package for package in found if package != path]

    def path_of(self, module: str) -> Path | None:
        """The project's file for an absolute module name, looked for from the roots and then anywhere."""
        return self._layout.path_of(module)

    def resolve(self, name: str, level: int, importer: Path) -> Path | str:
        """What `import name` in `importer` (or `from` + `level` dots + `name`) means.

        A file of the project, or the absolute dotted name where it is outside of it (also where it is a namespace
        package, which is no file). For `from a import b`, ask for `a`, and for `a.b` if `b` may be a module.
        """
        importer = self._own(importer)
        key = (name, level, importer.parent)
        found = self._resolved.get(key)
        if found is None:
            found = self._resolved[key] = self._layout.resolve(name, level, importer, self)
        return found

    def below(self, package: str, level: int, importer: Path, start: str = "") -> Sequence[Path]:
        """The modules right below `package`, as `importer` names it, whose names start with `start`."""
        return self._layout.below(package, level, importer, start, self)

    def file_at(self, name: str, user: Path) -> Path | None:
        """The file that a program in the file `user` means by the path `name`: from its own directory, or the root."""
        for base in (self._own(user).parent, self.root):
            for ending in ("", ".py", NOTEBOOK):
                path = absolute(base / (name + ending))
                if path in self._known:
                    return path
        return None

    def is_test(self, path: Path) -> bool:
        """Whether a file belongs to a test suite, by the names that pytest and unittest go by."""
        return self._layout.is_test(path)

    def imports(self, path: Path) -> frozenset[Path]:
        """The project files whose top level runs when the imports in `path` run: modules, and their packages."""
        path, kept = self._keep(path)
        if kept.imports is None:
            kept.imports = frozenset(self._targets(path)) - {path}
        return kept.imports

    def closure(self, path: Path) -> frozenset[Path]:
        """All files that `path` imports, directly or through others; itself only where imports go in a circle."""
        return self._through(self.imports, self._closures, path)

    def importers(self, path: Path) -> frozenset[Path]:
        """All files that import `path`, directly or through others; itself only where imports go in a circle."""
        return self._through(lambda here: self._direct_importers.get(here, frozenset()), self._importers, path)

    def _through(
        self,
        step: Callable[[Path], frozenset[Path]],
        known: dict[Path, frozenset[Path]],
        path: Path,
    ) -> frozenset[Path]:
        """All files that `step` leads to from `path`, in any number of steps; kept in `known`."""
        path = self._own(path)
        if path not in known:
            found: set[Path] = set()
            waiting = [path]
            while waiting:
                here = waiting.pop()
                if here in known:
                    found |= known[here]
                else:
                    fresh = step(here) - found
                    found |= fresh
                    waiting.extend(fresh)
            known[path] = frozenset(found)
        return known[path]

    def _own(self, path: Path) -> Path:
        return self._layout.own(path)

    def _keep(self, path: Path) -> tuple[Path, _Kept]:
        kept = self._kept.get(path)
        if kept is None:
            path = self._own(path)
            kept = self._kept.setdefault(path, _Kept())
        return path, kept

    def holds_scripts(self, directory: Path) -> bool:
        """Whether some file in `directory` is run as a program."""
        return any(self.mentions(path, b"__main__") for path in self._layout.files_in.get(directory, ()))

    def added_by(self, directory: Path | None) -> Sequence[Path]:
        """The directories that the files in `directory` put on `sys.path` by themselves; with None, those of any."""
        found = self._added.get(directory)
        if found is None:
            files = [path for path in self._adding if directory in (None, path.parent)]
            found = self._added[directory] = tuple(dict.fromkeys(one for path in files for one in self._adds(path)))
        return found

    @cached_property
    def _adding(self) -> Sequence[Path]:
        return [path for path in self.files if self.mentions(path, b"sys.path", b"addsitedir")]

    def _adds(self, path: Path) -> Iterator[Path]:
        try:
            directories = self.glance(path, added_directories)
        except SourceError:
            return
        for directory in directories:
            yield from located(directory, path, self.root)

    @cached_property
    def _direct_importers(self) -> Mapping[Path, frozenset[Path]]:
        importers: dict[Path, set[Path]] = {}
        for path in self.files:
            for target in self.imports(path):
                importers.setdefault(target, set()).add(path)
        return {target: frozenset(paths) for target, paths in importers.items()}

    def _targets(self, path: Path) -> Iterator[Path]:
        try:
            imports = self.glance(path, imports_of)
        except SourceError:
            return
        for name in self.glance(path, files_run_by):
            run = self.file_at(name, path)
            if run is not None:
                yield run
        parts = self._layout.parts
        if self.mentions(path, b"instantiate(") and self.mentions(path, b"hydra"):
            for dotted in sorted(self._instantiated):
                if dotted.split(".", 1)[0] in parts:
                    yield from self._run_by(dotted, 0, path)
        for one in imports:
            if not one.level and one.module.split(".", 1)[0] not in parts and (one.module or not one.start):
                continue
            if one.start is not None:
                yield from self.below(one.module, one.level, path, one.start)
            yield from self._run_by(one.module, one.level, path)
            for name in one.names:
                if name in parts:
                    yield from self._run_by(f"{one.module}.{name}" if one.module else name, one.level, path)

    def _run_by(self, dotted: str, level: int, importer: Path) -> Iterator[Path]:
        """The module and every package on the way to it."""
        parts = dotted.split(".") if dotted else []
        for count in range(0 if level else 1, len(parts) + 1):
            target = self.resolve(".".join(parts[:count]), level, importer)
            if isinstance(target, Path):
                yield target
