"""Which TensorFlow and Keras a project asks for, in whatever file it says so."""

from __future__ import annotations

import ast
import configparser
import json
import re
import shlex
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mplint.project.versions import Range, parse_range

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_NAMES = {
    "tensorflow": "tensorflow",
    "tensorflow-cpu": "tensorflow",
    "tensorflow-gpu": "tensorflow",
    "tensorflow-intel": "tensorflow",
    "tensorflow-macos": "tensorflow",
    "tensorflow-rocm": "tensorflow",
    "tensorflow-base": "tensorflow",
    "tf-nightly": "tensorflow",
    "keras": "keras",
    "keras-nightly": "keras",
    "tf-keras": "tf-keras",
    "tf-keras-nightly": "tf-keras",
}
"""Distributions that are one of the three, under whatever name they are published."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9._-]*")
_OPERATORS = "(=<>!~^*|0123456789"
_LOCKED_TOML = re.compile(r'^name\s*=\s*"(?P<name>[\w.-]+)"\s*\r?\nversion\s*=\s*"(?P<version>[^"]+)"', re.MULTILINE)
_LOCKED_YAML = re.compile(
    r"^[ \t-]*name:\s*(?P<name>[\w.-]+)\s*\r?\n\s*version:\s*['\"]?(?P<version>[\w.]+)", re.MULTILINE
)
_INCLUDE = re.compile(r"^[ \t]*(?:-r|--requirement|-c|--constraint)[ \t=]*(?P<path>[^\s#]+)", re.MULTILINE)

_CELL_INSTALL = re.compile(
    r"""(?:"|\\n)\s*[!%]\s*(?:\S{1,200} +-m +|uv +)?(?:pip3?|conda|mamba) +install +(?P<what>(?:[^"\\\r\n]|\\")*)"""
)
_INSTALL = re.compile(r"\b(?:pip3?|conda|mamba|micromamba)[ \t]+install[ \t]+(?P<what>[^\r\n]*)")
_IMAGE = re.compile(
    r"^[ \t]*FROM[ \t]+(?:--\S+[ \t]+)?(?:\S+/)?tensorflow/tensorflow:(?P<version>\d+\.\d+(?:\.\d+)?)",
    re.IGNORECASE | re.MULTILINE,
)

_MAX_INCLUDES = 10
_MAX_BYTES = 8 << 20
"""Lock files are large; anything larger is none."""


@dataclass(frozen=True)
class Requirement:
    """`name` is tensorflow, keras or tf-keras. `conditional`: it holds only under an environment marker."""

    name: str
    range: Range
    conditional: bool = False


@dataclass(frozen=True)
class Demand:
    """What one file asks for: for each of the three packages it names, the range of versions."""

    path: Path
    ranges: Mapping[str, Range]


def demands_in(directory: Path) -> tuple[Demand, ...]:
    """The demands of the files in `directory` and `directory/requirements` that name a package, best first."""
    demands: list[Demand] = []
    for path, read in _files(directory):
        try:
            if not path.is_file() or path.stat().st_size > _MAX_BYTES:
                continue
            requirements = list(read(path))
        except (OSError, UnicodeError, ValueError, KeyError, TypeError, AttributeError, RecursionError, MemoryError):
            continue  # other people's files in whatever state: one that cannot be read says nothing
        except (SyntaxError, configparser.Error):
            continue
        if requirements:
            demands.append(Demand(path, _combined(requirements)))
    return tuple(demands)


def installs_in(notebook: str) -> Mapping[str, Range]:
    """What the cells of a notebook, given as the text of its file, install: `!pip install tensorflow==2.10`."""
    lines = (match["what"].replace('\\"', "'") for match in _CELL_INSTALL.finditer(notebook))
    return _combined(found for line in lines for found in _installed(line))


def parse_requirement(text: str, *, bare: str = "==") -> Requirement | None:
    """A requirement in pip's syntax, or conda's, if it is one of TensorFlow or Keras.

    `bare` is the operator of a version without one.
    """
    text = text.strip()
    name = _NAME.match(text)
    if name is None:
        return None
    rest = text[name.end() :].lstrip()
    if rest.startswith("["):
        rest = rest.partition("]")[2].lstrip()
    specifier, semicolon, _ = rest.partition(";")
    if specifier.startswith("@"):  # an address: any version
        specifier = ""
    if specifier and specifier[0] not in _OPERATORS:
        return None
    return _requirement(name[0], specifier, conditional=bool(semicolon), bare=bare)


