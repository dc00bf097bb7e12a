"""Names of modules and the files behind them.

A module's file is found as Python would find it, had the program been started in any of the usual ways: from the
project's root, from `src`, as a script in its own directory, or with the package installed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Protocol

from mplint.source.file import absolute

_API = frozenset({"keras", "keras_core", "tensorflow", "tf_keras", "numpy", "jax", "torch"})
"""Packages that are the API, unless a source root holds them as a package: then they are the project."""


class Contents(Protocol):
    """What is in the files, as far as it says where modules are."""

    def holds_scripts(self, directory: Path) -> bool:
        """Whether files in `directory`, which is in a package, are run as scripts, too.

        Those import their siblings without a dot.
        """

    def added_by(self, directory: Path | None) -> Sequence[Path]:
        """The directories that the files in `directory` put on `sys.path` by themselves; with None, those of any."""


class Layout:
    """The modules that a set of files makes, whatever is in the files."""

    def __init__(self, root: Path, files: Sequence[Path], declared: Callable[[], Sequence[Path]]) -> None:
        """`root` and `files` are absolute, the files sorted; packaging declares that packages are in `declared()`."""
        self.root = root
        self.files = tuple(files)
        self._declared = declared
        self._known = frozenset(files)
        self._by_text = {path.as_posix(): path for path in files}
        self._tests: dict[Path, bool] = {}
        self._search_paths: dict[Path, tuple[Path, ...]] = {}

    def own(self, path: Path) -> Path:
        """`path` in the form in which the files are known."""
        return path if path in self._known else absolute(path)

    def module_name(self, path: Path) -> str:
        """The dotted name under which a file is imported: `pkg.models.net`, `train`; a package's `__init__` is `pkg`.

        In a regular package the name starts at the outermost one; elsewhere it is what an import from the
        project's root (or `src`) would say, or the stem alone where no import could.
        """
        path = self.own(path)
        top = self._package_root(path.parent)
        if top == path.parent:  # in no regular package
            base = next((base for base in self._source_roots if base in path.parents), top)
            if all(part.isidentifier() for part in path.relative_to(base).parent.parts):
                top = base
        parts = [*path.relative_to(top).parent.parts, path.stem]
        if parts[-1] == "__init__":
            parts.pop()
        return ".".join(parts) or path.parent.name

    def path_of(self, module: str) -> Path | None:
        """The project's file for an absolute module name, looked for from the roots and then anywhere."""
        parts = module.split(".")
        if not all(parts):
            return None
        if parts[0] in _API:
            return self._own_api(parts)
        for base in self._source_roots:
            if (found := self._file(base, parts)) is not None:
                return found
        return self._by_name.get(module)

    def resolve(self, name: str, level: int, importer: Path, contents: Contents) -> Path | str:
        """What `import name` in `importer` (or `from` + `level` dots + `name`) means: see `Project.resolve`."""
        directory = self.own(importer).parent
        if level:
            return self._resolve_relative(name, level, directory)
        parts = name.split(".")
        if not all(parts):
            return name
        if parts[0] in _API:
            return self._own_api(parts) or name
        for base in self._search_path(directory):
            if (found := self._file(base, parts)) is not None:
                return found
            if self._file(base, parts[:1]) is not None:
                return name  # Python commits itself to the first package of that name
        if parts[0] in sys.stdlib_module_names:
            return name
        sibling = self._file(directory, parts)
        if sibling is not None and contents.holds_scripts(directory):
            return sibling
        if parts[0] not in self.parts:
            return name
        for base in contents.added_by(directory):
            if (found := self._file(base, parts)) is not None:
                return found
        if (found := self._by_name.get(name)) is not None:
            return found
        elsewhere = {found for base in contents.added_by(None) if (found := self._file(base, parts)) is not None}
        return elsewhere.pop() if len(elsewhere) == 1 else self._by_end.get(name) or name

    def below(self, package: str, level: int, importer: Path, start: str, contents: Contents) -> Sequence[Path]:
        """The modules right below `package`, as imported from `importer`, whose names start with `start`."""
        parts = package.split(".") if package else []
        directory = self.own(importer).parent
        if level:
            for _ in range(min(level - 1, len(directory.parts))):
                directory = directory.parent
            candidates = [directory.joinpath(*parts)]
        elif parts:
            bases = (*self._search_path(directory), directory, *contents.added_by(directory))
            candidates = [base.joinpath(*parts) for base in bases]
            known = self._by_name.get(package)
            if known is not None and known.name == "__init__.py":
                candidates.append(known.parent)
        elif start:
            candidates = [directory, self.root]
        else:
            return ()
        for candidate in candidates:
            found = [path for path in self._modules_in(candidate) if _imported_as(path).startswith(start)]
            if found:
                return found
        return ()

    def _modules_in(self, directory: Path) -> Sequence[Path]:
        return self._modules.get(directory, ())

    @cached_property
    def _modules(self) -> Mapping[Path, Sequence[Path]]:
        """The modules right below each directory: its files, and the packages in it."""
        modules: dict[Path, list[Path]] = {}
        for path in self.files:
            package = path.name == "__init__.py"
            modules.setdefault(path.parent.parent if package else path.parent, []).append(path)
        return modules

    def is_test(self, path: Path) -> bool:
        """Whether a file belongs to a test suite, by the names that pytest and unittest go by."""
        path = self.own(path)
        known = self._tests.get(path)
        if known is None:
            name = path.name
            named = name.startswith("test_") or name.endswith("_test.py") or name in ("conftest.py", "tests.py")
            inside = path.parent.parts[len(self.root.parts) :] if self.root in path.parents else ()
            known = self._tests[path] = named or "tests" in inside or "test" in inside
        return known

    @cached_property
    def files_in(self) -> Mapping[Path, Sequence[Path]]:
        """The files by directory."""
        files: dict[Path, list[Path]] = {}
        for path in self.files:
            files.setdefault(path.parent, []).append(path)
        return files

    @cached_property
    def parts(self) -> frozenset[str]:
        """Every name that can be a part of a dotted name of this project: most imports are settled by it."""
        return frozenset({path.stem for path in self.files}.union(*(path.parts for path in self._directories)))

    @cached_property
    def _source_roots(self) -> tuple[Path, ...]:
        """Directories from which absolute imports may start, best first.

        `src`, where it is no package itself; what packaging declares; the root; the `src` folders of the projects
        below it; and the root's parent, where the root is a package.
        """
        roots = [self.root]
        sources = sorted(directory for directory in self._directories if directory.name == "src")
        for source in (*self._declared(), *sources):
            if source in self._directories and source not in roots and not self._is_package(source):
                roots.insert(0 if source.parent == self.root else len(roots), source)
        if self._is_package(self.root):
            roots.append(self.root.parent)
        return tuple(roots)

    @cached_property
    def _directories(self) -> frozenset[Path]:
        directories = {self.root}
        for path in self.files:
            for parent in path.parents:
                if parent in directories:
                    break
                directories.add(parent)
        return frozenset(directories)

    @cached_property
    def _by_name(self) -> Mapping[str, Path]:
        """Files by `module_name`, where exactly one has it."""
        names: dict[str, Path | None] = {}
        for path in self.files:
            name = self.module_name(path)
            names[name] = None if name in names else path
        return {name: path for name, path in names.items() if path is not None}

    @cached_property
    def _by_end(self) -> Mapping[str, Path]:
        """Files outside of regular packages by their name from a folder of the root, where exactly one has it.

        So are modules found that are imported with the help of `PYTHONPATH`.
        """
        names: dict[str, Path | None] = {}
        for path in self.files:
            if not self._is_package(path.parent):
                _, _, name = self.module_name(path).partition(".")
                names[name] = None if name in names else path
        return {name: path for name, path in names.items() if name and path is not None}

    def _package_root(self, directory: Path) -> Path:
        """The directory that holds the outermost regular package around `directory`, or itself."""
        while self._is_package(directory):
            directory = directory.parent
        return directory

    def _is_package(self, directory: Path) -> bool:
        return f"{directory.as_posix()}/__init__.py" in self._by_text

    def _file(self, base: Path, parts: Sequence[str]) -> Path | None:
        stem = "/".join([base.as_posix().rstrip("/"), *parts])
        return self._by_text.get(f"{stem}/__init__.py") or self._by_text.get(f"{stem}.py")

    def _own_api(self, parts: Sequence[str]) -> Path | None:
        """A module of Keras or TensorFlow, in the checkout of Keras or TensorFlow."""
        for base in self._source_roots:
            if self._is_package(base / parts[0]):
                return self._file(base, parts)
        return None

    def _resolve_relative(self, name: str, level: int, directory: Path) -> Path | str:
        for _ in range(min(level - 1, len(directory.parts))):
            directory = directory.parent
        parts = name.split(".") if name else []
        if all(parts) and (found := self._file(directory, parts)) is not None:
            return found
        package = self.module_name(directory / "__init__.py") if self.root in directory.parents else ""
        return ".".join([*([package] if package else []), *parts])

    def _search_path(self, directory: Path) -> tuple[Path, ...]:
        """The directories that may be on `sys.path` for a file in `directory`, likeliest first."""
        known = self._search_paths.get(directory)
        if known is None:
            outermost = self._package_root(directory)
            above = (parent for parent in outermost.parents if self.root in parent.parents)
            known = self._search_paths[directory] = tuple(dict.fromkeys([outermost, *self._source_roots, *above]))
        return known


def _imported_as(path: Path) -> str:
    """The last part of the name that a module has."""
    return path.parent.name if path.name == "__init__.py" else path.stem
