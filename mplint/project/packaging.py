"""What packaging files declare: the functions behind console scripts, and the directories that packages are in."""

from __future__ import annotations

import ast
import configparser
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_MAX_BYTES: Final = 1 << 20
_GROUPS: Final = frozenset({"console_scripts", "gui_scripts"})
_OBJECT: Final = re.compile(r"\s*(?P<module>[A-Za-z_][\w.]*)\s*:\s*(?P<attribute>[A-Za-z_][\w.]*)")


@dataclass(frozen=True)
class Script:
    """A command that installing the project makes: `attribute` (it may have dots) of `module` is called."""

    module: str
    attribute: str


@dataclass(frozen=True)
class Packaging:
    """What the packaging files of one directory declare."""

    scripts: tuple[Script, ...] = ()
    sources: tuple[Path, ...] = ()
    """Directories that packages are imported from."""


def packaging_in(directory: Path) -> Packaging:
    """What `pyproject.toml`, `setup.cfg` and `setup.py` in `directory` declare.

    One that cannot be read says nothing.
    """
    scripts: dict[Script, None] = {}
    sources: dict[Path, None] = {}
    for name, read in _READERS.items():
        try:
            path = directory / name
            if not path.is_file() or path.stat().st_size > _MAX_BYTES:
                continue
            found = list(read(path.read_text(encoding="utf-8-sig", errors="replace")))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, MemoryError):
            continue
        except (SyntaxError, configparser.Error):
            continue
        for one in found:
            if isinstance(one, Script):
                scripts[one] = None
            elif not Path(one).is_absolute() and ".." not in Path(one).parts:
                sources[directory / one] = None
    return Packaging(tuple(scripts), tuple(source for source in sources if source != directory))


def _pyproject(text: str) -> Iterator[Script | str]:
    tables = tomllib.loads(text)
    project, tools = tables.get("project", {}), tables.get("tool", {})
    poetry, setuptools = tools.get("poetry", {}), tools.get("setuptools", {})
    points = project.get("entry-points", {})
    tables_of_scripts = [
        project.get("scripts", {}),
        project.get("gui-scripts", {}),
        *(points[group] for group in points if group in _GROUPS),
        poetry.get("scripts", {}),
        tools.get("flit", {}).get("scripts", {}),
    ]
    for scripts in tables_of_scripts:
        for target in scripts.values():
            named = target if isinstance(target, str) else target.get("callable", target.get("reference", ""))
            yield from _script(named)
    find = setuptools.get("packages", {})
    if isinstance(find, dict):
        yield from _strings(find.get("find", {}).get("where", ()))
    yield from _strings(setuptools.get("package-dir", {}).values())
    for package in poetry.get("packages", ()):
        yield from _strings([package.get("from", "")])
    hatch = tools.get("hatch", {}).get("build", {}).get("targets", {}).get("wheel", {})
    for named in _strings(hatch.get("packages", ())):
        yield named.rpartition("/")[0]
    for paths in _strings(tools.get("pytest", {}).get("ini_options", {}).get("pythonpath", ())):
        yield from paths.split()
    yield from _strings(tools.get("pyright", {}).get("extraPaths", ()))


def _setup_cfg(text: str) -> Iterator[Script | str]:
    parser = configparser.ConfigParser(interpolation=None, delimiters=("=",))
    parser.read_string(text)
    for group in _GROUPS:
        for line in parser.get("options.entry_points", group, fallback="").splitlines():
            yield from _command(line)
    for line in parser.get("options", "package_dir", fallback="").splitlines():
        yield line.partition("=")[2].strip()
    yield from parser.get("options.packages.find", "where", fallback="").split()


def _setup_py(text: str) -> Iterator[Script | str]:
    """What stands in the text as literals: `entry_points`, `package_dir` and `find_packages(where)`."""
    if "setup" not in text:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    for node in ast.walk(tree):
        match node:
            case ast.keyword(arg="package_dir", value=ast.Dict(values=values)):
                yield from _strings(value.value for value in values if isinstance(value, ast.Constant))
            case ast.Call(func=ast.Name(id="find_packages" | "find_namespace_packages"), args=args, keywords=keywords):
                where = [*args[:1], *(keyword.value for keyword in keywords if keyword.arg == "where")]
                yield from _strings(value.value for value in where if isinstance(value, ast.Constant))
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    if isinstance(key, ast.Constant) and key.value in _GROUPS:
                        yield from _commands(value)
            case ast.Constant(value=str(text)) if "console_scripts" in text and "=" in text:  # an INI text
                for line in text.splitlines():
                    yield from _command(line)
            case _:
                pass


def _commands(node: ast.expr) -> Iterator[Script]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            for line in inner.value.splitlines():
                yield from _command(line)


def _command(line: str) -> Iterator[Script]:
    """`name = package.module:function [extra]`."""
    yield from _script(line.partition("=")[2])


def _script(named: object) -> Iterator[Script]:
    match = _OBJECT.match(named) if isinstance(named, str) else None
    if match is not None:
        yield Script(match["module"], match["attribute"])


def _strings(values: Iterable[object]) -> Iterator[str]:
    if isinstance(values, str):
        values = [values]
    yield from (value for value in values if isinstance(value, str) and value)


_READERS: Final[Mapping[str, Callable[[str], Iterator[Script | str]]]] = {
    "pyproject.toml": _pyproject,
    "setup.cfg": _setup_cfg,
    "setup.py": _setup_py,
}