def _requirement(name: str, specifier: str, *, conditional: bool = False, bare: str = "==") -> Requirement | None:
    distribution = re.sub(r"[-_.]+", "-", name).lower()
    known = _NAMES.get(distribution)
    if known is None:
        return None
    return Requirement(known, parse_range(specifier, bare=bare), conditional)


def _combined(requirements: Iterable[Requirement]) -> Mapping[str, Range]:
    """One range a package: requirements that always hold narrow it, alternatives under markers widen it."""
    always: dict[str, Range] = {}
    sometimes: dict[str, Range] = {}
    for one in requirements:
        if one.conditional:
            sometimes[one.name] = sometimes[one.name] | one.range if one.name in sometimes else one.range
        else:
            always[one.name] = always[one.name] & one.range if one.name in always else one.range
    return {**sometimes, **{name: always[name] & sometimes.get(name, Range()) for name in always}}


# Files

_Reader = Callable[[Path], Iterable[Requirement]]


def _files(directory: Path) -> Iterator[tuple[Path, _Reader]]:
    """The files that may hold requirements: what a project declares, then what it has locked, then its side files."""
    try:
        names = sorted(entry.name for entry in directory.iterdir())
        folder = directory / "requirements"
        inner = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
    except OSError:
        return
    declared: dict[str, _Reader] = {
        "requirements.txt": _requirements_txt,
        "requirements.in": _requirements_txt,
        "pyproject.toml": _pyproject,
        "setup.cfg": _setup_cfg,
        "setup.py": _setup_py,
        "Pipfile": _pipfile,
        "environment.yml": _environment_yml,
        "environment.yaml": _environment_yml,
        "uv.lock": _toml_lock,
        "poetry.lock": _toml_lock,
        "pdm.lock": _toml_lock,
        "pylock.toml": _toml_lock,
        "Pipfile.lock": _pipfile_lock,
        "conda-lock.yml": _yaml_lock,
        "pixi.toml": _pixi,
        "Dockerfile": _dockerfile,
    }
    for name, reader in declared.items():
        if name in names:
            yield directory / name, reader
    for name in names:
        if name not in declared and re.fullmatch(r".*requirements?.*\.(?:txt|in|lock)", name, re.IGNORECASE):
            yield directory / name, _requirements_txt
        elif name not in declared and re.fullmatch(r"(?:environment|conda|env).*\.ya?ml", name, re.IGNORECASE):
            yield directory / name, _environment_yml
    for name in inner:
        if name.endswith((".txt", ".in")):
            yield folder / name, _requirements_txt


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8-sig", errors="replace")


def _requirements_txt(path: Path, seen: frozenset[Path] = frozenset()) -> Iterator[Requirement]:
    text = re.sub(r"\\\r?\n", " ", _read(path))
    for line in text.splitlines():
        bare = re.split(r"\s#|\s--hash", line, maxsplit=1)[0]
        if (found := parse_requirement(bare)) is not None:
            yield found
    for match in _INCLUDE.finditer(text):
        name = Path(match["path"])
        included = path.parent / name
        if name.is_absolute() or ".." in name.parts:
            continue  # perhaps outside the project
        if included not in seen and len(seen) < _MAX_INCLUDES and included.is_file():
            yield from _requirements_txt(included, seen | {path})


def _pyproject(path: Path) -> Iterator[Requirement]:
    tables = tomllib.loads(_read(path))
    project = tables.get("project", {})
    main = [*_listed(project.get("dependencies", ())), *_poetry(tables, ("dependencies",))]
    if main:
        yield from main
        return
    for group in (*project.get("optional-dependencies", {}).values(), *tables.get("dependency-groups", {}).values()):
        yield from _listed(group)
    tools = tables.get("tool", {})
    yield from _listed(tools.get("uv", {}).get("dev-dependencies", ()))
    for group in tools.get("pdm", {}).get("dev-dependencies", {}).values():
        yield from _listed(group)
    for environment in tools.get("hatch", {}).get("envs", {}).values():
        yield from _listed((*environment.get("dependencies", ()), *environment.get("extra-dependencies", ())))
    yield from _of_pixi(tools.get("pixi", {}))
    poetry = tools.get("poetry", {})
    for group in poetry.get("group", {}):
        yield from _poetry(tables, ("group", group, "dependencies"))
    yield from _poetry(tables, ("dev-dependencies",))


