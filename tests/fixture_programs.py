"""The programs under tests/fixtures: what each is, what is expected of it and how it is run.

The layout and the keys of case.toml are told in tests/fixtures/README.md.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent / "fixtures"
MEASURED = ROOT / "measured.json"
"""What the models of each program put out."""
MADE = ROOT / "made.json"
"""What else each program makes, call by call: what the audit holds predictions against."""
GENERATIONS = ("2", "3")
SUFFIXES = (".py", ".ipynb")


@dataclass(frozen=True)
class Expectation:
    """A finding that must come (or, under `allow`, may come): this code at one of these rows of this file."""

    code: str
    file: str
    cell: int | None
    rows: tuple[int, ...]
    generations: tuple[str, ...]
    severity: str | None = None
    why: str = ""

    def __str__(self) -> str:
        cell = "" if self.cell is None else f"cell {self.cell}:"
        return f"{self.code} at {self.file}:{cell}{' or '.join(map(str, self.rows))}"


@dataclass(frozen=True)
class Fixture:
    """One program with its expectations."""

    folder: Path
    title: str
    generations: tuple[str, ...]
    run: str
    path: tuple[str, ...] = ()
    argv: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, list[str]] = field(default_factory=dict)
    half: Mapping[str, str] = field(default_factory=dict)
    masked: bool = False
    separate: bool = False
    fix: str = "safe"
    unmeasured: str = ""
    expects: tuple[Expectation, ...] = ()
    allows: tuple[Expectation, ...] = ()

    @property
    def name(self) -> str:
        return self.folder.relative_to(ROOT).as_posix()

    @property
    def rule(self) -> str | None:
        """The rule in whose folder it lies; None under silent/."""
        top = self.name.split("/")[0]
        return None if top == "silent" else top

    @property
    def is_bad(self) -> bool:
        return "/bad/" in self.name

    @property
    def program(self) -> Path:
        return self.folder / "program"

    @cached_property
    def files(self) -> tuple[Path, ...]:
        """The Python files and notebooks of the program."""
        return _files(self.program)

    @property
    def start(self) -> Path:
        """The file that is run."""
        module = self.run.removeprefix("-m ").partition(":")[0]
        if module == self.run:
            return self.program / self.run
        stems = [self.program.joinpath(part, *module.split(".")) for part in (*self.path, ".")]
        files = [file for stem in stems for file in (stem.with_suffix(".py"), stem / "__main__.py")]
        return next(file.resolve() for file in files if file.is_file())

    def expected(self, generation: str) -> tuple[Expectation, ...]:
        return tuple(expectation for expectation in self.expects if generation in expectation.generations)

    def fixed_folder(self, generation: str) -> Path | None:
        """Where the rewritten files are recorded: one folder for both generations, or one for each."""
        for folder in (self.folder / f"fixed-{generation}", self.folder / "fixed"):
            if folder.is_dir():
                return folder
        return None

    def fixed(self, generation: str) -> dict[str, bytes]:
        """The recorded contents of each file that the fix changes, by path inside the program."""
        folder = self.fixed_folder(generation)
        if folder is None:
            return {}
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in _files(folder)}

    def job(self, name: str, root: Path) -> dict[str, Any]:
        """What tools/measure.py needs to run the program as it lies at `root`."""
        return {
            "id": name,
            "root": str(root),
            "run": self.run,
            "path": self.path,
            "argv": self.argv,
            "env": dict(self.env),
            "inputs": dict(self.inputs),
            "separate": self.separate,
        }

    @cached_property
    def fingerprint(self) -> str:
        """Of all that is run: the program, what the fix makes of it, and how they are run."""
        found = hashlib.sha256(json.dumps([self.job("", Path()), self.generations]).encode())
        for folder in ("program", "fixed", *(f"fixed-{generation}" for generation in GENERATIONS)):
            for path in sorted(self.folder.joinpath(folder).rglob("*")):
                if path.is_file() and "__pycache__" not in path.parts:
                    found.update(f"\0{path.relative_to(self.folder).as_posix()}\0".encode() + path.read_bytes())
        return found.hexdigest()[:16]


def _files(folder: Path) -> tuple[Path, ...]:
    return tuple(sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES))


def load(folder: Path) -> Fixture:
    case = tomllib.loads((folder / "case.toml").read_text(encoding="utf-8"))
    generations = tuple(case.pop("generations"))
    scripts = sorted(path.name for path in (folder / "program").glob("*") if path.suffix in SUFFIXES)
    run = case.pop("run", None)
    if run is None:
        (run,) = scripts  # several files: case.toml must say which one is run

    def expectations(key: str) -> tuple[Expectation, ...]:
        return tuple(
            Expectation(
                code=entry.pop("code"),
                file=entry.pop("file", scripts[0] if scripts else ""),
                cell=entry.pop("cell", None),
                rows=tuple(entry.pop("rows")),
                generations=tuple(entry.pop("generations", generations)),
                **entry,
            )
            for entry in case.pop(key, ())
        )

    expects, allows = expectations("expect"), expectations("allow")
    for key in ("path", "argv"):
        if key in case:
            case[key] = tuple(case[key])
    return Fixture(folder, generations=generations, run=run, expects=expects, allows=allows, **case)


def load_all() -> tuple[Fixture, ...]:
    return tuple(load(path.parent) for path in sorted(ROOT.rglob("case.toml")))