def _listed(values: Iterable[object]) -> Iterator[Requirement]:
    for value in values:
        if isinstance(value, str) and (found := parse_requirement(value)) is not None:
            yield found


def _poetry(tables: Mapping[str, object], keys: tuple[str, ...]) -> Iterator[Requirement]:
    table: object = tables
    for key in ("tool", "poetry", *keys):
        table = table.get(key, {}) if isinstance(table, dict) else {}
    if isinstance(table, dict):
        yield from _named(table)


def _named(table: Mapping[str, object]) -> Iterator[Requirement]:
    """`name = "^2.15"`, `name = {version = ...}`, or a list of those, as Poetry and Pipenv write it."""
    for name, value in table.items():
        values = value if isinstance(value, list) else [value]
        for one in values:
            version = one.get("version", "") if isinstance(one, dict) else one
            if isinstance(version, str):
                found = _requirement(name, version, conditional=len(values) > 1)
                if found is not None:
                    yield found


def _pixi(path: Path) -> Iterator[Requirement]:
    yield from _of_pixi(tomllib.loads(_read(path)))


def _of_pixi(table: Mapping[str, Any]) -> Iterator[Requirement]:
    for part in (table, *table.get("feature", {}).values()):
        yield from _named({**part.get("dependencies", {}), **part.get("pypi-dependencies", {})})


def _dockerfile(path: Path) -> Iterator[Requirement]:
    """The image of TensorFlow that it starts from, and what it installs by name."""
    text = re.sub(r"\\\r?\n", " ", _read(path))
    for match in _IMAGE.finditer(text):
        yield Requirement("tensorflow", parse_range(f"=={match['version']}.*"))
    for match in _INSTALL.finditer(text):
        yield from _installed(match["what"])


def _installed(line: str) -> Iterator[Requirement]:
    """The requirements in what stands behind `pip install`."""
    try:
        words = shlex.split(re.split(r"&&|\|\||[;|]\s|\s#", line, maxsplit=1)[0])
    except ValueError:  # a quote that is not closed
        return
    for before, word in zip(("", *words), words, strict=False):
        if not word.startswith("-") and before not in ("-r", "-c", "-f", "-i", "-e"):
            found = parse_requirement(word)
            if found is not None:
                yield found


def _setup_cfg(path: Path) -> Iterator[Requirement]:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(_read(path))
    main = list(_listed(parser.get("options", "install_requires", fallback="").splitlines()))
    if main or not parser.has_section("options.extras_require"):
        yield from main
        return
    for _, value in parser.items("options.extras_require"):
        yield from _listed(value.splitlines())


def _setup_py(path: Path) -> Iterator[Requirement]:
    """Every literal that is a requirement with a version: where it stands is setup.py's own business."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(_read(path))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found = parse_requirement(node.value)
            if found is not None and found.range != Range():
                yield found


def _pipfile(path: Path) -> Iterator[Requirement]:
    yield from _named(tomllib.loads(_read(path)).get("packages", {}))


def _pipfile_lock(path: Path) -> Iterator[Requirement]:
    yield from _named(json.loads(_read(path)).get("default", {}))


def _environment_yml(path: Path) -> Iterator[Requirement]:
    """The list items of a conda environment, and of the `pip` list in it; read by line, for that is all they need."""
    for line in _read(path).splitlines():
        item = line.strip()
        if not item.startswith("-"):
            continue
        item = item[1:].partition(" #")[0].strip().strip("'\"").rpartition("::")[2]
        if re.search(r"[^=]=\d[^=]*=", item):  # name=version=build
            item = item.rpartition("=")[0]
        if (found := parse_requirement(item, bare="=")) is not None:
            yield found


def _toml_lock(path: Path) -> Iterator[Requirement]:
    yield from _locked(_LOCKED_TOML, _read(path))


def _yaml_lock(path: Path) -> Iterator[Requirement]:
    yield from _locked(_LOCKED_YAML, _read(path))


def _locked(pattern: re.Pattern[str], text: str) -> Iterator[Requirement]:
    """A lock file may hold one package several times, for different Pythons: these are alternatives."""
    for match in pattern.finditer(text):
        found = _requirement(match["name"], f"=={match['version']}", conditional=True)
        if found is not None:
            yield found
